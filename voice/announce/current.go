package announce

import (
	"slices"
	"time"

	"pressbox/voice/announce/policy"
)

// A Turn is an announcement whose turn it is to be spoken.
type Turn struct {
	Announcement
	Resumed bool // a part of it has been spoken before
}

// Take makes the first waiting announcement that is to be spoken the current one; ok is false if there is none.
func (q *Queue) Take(c Conditions) (t Turn, ok bool, s Step) {
	it := q.firstReady(c)
	if it == nil {
		return Turn{}, false, q.done()
	}
	q.waiting.remove(it)
	q.current = it
	it.Status = Synthesizing
	q.publish(it, c)
	return Turn{it.Announcement, it.resumes()}, true, q.done()
}

// Peek returns the announcement that [Queue.Take] would take.
func (q *Queue) Peek(c Conditions) (ann Announcement, ok bool, s Step) {
	it := q.firstReady(c)
	if it == nil {
		return Announcement{}, false, q.done()
	}
	return it.Announcement, true, q.done()
}

// firstReady returns the first waiting item that is to be spoken now, is not ending and has not expired; nil
// means none. An expired one is due, which a change of the wall clock does not tell.
func (q *Queue) firstReady(c Conditions) *item {
	for _, it := range q.waiting {
		switch {
		case it.ending:
		case it.overdue(c.Now):
			q.step.Retime = true
		case c.Decide(it.Announcement, c.Now).Speak:
			return it
		}
	}
	return nil
}

// Played records that the current announcement is being played, and in which voice, which is not saved before the end:
// after a crash the voice that was asked for may work again. It returns the voice that was to speak.
func (q *Queue) Played(voice string, c Conditions) (before string, s Step) {
	it := q.current
	it.Status, it.interrupted = Playing, false
	if it.Started.IsZero() {
		it.Started = c.Now.UTC()
	}
	before, it.Voice = it.Voice, voice
	q.publish(it, c)
	return before, q.done()
}

// Heard records that a part of the current announcement was played: cause is why it was not heard, "" if it was.
func (q *Queue) Heard(cause policy.Cause) {
	it := q.current
	it.heard = it.heard || cause == ""
	if !it.ending {
		it.Reason = cause
	}
}

// Interrupt stops the sound of the current announcement if an urgent one waits and it is not urgent itself.
func (q *Queue) Interrupt(c Conditions) Step {
	next := q.firstReady(c)
	if next != nil && next.Urgent && !q.current.Urgent && !q.current.ending {
		q.step.Stop = ErrInterrupted
	}
	return q.done()
}

// Rest records with which sentence the current announcement is to be spoken on, and reports whether that is to
// be saved.
func (q *Queue) Rest(sentence int) (changed bool) {
	it := q.current
	changed = !it.ending && it.Sentence != sentence
	it.Sentence = sentence
	return changed
}

// Requeue moves the current announcement back to those that wait. lost is true if the sound server was lost. It
// returns false if the announcement is ending.
func (q *Queue) Requeue(lost bool, c Conditions) (ok bool, s Step) {
	it := q.current
	if it.ending {
		return false, q.done()
	}
	q.current = nil
	it.interrupted = !lost && (it.interrupted || it.Status == Playing)
	it.Status = Queued
	if !it.interrupted {
		it.Started = time.Time{}
	}
	q.waiting.add(it)
	q.publish(it, c)
	q.step.Retime = true
	return true, q.done()
}

// NextRepetition counts a repetition of the current announcement that ends now. It returns the announcement as
// it waits for the next one, and whether there is one.
func (q *Queue) NextRepetition(c Conditions) (next Announcement, ok bool) {
	it := q.current
	if it.Repeat.Times == 0 {
		return Announcement{}, false
	}
	it.Spoken++
	next = it.Announcement
	next.Status, next.Started, next.Sentence = Scheduled, time.Time{}, 0
	next.At, next.FixedTime = c.Now.Add(next.Repeat.Every), false
	next.Expires = next.At.Add(next.TTL)
	return next, next.Spoken < next.Repeat.Times && !next.Acknowledged
}

// Repeat schedules the current announcement as [Queue.NextRepetition] has returned it. If it was cancelled or
// acknowledged meanwhile, it is still the current one, and is to end with the status.
func (q *Queue) Repeat(next Announcement, c Conditions) (status Status, s Step) {
	it := q.current
	switch {
	case it.ending:
		return Cancelled, q.done()
	case it.Acknowledged:
		return Done, q.done()
	}
	it.Announcement, q.current = next, nil
	it.plan(c)
	q.insert(it)
	q.publish(it, c)
	q.step.Wake, q.step.Retime = true, true
	return Scheduled, q.done()
}

// Ending marks announcements as ending, and returns them as their ends are to be saved.
func (q *Queue) Ending(ids []string, status Status, why string, c Conditions) (ends []Announcement) {
	for _, id := range ids {
		it := q.byID[id]
		it.ending = true
		ends = append(ends, it.endedForm(status, why, c))
	}
	return ends
}

// End ends announcements that [Queue.Ending] has marked, with the same conditions. It returns them as they are
// now: other rooms may have reported meanwhile.
func (q *Queue) End(ids []string, status Status, why string, c Conditions) (ends []Announcement, s Step) {
	for _, id := range ids {
		it := q.byID[id]
		it.Announcement = it.endedForm(status, why, c)
		ends = append(ends, it.Announcement)
		if q.current == it {
			q.current = nil
		}
		q.addEnded(it, c.Now)
		q.publish(it, c)
	}
	hasEnded := func(it *item) bool { return it.Status.Ended() }
	q.waiting, q.scheduled = slices.DeleteFunc(q.waiting, hasEnded), slices.DeleteFunc(q.scheduled, hasEnded)
	q.away = slices.DeleteFunc(q.away, hasEnded)
	q.step.Wake = true
	return ends, q.done()
}

// endedForm returns an announcement as it ends: one that is done and was not heard as unheard, and without its texts
// if these are not to be saved.
func (it *item) endedForm(status Status, why string, c Conditions) Announcement {
	ann := it.Announcement
	if status == Done && !it.heard && ann.Reason != "" {
		status = Unheard
	}
	if status != Silenced && status != Unheard {
		ann.Reason = ""
	}
	ann.Status, ann.SpeaksAt, ann.Error, ann.Ended = status, time.Time{}, why, c.Now.UTC()
	if !c.History && !ann.Rooms.Open() {
		ann.Title, ann.Message, ann.Sound = "", "", ""
	}
	return ann
}

// addEnded appends an ended item and drops the oldest evictable ones.
func (q *Queue) addEnded(it *item, now time.Time) {
	q.ended = append(q.ended, it)
	q.endedBytes += it.size()
	q.byID[it.ID] = it
	for Evictable(now.Sub(q.ended[0].Ended), len(q.ended), q.endedBytes) {
		delete(q.byID, q.ended[0].ID)
		q.endedBytes -= q.ended[0].size()
		q.ended[0] = nil
		q.ended = q.ended[1:]
	}
}
