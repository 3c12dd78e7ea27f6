package hooks

import (
	"crypto/sha256"
	"maps"
	"sync"
	"time"
)

// Limits of the events that are remembered.
const (
	repeatWindow = 5 * time.Minute
	maxEvents    = 10_000 // further ones are announced and not remembered
)

// repeats remembers the events that were announced in the last five minutes, so that what a sender repeats is
// not spoken again. They do not survive a restart.
type repeats struct {
	mu sync.Mutex
	at map[[sha256.Size]byte]time.Time // when each was announced, by digest
}

// A claim is the events of one body, which count as announced until it is released.
type claim struct {
	repeats *repeats
	sender  string
	now     time.Time
	events  [][sha256.Size]byte
}

// claim begins a claim of the events of a sender.
func (r *repeats) claim(sender string, now time.Time) *claim {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at == nil {
		r.at = map[[sha256.Size]byte]time.Time{}
	}
	maps.DeleteFunc(r.at, func(_ [sha256.Size]byte, at time.Time) bool { return now.Sub(at) >= repeatWindow })
	return &claim{repeats: r, sender: sender, now: now}
}

// known reports whether an event was announced before, and claims it otherwise.
func (c *claim) known(event string) bool {
	c.repeats.mu.Lock()
	defer c.repeats.mu.Unlock()
	key := sha256.Sum256([]byte(c.sender + " " + event))
	if _, ok := c.repeats.at[key]; ok {
		return true
	}
	if len(c.repeats.at) < maxEvents {
		c.repeats.at[key] = c.now
		c.events = append(c.events, key)
	}
	return false
}

// release forgets the events, because they were not announced.
func (c *claim) release() {
	c.repeats.mu.Lock()
	defer c.repeats.mu.Unlock()
	for _, key := range c.events {
		delete(c.repeats.at, key)
	}
}
