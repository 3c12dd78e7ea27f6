// Package announcer runs the queue of package announce: it accepts announcements, saves them, and speaks them
// one after another.
//
// One law: nothing is published before it is saved. An announcement is in the [Outbox] before its client gets
// an answer, and its end is in the outbox before it is published and before the next announcement starts. After
// a crash every accepted announcement is therefore spoken or expires, and only the one that was being spoken is
// spoken twice.
//
//	Announce ─ Outbox.Append ─ queue ─ Take
//	                                     │
//	Outbox.Done ◂─ outcome ◂─ Sink.Play ◂┴ feed ◂─ lookahead ◂─ Speaker.Speak
//
// What is played when is computed by package plan and carried out by the playout:
//
//	Ducker lowers other streams ─ chime ─ speech ─ … next one … ─ Ducker restores them
//
// While no announcement waits, comments on games are spoken ([Announcer.Comment]).
package announcer

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"pressbox/voice/announce"
	"pressbox/voice/announce/hub"
)

// An Announcer accepts announcements and speaks them one after another. Its methods may be called concurrently,
// and before and after [Announcer.Run].
type Announcer struct {
	parts    Parts
	config   atomic.Pointer[announce.Config]
	log      *slog.Logger
	speed    speedometer
	updating sync.Mutex // held while a change of an announcement is saved

	queueChanged chan struct{} // capacity 1: the queue has changed since the playout read it
	timesChanged chan struct{} // capacity 1: something is due before watchTimes wakes up
	watchers     hub.Hub[announce.Event]

	mu      sync.Mutex // guards the fields below; never held while something is saved
	queue   announce.Queue
	playing *turn                   // of the current announcement; nil if there is none
	unsaved []announce.Announcement // ends that the outbox has not saved yet
	sinkErr error                   // of the last attempt to play, if the sink was lost; nil once something was played
}

// New returns an Announcer with the announcements in the outbox. It starts nothing.
func New(c announce.Config, p Parts) (*Announcer, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	a := &Announcer{
		parts:        p,
		log:          p.Log,
		queueChanged: make(chan struct{}, 1),
		timesChanged: make(chan struct{}, 1),
	}
	a.config.Store(&c)
	waiting, ended, err := p.Outbox.Load(context.Background())
	if err != nil {
		return nil, fmt.Errorf("load announcements: %w", err)
	}
	a.queue.Load(waiting, ended, a.now())
	return a, nil
}

// Configure replaces the settings for later requests and for synthesis that starts later. Waiting announcements
// stay, even if Max is now smaller. On error the settings are unchanged.
func (a *Announcer) Configure(c announce.Config) error {
	if err := c.Check(); err != nil {
		return err
	}
	a.config.Store(&c)
	signal(a.timesChanged) // without History, it deletes texts
	return nil
}

// Run speaks announcements until ctx ends. It then lets the current sentence finish, for at most 5 seconds,
// closes the watchers' channels and returns nil. It may be called once.
func (a *Announcer) Run(ctx context.Context) error {
	p := &playout{a: a}
	p.ducking = ducking{ducker: a.parts.Ducker, log: a.log, running: &p.running}
	p.running.Go(func() { a.watchTimes(ctx) })
	for p.step(ctx) {
	}
	p.end()
	a.watchers.Close()
	return nil
}

// Watch returns the events from now on, and a function that ends them; see [hub.Hub]. The channel is closed when Run
// returns.
func (a *Announcer) Watch() (events <-chan announce.Event, stop func()) { return a.watchers.Watch() }

// now returns the present conditions of the queue.
func (a *Announcer) now() announce.Conditions {
	c := announce.Conditions{Config: *a.config.Load(), Now: time.Now(), ClockSet: true}
	if a.parts.ClockSet != nil {
		c.ClockSet = a.parts.ClockSet()
	}
	if a.parts.Controls != nil {
		c.State = a.parts.Controls.State
	}
	return c
}

// step makes a step of the queue, with the present conditions, and does what is to be done at once: what is to
// be saved, the caller saves.
func (a *Announcer) step(change func(q *announce.Queue, c announce.Conditions) announce.Step) announce.Step {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := change(&a.queue, a.now())
	a.watchers.Publish(s.Events...)
	if s.Stop != nil {
		a.playing.cause = s.Stop
		a.playing.stop(s.Stop)
	}
	if s.Wake {
		signal(a.queueChanged)
	}
	if s.Retime {
		signal(a.timesChanged)
	}
	return s
}

// signal puts a token into c unless it is full.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
