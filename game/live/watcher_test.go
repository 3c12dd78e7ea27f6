package live_test

import (
	"slices"
	"sync"
	"testing"

	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// A watcher is a subscriber that collects messages.
type watcher struct {
	mu    sync.Mutex
	all   []*protocol.Message
	limit int // of messages that it accepts; 0: any number
	leave func()
}

// watch subscribes to the game.
func (r *rig) watch(who protocol.Person, since uint64) *watcher {
	r.Helper()
	w := &watcher{}
	r.rejoin(w, who, since)
	return w
}

// watchBoth subscribes both managers.
func (r *rig) watchBoth() (a, b *watcher) {
	r.Helper()
	return r.watch(ann, 0), r.watch(bob, 0)
}

// rejoin subscribes a watcher again.
func (r *rig) rejoin(w *watcher, who protocol.Person, since uint64) {
	r.Helper()
	leave := check.Must(r.Watch(r.Context(), who, r.id, since, w.send))(r)
	w.leave = leave
}

func (w *watcher) send(m *protocol.Message) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit > 0 && len(w.all) >= w.limit {
		return false
	}
	if m.Batch != nil {
		w.all = append(w.all, m.Batch...)
	} else {
		w.all = append(w.all, m)
	}
	return true
}

// received returns the messages of these types; of none, all.
func (w *watcher) received(types ...string) []*protocol.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.all),
		func(m *protocol.Message) bool { return len(types) > 0 && !slices.Contains(types, m.Type) })
}

// last returns the last message of a type, nil if there is none.
func (w *watcher) last(of string) *protocol.Message {
	all := w.received(of)
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// event returns the last event.
func (w *watcher) event() *protocol.Event { return w.last("event").Data.(*protocol.Event) }

// presence returns the last presence.
func (w *watcher) presence() *protocol.Presence { return w.last("presence").Data.(*protocol.Presence) }

// kinds returns the kinds of the events received, "skip" for hidden ones.
func (w *watcher) kinds() []string {
	var kinds []string
	for _, m := range w.received("event", "skip") {
		if e, ok := m.Data.(*protocol.Event); ok {
			kinds = append(kinds, string(e.Kind))
		} else {
			kinds = append(kinds, "skip")
		}
	}
	return kinds
}

// lastKind returns the last of kinds.
func (w *watcher) lastKind() string {
	kinds := w.kinds()
	return kinds[len(kinds)-1]
}

// checkContiguous checks that revisions have no gaps.
func checkContiguous(tb testing.TB, all []*protocol.Message, first, last uint64) {
	tb.Helper()
	for i, m := range all {
		check.Require(tb, m.Revision == first+uint64(i),
			"revision %d at place %d, want %d", m.Revision, i, first+uint64(i))
	}
	n := uint64(len(all))
	check.That(tb, first+n == last+1, "%d revisions from %d, want up to %d", n, first, last)
}
