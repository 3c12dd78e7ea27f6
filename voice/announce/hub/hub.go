// Package hub sends events to whoever watches, and waits for nobody.
package hub

import "sync"

// buffer is the number of events by which a watcher may fall behind.
const buffer = 64

// A Hub sends events to its watchers. The zero Hub is open and has none. Its methods may be called concurrently.
type Hub[E any] struct {
	mu       sync.Mutex // guards the fields below
	watchers map[chan E]struct{}
	closed   bool
}

// Watch returns the events from now on, and a function that ends them. The channel is closed by stop, by [Hub.Close],
// and when the watcher falls more than 64 events behind.
func (h *Hub[E]) Watch() (events <-chan E, stop func()) {
	c := make(chan E, buffer)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers == nil {
		h.watchers = map[chan E]struct{}{}
	}
	h.watchers[c] = struct{}{}
	if h.closed {
		h.remove(c)
	}
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.remove(c)
	}
}

// Publish sends events to the watchers.
func (h *Hub[E]) Publish(events ...E) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range events {
		for c := range h.watchers {
			select {
			case c <- e:
			default:
				h.remove(c)
			}
		}
	}
}

// Close closes the channels of all watchers, present and future.
func (h *Hub[E]) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for c := range h.watchers {
		h.remove(c)
	}
}

// remove closes a watcher's channel, once. h.mu must be held.
func (h *Hub[E]) remove(c chan E) {
	if _, ok := h.watchers[c]; ok {
		delete(h.watchers, c)
		close(c)
	}
}
