package hooks

import (
	"crypto/sha256"
	"sync"
	"time"
)

// Limits of the events that are remembered.
const (
	repeatWindow = 5 * time.Minute
	maxEvents    = 10_000 // when there are so many, the client with the most loses one for each further one
	maxEach      = 500    // of one client: further ones are announced and not remembered
)

// repeats remembers the events that were announced in the last five minutes, so that what a sender repeats is
// not spoken again. They do not survive a restart.
type repeats struct {
	mu      sync.Mutex
	at      map[digest]seen
	clients map[string]int // how many of them each has
}

// A digest identifies an event of a webhook.
type digest [sha256.Size]byte

// A seen says when an event was announced, and whose it is.
type seen struct {
	at     time.Time
	client string
}

// A claim is the events of one body, which count as announced until it is released.
type claim struct {
	repeats *repeats
	webhook string
	seen
	events []digest
}

// claim begins a claim of the events that a client sends to a webhook.
func (r *repeats) claim(webhook, client string, now time.Time) *claim {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at == nil {
		r.at, r.clients = map[digest]seen{}, map[string]int{}
	}
	for key, s := range r.at {
		if now.Sub(s.at) >= repeatWindow {
			r.forget(key)
		}
	}
	return &claim{repeats: r, webhook: webhook, seen: seen{now, client}}
}

// forget forgets an event, if it is remembered. r.mu must be held.
func (r *repeats) forget(key digest) {
	s, ok := r.at[key]
	if !ok {
		return
	}
	delete(r.at, key)
	if r.clients[s.client]--; r.clients[s.client] == 0 {
		delete(r.clients, s.client)
	}
}

// greediest returns an event of the client that has the most. r.mu must be held.
func (r *repeats) greediest() (key digest) {
	most := ""
	for client, n := range r.clients {
		if n > r.clients[most] {
			most = client
		}
	}
	for key, s := range r.at {
		if s.client == most {
			return key
		}
	}
	return digest{}
}

// known reports whether an event was announced before, and claims it otherwise.
func (c *claim) known(event string) bool {
	r := c.repeats
	r.mu.Lock()
	defer r.mu.Unlock()
	key := digest(sha256.Sum256([]byte(c.webhook + " " + event)))
	if _, ok := r.at[key]; ok {
		return true
	}
	if r.clients[c.client] >= maxEach {
		return false
	}
	if len(r.at) >= maxEvents {
		r.forget(r.greediest())
	}
	r.at[key] = c.seen
	r.clients[c.client]++
	c.events = append(c.events, key)
	return false
}

// release forgets the events, because they were not announced.
func (c *claim) release() {
	c.repeats.mu.Lock()
	defer c.repeats.mu.Unlock()
	for _, key := range c.events {
		c.repeats.forget(key)
	}
}
