package leagues

import (
	"context"
	"errors"
	"slices"
	"time"

	"pressbox/game/protocol"
)

const (
	// pendingFor is the time after which a league that has not started is deleted, as a pending game is.
	pendingFor = 7 * 24 * time.Hour
	// coverEvery is the time between two looks at a game whose managers may be covered; the first one is so long
	// after Run has begun, when managers had time to connect again.
	coverEvery = 2 * time.Minute

	firstRetry = 5 * time.Second
	lastRetry  = 10 * time.Minute
)

// A backoff holds when a league may be advanced again.
type backoff struct {
	failures int       // in a row
	retry    time.Time // after a failure
	covered  time.Time // when games were last looked at for absent managers
}

// fail notes a failure: each one doubles the time until the next attempt.
func (b *backoff) fail(now time.Time) {
	b.retry = now.Add(min(firstRetry<<min(b.failures, 16), lastRetry))
	b.failures++
}

// Run advances the leagues until ctx ends, then returns nil.
func (l *Leagues) Run(ctx context.Context) error {
	began := time.Now()
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.changed:
		case <-alarm.C:
		}
		if next := l.advanceAll(ctx, began); next.IsZero() {
			alarm.Stop()
		} else {
			alarm.Reset(max(0, time.Until(next)))
		}
	}
}

// Wake lets Run look for what is due: after a game has ended, or the wall clock was set. It does not block.
func (l *Leagues) Wake() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// advanceAll does what is due, one step of each league at a time, and returns when something is due next; zero is
// never.
func (l *Leagues) advanceAll(ctx context.Context, began time.Time) (next time.Time) {
	for more := true; more && ctx.Err() == nil; {
		more, next = false, time.Time{}
		for _, league := range slices.Backward(l.snapshot()) {
			done, due := l.advance(ctx, league.ID, began)
			more, next = more || done, earlier(next, due)
		}
	}
	return next
}

// advance does one step of a league. done reports whether another may be due; otherwise one is due at next.
func (l *Leagues) advance(ctx context.Context, id string, began time.Time) (done bool, next time.Time) {
	e, err := l.entry("", id)
	if err != nil {
		return false, time.Time{} // deleted meanwhile
	}
	now := time.Now()
	if now.Before(e.retry) {
		return false, e.retry
	}
	s := stepper{Leagues: l, entry: e, now: now, began: began}
	done, err = s.step(ctx)
	if err == nil {
		e.failures = 0
		l.setStalled(e, "")
		return done, s.due
	}
	if ctx.Err() != nil {
		return false, time.Time{}
	}
	e.fail(now)
	l.setStalled(e, detail(err))
	l.config.Log.Error("league cannot advance", "league", id, "retry", e.retry, "err", err)
	return false, e.retry
}

func (l *Leagues) setStalled(e *entry, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.stalled = why
}

// detail returns what clients may know of an error.
func detail(err error) string {
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		return refused.Detail
	}
	return "internal error"
}

// A stepper does one step of one league.
type stepper struct {
	*Leagues
	*entry
	now, began time.Time
	due        time.Time // when something is due that is not yet
}

// step does the first thing that is due, and reports whether it did; nothing is due before s.due otherwise.
func (s *stepper) step(ctx context.Context) (done bool, err error) {
	league := s.present(s.entry)
	if league == nil {
		return false, nil
	}
	switch league.Status() {
	case Pending:
		if s.wait(league.Created.Add(pendingFor)) {
			return false, nil
		}
		return true, s.remove(ctx, "", league.ID, func(now *League) error {
			if now.Status() != Pending {
				return protocol.Refuse(protocol.NotPending, "the league has started")
			}
			return nil
		})
	case Finished:
		return false, nil
	case Active:
	}
	for _, n := range league.Competition.Due() {
		if done, err := s.stepGame(ctx, league, n); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// wait reports whether a time is still to come, and notes it.
func (s *stepper) wait(at time.Time) bool {
	if !s.now.Before(at) {
		return false
	}
	s.due = earlier(s.due, at)
	return true
}

// stepGame does the next step of a game of the present day: an id, the game itself, its result.
func (s *stepper) stepGame(ctx context.Context, league *League, n int) (done bool, err error) {
	id := league.Competition.Games[n].ID
	if id == "" {
		if s.wait(league.playsAt(n, s.config.Zone)) {
			return false, nil
		}
		return true, s.change(ctx, s.entry, func(l *League) (*League, error) { return l.assign(n, newID()), nil })
	}
	o, err := s.config.Games.Outcome(ctx, id)
	if err != nil {
		return false, err
	}
	switch o.Status {
	case "":
		return true, s.config.Games.Host(ctx, league.fixture(n))
	case protocol.Finished:
		return true, s.change(ctx, s.entry, func(l *League) (*League, error) { return l.record(n, o, stamp(s.now)) })
	case protocol.Pending, protocol.Active:
	}
	if err := s.vacate(ctx, league, n); err != nil {
		return false, err
	}
	return false, s.cover(ctx, league, id)
}

// vacate gives the sides of managers who have left the league to the bot, in a game that was created before they left.
func (s *stepper) vacate(ctx context.Context, league *League, n int) error {
	g := &league.Competition.Games[n]
	for _, seat := range [2]int{g.Away, g.Home} {
		if left := league.Seats[seat].Left; left.ID != "" {
			if err := s.config.Games.Vacate(ctx, g.ID, left); err != nil {
				return err
			}
		}
	}
	return nil
}

// cover lets the bot act for absent managers once the league's limit is over. What it plays to the end wakes Run up.
func (s *stepper) cover(ctx context.Context, league *League, id string) error {
	absent, everyone := league.coverAt()
	if s.wait(absent) || s.wait(s.began.Add(coverEvery)) ||
		!s.now.Equal(s.covered) && s.wait(s.covered.Add(coverEvery)) {
		return nil
	}
	s.covered = s.now
	s.wait(s.now.Add(coverEvery))
	return s.config.Games.Cover(ctx, id, !s.now.Before(everyone))
}

// earlier returns the earlier of two times, of which zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
