package bot_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"pressbox/game"
)

// BenchmarkManager measures all decisions of both bots in games: .2 ms in the mean, 20 ms at the 99th percentile.
func BenchmarkManager(b *testing.B) {
	all := fixtures(b, true)
	for b.Loop() {
		var times []time.Duration
		measure := func(decide func()) {
			began := time.Now()
			decide()
			times = append(times, time.Since(began))
		}
		for n := range 20 {
			g := all[n].Start(b, uint64(n), game.Options{}, [2]bool{true, true})
			for !g.State.Over() {
				for _, m := range g.Managers {
					measure(func() { m.Substitutions(&g.State, g.Progress) })
				}
				g.Manage()
				for _, side := range []game.Side{g.State.Batting(), g.State.Fielding()} {
					turn := g.Turn() // each side decides for itself, as against a person
					measure(func() {
						if side == g.State.Batting() {
							g.Managers[side].Offense(turn)
						} else {
							g.Managers[side].Defense(turn)
						}
					})
				}
				g.Play(g.Tactics(), g.Answer)
			}
		}
		sum := time.Duration(0)
		for _, t := range times {
			sum += t
		}
		slices.Sort(times)
		mean, late := sum/time.Duration(len(times)), times[len(times)*99/100]
		b.ReportMetric(float64(mean)/1e6, "mean-ms")
		b.ReportMetric(float64(late)/1e6, "p99-ms")
		fmt.Fprintf(os.Stdout, "decisions of the bot: %v in the mean, %v at the 99th percentile\n", mean, late)
	}
}
