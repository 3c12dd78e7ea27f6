package limits

import (
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
}

// NewSlots returns n slots.
func NewSlots(n int) *Slots { return &Slots{max: n, clients: map[netip.Prefix]bool{}} }

// Take takes a slot for a client, until release is called, or returns [ErrBusy] or
// [ErrClientBusy]. The zero client has any number of slots.
func (s *Slots) Take(client netip.Prefix) (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case client.IsValid() && s.clients[client]:
		return nil, ErrClientBusy
	case s.taken >= s.max:
		return nil, ErrBusy
	}
	s.taken++
	s.clients[client] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.taken--
		delete(s.clients, client)
	}, nil
}
