package announce

import (
	"context"
	"slices"
	"time"
)

// watchTimes ends announcements that were not spoken in time and moves those
// whose time has come into the queue, until ctx ends. It sets one timer, for the
// next of these events; if there is none, it sets none.
func (a *Announcer) watchTimes(ctx context.Context) {
	for {
		a.forgetTexts(ctx)
		overdue, next := a.advance(time.Now())
		if len(overdue) > 0 {
			a.log.Info("announcements expired", "count", len(overdue))
			if err := a.recordEnd(ctx, Expired, "", overdue...); err != nil {
				a.log.Error("expiry of announcements not saved", "err", err)
			}
			continue
		}
		var timer <-chan time.Time
		if !next.IsZero() {
			timer = time.After(time.Until(next))
		}
		select {
		case <-timer:
		case <-a.timesChanged:
		case <-ctx.Done():
			return
		}
	}
}

// advance moves the scheduled items whose time has come into the queue, marks the
// waiting ones that have expired as ending, and returns these. It stops the
// current item if that has expired and nothing of it was played. next is when to
// call it again; zero means never.
func (a *Announcer) advance(now time.Time) (overdue []*item, next time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, it := range slices.Clone(a.scheduled) {
		if it.ending || a.clockUnset(it.Announcement) {
			continue
		}
		if !now.Before(it.SpeaksAt) {
			a.replan(it, now)
		}
		if it.Status == Scheduled {
			next = earlier(next, it.SpeaksAt)
		}
	}
	for _, it := range a.queue {
		if it.ending {
			continue
		}
		if it.overdue(now) {
			it.ending = true
			overdue = append(overdue, it)
		} else if !it.interrupted {
			next = earlier(next, it.Expires)
		}
	}
	if it := a.current; it != nil && !it.ending && !it.interrupted && it.Status == Synthesizing {
		if it.overdue(now) {
			it.ending = true
			it.stop(errExpired)
		} else {
			next = earlier(next, it.Expires)
		}
	}
	a.nextEvent = next
	return overdue, next
}

// forgetTexts deletes the texts of ended announcements if they are not to be
// saved.
func (a *Announcer) forgetTexts(ctx context.Context) {
	if a.config.Load().History {
		return
	}
	var changed []Announcement
	a.mu.Lock()
	for _, it := range a.ended {
		if it.Message != "" && !it.Rooms.Open() {
			a.endedBytes -= it.size()
			it.Title, it.Message = "", ""
			a.endedBytes += it.size()
			changed = append(changed, it.Announcement)
		}
	}
	a.mu.Unlock()
	if len(changed) == 0 {
		return
	}
	if err := a.outbox.Done(context.WithoutCancel(ctx), changed...); err != nil {
		a.log.Error("texts of ended announcements not deleted", "err", err)
	}
}

// earlier returns the earlier of two times. The first may be zero, for none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
