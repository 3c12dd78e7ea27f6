package announce

// eventBuffer limits how many events a watcher may fall behind.
const eventBuffer = 64

// An Event reports a change of an announcement.
type Event struct {
	View *View // after the change; all watchers share it
}

// Watch returns the events from now on, and a function that ends them. The
// channel is closed by stop, when the watcher falls more than 64 events
// behind, and when Run returns.
func (a *Announcer) Watch() (events <-chan Event, stop func()) {
	c := make(chan Event, eventBuffer)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		close(c)
	} else {
		a.watchers[c] = struct{}{}
	}
	return c, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.unsubscribe(c)
	}
}

// publish sends the state of it to the watchers without waiting for them.
// a.mu must be held.
func (a *Announcer) publish(it *item) {
	if len(a.watchers) == 0 {
		return
	}
	view := a.view(it)
	event := Event{&view}
	for c := range a.watchers {
		select {
		case c <- event:
		default:
			a.unsubscribe(c)
		}
	}
}

// unsubscribe closes a watcher's channel, once. a.mu must be held.
func (a *Announcer) unsubscribe(c chan Event) {
	if _, ok := a.watchers[c]; ok {
		delete(a.watchers, c)
		close(c)
	}
}

// closeWatchers closes the channels of all watchers, present and future.
func (a *Announcer) closeWatchers() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for c := range a.watchers {
		a.unsubscribe(c)
	}
}
