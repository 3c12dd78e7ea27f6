package live_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game"
	"pressbox/game/bot/bottest"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
	"pressbox/store"
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
	for seed := range 16 {
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
		after := g.visible()
		check.Require(g, after == before, "on a full disk the game changed: %s", difference(after, before))
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
	err := g.try(who, c.Action)
	check.Require(g, (err != nil) == full, "%s does %s at %d: %v", who.Name, text(g, c), now.Revision, err)
}

// check checks that the game waits for the managers that it names, and is what was saved.
func (g *randomGame) check() {
	synctest.Wait()
	now := g.get(carl)
	check.Require(g, now.Status != protocol.Active || now.State.Paused != nil || len(now.State.Waiting) != 0,
		"at %d the game waits for no manager: %s", now.Revision, text(g, now.State))
	if q := now.State.Question; q != nil {
		check.Require(g, q.Kind != "" && q.Ball.Contact != game.NoContact && strings.Contains(q.Text, " or ") &&
			strings.HasSuffix(q.Text, "?"), "at %d the question is %q, want two choices", now.Revision, q.Text)
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
	got, want := g.reloaded(g.journal).events(bob), g.events(bob)
	check.Require(g, got == want, "loaded: %s", difference(got, want))
}

func (g *randomGame) checkReceived(w *watcher) {
	checkContiguous(g, w.received("event", "skip"), 1, g.get(carl).Revision)
}

// BenchmarkDecision measures a decision over a real store, from the command until a spectator has received the
// play: in one game, and in 200 at once whose managers decide about once a second. The limit is a commit of the
// same store alone plus 2 ms. Commits and decisions are measured in turns, as the speed of a disk varies.
func BenchmarkDecision(b *testing.B) {
	for _, n := range []int{1, 200} {
		b.Run(fmt.Sprintf("%dgames", n), func(b *testing.B) {
			s := check.Must(store.Open(filepath.Join(b.TempDir(), "pressbox.db"), store.Options{}))(b)
			defer s.Close()
			h := benchGames(b, s.Games())
			games := make([]*benchGame, n)
			for i := range games {
				games[i] = newBenchGame(b, h)
			}
			var commits, waits, ratios []float64
			for b.Loop() {
				for range 5 {
					commit, all := commitTime(b, s), decide(b, games, 200/n+1)
					slices.Sort(all)
					wait := all[len(all)/2]
					commits, waits = append(commits, float64(commit.Microseconds())),
						append(waits, float64(wait.Microseconds()))
					ratios = append(ratios, float64(wait)/float64(commit+2*time.Millisecond))
				}
			}
			for unit, all := range map[string][]float64{"µs/commit": commits, "µs/decision": waits, "x-limit": ratios} {
				slices.Sort(all)
				b.ReportMetric(all[len(all)/2], unit)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// commitTime returns the median time of a commit of as many bytes as a move has.
func commitTime(b *testing.B, s *store.Store) time.Duration {
	b.Helper()
	took := make([]time.Duration, 60)
	for i := range took {
		begin := time.Now()
		check.NoError(b, s.SaveTeamData(b.Context(), fmt.Sprint(i), make([]byte, 2000)))
		took[i] = time.Since(begin)
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// benchGames returns games over a journal.
func benchGames(b *testing.B, j live.Journal) *live.Games {
	b.Helper()
	return check.Must(live.New(b.Context(), live.Config{
		Journal: j, Rosters: builtIn(), Seeds: bottest.Seeds(), Log: slog.New(slog.DiscardHandler),
	}))(b)
}

// A benchGame is a game against the bot, replaced by another when it ends, with a spectator.
type benchGame struct {
	rig
	*client
	seen  chan time.Time // when the spectator received the last event of a command
	leave []func()
	n     int
}

func newBenchGame(b *testing.B, games *live.Games) *benchGame {
	b.Helper()
	return &benchGame{rig: rig{TB: b, Games: games}, seen: make(chan time.Time, 64)}
}

// next returns the next command of the game, or of another that begins.
func (g *benchGame) next() protocol.Command {
	g.Helper()
	var legal []protocol.Choice
	if g.client != nil {
		legal, _ = g.legal()
	}
	if len(legal) == 0 {
		for _, leave := range g.leave {
			leave()
		}
		g.begin(withBot)
		g.client = &client{watcher: g.watch(ann, 0), who: ann}
		spectator := check.Must(g.Watch(g.Context(), carl, g.id, 0, func(m *protocol.Message) bool {
			if e, ok := m.Data.(*protocol.Event); ok && e.State != nil {
				select {
				case g.seen <- time.Now():
				default:
				}
			}
			return true
		}))(g)
		g.leave = []func(){g.client.leave, spectator}
		legal, _ = g.legal()
	}
	g.n++
	return protocol.Command{ID: fmt.Sprint(g.n), Revision: g.rev, Action: legal[0].Action}
}

// decide plays turns in all games at once, a command about every second in each, and returns how long each took.
func decide(b *testing.B, games []*benchGame, turns int) []time.Duration {
	b.Helper()
	var playing sync.WaitGroup
	var mu sync.Mutex
	var all []time.Duration
	for i, g := range games {
		playing.Go(func() {
			var waits []time.Duration
			for range turns {
				c := g.next()
				if len(games) > 1 { // managers think
					time.Sleep(time.Duration(i%100+1) * 20 * time.Millisecond)
				}
				for len(g.seen) > 0 {
					<-g.seen
				}
				begin := time.Now()
				if _, _, err := g.Submit(context.Background(), ann, g.id, c, nil); err != nil {
					b.Error(err)
					return
				}
				waits = append(waits, (<-g.seen).Sub(begin))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, waits...)
		})
	}
	playing.Wait()
	return all
}

// BenchmarkOpenGames measures a start with 1,000 games in the store, every tenth of them not over. Limit: 200 ms.
func BenchmarkOpenGames(b *testing.B) {
	path := filepath.Join(b.TempDir(), "pressbox.db")
	s := check.Must(store.Open(path, store.Options{}))(b)
	fill(b, s.Games(), 1000)
	check.NoError(b, s.Close())
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		s := check.Must(store.Open(path, store.Options{}))(b)
		h := benchGames(b, s.Games())
		took = append(took, time.Since(begin))
		if l, err := h.List(ann, live.Query{}); err != nil || len(l.Active) != 100 || len(l.Finished) != 100 {
			b.Fatalf("%d active, %d finished, %v", len(l.Active), len(l.Finished), err)
		}
		check.NoError(b, s.Close())
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/open")
	b.ReportMetric(0, "ns/op")
}

// fill appends copies of one game to a journal, every tenth of them half played.
func fill(b *testing.B, to live.Journal, n int) {
	b.Helper()
	r := begun(b, hotSeat)
	j, half := r.journal, r.journal.summaries[r.id]
	for n := 0; r.get(ann).Status == protocol.Active; n++ {
		if n == 40 {
			half = j.summaries[r.id]
		}
		r.decide(ann)
	}
	for i := range n {
		id := fmt.Sprintf("%016d", i)
		c := live.Change{
			Game: id, First: 1, Moves: j.moves[r.id], Box: j.boxes[r.id], Summary: renamed(j.summaries[r.id], r.id, id),
		}
		if i%10 == 0 {
			c.Summary, c.Moves, c.Box = renamed(half, r.id, id), c.Moves[:len(c.Moves)/2], nil
		}
		check.Must(to.Append(b.Context(), c))(b)
	}
}

// renamed returns a game's summary under another id.
func renamed(summary []byte, old, id string) []byte {
	return bytes.Replace(summary, []byte(old), []byte(id), 1)
}
