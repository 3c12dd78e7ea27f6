package announce

import (
	"cmp"
	"context"
	"slices"
	"time"

	"pressbox/voice/announce/policy"
)

// Limits of announcements that are not spoken at once.
const (
	MaxScheduled = 200                  // announcements with a time, repetitions or only other rooms that have not ended
	MaxAhead     = 366 * 24 * time.Hour // from now to their time
)

// decide returns what happens to an announcement at a moment.
func (a *Announcer) decide(ann Announcement, at time.Time) policy.Decision {
	state := policy.State{Volume: a.config.Load().Volume}
	if a.controls != nil {
		state = a.controls.State(at)
	}
	return policy.Decide(policy.Announcement{
		Urgent: ann.Urgent, Priority: ann.Priority, Volume: ann.Volume, Expires: ann.Expires,
	}, state, at)
}

// clockUnset reports whether it waits for the wall clock to be set.
func (a *Announcer) clockUnset(ann Announcement) bool { return ann.FixedTime && !a.clockSet() }

// plan sets whether it waits in the queue or for a time, and what quiet will do
// to it as far as that is known. a.mu must be held.
func (a *Announcer) plan(it *item, now time.Time) {
	if it.Rooms.Only { // each room plans it
		it.Status = Queued
		return
	}
	if a.clockUnset(it.Announcement) {
		it.Status, it.SpeaksAt, it.Quiet = Scheduled, time.Time{}, false
		return
	}
	at := now
	if it.At.After(now) {
		at = it.At
	}
	d := a.decide(it.Announcement, at)
	it.Status, it.SpeaksAt, it.Quiet = Queued, time.Time{}, d.Quiet
	switch {
	case !d.Until.IsZero():
		it.Status, it.SpeaksAt = Scheduled, d.Until
	case at != now:
		it.Status, it.SpeaksAt = Scheduled, at
	}
}

// insert adds a planned item to the queue, to the scheduled ones or to those for other
// rooms only. a.mu must be held.
func (a *Announcer) insert(it *item) {
	switch {
	case it.Rooms.Only:
		a.away = append(a.away, it)
	case it.Status == Scheduled:
		a.scheduled = append(a.scheduled, it)
	default:
		a.queue.add(it)
	}
}

// replan plans a waiting item again, moves it if necessary, and publishes a
// change. a.mu must be held.
func (a *Announcer) replan(it *item, now time.Time) {
	before := it.Announcement
	a.plan(it, now)
	if it.Status != before.Status {
		if before.Status == Scheduled {
			a.scheduled = without(a.scheduled, it)
		} else {
			a.queue.remove(it)
		}
		a.insert(it)
	}
	if it.Announcement != before {
		a.publish(it)
		signal(a.queueChanged)
	}
}

// Reconsider applies a change of the [Controls] or of the wall clock to the
// announcements that wait. It calls the Controls, so its caller must hold no lock
// that they take.
func (a *Announcer) Reconsider() {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	for _, it := range slices.Concat(a.queue, a.scheduled) {
		if !it.ending {
			a.replan(it, now)
		}
	}
	signal(a.queueChanged)
	signal(a.timesChanged)
}

// endUnspoken ends the announcements at the head of the queue that are not to be
// spoken, if none is being spoken.
func (a *Announcer) endUnspoken(ctx context.Context) {
	unspoken := a.takeUnspoken(time.Now())
	if len(unspoken) == 0 {
		return
	}
	a.log.Info("announcements silenced", "count", len(unspoken))
	if err := a.recordEnd(ctx, Silenced, "", unspoken...); err != nil {
		a.log.Error("end of announcements not saved, they may be spoken after a restart", "err", err)
	}
}

// takeUnspoken returns the items at the head of the queue that are to end
// unspoken, marked as ending, and moves those that quiet holds to the scheduled
// ones. The next item of the queue is then to be spoken, if there is one.
func (a *Announcer) takeUnspoken(now time.Time) (unspoken []*item) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, it := range slices.Clone(a.queue) {
		if it.ending || it.overdue(now) {
			continue
		}
		a.replan(it, now)
		if it.Status == Scheduled {
			signal(a.timesChanged)
			continue
		}
		if a.decide(it.Announcement, now).Speak {
			break
		}
		it.ending = true
		unspoken = append(unspoken, it)
	}
	return unspoken
}

// planned reports whether it counts to [MaxScheduled].
func (it *item) planned() bool {
	return it.Rooms.Only || it.Status == Scheduled || it.Repeat.Times > 0 || it.At.After(it.Created)
}

// countPlanned returns the number of items for which planned is true. a.mu must
// be held.
func (a *Announcer) countPlanned() int {
	n := len(a.scheduled) + len(a.away)
	for _, it := range a.queue {
		if it.planned() {
			n++
		}
	}
	if a.current != nil && a.current.planned() {
		n++
	}
	return n
}

// byTime orders scheduled items by the time at which they are spoken; those that
// wait for the wall clock come last.
func byTime(x, y *item) int {
	if x.SpeaksAt.IsZero() != y.SpeaksAt.IsZero() {
		if x.SpeaksAt.IsZero() {
			return 1
		}
		return -1
	}
	return cmp.Or(x.SpeaksAt.Compare(y.SpeaksAt), cmp.Compare(x.Seq, y.Seq))
}

// without returns items without it.
func without(items []*item, it *item) []*item {
	return slices.DeleteFunc(items, func(other *item) bool { return other == it })
}
