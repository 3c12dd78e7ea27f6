package chance_test

import (
	"syscall"
	"testing"
	"time"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

// wantGames is the required number of whole games per second of one core, rules and chance without text.
const wantGames = 4000

// BenchmarkGames plays whole games with pitching changes. Each creates its simulator and line-ups.
func BenchmarkGames(b *testing.B) {
	league := builtInLeague(b)
	n, before := 0, cpuTime(b)
	for b.Loop() {
		f := &league[n%len(league)]
		sim, s := f.start(b, uint64(n), game.Options{DH: true})
		for m := (chance.Progress{}); !s.Over(); {
			f.relieve(sim, &s, m)
			r, err := sim.Resolve(&s, m, chance.Tactics{})
			check.NoError(b, err)
			if s, err = s.Apply(r.Play); err != nil {
				b.Fatal(err)
			}
			m = r.Next
		}
		n++
	}
	rate := float64(n) / (cpuTime(b) - before).Seconds()
	b.ReportMetric(rate, "games/s") // per second of processor time
	b.ReportMetric(rate/wantGames, "x-limit")
}

// cpuTime returns the processor time of the process, with the garbage collector.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var used syscall.Rusage
	check.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// turn returns a function that resolves and applies a turn with a runner on first and second and one out.
func turn(tb testing.TB) func() {
	tb.Helper()
	f := averageFixture(0)
	sim, _ := f.start(tb, 0, game.Options{DH: true})
	s := f.at(tb, 3*3+1)
	var m chance.Progress
	return func() {
		r := check.Must(sim.Resolve(&s, m, chance.Tactics{}))(tb)
		if _, err := s.Apply(r.Play); err != nil {
			tb.Fatal(err)
		}
		m.Turns++
	}
}

// A turn allocates nothing as long as its text is not requested.
func TestSimulator_allocatesNothing(t *testing.T) {
	got := testing.AllocsPerRun(1000, turn(t))
	check.That(t, got == 0, "a turn allocates %v times", got)
}
