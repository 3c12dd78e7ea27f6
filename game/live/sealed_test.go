package live_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"testing/synctest"

	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// A sealed call changes nothing that others receive, but that it was submitted: with any two calls, all messages
// and answers to the other manager and to a spectator are the same to the byte; without one, the other manager may
// do the same, with the same odds and values.
func FuzzSealed(f *testing.F) {
	id, played := readJournal(f, filepath.Join("testdata", "journal-3-whole.gz"))
	open := afterPlays(f, played.moves[id])
	for n := range uint(10) {
		f.Add(n*13, n%2 == 0, n, 3*n+1)
	}
	f.Fuzz(func(t *testing.T, at uint, home bool, first, second uint) {
		synctest.Test(t, func(t *testing.T) {
			start := func() *rig {
				r := newRig(t, played.cut(id, open[at%uint(len(open))]))
				r.id = id
				return r
			}
			caller, other := bob, ann
			if home {
				caller, other = ann, bob
			}
			none, a, b := start(), start(), start()
			g := none.get(caller)
			if g.Status != protocol.Active || g.State.Paused != nil || len(g.State.Waiting) < 2 {
				return
			}
			before := none.get(other)
			choice := func(n uint) protocol.Action { return g.Legal[n%uint(len(g.Legal))].Action }
			got, want := a.receivedAfter(choice(first), caller, other), b.receivedAfter(choice(second), caller, other)
			if got != want {
				t.Errorf("%s of %s and %s differ for others: %s",
					g.YourSide, text(t, choice(first)), text(t, choice(second)), difference(got, want))
			}
			after := a.get(other)
			may := func(g protocol.Game) string { return text(t, [][]protocol.Choice{g.Legal, g.Offers}) }
			if got, want := may(after), may(before); got != want {
				t.Errorf("%s of %s changes what the other manager may do: %s",
					g.YourSide, text(t, choice(first)), difference(got, want))
			}
			after.State.Waiting = before.State.Waiting
			if got, want := text(t, after.State), text(t, before.State); got != want {
				t.Errorf("%s of %s changes the state: %s", g.YourSide, text(t, choice(first)), difference(got, want))
			}
		})
	})
}

// afterPlays returns the numbers of moves after which a game waits for new decisions: the last move of each play
// but that which ends the game.
func afterPlays(tb testing.TB, moves [][]byte) []int {
	tb.Helper()
	var all []int
	for i, data := range moves {
		var m struct {
			Kind protocol.EventKind `json:"kind"`
		}
		check.NoError(tb, json.Unmarshal(data, &m))
		if m.Kind == protocol.Played {
			all = append(all, i+1)
		}
	}
	return all[:len(all)-1]
}

// receivedAfter submits a call and returns all that the other manager and a spectator receive: over connections
// made before and after it, and as answers.
func (r *rig) receivedAfter(call protocol.Action, caller, other protocol.Person) string {
	r.Helper()
	viewers := []protocol.Person{other, carl, {}}
	var watchers []*watcher
	watch := func() {
		for _, who := range viewers {
			watchers = append(watchers, r.watch(who, 0))
		}
	}
	watch()
	err := r.send(caller, protocol.Command{ID: "call", Revision: r.get(caller).Revision, Action: call})
	check.Require(r, err == nil, "%s does %s: %v", caller.Name, text(r, call), err)
	watch()
	all := ""
	for i, who := range viewers {
		all += r.events(who) + text(r, r.get(who)) + text(r, watchers[i].received()) +
			text(r, watchers[i+len(viewers)].received())
	}
	for _, w := range watchers {
		w.leave()
	}
	return all
}
