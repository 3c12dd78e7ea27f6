// Package watchdog notifies systemd's watchdog while every component of the server makes
// progress.
//
// One law: a component fails only if a restart of the server helps. A sound server that is
// down only degrades the server.
package watchdog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"pressbox/daemon/systemd"
	"pressbox/voice/announce"
)

// Limit is the time without progress after which work counts as hanging: several times the
// time in which a Raspberry Pi loads its largest voice.
const Limit = 90 * time.Second

// CheckDuration returns an error if one operation has taken longer than [Limit].
func CheckDuration(d time.Duration) error {
	if d > Limit {
		return fmt.Errorf("one operation has taken %s", d.Round(time.Second))
	}
	return nil
}

// A Component has a loop or calls something that could hang.
type Component struct {
	Name  string
	Check func(context.Context) error // returns an error if it makes no progress
}

// A QueueCheck detects that nothing is played although announcements wait and there is an
// audio output. Its zero value is ready to use.
type QueueCheck struct {
	mu       sync.Mutex // guards what follows
	progress uint64     // at the last check
	current  string     // the announcement being played at the last check
	since    time.Time  // of that state; zero means that there was nothing to play
}

// Check returns an error if nothing has changed for longer than [Limit]; progress is a count
// of operations.
func (q *QueueCheck) Check(now time.Time, s announce.Stats, progress uint64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	idle := s.Current == "" && s.Oldest.IsZero()
	if idle || s.SinkError != nil || q.since.IsZero() || q.progress != progress || q.current != s.Current {
		q.progress, q.current, q.since = progress, s.Current, now
		if idle {
			q.since = time.Time{}
		}
		return nil
	}
	if unchanged := now.Sub(q.since); unchanged > Limit {
		return fmt.Errorf("%d announcements wait, and there was no progress for %s",
			s.Waiting+1, unchanged.Round(time.Second))
	}
	return nil
}

// A Watchdog checks components.
type Watchdog struct {
	Components []Component
	OK         func() // called after each round in which no component failed
	Log        *slog.Logger
}

// Run notifies systemd's watchdog after each round in which no component failed, until ctx
// ends. Without a watchdog it waits for ctx.
func (w Watchdog) Run(ctx context.Context) error {
	limit, err := systemd.Watchdog()
	w.logNotify(err)
	if limit == 0 {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(limit / 3)
	defer tick.Stop()
	rounds := newRounds(w.Components, limit/6)
	for {
		if failures := rounds.check(ctx); len(failures) == 0 {
			w.logNotify(systemd.Alive())
			w.OK()
		} else if ctx.Err() == nil {
			for _, f := range failures {
				w.Log.Error("component hangs", "part", f.name, "err", f.err)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func (w Watchdog) logNotify(err error) {
	if err != nil {
		w.Log.Warn("sd_notify failed", "err", err)
	}
}

// rounds checks all components again and again. A component whose check has not returned
// is not checked again before it has.
type rounds struct {
	components []Component
	timeout    time.Duration // of one round
	pending    []chan error  // parallel to components; nil while no check runs
}

type failure struct {
	name string
	err  error
}

var errTimeout = errors.New("the check does not return")

func newRounds(components []Component, timeout time.Duration) *rounds {
	return &rounds{components: components, timeout: timeout, pending: make([]chan error, len(components))}
}

// check checks every component and returns the failures.
func (r *rounds) check(ctx context.Context) []failure {
	ctx, stop := context.WithTimeout(ctx, r.timeout)
	defer stop()
	for i, c := range r.components {
		if r.pending[i] == nil {
			result := make(chan error, 1)
			r.pending[i] = result
			go func() { result <- c.Check(ctx) }() // a check that hangs ends with the process
		}
	}
	var failures []failure
	for i, c := range r.components {
		err := errTimeout
		select {
		case err = <-r.pending[i]:
			r.pending[i] = nil
		case <-ctx.Done():
		}
		if err != nil {
			failures = append(failures, failure{c.Name, err})
		}
	}
	return failures
}
