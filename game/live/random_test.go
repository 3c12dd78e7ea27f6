package live_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game"
	"pressbox/game/protocol"
)

// A randomGame is a game in which any offered action is done at any time, while people connect and disconnect, the disk
// fills up and the server restarts.
type randomGame struct {
	*rig
	random   *rand.Rand
	stop     func()
	watchers map[protocol.Person]*watcher
}

// Whatever is offered is accepted; an active game waits for a manager, who has a decision; what is published has
// no gaps; and a game that is loaded is the one that was played.
func TestGames_randomActions(t *testing.T) {
	t.Parallel()
	seeds := 24
	if testing.Short() {
		seeds = 8
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := &randomGame{
					rig: newRig(t, newJournal()), random: rand.New(rand.NewPCG(uint64(seed), 7)),
					watchers: map[protocol.Person]*watcher{},
				}
				g.stop = g.run()
				g.begin(func(o *protocol.Options) {
					o.Opponent = []protocol.Opponent{
						protocol.Open, protocol.Open, protocol.Bot, protocol.HotSeat,
					}[seed%4]
					o.TurnSeconds = []int{0, 5, 45, 600}[seed/4%4]
					o.Innings, o.DH = []int{3, 5, 9}[seed%3], seed%2 == 0
				})
				for range 120 {
					g.next()
				}
				g.check()
				for _, w := range g.watchers {
					w.leave()
				}
				g.stop()
			})
		})
	}
}

func (g *randomGame) next() {
	synctest.Wait() // until all that is due is done
	who := []protocol.Person{ann, bob, carl}[g.random.IntN(3)]
	switch n := g.random.IntN(100); {
	case n < 2:
		g.stop()
		clear(g.watchers)
		g.rig = g.reloaded(g.journal)
		g.stop = g.run()
	case n < 10:
		g.comeOrGo(who)
	case n < 18:
		pass(time.Duration(g.random.IntN(100_000)) * time.Millisecond)
	case n < 21:
		before := g.visible()
		g.journal.setErr(errFull)
		g.doRandom(who, true)
		if after := g.visible(); after != before {
			g.Fatalf("on a full disk the game changed: %s", difference(after, before))
		}
		g.journal.setErr(nil)
	case n < 24:
		g.check()
	default:
		g.doRandom(who, false)
	}
}

func (g *randomGame) comeOrGo(who protocol.Person) {
	if w := g.watchers[who]; w != nil {
		g.checkReceived(w)
		w.leave()
		delete(g.watchers, who)
		return
	}
	g.watchers[who] = g.watch(who, 0)
}

// doRandom does one of the things that who may do; on a full disk it must fail.
func (g *randomGame) doRandom(who protocol.Person, full bool) {
	now := g.get(who)
	all := append(slices.Clone(now.Legal), now.Offers...)
	if len(now.Legal) > 0 && g.random.IntN(3) > 0 {
		all = now.Legal
	}
	if len(all) == 0 {
		return
	}
	c := all[g.random.IntN(len(all))]
	if c.Action.Verb == "concede" && (g.random.IntN(20) > 0 || full) {
		return
	}
	if err := g.try(who, c.Action); (err != nil) != full {
		g.Fatalf("%s does %s at %d: %v", who.Name, text(g, c), now.Revision, err)
	}
}

// check checks that the game waits for the managers that it names, and is what was saved.
func (g *randomGame) check() {
	synctest.Wait()
	now := g.get(carl)
	if now.Status == protocol.Active && now.State.Paused == nil && len(now.State.Waiting) == 0 {
		g.Fatalf("at %d the game waits for no manager: %s", now.Revision, text(g, now.State))
	}
	if q := now.State.Question; q != nil &&
		(q.Kind == "" || q.Ball.Contact == game.NoContact || !strings.Contains(q.Text, " or ") ||
			!strings.HasSuffix(q.Text, "?")) {
		g.Fatalf("at %d the question is %q, want two choices", now.Revision, q.Text)
	}
	for _, who := range []protocol.Person{ann, bob} {
		now := g.get(who)
		waits := slices.ContainsFunc(now.State.Waiting,
			func(s game.Side) bool { return now.YourSide == "both" || now.YourSide == s.String() })
		if waits != (len(now.Legal) > 0) {
			g.Fatalf("at %d the game waits for %v, %s manages %q and may %s",
				now.Revision, now.State.Waiting, who.Name, now.YourSide, text(g, now.Legal))
		}
	}
	for _, w := range g.watchers {
		g.checkReceived(w)
	}
	if got, want := g.reloaded(g.journal).events(bob), g.events(bob); got != want {
		g.Fatalf("loaded: %s", difference(got, want))
	}
}

func (g *randomGame) checkReceived(w *watcher) {
	checkContiguous(g, w.received("event", "skip"), 1, g.get(carl).Revision)
}
