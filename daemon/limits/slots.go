package limits

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Limits of speech that is sent to clients as it is synthesized.
const (
	Speeches = 2 // that are synthesized at once: each uses a processor
	Readers  = 8 // that are synthesized or read at once, one of a client: each may run an ffmpeg
)

// The errors of [Slots.Take].
var (
	ErrBusy       = errors.New("too many speech requests in progress")
	ErrClientBusy = errors.New("a speech request of this address is in progress")
)

// Slots limits what is made for clients at once. A client that reads what was made uses none of what
// others need: it has no processor meanwhile, and loses its place to a new client if there is no other.
type Slots struct {
	processors, places int

	mu    sync.Mutex // guards the fields below, and those of all slots
	busy  int        // processors
	slots []*Slot
	freed chan struct{} // closed when a processor or a place is free
}

// A Slot is the place of a client.
type Slot struct {
	*Slots
	client  netip.Prefix
	lose    context.CancelFunc
	held    bool      // it has a processor
	reading time.Time // since when it has none
}

// NewSlots returns slots for Speeches and Readers.
func NewSlots() *Slots {
	return &Slots{processors: Speeches, places: Readers, freed: make(chan struct{})}
}

// Take takes a place and a processor for a client until [Slot.Release], or returns [ErrBusy] or
// [ErrClientBusy]. The zero client may have several places, and loses none. The context ends with the
// place.
func (s *Slots) Take(ctx context.Context, client netip.Prefix) (inner context.Context, slot *Slot, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if client.IsValid() && slices.ContainsFunc(s.slots, func(o *Slot) bool { return o.client == client }) {
		return nil, nil, ErrClientBusy
	}
	if s.busy >= s.processors {
		return nil, nil, ErrBusy
	}
	if len(s.slots) >= s.places {
		slowest := s.slowest()
		if slowest == nil {
			return nil, nil, ErrBusy
		}
		slowest.remove()
	}
	slot = &Slot{Slots: s, client: client, held: true}
	inner, slot.lose = context.WithCancel(ctx)
	s.busy++
	s.slots = append(s.slots, slot)
	return inner, slot, nil
}

// Wait is Take, which it repeats while there is no slot, until ctx ends or a time has passed.
func (s *Slots) Wait(
	ctx context.Context, client netip.Prefix, most time.Duration,
) (context.Context, *Slot, error) {
	late := time.NewTimer(most)
	defer late.Stop()
	for {
		freed := s.change() // before the try, which may come too early
		inner, slot, err := s.Take(ctx, client)
		if err == nil {
			return inner, slot, nil
		}
		select {
		case <-freed:
		case <-late.C:
			return nil, nil, err
		case <-ctx.Done():
			return nil, nil, err
		}
	}
}

// change returns a channel that is closed when a place or a processor becomes free.
func (s *Slots) change() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.freed
}

// slowest returns the slot of a client that has been reading for longest, nil for none.
func (s *Slots) slowest() (slowest *Slot) {
	for _, o := range s.slots {
		if !o.held && o.client.IsValid() && (slowest == nil || o.reading.Before(slowest.reading)) {
			slowest = o
		}
	}
	return slowest
}

// remove ends a slot; the lock must be held.
func (s *Slot) remove() {
	s.lose()
	s.setHeld(false)
	s.slots = slices.DeleteFunc(s.slots, func(o *Slot) bool { return o == s })
}

// setHeld takes or returns a processor, and wakes those who wait; the lock must be held.
func (s *Slot) setHeld(held bool) {
	switch {
	case held && !s.held:
		s.busy++
	case !held && s.held:
		s.busy--
		s.reading = time.Now()
	}
	s.held = held
	close(s.freed)
	s.freed = make(chan struct{})
}

// Release ends the use of the slot.
func (s *Slot) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove()
}

// Read calls read, in which the client reads what was made, without a processor, and waits for one
// afterwards. It returns read's error, or [ErrBusy] if the client has lost its place.
func (s *Slot) Read(ctx context.Context, read func() error) error {
	s.mu.Lock()
	s.setHeld(false)
	s.mu.Unlock()
	if err := read(); err != nil {
		return err
	}
	for {
		freed, err := s.resume()
		if freed == nil {
			return err
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return ErrBusy
		}
	}
}

// resume takes a processor; freed is not nil if it has to wait for one.
func (s *Slot) resume() (freed <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !slices.Contains(s.slots, s):
		return nil, ErrBusy
	case s.busy >= s.processors:
		return s.freed, nil
	}
	s.setHeld(true)
	return nil, nil
}
