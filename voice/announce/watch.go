package announce

// eventBuffer is how many events a watcher may fall behind.
const eventBuffer = 64

// An Event says that an announcement changed; its View is how it then stood.
type Event struct {
	View View
}

// Watch returns what happens from now on, and what ends it. The channel is
// closed by stop, when the watcher falls more than 64 events behind, and when
// the announcer has stopped.
func (a *Announcer) Watch() (events <-chan Event, stop func()) {
	c := make(chan Event, eventBuffer)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		close(c)
	} else {
		a.watchers[c] = struct{}{}
	}
	return c, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.dismiss(c)
	}
}

// tell tells the watchers how e stands, and waits for none of them. a.mu must
// be held.
func (a *Announcer) tell(e *entry) {
	if len(a.watchers) == 0 {
		return
	}
	event := Event{View: a.view(e)}
	for c := range a.watchers {
		select {
		case c <- event:
		default:
			a.dismiss(c)
		}
	}
}

// dismiss hangs up on a watcher, if that has not happened. a.mu must be held.
func (a *Announcer) dismiss(c chan Event) {
	if _, ok := a.watchers[c]; ok {
		delete(a.watchers, c)
		close(c)
	}
}

// hangUp hangs up on all watchers, now and from now on.
func (a *Announcer) hangUp() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	for c := range a.watchers {
		a.dismiss(c)
	}
}
