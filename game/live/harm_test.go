package live_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game/live"
	"pressbox/game/protocol"
)

// A mine is an announcer that panics once it is armed, and then once.
type mine struct{ armed atomic.Bool }

func (m *mine) Comment(string, string) {
	if m.armed.CompareAndSwap(true, false) {
		panic("boom")
	}
}

// What goes wrong in one game, by a clock or by a command, costs neither the others nor what is kept of it: who watches
// comes back to that.
func TestAGameThatGoesWrongIsReadAgain(t *testing.T) {
	t.Parallel()
	for name, provoke := range map[string]func(h *live.Games, id string){
		"by the clock": func(*live.Games, string) { pass(30 * time.Second) },
		"by a command": func(h *live.Games, id string) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			do(t, h, ann, id, "Pitch to the batter")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m, j := &mine{}, newJournal()
				h, log := newLoggedHall(t, j, m)
				defer run(t, h)()
				g := begin(t, h, func(o *protocol.Options) {
					o.TurnSeconds, o.Announce, o.Opponent = 30, protocol.AnnounceAll, protocol.Bot
				})
				other := begin(t, h, func(o *protocol.Options) { o.TurnSeconds, o.Announce = 30, protocol.AnnounceOff })
				a, b := watch(t, h, ann, g.ID, 0), watch(t, h, bob, other.ID, 0)
				m.armed.Store(true)
				provoke(h, g.ID)
				if bye := a.last("bye"); bye == nil || bye.Data != (protocol.Bye{Code: "restart"}) {
					t.Errorf("Ann was told %s", text(t, bye))
				}
				if n := log.count("game evicted after a panic"); (n == 1) != (name == "by the clock") {
					t.Errorf("logged %q", log.lines)
				}
				a.join(t, h, ann, g.ID, 0)
				if now := look(t, h, ann, g.ID); now.Revision != uint64(len(j.moves[g.ID])) {
					t.Errorf("the game is at %d, %d moves are kept", now.Revision, len(j.moves[g.ID]))
				}
				for range 3 {
					do(t, h, ann, g.ID, look(t, h, ann, g.ID).Legal[0].Label)
				}
				pass(30 * time.Second)
				if now := look(t, h, bob, other.ID); now.Revision == other.Revision {
					t.Error("the other game's clock has stopped")
				}
				a.leave()
				b.leave()
			})
		})
	}
}

// A game that nobody began ends after a week also if it cannot be read, or is of a newer version.
func TestAPendingGameThatCannotBeReadEndsToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		h := newHall(t, j)
		g, err := h.Create(t.Context(), ann, request(nil))
		if err != nil {
			t.Fatal(err)
		}
		j.moves[g.ID] = [][]byte{[]byte("}")}
		h, log := newLoggedHall(t, j, nil)
		defer run(t, h)()
		var lobby watcher
		_, leave := h.WatchLobby(lobby.tell)
		defer leave()
		pass(7*24*time.Hour - time.Second)
		if len(j.heads) != 1 || h.InMemory() != 0 {
			t.Errorf("%d games, %d in memory", len(j.heads), h.InMemory())
		}
		pass(time.Hour)
		if len(j.heads) != 0 || h.InMemory() != 0 || lobby.last("gone") == nil || len(log.lines) != 0 {
			t.Errorf("after a week %d games, %d in memory, the lobby was told %s, logged %q", len(j.heads), h.InMemory(), text(t, lobby.told()), log.lines)
		}
	})
}

// Whoever leafs through old games does not fill the memory: of those that nobody watches the longest unused leave it.
func TestOldGamesDoNotFillTheMemory(t *testing.T) {
	t.Parallel()
	j := newJournal()
	h := newHall(t, j)
	g := begin(t, h, func(o *protocol.Options) { o.Opponent = protocol.HotSeat })
	w := watch(t, h, carl, g.ID, 0)
	old := begin(t, h, func(o *protocol.Options) { o.Opponent = protocol.HotSeat })
	if _, err := h.Concede(t.Context(), ann, old.ID); err != nil {
		t.Fatal(err)
	}
	head := string(j.heads[old.ID])
	for i := range 200 {
		id := fmt.Sprintf("%016d", i)
		j.heads[id], j.moves[id] = []byte(strings.ReplaceAll(head, old.ID, id)), j.moves[old.ID]
	}
	h = newHall(t, j)
	w.join(t, h, carl, g.ID, 0)
	for i := range 200 {
		look(t, h, ann, fmt.Sprintf("%016d", i))
		if n := h.InMemory(); n > 65 {
			t.Fatalf("after %d games %d are in memory, want at most 64, and the one that is watched", i+1, n)
		}
	}
	if n := h.InMemory(); n != 65 {
		t.Errorf("%d games are in memory, want 65", n)
	}
	do(t, h, ann, g.ID, "Pitch to the batter")
	if kinds := w.kinds(); kinds[len(kinds)-1] != "skip" {
		t.Errorf("Carl, who watches all the time, was told %v", kinds)
	}
}
