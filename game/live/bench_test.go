package live_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"pressbox/game/bot/bottest"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
	"pressbox/store"
)

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
