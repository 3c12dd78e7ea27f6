package control

import "sync"

// A Change names what has changed.
type Change string

// The changes.
const (
	ChangedVolume    Change = "volume"
	ChangedQuiet     Change = "quiet"
	ChangedFavorites Change = "favorites"
	ChangedSchedules Change = "schedules"
)

// A Hub sends changes to its watchers.
type Hub struct {
	mu       sync.Mutex // guards watchers
	watchers map[chan Change]struct{}
}

func newHub() *Hub { return &Hub{watchers: map[chan Change]struct{}{}} }

// hubBuffer is the number of changes of which a watcher may be behind.
const hubBuffer = 16

// Watch returns the changes from now on, and a function that ends them. The channel is closed by stop, and when
// the watcher falls too far behind.
func (h *Hub) Watch() (changes <-chan Change, stop func()) {
	c := make(chan Change, hubBuffer)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watchers[c] = struct{}{}
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.remove(c)
	}
}

// publish sends a change to the watchers without waiting for them.
func (h *Hub) publish(change Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.watchers {
		select {
		case c <- change:
		default:
			h.remove(c)
		}
	}
}

// remove closes a watcher's channel, once. h.mu must be held.
func (h *Hub) remove(c chan Change) {
	if _, ok := h.watchers[c]; ok {
		delete(h.watchers, c)
		close(c)
	}
}
