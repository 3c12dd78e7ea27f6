package live_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
)

// A mess is a game in which anything happens that may: whatever is offered, at any time, with people who come and go, a
// disk that fills up and a hall that is made anew.
type mess struct {
	t        *testing.T
	lot      *rand.Rand
	journal  *journal
	hall     *live.Games
	stop     func()
	id       string
	watchers map[protocol.Person]*watcher
}

// Whatever is offered is taken; a game that goes on waits for somebody, who is told what he may do; what is told has no
// holes; and a game that is loaded is the one that was played.
func TestAnythingMayHappen(t *testing.T) {
	t.Parallel()
	for seed := range 24 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &mess{t: t, lot: rand.New(rand.NewPCG(uint64(seed), 7)), journal: newJournal(), watchers: map[protocol.Person]*watcher{}}
				m.open()
				m.id = begin(t, m.hall, func(o *protocol.Options) {
					o.Opponent = []protocol.Opponent{protocol.Open, protocol.Open, protocol.Bot, protocol.HotSeat}[seed%4]
					o.TurnSeconds = []int{0, 5, 45, 600}[seed/4%4]
					o.Innings, o.DH = []int{3, 5, 9}[seed%3], seed%2 == 0
				}).ID
				for range 120 {
					m.step()
				}
				m.check()
				for _, w := range m.watchers {
					w.leave()
				}
				m.stop()
			})
		})
	}
}

func (m *mess) open() {
	m.hall = newHall(m.t, m.journal)
	m.stop = run(m.t, m.hall)
}

func (m *mess) step() {
	synctest.Wait() // what is due has been done
	who := []protocol.Person{ann, bob, carl}[m.lot.IntN(3)]
	switch n := m.lot.IntN(100); {
	case n < 2:
		m.stop()
		clear(m.watchers)
		m.open()
	case n < 10:
		m.comeOrGo(who)
	case n < 18:
		pass(time.Duration(m.lot.IntN(100_000)) * time.Millisecond)
	case n < 21:
		m.fill(who)
	case n < 24:
		m.check()
	default:
		m.act(who, nil)
	}
}

func (m *mess) comeOrGo(who protocol.Person) {
	if w := m.watchers[who]; w != nil {
		m.checkTold(w)
		w.leave()
		delete(m.watchers, who)
		return
	}
	w := watch(m.t, m.hall, who, m.id, 0)
	m.watchers[who] = w
}

// act does one of the things that somebody may do, or fails with why.
func (m *mess) act(who protocol.Person, why error) {
	g := look(m.t, m.hall, who, m.id)
	all := append(slices.Clone(g.Legal), g.Offers...)
	if len(g.Legal) > 0 && m.lot.IntN(3) > 0 {
		all = g.Legal
	}
	if len(all) == 0 {
		return
	}
	c := all[m.lot.IntN(len(all))]
	if c.Action.Verb == "concede" && (m.lot.IntN(20) > 0 || why != nil) {
		return
	}
	_, dup, err := m.hall.Submit(m.t.Context(), who, m.id, command(m.t, m.hall, who, m.id, c.Action), nil)
	if dup || !errors.Is(err, why) || why == nil && err != nil {
		m.t.Fatalf("%s does %s at %d: %v, %v", who.Name, text(m.t, c), g.Revision, dup, err)
	}
}

// fill lets the disk be full for a while.
func (m *mess) fill(who protocol.Person) {
	full := errors.New("full")
	before := still(m.t, m.hall, m.id)
	m.journal.setFull(full)
	m.act(who, full)
	if after := still(m.t, m.hall, m.id); after != before {
		m.t.Fatalf("on a full disk the game changed: %s", difference(after, before))
	}
	m.journal.setFull(nil)
}

// check checks that the game waits for whom it says, and is what was kept.
func (m *mess) check() {
	synctest.Wait()
	g := look(m.t, m.hall, carl, m.id)
	if g.Status == protocol.Active && g.State.Paused == nil && len(g.State.Waiting) == 0 {
		m.t.Fatalf("at %d the game waits for nobody: %s", g.Revision, text(m.t, g.State))
	}
	for _, who := range []protocol.Person{ann, bob} {
		g := look(m.t, m.hall, who, m.id)
		waits := slices.ContainsFunc(g.State.Waiting, func(s game.Side) bool { return g.YourSide == "both" || g.YourSide == s.String() })
		if waits != (len(g.Legal) > 0) {
			m.t.Fatalf("at %d the game waits for %v, %s manages %q and may %s", g.Revision, g.State.Waiting, who.Name, g.YourSide, text(m.t, g.Legal))
		}
	}
	for _, w := range m.watchers {
		m.checkTold(w)
	}
	loaded := newHall(m.t, m.journal)
	if got, want := events(m.t, loaded, bob, m.id), events(m.t, m.hall, bob, m.id); got != want {
		m.t.Fatalf("loaded: %s", difference(got, want))
	}
}

func (m *mess) checkTold(w *watcher) {
	checkContiguous(m.t, w.told("event", "skip"), 1, look(m.t, m.hall, carl, m.id).Revision)
}
