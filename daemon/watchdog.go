package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"pressbox/daemon/systemd"
	"pressbox/voice/announce"
)

// A part of the daemon proves that it makes progress. What only degrades the
// daemon, such as a sound server that is away, is no reason to end it: check
// returns an error only where a restart would help.
type part struct {
	name  string
	check func(context.Context) error
}

// parts are all owners of a loop or of something that could hang.
func (h *house) parts() []part {
	return []part{
		{"requests", h.answers},
		{"speech", func(context.Context) error { return h.speaking.stuck() }},
		{"store", func(context.Context) error { return h.keeping.stuck() }},
		{"sound", func(context.Context) error { return busyFor(h.sink.Busy()) }},
		{"announcements", func(context.Context) error {
			moved := h.speaking.count() + h.keeping.count() + h.sink.Written()
			return h.queue.check(time.Now(), h.announcer.Stats(), moved)
		}},
	}
}

// answers asks the daemon how it is, as the administrator would: through the
// router and every part that reports.
func (h *house) answers(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/admin/status", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := inProcess{h.web.AdminHandler()}.RoundTrip(r)
	if err != nil {
		return err
	}
	if err := resp.Body.Close(); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers its own question with %d", resp.StatusCode)
	}
	return nil
}

func busyFor(d time.Duration) error {
	if d > unmoved {
		return fmt.Errorf("one piece of work has taken %s", d.Round(time.Second))
	}
	return nil
}

// A queueWatch finds that nothing moves although there is something to say, and
// something to say it on.
type queueWatch struct {
	mu    sync.Mutex // guards what follows
	moved uint64     // as it was last time
	head  string
	since time.Time // when it became so; zero means that there was nothing to say
}

func (q *queueWatch) check(now time.Time, s announce.Stats, moved uint64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	idle := s.Current == "" && s.Oldest.IsZero()
	if idle || s.SinkError != nil || q.since.IsZero() || q.moved != moved || q.head != s.Current {
		q.moved, q.head, q.since = moved, s.Current, now
		if idle {
			q.since = time.Time{}
		}
		return nil
	}
	if still := now.Sub(q.since); still > unmoved {
		return fmt.Errorf("%d announcements wait and nothing has moved for %s", s.Waiting+1, still.Round(time.Second))
	}
	return nil
}

// watch feeds the service manager's watchdog for as long as every part makes
// progress. Without a watchdog it waits for ctx.
func (h *house) watch(ctx context.Context) error {
	limit, err := systemd.Watchdog()
	h.tell(err)
	if limit == 0 {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(limit / 3)
	defer tick.Stop()
	rounds := newRounds(h.parts(), limit/6)
	for {
		if failed := rounds.ask(ctx); len(failed) == 0 {
			h.tell(systemd.Alive())
			h.figures.alive.SetToCurrentTime()
		} else if ctx.Err() == nil {
			for _, f := range failed {
				h.log.Error("a part of the daemon hangs", "part", f.name, "err", f.err)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// rounds asks all parts again and again. A part that has not answered is not
// asked again before it has.
type rounds struct {
	parts    []part
	patience time.Duration // with one round
	asked    []chan error  // beside each part; nil while it is not being asked
}

type failure struct {
	name string
	err  error
}

var errNoAnswer = errors.New("it does not answer")

func newRounds(parts []part, patience time.Duration) *rounds {
	return &rounds{parts: parts, patience: patience, asked: make([]chan error, len(parts))}
}

// ask asks every part and returns those that hang.
func (r *rounds) ask(ctx context.Context) []failure {
	ctx, stop := context.WithTimeout(ctx, r.patience)
	defer stop()
	for i, p := range r.parts {
		if r.asked[i] == nil {
			answer := make(chan error, 1)
			r.asked[i] = answer
			go func() { answer <- p.check(ctx) }() // whoever hangs here ends with the process
		}
	}
	var failed []failure
	for i, p := range r.parts {
		err := errNoAnswer
		select {
		case err = <-r.asked[i]:
			r.asked[i] = nil
		case <-ctx.Done():
		}
		if err != nil {
			failed = append(failed, failure{p.name, err})
		}
	}
	return failed
}
