package announcer

import (
	"sync"

	"pressbox/voice/announce"
)

// eventBuffer limits how many events a watcher may fall behind.
const eventBuffer = 64

// watchers are those who receive the events. The zero value has none.
type watchers struct {
	mu     sync.Mutex // guards the fields below
	open   map[chan announce.Event]struct{}
	closed bool // no more events will be published
}

// Watch returns the events from now on, and a function that ends them. The channel is closed by stop, when the
// watcher falls more than 64 events behind, and when Run returns.
func (a *Announcer) Watch() (events <-chan announce.Event, stop func()) {
	w := &a.watchers
	c := make(chan announce.Event, eventBuffer)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[chan announce.Event]struct{}{}
	}
	w.open[c] = struct{}{}
	if w.closed {
		w.remove(c)
	}
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.remove(c)
	}
}

// publish sends events to the watchers without waiting for them.
func (w *watchers) publish(events []announce.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range events {
		for c := range w.open {
			select {
			case c <- e:
			default:
				w.remove(c)
			}
		}
	}
}

// close closes the channels of all watchers, present and future.
func (w *watchers) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for c := range w.open {
		w.remove(c)
	}
}

// remove closes a watcher's channel, once. w.mu must be held.
func (w *watchers) remove(c chan announce.Event) {
	if _, ok := w.open[c]; ok {
		delete(w.open, c)
		close(c)
	}
}
