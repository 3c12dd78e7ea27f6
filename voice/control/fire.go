package control

import (
	"context"
	"errors"
	"time"

	"pressbox/voice/announce"
)

const (
	// MaxLate is the delay after which a missed time is not made up for.
	MaxLate = 10 * time.Minute

	// retryAfter is the time after which an announcement that could not be accepted, because the queue or the
	// disk was full, is tried again.
	retryAfter = 10 * time.Second
)

// ClockChanged makes Run compute its times again: the wall clock was set.
func (s *Schedules) ClockChanged() { signal(s.clockSet) }

// Run creates the announcements of the schedules at their times, until ctx ends. It sets one timer, for the
// schedule that is due first.
func (s *Schedules) Run(ctx context.Context) error {
	s.adjust(ctx)
	for {
		var timer <-chan time.Time
		if wait, ok := s.fireDue(ctx, s.Now()); ok {
			timer = time.After(wait)
		}
		select {
		case <-timer:
		case <-s.changed:
		case <-s.clockSet:
			s.adjust(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// adjust moves the times of all schedules that the wall clock, as it is set now, reaches earlier: they were
// computed while it showed a later time, or none.
func (s *Schedules) adjust(ctx context.Context) {
	if !s.ClockSet() {
		return
	}
	now := s.Now()
	for _, one := range s.List() {
		if next := one.after(now); one.Next.IsZero() || next.Before(one.Next) && now.Before(one.Next) {
			s.reschedule(ctx, one, next)
		}
	}
}

// reschedule saves when a schedule is due next, unless it was changed since. If that cannot be saved, it
// applies nevertheless: the idempotency key prevents a second announcement after a restart.
func (s *Schedules) reschedule(ctx context.Context, one Schedule, next time.Time) {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.mu.Lock()
	current, ok := s.all[one.ID]
	if !ok || !current.Next.Equal(one.Next) || next.Equal(one.Next) {
		s.mu.Unlock()
		return
	}
	moved := *current
	moved.Next = next
	moved.forget(s.Now())
	s.all[one.ID] = &moved
	s.mu.Unlock()
	if err := saveRecord(context.WithoutCancel(ctx), s.Repository, schedulePrefix+one.ID, moved); err != nil {
		s.Log.Error("next time of a schedule not saved", "schedule", one.ID, "err", err)
	}
	s.Hub.Publish(ChangedSchedules)
}

// fireDue creates the announcements that are due, and returns the time until the next one; ok is false if there
// is none.
func (s *Schedules) fireDue(ctx context.Context, now time.Time) (wait time.Duration, ok bool) {
	if !s.ClockSet() {
		return 0, false
	}
	for _, one := range s.List() {
		if one.Next.IsZero() {
			continue
		}
		next := one.Next
		if !now.Before(next) {
			if s.fire(ctx, one, now) {
				next = one.after(now)
				s.reschedule(ctx, one, next)
			} else {
				next = now.Add(retryAfter)
			}
		}
		if left := next.Sub(now); !ok || left < wait {
			wait, ok = left, true
		}
	}
	return wait, ok
}

// fire creates the announcement of a schedule that is due, and reports whether it is finished with that time.
// The announcement is saved before the next time of the schedule; after a crash between the two, its
// idempotency key is that of the same announcement, which is not created twice.
func (s *Schedules) fire(ctx context.Context, one Schedule, now time.Time) bool {
	if late := now.Sub(one.Next); late > MaxLate {
		s.Log.Warn("scheduled announcement missed", "schedule", one.ID, "due", one.Next, "late", late)
		return true
	}
	r := one.Request()
	r.Sender = announce.Sender{Kind: announce.FromSchedule, Name: one.Name, Client: "schedule:" + one.ID}
	r.IdempotencyKey, r.Stored = one.Next.Format(time.RFC3339), true
	view, err := s.Announcer.Announce(ctx, r)
	_, invalid := errors.AsType[*announce.RequestError](err)
	switch {
	case err == nil:
		s.Log.Info("scheduled announcement created", "schedule", one.ID, "announcement", view.ID)
		return true
	case invalid, errors.Is(err, announce.ErrKeyReused):
		s.Log.Error("scheduled announcement not accepted", "schedule", one.ID, "err", err)
		return true
	case ctx.Err() == nil:
		s.Log.Warn("scheduled announcement delayed", "schedule", one.ID, "err", err)
	}
	return false
}
