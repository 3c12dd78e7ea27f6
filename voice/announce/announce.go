// Package announce owns the queue of announcements: what is accepted, in which
// order it is spoken, and what becomes of it.
//
// One law: nothing is told that was not kept. An announcement is in the
// [Outbox] before its sender hears that it was accepted, and its end is there
// before anybody is told of it and before the next one begins. Therefore after
// a crash every accepted announcement is spoken or expires, and none is spoken
// twice but the one that was being spoken.
//
// Only acceptance and ends are kept. That a notice is being synthesised or
// played lives in memory: a restart would make it queued again in any case,
// so keeping it would cost two more writes to a memory card and buy nothing.
//
//	Announce ─ check ─ reserve a place ─ Outbox.Keep ─ line ─┐
//	                                                         │ take: urgent first
//	Outbox.Save ◂─ verdict ◂─ Sink.Play ◂─ feed ◂─ making ◂──┘
//
// When the line is empty, remarks are made: what is said of a game as it is
// played, which is never kept, and not worth saying a little later.
package announce

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Config is how the queue behaves.
type Config struct {
	Max    int           // announcements that may wait behind the head; 0 means none
	TTL    time.Duration // of a request that gives none: 5 s to 24 h
	Rate   int           // words per minute of a request that gives none: 60–400
	Volume int           // 0 silent – 100, of every announcement
}

// An Announcer accepts announcements and speaks them one after another. Its
// methods may be called concurrently, and before and after [Announcer.Run].
type Announcer struct {
	config  atomic.Pointer[Config]
	outbox  Outbox
	speaker Speaker
	sink    Sink
	log     *slog.Logger

	changed chan struct{} // holds a token when the line changed since the stage looked
	sooner  chan struct{} // holds a token when something expires before the alarm

	mu       sync.Mutex // guards what follows
	seq      uint64     // of the newest notice
	promised places     // of requests that are being kept
	line     line       // those that wait
	remarks  []remark   // that wait, the one that waited longest first; at most one about each thing
	head     *entry     // the one that is synthesised or played; nil means none
	byID     map[string]*entry
	ended    []*entry       // remembered, oldest end first
	unkept   []Announcement // ends that the outbox could not take so far
	lost     error          // why the last attempt to play found no sink; nil since one was heard
	alarm    time.Time      // when the next one expires, as the expirer knows; zero means never
	watchers map[chan Event]struct{}
	over     bool // Run has ended
}

// New returns an announcer with all that the outbox kept. It starts nothing.
func New(c Config, kept Outbox, speaker Speaker, sink Sink, log *slog.Logger) (*Announcer, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	a := &Announcer{
		outbox: kept, speaker: speaker, sink: sink, log: log,
		changed:  make(chan struct{}, 1),
		sooner:   make(chan struct{}, 1),
		byID:     make(map[string]*entry),
		watchers: make(map[chan Event]struct{}),
	}
	a.config.Store(&c)
	if err := a.load(); err != nil {
		return nil, fmt.Errorf("load the announcements: %w", err)
	}
	return a, nil
}

// Configure has what is accepted, and what is begun to be spoken, from now on be
// as c says. What waits stays, also beyond a smaller Max. An error changes nothing.
func (a *Announcer) Configure(c Config) error {
	if err := c.check(); err != nil {
		return err
	}
	a.config.Store(&c)
	return nil
}

// Run speaks until ctx ends. It then finishes the sentence that is being
// spoken, within 5 seconds, hangs up on the watchers and returns nil. It may
// be called once.
func (a *Announcer) Run(ctx context.Context) error {
	s := &stage{a: a}
	s.running.Go(func() { a.expire(ctx) })
	for s.step(ctx) {
	}
	s.drop()
	s.running.Wait()
	a.hangUp()
	return nil
}

// load takes over what the outbox kept. Whatever was being spoken is queued
// again, as the outbox knows only how it was accepted.
func (a *Announcer) load() error {
	waiting, ended, err := a.outbox.Load(context.Background())
	if err != nil {
		return err
	}
	for _, n := range waiting {
		e := &entry{Announcement: n}
		a.line.add(e)
		a.byID[n.ID] = e
		a.seq = max(a.seq, n.Seq)
	}
	for _, n := range slices.Backward(ended) {
		a.remember(&entry{Announcement: n})
		a.seq = max(a.seq, n.Seq)
	}
	return nil
}

// check says what a program may not configure.
func (c Config) check() error {
	switch {
	case c.Max < 0:
		return fmt.Errorf("a queue for %d announcements", c.Max)
	case c.TTL < minTTL || c.TTL > maxTTL:
		return fmt.Errorf("a default time to live of %s, expected %s to %s", c.TTL, minTTL, maxTTL)
	case c.Rate < minRate || c.Rate > maxRate:
		return fmt.Errorf("a default rate of %d words per minute, expected %d to %d", c.Rate, minRate, maxRate)
	case c.Volume < 0 || c.Volume > 100:
		return fmt.Errorf("a volume of %d, expected 0 to 100", c.Volume)
	}
	return nil
}

// poke leaves a token for whoever waits on c.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
