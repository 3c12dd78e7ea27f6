package announce

import (
	"context"
	"time"
)

// expire ends announcements that were not spoken in time, until ctx ends. It
// sets one timer, for the earliest expiry; without waiting announcements it
// sets none.
func (a *Announcer) expire(ctx context.Context) {
	for {
		due, next := a.takeOverdue(time.Now())
		if len(due) > 0 {
			a.log.Info("announcements expired", "count", len(due))
			if err := a.recordEnd(ctx, Expired, "", due...); err != nil {
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
		case <-a.expirySooner:
		case <-ctx.Done():
			return
		}
	}
}

// takeOverdue marks the waiting items that have expired as ending and returns
// them. It stops the current item if that has expired and nothing of it was
// played. next is when to call it again; zero means never.
func (a *Announcer) takeOverdue(now time.Time) (due []*item, next time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, it := range a.queue {
		if it.ending {
			continue
		}
		if !now.Before(it.Expires) {
			it.ending = true
			due = append(due, it)
		} else {
			next = earlier(next, it.Expires)
		}
	}
	if it := a.current; it != nil && !it.ending && it.Status == Synthesizing {
		if !now.Before(it.Expires) {
			it.ending = true
			it.stop(errExpired)
		} else {
			next = earlier(next, it.Expires)
		}
	}
	a.nextExpiry = next
	return due, next
}

// earlier returns the earlier of two times. The first may be zero, for none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
