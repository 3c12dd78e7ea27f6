package announce

import (
	"context"
	"time"
)

// expire ends what was not spoken in time, until ctx ends. One timer stands at
// the earliest of all; while nothing waits, nothing ticks.
func (a *Announcer) expire(ctx context.Context) {
	for {
		due, next := a.overdue(time.Now())
		if len(due) > 0 {
			a.log.Info("announcements expired", "count", len(due))
			if err := a.end(ctx, Expired, "", due...); err != nil {
				a.log.Error("the end of expired announcements is not kept", "err", err)
			}
			continue
		}
		var ring <-chan time.Time
		if !next.IsZero() {
			ring = time.After(time.Until(next))
		}
		select {
		case <-ring:
		case <-a.sooner:
		case <-ctx.Done():
			return
		}
	}
}

// overdue marks the waiting notices that expired by now as ending and returns
// them. The head is silenced when it has expired and nothing of it was played.
// Next is when it should be asked again; zero means never.
func (a *Announcer) overdue(now time.Time) (due []*entry, next time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.line {
		if e.ending {
			continue
		}
		if !now.Before(e.Expires) {
			e.ending = true
			due = append(due, e)
		} else {
			next = earlier(next, e.Expires)
		}
	}
	if h := a.head; h != nil && !h.ending && h.Status == Synthesizing {
		if !now.Before(h.Expires) {
			h.ending = true
			h.silence(errExpired)
		} else {
			next = earlier(next, h.Expires)
		}
	}
	a.alarm = next
	return due, next
}

// earlier returns the earlier of two times, of which a may be zero: none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
