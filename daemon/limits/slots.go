package limits

import (
	"context"
	"errors"
	"net/netip"
	"sync"
)

// Speeches is the number of speeches that are synthesized for clients at once, one
// of a client. Each uses a processor.
const Speeches = 2

// The errors of [Slots.Take].
var (
	ErrBusy       = errors.New("too many speech requests in progress")
	ErrClientBusy = errors.New("a speech request of this address is in progress")
)

// Slots limits what is done for clients at once.
type Slots struct {
	max int

	mu      sync.Mutex // guards the fields below
	taken   int
	clients map[netip.Prefix]bool // those with a slot
	freed   chan struct{}         // closed when a slot is released
}

// NewSlots returns n slots.
func NewSlots(n int) *Slots {
	return &Slots{max: n, clients: map[netip.Prefix]bool{}, freed: make(chan struct{})}
}

// Take takes a slot for a client, until release is called, or returns [ErrBusy] or
// [ErrClientBusy]. The zero client has any number of slots.
func (s *Slots) Take(client netip.Prefix) (release func(), err error) {
	release, _, err = s.take(client)
	return release, err
}

// Wait is Take, which it repeats while there is no slot, until ctx ends.
func (s *Slots) Wait(ctx context.Context, client netip.Prefix) (release func(), err error) {
	for {
		release, freed, err := s.take(client)
		if err == nil {
			return release, nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, err
		}
	}
}

// take is Take. freed is closed when another slot is released.
func (s *Slots) take(client netip.Prefix) (release func(), freed <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case client.IsValid() && s.clients[client]:
		return nil, s.freed, ErrClientBusy
	case s.taken >= s.max:
		return nil, s.freed, ErrBusy
	}
	s.taken++
	s.clients[client] = true
	return func() { s.release(client) }, nil, nil
}

func (s *Slots) release(client netip.Prefix) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	delete(s.clients, client)
	close(s.freed)
	s.freed = make(chan struct{})
}
