// Package announce queues announcements and speaks them one after another.
//
// One law: nothing is published before it is saved. An announcement is in the
// [Outbox] before its client gets an answer, and its end is in the outbox
// before it is published and before the next announcement starts. After a
// crash every accepted announcement is therefore spoken or expires, and only
// the one that was being spoken is spoken twice.
//
// Only acceptance, changes of the order and ends are saved. The statuses
// synthesizing and playing exist in memory only: after a restart the announcement
// is queued again anyway, and saving them would cost two more writes. An
// announcement that an urgent one interrupts is queued again, with the sentence
// from which on it is spoken, and so is one that a clean stop cuts.
//
//	Announce ─ Check ─ reserve a place ─ Outbox.Append ─┬───────── queue ─┐
//	                                                    └ schedule ─┘     │ take: urgent first
//	Outbox.Done ◂─ outcome ◂─ Sink.Play ◂─ feed ◂─ synthesis ◂─ policy ◂──┘
//
// What is played when is computed by package plan and carried out by the playout:
//
//	Ducker lowers other streams ─ chime ─ speech ─ … next one … ─ Ducker restores them
//
// While the queue is empty, comments on games are spoken ([Announcer.Comment]).
// They are never saved and are dropped when they are late.
package announce

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pressbox/voice/announce/policy"
)

// Config holds the settings of the queue.
type Config struct {
	Max    int           // announcements that may wait behind the current one; 0 means none
	TTL    time.Duration // default time to live: 5 s to 24 h
	Rate   int           // default words per minute: 60–400
	Volume int           // percent, 0–100; without [Controls]
	// History is true if the texts of ended announcements are saved.
	History bool
	// Chime and ChimeUrgent are the default chimes of usual and urgent
	// announcements, see [audio.Chime]; "" means none.
	Chime, ChimeUrgent string
	Duck               float64 // by which other streams are lowered while something is spoken, in dB, at most 0
}

// Parts holds the parts of an Announcer. Outbox, Speaker, Sink and Log are required.
type Parts struct {
	Outbox   Outbox
	Speaker  Speaker
	Sink     Sink
	Ducker   Ducker   // nil: other streams stay as they are
	Controls Controls // nil: the volume of the Config, and never quiet
	// Estimate returns the expected duration of a text, in a voice that is
	// usable; nil means that texts are not limited by their duration.
	Estimate func(voice, text string, rate int) time.Duration
	// ClockSet reports whether the wall clock has been set since the host was
	// started; nil means that it has.
	ClockSet func() bool
	Rooms    RoomNames // nil: there are no other rooms
	Log      *slog.Logger
}

// Controls provide what applies to all announcements. [Announcer.Reconsider] is
// called when it has changed.
type Controls interface {
	// State returns the state at a moment, present or future. The announcer is
	// locked: State must not call it.
	State(at time.Time) policy.State
}

// An Announcer accepts announcements and speaks them one after another. Its
// methods may be called concurrently, and before and after [Announcer.Run].
type Announcer struct {
	config   atomic.Pointer[Config]
	outbox   Outbox
	speaker  Speaker
	sink     Sink
	ducker   Ducker   // nil if there is none
	controls Controls // nil if there are none
	estimate func(voice, text string, rate int) time.Duration
	clockSet func() bool
	rooms    RoomNames // nil if there are none
	log      *slog.Logger
	speed    speedometer

	queueChanged chan struct{} // capacity 1: the queue has changed since the playout read it
	timesChanged chan struct{} // capacity 1: something is due before nextEvent

	updating   sync.Mutex   // held while a change of the current item is saved
	mu         sync.Mutex   // guards the fields below
	seq        uint64       // of the newest announcement
	reserved   reservations // places of requests that are being saved
	queue      queue        // the waiting announcements
	scheduled  []*item      // those that wait for their time, in no order
	away       []*item      // those for other rooms only, oldest first
	comments   []comment    // waiting, oldest first; at most one per topic
	current    *item        // being synthesized or played; nil if none
	byID       map[string]*item
	saving     map[string]*item // reserved and not yet in byID
	ended      []*item          // recently ended, oldest end first
	endedBytes int64            // sum of their sizes
	unsaved    []Announcement   // ends that the outbox has not saved yet
	sinkErr    error            // of the last attempt to play, if the sink was lost; nil once something was played
	nextEvent  time.Time        // when watchTimes wakes up; zero means never
	watchers   map[chan Event]struct{}
	closed     bool // Run has returned
}

// New returns an Announcer with the announcements in the outbox. It starts
// nothing.
func New(c Config, p Parts) (*Announcer, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	a := &Announcer{
		outbox: p.Outbox, speaker: p.Speaker, sink: p.Sink, ducker: p.Ducker, log: p.Log,
		controls: p.Controls, estimate: p.Estimate, clockSet: p.ClockSet, rooms: p.Rooms,
		queueChanged: make(chan struct{}, 1),
		timesChanged: make(chan struct{}, 1),
		byID:         make(map[string]*item),
		saving:       make(map[string]*item),
		watchers:     make(map[chan Event]struct{}),
	}
	if a.clockSet == nil {
		a.clockSet = func() bool { return true }
	}
	a.config.Store(&c)
	if err := a.load(); err != nil {
		return nil, fmt.Errorf("load announcements: %w", err)
	}
	return a, nil
}

// Configure replaces the settings for later requests and for synthesis that
// starts later. Waiting announcements stay, even if Max is now smaller. On
// error the settings are unchanged.
func (a *Announcer) Configure(c Config) error {
	if err := c.check(); err != nil {
		return err
	}
	a.config.Store(&c)
	signal(a.timesChanged) // without History, it deletes texts
	return nil
}

// Run speaks announcements until ctx ends. It then lets the current sentence
// finish, for at most 5 seconds, closes the watchers' channels and returns nil.
// It may be called once.
func (a *Announcer) Run(ctx context.Context) error {
	p := &playout{a: a}
	p.ducking = ducking{ducker: a.ducker, log: a.log, running: &p.running}
	p.running.Go(func() { a.watchTimes(ctx) })
	for p.step(ctx) {
	}
	p.end()
	a.closeWatchers()
	return nil
}

// load reads the outbox. An announcement that was being spoken is queued again,
// because the outbox has it as it was accepted.
func (a *Announcer) load() error {
	waiting, ended, err := a.outbox.Load(context.Background())
	if err != nil {
		return err
	}
	now := time.Now()
	for _, ann := range waiting {
		it := &item{Announcement: ann}
		a.plan(it, now)
		a.insert(it)
		a.byID[ann.ID] = it
		a.seq = max(a.seq, ann.Seq)
	}
	for _, ann := range slices.Backward(ended) {
		a.addEnded(&item{Announcement: ann})
		a.seq = max(a.seq, ann.Seq)
	}
	return nil
}

// check returns an error if a setting is out of range.
func (c Config) check() error {
	var wrong RequestError
	wrong.checkSeconds("ttl", c.TTL)
	wrong.checkNumber("rate", c.Rate)
	switch {
	case c.Max < 0:
		return fmt.Errorf("queue length %d, expected 0 or more", c.Max)
	case len(wrong.Violations) > 0:
		return fmt.Errorf("default %w", &wrong)
	case c.Volume < 0 || c.Volume > 100:
		return fmt.Errorf("volume %d, expected 0 to 100", c.Volume)
	}
	return nil
}

// signal puts a token into c unless it is full.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
