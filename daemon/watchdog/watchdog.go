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
	"iter"
	"log/slog"
	"sync"
	"time"

	"pressbox/daemon/systemd"
	"pressbox/game/live"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
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

// Progress tracks one kind of work: how many operations have ended, and since when others
// run.
type Progress struct {
	// Observe is called with the duration of every operation; nil means no calls.
	Observe func(took time.Duration)

	mu      sync.Mutex // guards what follows
	ended   uint64
	lastID  int
	running map[int]time.Time // start times
}

// Begin records the start of an operation; the caller calls end when it has ended.
func (p *Progress) Begin() (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil {
		p.running = make(map[int]time.Time)
	}
	p.lastID++
	id := p.lastID
	p.running[id] = time.Now()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.Observe != nil {
			p.Observe(time.Since(p.running[id]))
		}
		delete(p.running, id)
		p.ended++
	}
}

// Count returns the number of operations that have ended.
func (p *Progress) Count() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// Check returns an error if an operation runs for longer than [Limit].
func (p *Progress) Check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, start := range p.running {
		if err := CheckDuration(time.Since(start)); err != nil {
			return err
		}
	}
	return nil
}

// A Speaker tracks the synthesis of each clip.
type Speaker struct {
	announcer.Speaker
	*Progress
}

// Speak implements [announcer.Speaker]. The time in which the caller uses a clip does not
// count.
func (s Speaker) Speak(ctx context.Context, u announce.Utterance) iter.Seq2[announce.Clip, error] {
	return func(yield func(announce.Clip, error) bool) {
		end := s.Begin()
		defer func() { end() }()
		for clip, err := range s.Speaker.Speak(ctx, u) {
			end()
			more := yield(clip, err)
			end = s.Begin()
			if !more {
				return
			}
		}
	}
}

// An Outbox tracks the writes of announcements.
type Outbox struct {
	announcer.Outbox
	*Progress
}

// Append implements [announcer.Outbox].
func (o Outbox) Append(ctx context.Context, n announce.Announcement,
	key announce.IdempotencyKey,
) (stored announce.Accepted, fresh bool, err error) {
	defer o.Begin()()
	return o.Outbox.Append(ctx, n, key)
}

// Done implements [announcer.Outbox].
func (o Outbox) Done(ctx context.Context, ended ...announce.Announcement) error {
	defer o.Begin()()
	return o.Outbox.Done(ctx, ended...)
}

// Update implements [announcer.Outbox].
func (o Outbox) Update(ctx context.Context, changed announce.Announcement) error {
	defer o.Begin()()
	return o.Outbox.Update(ctx, changed)
}

// A Journal tracks the writes of games.
type Journal struct {
	live.Journal
	*Progress
}

// Append implements [live.Journal].
func (j Journal) Append(ctx context.Context, c live.Change) (live.Space, error) {
	defer j.Begin()()
	return j.Journal.Append(ctx, c)
}
