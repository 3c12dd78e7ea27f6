package announce

import (
	"slices"
	"time"
)

// A Comment is a sentence about an event as it happens, such as a play of a game. It exists in memory only,
// does not count as an announcement, and is dropped when it is superseded or late.
type Comment struct {
	Topic    string // at most one comment per topic waits
	Text     string
	Deadline time.Time // it is not started later
}

// commentMaxAge limits how long a comment may wait.
const commentMaxAge = 10 * time.Second

// Comment adds a comment. It replaces a waiting one of the same topic.
func (q *Queue) Comment(topic, text string, c Conditions) Step {
	comment := Comment{topic, text, c.Now.Add(commentMaxAge)}
	q.dropStaleComments(c.Now)
	if i := slices.IndexFunc(q.comments, func(c Comment) bool { return c.Topic == topic }); i >= 0 {
		q.comments[i] = comment // in the older one's place, so that each topic gets its turn
	} else {
		q.comments = append(q.comments, comment)
	}
	q.step.Wake = true
	return q.done()
}

// NextComment removes and returns the oldest waiting comment. While comments are not to be spoken, it drops them.
func (q *Queue) NextComment(c Conditions) (comment Comment, ok bool) {
	q.dropStaleComments(c.Now)
	if !c.Decide(Announcement{}, c.Now).Speak {
		q.comments = nil
	}
	if len(q.comments) == 0 {
		return Comment{}, false
	}
	comment = q.comments[0]
	q.comments = slices.Delete(q.comments, 0, 1)
	return comment, true
}

// dropStaleComments drops comments past their deadline.
func (q *Queue) dropStaleComments(now time.Time) {
	q.comments = slices.DeleteFunc(q.comments, func(c Comment) bool { return !now.Before(c.Deadline) })
}
