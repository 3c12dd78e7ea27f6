package announce

import (
	"slices"
	"time"
)

// plan sets whether it waits to be spoken or for a time, and what quiet will do to it as far as that is known.
func (it *item) plan(c Conditions) {
	if it.Rooms.Only { // each room plans it
		it.Status = Queued
		return
	}
	if c.unset(it.Announcement) {
		it.Status, it.SpeaksAt, it.Quiet, it.Reason = Scheduled, time.Time{}, false, ""
		return
	}
	at := c.Now
	if it.At.After(at) {
		at = it.At
	}
	d := c.Decide(it.Announcement, at)
	it.Status, it.SpeaksAt, it.Quiet, it.Reason = Queued, time.Time{}, d.Quiet, d.Cause
	switch {
	case !d.Until.IsZero():
		it.Status, it.SpeaksAt = Scheduled, d.Until
	case at != c.Now:
		it.Status, it.SpeaksAt = Scheduled, at
	}
}

// replan plans an item that waits again, moves it if necessary, and publishes a change.
func (q *Queue) replan(it *item, c Conditions) {
	before := it.Announcement
	it.plan(c)
	if it.Status != before.Status {
		if before.Status == Scheduled {
			q.scheduled = slices.DeleteFunc(q.scheduled, func(other *item) bool { return other == it })
		} else {
			q.waiting.remove(it)
		}
		q.insert(it)
	}
	if it.Announcement != before {
		q.publish(it, c)
		q.step.Wake = true
	}
}

// Reconsider applies a change of the conditions to the announcements that wait and to the current one, whose sound is
// stopped if it may not be spoken on: it ends, or waits for the end of quiet.
func (q *Queue) Reconsider(c Conditions) Step {
	if it := q.current; it != nil && !it.ending {
		switch d := c.Decide(it.Announcement, c.Now); {
		case d.Speak:
		case !d.Until.IsZero():
			q.step.Stop = ErrInterrupted
		default:
			it.ending, it.Reason = true, d.Cause
			q.step.Stop = ErrSilenced
		}
	}
	for _, it := range slices.Concat(q.waiting, q.scheduled) {
		if !it.ending {
			q.replan(it, c)
		}
	}
	q.step.Wake, q.step.Retime = true, true
	return q.done()
}

// Advance moves the scheduled announcements whose time has come to those that wait, ends the waiting ones that
// have expired, and stops the current one if that has expired and nothing of it was played. next is when to
// call it again; zero means never.
func (q *Queue) Advance(c Conditions) (next time.Time, s Step) {
	for _, it := range slices.Clone(q.scheduled) {
		if it.ending || c.unset(it.Announcement) {
			continue
		}
		if !c.Now.Before(it.SpeaksAt) {
			q.replan(it, c)
		}
		if it.Status == Scheduled {
			next = earlier(next, it.SpeaksAt)
		}
	}
	q.step.Status = Expired
	for _, it := range q.waiting {
		if it.ending {
			continue
		}
		if it.overdue(c.Now) {
			q.end(it)
		} else if !it.interrupted {
			next = earlier(next, it.Expires)
		}
	}
	if it := q.current; it != nil && !it.ending && !it.interrupted && it.Status == Synthesizing {
		if it.overdue(c.Now) {
			it.ending = true
			q.step.Stop = ErrExpired
		} else {
			next = earlier(next, it.Expires)
		}
	}
	q.next = next
	return next, q.done()
}

// end marks an item that waits as ending, and adds it to the ends of the step.
func (q *Queue) end(it *item) {
	it.ending = true
	q.step.Ends = append(q.step.Ends, it.ID)
}

// EndUnspoken ends the first waiting announcements as far as they are not to be spoken, and moves those that
// quiet holds to the scheduled ones. The next one that waits is then to be spoken, if there is one.
func (q *Queue) EndUnspoken(c Conditions) Step {
	q.step.Status = Silenced
	for _, it := range slices.Clone(q.waiting) {
		if it.ending || it.overdue(c.Now) {
			continue
		}
		q.replan(it, c)
		if it.Status == Scheduled {
			q.step.Retime = true
			continue
		}
		if c.Decide(it.Announcement, c.Now).Speak {
			break
		}
		q.end(it)
	}
	return q.done()
}

// ForgetTexts deletes the texts of ended announcements if they are not to be saved, and returns those that have
// changed.
func (q *Queue) ForgetTexts(c Conditions) (changed []Announcement) {
	if c.History {
		return nil
	}
	for _, it := range q.ended {
		if it.Message != "" && !it.Rooms.Open() {
			q.endedBytes -= it.size()
			it.Title, it.Message, it.Sound = "", "", ""
			q.endedBytes += it.size()
			changed = append(changed, it.Announcement)
		}
	}
	return changed
}

// earlier returns the earlier of two times. The first may be zero, for none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
