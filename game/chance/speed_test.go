package chance_test

import (
	"encoding/binary"
	"syscall"
	"testing"
	"time"

	"pressbox/game"
	"pressbox/game/chance"
)

// wantGames is how many full games a second one core should play, rules and chance without text.
const wantGames = 4000

// BenchmarkGames plays whole games, the table and the line-ups made anew for each, with pitching changes.
func BenchmarkGames(b *testing.B) {
	league := builtIn(b)
	n, before := 0, cpu(b)
	for b.Loop() {
		playOut(b, &league[n%len(league)], uint64(n))
		n++
	}
	rate := float64(n) / (cpu(b) - before).Seconds()
	b.ReportMetric(rate, "games/s") // of processor time: a core's, whatever else the machine does
	b.ReportMetric(rate/wantGames, "x-limit")
}

// cpu returns the processor time that the test has used, the collector's included.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkTurn is one turn: decisions in, play out, applied.
func BenchmarkTurn(b *testing.B) {
	f := averageFixture(0)
	table := chance.NewSimulator(chance.Seed{}, f.clubs, nil, chance.ParkFactors{})
	s := situation(b, &f, 3*3+1)
	var m chance.Progress
	b.ReportAllocs()
	for b.Loop() {
		turn, err := table.Resolve(&s, m, chance.Tactics{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Apply(turn.Play); err != nil {
			b.Fatal(err)
		}
		m.Turns++
	}
}

// A turn costs no memory as long as nobody asks for its text.
func TestTurnAllocatesNothing(t *testing.T) {
	f := averageFixture(0)
	table := chance.NewSimulator(chance.Seed{}, f.clubs, nil, chance.ParkFactors{})
	s := situation(t, &f, 3*3+1)
	var m chance.Progress
	if got := testing.AllocsPerRun(1000, func() {
		turn, err := table.Resolve(&s, m, chance.Tactics{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = s.Apply(turn.Play); err != nil {
			t.Fatal(err)
		}
		m.Turns++
	}); got != 0 {
		t.Errorf("a turn allocates %v times", got)
	}
}

// playOut plays a game with nothing but tired pitchers relieved.
func playOut(tb testing.TB, f *fixture, n uint64) {
	tb.Helper()
	var seed chance.Seed
	binary.BigEndian.PutUint64(seed[:], n)
	table := chance.NewSimulator(seed, f.clubs, f.ratings, f.park)
	s, err := game.New(game.Options{DH: true}, f.clubs, f.cards)
	if err != nil {
		tb.Fatal(err)
	}
	var m chance.Progress
	for !s.Over() {
		f.relieve(table, &s, m)
		turn, err := table.Resolve(&s, m, chance.Tactics{})
		if err != nil {
			tb.Fatal(err)
		}
		if s, err = s.Apply(turn.Play); err != nil {
			tb.Fatal(err)
		}
		m = turn.Next
	}
}
