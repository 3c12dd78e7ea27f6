package announce

import (
	"context"
	"errors"
	"slices"
	"time"

	"pressbox/audio"
)

// take makes the first of the line the head, which silence stops. It returns
// nil when none waits.
func (a *Announcer) take(silence context.CancelCauseFunc) *entry {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.first(time.Now())
	if e == nil {
		return nil
	}
	a.line.remove(e)
	a.head = e
	e.silence, e.settled = silence, make(chan struct{})
	e.Status = Synthesizing
	a.tell(e)
	return e
}

// peek returns the notice that take would make the head.
func (a *Announcer) peek() (Announcement, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.first(time.Now())
	if e == nil {
		return Announcement{}, false
	}
	return e.Announcement, true
}

// first returns the first of the line that nobody is ending and that may
// still be spoken; nil means none. An overdue one is left to the expirer,
// which a clock that was set forward did not wake. a.mu must be held.
func (a *Announcer) first(now time.Time) *entry {
	for _, e := range a.line {
		switch {
		case e.ending:
		case !now.Before(e.Expires):
			poke(a.sooner)
		default:
			return e
		}
	}
	return nil
}

// begin notes that the first sample of e is being played.
func (a *Announcer) begin(e *entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e.Status, e.Started = Playing, time.Now().UTC()
	a.lost = nil
	a.tell(e)
}

// requeue puts the head back into its place in the line; lost says why. It
// returns false when somebody is ending it.
func (a *Announcer) requeue(e *entry, lost error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e.ending {
		return false
	}
	if errors.Is(lost, audio.ErrSinkLost) && a.lost == nil {
		a.log.Warn("announcement interrupted, it will be spoken again", "announcement", e.ID, "err", lost)
		a.lost = lost
	}
	a.head = nil
	e.Status, e.Started = Queued, time.Time{}
	a.line.add(e)
	close(e.settled)
	a.tell(e)
	poke(a.sooner)
	return true
}

// settle ends the head. When it returns, the end is on the disk or, where the
// disk took none, remembered for it: a full disk must not silence the house.
func (a *Announcer) settle(ctx context.Context, e *entry, status Status, why string) {
	a.mu.Lock()
	e.ending = true
	a.mu.Unlock()
	e.unsaved = a.end(ctx, status, why, e)
	close(e.settled)
	if e.unsaved != nil {
		a.log.Error("the end of an announcement is not kept: it could be spoken again after a restart", "announcement", e.ID, "err", e.unsaved)
	}
	if status == Failed {
		a.log.Warn("announcement failed", "announcement", e.ID, "err", why)
		return
	}
	a.log.Info("announcement ended", "announcement", e.ID, "status", status, "waited", since(e.Created, e.Started), "took", since(e.Started, e.Ended))
}

// since returns the time between two moments, 0 when either never came.
func since(from, to time.Time) time.Duration {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	return to.Sub(from)
}

// end records that the entries, which the caller has marked as ending, ended
// so: on the disk, then in memory, and then it tells. It returns why the disk
// did not take it; then the next end takes it along.
func (a *Announcer) end(ctx context.Context, status Status, why string, es ...*entry) error {
	now := time.Now().UTC()
	a.mu.Lock()
	ends := a.unkept
	a.unkept = nil
	for _, e := range es {
		n := e.Announcement
		n.Status, n.Error, n.Ended = status, why, now
		ends = append(ends, n)
	}
	a.mu.Unlock()

	err := a.outbox.Done(context.WithoutCancel(ctx), ends...)

	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.unkept = append(a.unkept, ends...)
	}
	for _, e := range es {
		e.Status, e.Error, e.Ended = status, why, now
		if a.head == e {
			a.head, e.silence = nil, nil
		}
		a.remember(e)
		a.tell(e)
	}
	a.line = slices.DeleteFunc(a.line, func(e *entry) bool { return e.Status.Ended() })
	poke(a.changed)
	return err
}

// remember puts an ended entry among the ended ones and forgets the oldest.
// a.mu must be held.
func (a *Announcer) remember(e *entry) {
	a.ended = append(a.ended, e)
	a.byID[e.ID] = e
	for Evictable(time.Since(a.ended[0].Ended), len(a.ended)) {
		delete(a.byID, a.ended[0].ID)
		a.ended[0] = nil
		a.ended = a.ended[1:]
	}
}
