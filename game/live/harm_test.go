package live_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game/live"
)

// A mine is an announcer that panics once it is armed, and then once.
type mine struct{ armed atomic.Bool }

func (m *mine) Remark(string, string) {
	if m.armed.CompareAndSwap(true, false) {
		panic("boom")
	}
}

// What goes wrong in one game, by a clock or by a command, costs neither the others nor what is kept of it: who watches
// comes back to that.
func TestAGameThatGoesWrongIsReadAgain(t *testing.T) {
	t.Parallel()
	for name, provoke := range map[string]func(h *live.Hall, id string){
		"by the clock": func(*live.Hall, string) { pass(30 * time.Second) },
		"by a command": func(h *live.Hall, id string) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			do(t, h, ann, id, "Pitch to him")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m, j := &mine{}, newJournal()
				h, log := newLoggedHall(t, j, m)
				defer run(t, h)()
				g := begin(t, h, func(o *live.Options) { o.TurnSeconds, o.Announce, o.Opponent = 30, live.AnnounceAll, live.Bot })
				other := begin(t, h, func(o *live.Options) { o.TurnSeconds, o.Announce = 30, live.AnnounceOff })
				a, b := watch(t, h, ann, g.ID, 0), watch(t, h, bob, other.ID, 0)
				m.armed.Store(true)
				provoke(h, g.ID)
				if bye := a.last("bye"); bye == nil || bye.D != (live.Bye{Code: "restart"}) {
					t.Errorf("Ann was told %s", text(t, bye))
				}
				if n := log.count("a game went wrong"); (n == 1) != (name == "by the clock") {
					t.Errorf("logged %q", log.lines)
				}
				a.join(t, h, ann, g.ID, 0)
				if now := look(t, h, ann, g.ID); now.Rev != uint64(len(j.moves[g.ID])) {
					t.Errorf("the game is at %d, %d moves are kept", now.Rev, len(j.moves[g.ID]))
				}
				for range 3 {
					do(t, h, ann, g.ID, look(t, h, ann, g.ID).Legal[0].Label)
				}
				pass(30 * time.Second)
				if now := look(t, h, bob, other.ID); now.Rev == other.Rev {
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
