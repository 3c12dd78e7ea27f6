// Package realismtest compares games between bots with the seasons 2015–17 and 2019.
package realismtest

import (
	"flag"
	"fmt"
	"math"
	"os"
	"sync"
	"testing"
	"text/tabwriter"

	"pressbox/game"
	"pressbox/game/bot/bottest"
	"pressbox/game/chance"
	"pressbox/game/league"
	"pressbox/game/odds"
	"pressbox/packaging/check"
)

var gamesOfBenchmark = flag.Int("realism.games", 10_000,
	"games of BenchmarkRanges with and without the designated hitter")

// batches is the number of parts of a sample whose scatter gives the standard errors.
const batches = 25

// A sample holds the counts of games: kind 0 with a designated hitter, 1 without.
type sample [2][]tally

// simulate plays games of each kind between all pairs of clubs, with rotations of five starters.
func simulate(tb testing.TB, games int) *sample {
	tb.Helper()
	clubs := check.Must(league.Season(league.LastSeason))(tb)
	var all sample
	for kind := range all {
		all[kind] = make([]tally, batches)
		pairings := map[[2]int]*bottest.Pairing{}
		for n := range games {
			away := n % len(clubs)
			home := (away + 1 + n/len(clubs)%(len(clubs)-1)) % len(clubs)
			p := pairings[[2]int{away, home}]
			if p == nil {
				p = bottest.Pair(tb, clubs[away], clubs[home], kind == 0)
				pairings[[2]int{away, home}] = p
			}
			turn := n / len(clubs)
			all[kind][n*batches/games].play(tb, p.WithStarters(turn, turn/5), uint64(2*n+kind))
		}
	}
	return &all
}

// winProbability returns the model of nine innings without automatic runners.
var winProbability = sync.OnceValue(func() *odds.Model { return odds.New(game.Options{ExtraInnings: game.Standard}) })

// testErrors is the number of standard errors that the small sample of go test may be off beyond the tolerances.
const testErrors = 3.5

// Games between bots lie within the ranges of real seasons: a small sample, with standard errors on top of the
// tolerances.
func TestAll_ranges(t *testing.T) {
	t.Parallel()
	report(t, simulate(t, 400), testErrors)
}

// BenchmarkRanges prints the table of -realism.games games of each kind; what is beyond its tolerance and two standard
// errors fails.
func BenchmarkRanges(b *testing.B) {
	for b.Loop() {
		all := simulate(b, *gamesOfBenchmark)
		report(b, all, 2)
		got, _ := measure(all, 2, (*tally).calibrationError)
		if b.ReportMetric(got, "calibration-error"); got > .01 && *gamesOfBenchmark >= 10_000 {
			b.Errorf("the error of the win probability is %.4f, want at most .01", got)
		}
	}
}

// report prints the table and fails where a measurement is out of its range.
func report(tb testing.TB, all *sample, errors float64) {
	tb.Helper()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\twith DH\treal\twithout DH\treal\tall\treal\tstandard error\t")
	for _, r := range rows() {
		fmt.Fprintf(w, "%s\t", r.name)
		missed, worst := "", 0.0
		for i, seasons := range []*target{r.dh, r.noDH, r.all} {
			got, err := measure(all, i, r.of)
			worst = max(worst, err)
			fmt.Fprintf(w, "%.4g\t", got)
			if seasons == nil {
				fmt.Fprint(w, "\t")
				continue
			}
			fmt.Fprintf(w, "%s\t", seasons)
			if slack := errors * err; !(got >= seasons.least-slack && got <= seasons.most+slack) {
				missed = "MISSED"
				tb.Errorf("%s, %s: %.4g ± %.2g, want %.4g to %.4g",
					r.name, [3]string{"with DH", "without DH", "all"}[i], got, err, seasons.least, seasons.most)
			}
		}
		fmt.Fprintf(w, "%.2g\t%s\n", worst, missed)
	}
	if _, bench := tb.(*testing.B); bench || testing.Verbose() {
		check.NoError(tb, w.Flush())
	}
}

// measure returns a measurement of one kind of game, or of both (2), and its standard error.
func measure(all *sample, kind int, of func(*tally) float64) (got, err float64) {
	var parts []tally
	switch kind {
	case 2:
		for i := range all[0] {
			both := all[0][i]
			both.add(&all[1][i])
			parts = append(parts, both)
		}
	default:
		parts = all[kind]
	}
	var sum tally
	var mean, square, n float64
	for i := range parts {
		sum.add(&parts[i])
		if x := of(&parts[i]); !math.IsNaN(x) {
			mean += x
			square += x * x
			n++
		}
	}
	mean /= n
	return of(&sum), math.Sqrt(max(square/n-mean*mean, 0) / (n - 1))
}

// play plays a game and counts it.
func (t *tally) play(tb testing.TB, p *bottest.Pairing, seed uint64) {
	tb.Helper()
	g := p.Start(tb, seed, game.Options{ExtraInnings: game.Standard}, [2]bool{true, true})
	book := game.NewScorebook(&g.State, p.Clubs)
	var h half
	var chances []float64
	g.OnSubstitutions = func(before *game.State, subs []game.Substitution, after *game.State) {
		for _, s := range subs {
			if s.Position == game.PinchHitter {
				t.n[pinchHitters]++
			}
		}
		book.RecordSubstitutions(before, subs, after)
	}
	g.OnPlay = func(before *game.State, _ *chance.Resolution, play *game.Play, after *game.State) {
		book.RecordPlay(before, play, after)
		chances = append(chances, winProbability().HomeWin(before))
		t.countPlay(before, play)
		h.count(t, before, play, after)
	}
	g.Finish()
	box := book.BoxScore(&g.State)
	t.countGame(&g.State, &box)
	t.countChances(chances, g.State.Score[game.Home] > g.State.Score[game.Away])
}
