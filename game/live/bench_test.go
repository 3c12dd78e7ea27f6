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

	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/store"
)

// BenchmarkDecision measures the way of a decision: from the command to when everybody was told of the play, over a real
// store, in one game and in 200 at once whose managers think for a second. The limit is a commit of the same store
// alone, and 2 ms. Commits and decisions are measured in turns, as a disk is not the same all day.
func BenchmarkDecision(b *testing.B) {
	for _, n := range []int{1, 200} {
		b.Run(fmt.Sprintf("%dgames", n), func(b *testing.B) {
			s, err := store.Open(filepath.Join(b.TempDir(), "pressbox.db"), store.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			h := newHall(b, s.Games())
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
					commits, waits = append(commits, float64(commit.Microseconds())), append(waits, float64(wait.Microseconds()))
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
		if err := s.SaveTeamData(b.Context(), fmt.Sprint(i), make([]byte, 2000)); err != nil {
			b.Fatal(err)
		}
		took[i] = time.Since(begin)
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// A benchGame is a game that is played for ever, against the bot, with somebody who looks on.
type benchGame struct {
	hall  *live.Games
	id    string
	legal []protocol.Choice
	rev   uint64
	heard chan time.Time // when the spectator was told the last of a command
	leave []func()
	n     int
}

func newBenchGame(b *testing.B, h *live.Games) *benchGame {
	b.Helper()
	g := &benchGame{hall: h, heard: make(chan time.Time, 64)}
	g.begin(b)
	return g
}

func (g *benchGame) begin(b *testing.B) {
	b.Helper()
	for _, leave := range g.leave {
		leave()
	}
	made := begin(b, g.hall, func(o *protocol.Options) { o.Opponent = protocol.Bot })
	g.id, g.legal, g.rev = made.ID, made.Legal, made.Revision
	manager, err := g.hall.Watch(b.Context(), ann, g.id, g.rev, func(m *protocol.Message) bool {
		if e, ok := m.Data.(*protocol.Event); ok && e.State != nil {
			g.legal, g.rev = e.Legal, m.Revision
		}
		return true
	})
	if err != nil {
		b.Fatal(err)
	}
	spectator, err := g.hall.Watch(b.Context(), carl, g.id, g.rev, func(m *protocol.Message) bool {
		if e, ok := m.Data.(*protocol.Event); ok && e.State != nil {
			select {
			case g.heard <- time.Now():
			default:
			}
		}
		return true
	})
	if err != nil {
		b.Fatal(err)
	}
	g.leave = []func(){manager, spectator}
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
				if len(g.legal) == 0 {
					g.begin(b)
				}
				if len(games) > 1 { // people think
					time.Sleep(time.Duration(i%100+1) * 20 * time.Millisecond)
				}
				for len(g.heard) > 0 {
					<-g.heard
				}
				g.n++
				c := protocol.Command{ID: fmt.Sprint(g.n), Revision: g.rev, Action: g.legal[0].Action}
				begin := time.Now()
				if _, _, err := g.hall.Submit(context.Background(), ann, g.id, c, nil); err != nil {
					b.Error(err)
					return
				}
				waits = append(waits, (<-g.heard).Sub(begin))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, waits...)
		})
	}
	playing.Wait()
	return all
}

// BenchmarkOpenGames measures what a start waits for with 1,000 games in the store, of which every tenth is not over.
// Limit: 200 ms.
func BenchmarkOpenGames(b *testing.B) {
	path := filepath.Join(b.TempDir(), "pressbox.db")
	s, err := store.Open(path, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	fill(b, s.Games(), 1000)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		s, err := store.Open(path, store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		h, err := live.New(b.Context(), live.Config{Journal: s.Games(), Rosters: builtIn(), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
		if l, err := h.List(ann, live.Query{}); err != nil || len(l.Active) != 100 || len(l.Finished) != 100 {
			b.Fatalf("%d active, %d finished, %v", len(l.Active), len(l.Finished), err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/open")
	b.ReportMetric(0, "ns/op")
}

// fill puts copies of one game into a journal, every tenth of them half played.
func fill(b *testing.B, to live.Journal, n int) {
	b.Helper()
	j := newJournal()
	h := newHall(b, j)
	g := begin(b, h, func(o *protocol.Options) { o.Opponent = protocol.HotSeat })
	half := j.heads[g.ID]
	for n := 0; look(b, h, ann, g.ID).Status == protocol.Active; n++ {
		if n == 40 {
			half = j.heads[g.ID]
		}
		do(b, h, ann, g.ID, look(b, h, ann, g.ID).Legal[0].Label)
	}
	for i := range n {
		id := fmt.Sprintf("%016d", i)
		c := live.Change{Game: id, First: 1, Moves: j.moves[g.ID], Box: j.boxes[g.ID]}
		c.Summary = renamed(j.heads[g.ID], g.ID, id)
		if i%10 == 0 {
			c.Summary, c.Moves, c.Box = renamed(half, g.ID, id), c.Moves[:len(c.Moves)/2], nil
		}
		if _, err := to.Append(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}

// renamed returns a game's summary under another id.
func renamed(summary []byte, old, id string) []byte {
	return bytes.Replace(summary, []byte(old), []byte(id), 1)
}

// BenchmarkLoadGame measures what the first who touches a game waits for: one that was played to the end.
func BenchmarkLoadGame(b *testing.B) {
	j := newJournal()
	h := newHall(b, j)
	g := begin(b, h, func(o *protocol.Options) { o.Opponent = protocol.HotSeat })
	end := playOut(b, h, g.ID)
	if _, err := newHall(b, j).WinProbability(b.Context(), g.ID); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(end.Revision), "moves")
	for b.Loop() {
		b.StopTimer()
		h := newHall(b, j)
		b.StartTimer()
		look(b, h, ann, g.ID)
	}
}

// BenchmarkStandings measures what the first who asks for a season's statistics waits for: 100 games in the store.
func BenchmarkStandings(b *testing.B) {
	s, err := store.Open(filepath.Join(b.TempDir(), "pressbox.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	fill(b, s.Games(), 100)
	for b.Loop() {
		if all, err := newHall(b, s.Games()).Standings(b.Context(), 3); err != nil || len(all) != 2 {
			b.Fatalf("%d teams, %v", len(all), err)
		}
	}
}

// BenchmarkTable measures a decision without a disk: what the rules, the dice, the bot and the telling take.
func BenchmarkTable(b *testing.B) {
	g := newBenchGame(b, newHall(b, newJournal()))
	for b.Loop() {
		if len(g.legal) == 0 {
			b.StopTimer()
			g.begin(b)
			b.StartTimer()
		}
		g.n++
		c := protocol.Command{ID: fmt.Sprint(g.n), Revision: g.rev, Action: g.legal[0].Action}
		if _, _, err := g.hall.Submit(b.Context(), ann, g.id, c, nil); err != nil {
			b.Fatal(err)
		}
	}
}
