package chance_test

import (
	"fmt"
	"math"
	"os"
	"testing"
	"text/tabwriter"
)

// A target is one line of the table that games by chance must match: a figure of 2015–17 and 2019, and how far from it
// 20,000 games may be.
type target struct {
	name            string
	want, tolerance float64
	spread          bool // means something only when clubs differ
	of              func(*tally) float64
}

func per(n, of int) float64 { return float64(n) / float64(of) }

func targets() []target {
	all := []target{
		{"runs per team and game", 4.55, .10, false, func(t *tally) float64 { return per(t.runs, 2*t.games) }},
		{"plate appearances per team and game", 38.1, .4, false, func(t *tally) float64 { return per(t.turns, 2*t.games) }},
		{"batting average", .254, .003, false, func(t *tally) float64 { return per(t.hits, t.atBats) }},
		{"on-base average", .321, .003, false, func(t *tally) float64 {
			return per(t.hits+t.walks+t.hitBy, t.atBats+t.walks+t.hitBy+t.flies)
		}},
		{"strikeouts, % of turns", 21.5, .4, false, func(t *tally) float64 { return 100 * per(t.strikeouts, t.turns) }},
		{"walks, % of turns", 8.2, .3, false, func(t *tally) float64 { return 100 * per(t.walks, t.turns) }},
		{"home runs, % of turns", 3.16, .12, false, func(t *tally) float64 { return 100 * per(t.homers, t.turns) }},
		{"double plays per team and game", .88, .05, false, func(t *tally) float64 { return per(t.doublePlays, 2*t.games) }},
		{"left on base per team and game", 6.8, .2, false, func(t *tally) float64 { return per(t.left, 2*t.games) }},
		{"errors per team and game", .59, .05, false, func(t *tally) float64 { return per(t.errors, 2*t.games) }},
		{"scoreless half-innings, %", 71.9, 1, false, func(t *tally) float64 { return 100 * per(t.scoreless, t.halves) }},
		{"home wins, %", 53.25, 1.25, true, func(t *tally) float64 { return 100 * per(t.homeWins, t.games) }},
		{"one-run games, %", 27.7, 1.5, true, func(t *tally) float64 { return 100 * per(t.oneRun, t.games) }},
		{"extra innings, % of games", 8.1, 1, true, func(t *tally) float64 { return 100 * per(t.extra, t.games) }},
		{"shut out, % of team games", 5.9, .7, true, func(t *tally) float64 { return 100 * per(t.shut, 2*t.games) }},
	}
	for at, want := range expectancy() {
		within := .05
		if at/3 >= 4 && at%3 == 0 {
			within = .08 // rare: less than 3,500 turns in four seasons
		}
		bases := [8]string{"---", "1--", "-2-", "12-", "--3", "1-3", "-23", "123"}[at/3]
		all = append(all, target{
			fmt.Sprintf("runs to come, %s %d out", bases, at%3), want, within * want, false,
			func(t *tally) float64 { return per(t.scored[at], t.times[at]) },
		})
	}
	return all
}

// expectancy is runs to the end of the half-inning by bases and outs, innings 1–8 of 2015–17 and 2019.
func expectancy() [24]float64 {
	return [24]float64{
		.517, .277, .109, .909, .535, .234, 1.163, .709, .325, 1.519, .954, .445,
		1.407, .981, .382, 1.780, 1.208, .501, 2.034, 1.430, .583, 2.274, 1.630, .785,
	}
}

// measured is one target met or missed.
type measured struct {
	target
	got, err float64 // standard error
}

// batch is how many games are counted together to see how far chance scatters.
const batch = 50

// season plays games of the fixtures in turn and measures every target.
func season(tb testing.TB, league []fixture, games int, spread bool) []measured {
	tb.Helper()
	batches := make([]tally, games/batch)
	var sum tally
	for b := range batches {
		for n := range batch {
			f := &league[(b*batch+n)%len(league)]
			f.play(tb, b*batch+n, &batches[b])
		}
		sum.add(&batches[b])
	}
	var found []measured
	for _, want := range targets() {
		if want.spread && !spread {
			continue
		}
		var mean, square, counted float64
		for b := range batches {
			if x := want.of(&batches[b]); !math.IsNaN(x) {
				mean += x
				square += x * x
				counted++
			}
		}
		mean /= counted
		found = append(found, measured{want, want.of(&sum), math.Sqrt((square/counted - mean*mean) / counted)})
	}
	return found
}

// report prints the table and fails where a figure is further from its target than the tolerance and so many standard
// errors allow.
func report(tb testing.TB, title string, found []measured, errors float64) {
	tb.Helper()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\tmeasured\ttarget\ttolerance\n", title)
	for _, m := range found {
		allowed := m.tolerance + errors*m.err
		mark := ""
		if math.Abs(m.got-m.want) > allowed {
			mark = "MISSED"
			tb.Errorf("%s: %s %.4g, want %.4g ± %.2g", title, m.name, m.got, m.want, allowed)
		}
		fmt.Fprintf(w, "%s\t%.4g\t%.4g\t%.2g\t%s\n", m.name, m.got, m.want, m.tolerance, mark)
	}
	if _, bench := tb.(*testing.B); bench || testing.Verbose() {
		if err := w.Flush(); err != nil {
			tb.Fatal(err)
		}
	}
}

func averageLeague() []fixture {
	var league []fixture
	for n := range 5 {
		league = append(league, averageFixture(n))
	}
	return league
}

// Acceptance: baseball comes out. A seeded run, with three standard errors on top of the tolerances for its size;
// BenchmarkAcceptance is the whole of it.
func TestAcceptanceAverage(t *testing.T) {
	t.Parallel()
	report(t, "league-average clubs", season(t, averageLeague(), 2000, false), 3)
}

func BenchmarkAcceptanceAverage(b *testing.B) {
	for b.Loop() {
		report(b, "league-average clubs", season(b, averageLeague(), 20000, false), 0)
	}
}

func TestAcceptanceSpread(t *testing.T) {
	t.Parallel()
	report(t, "clubs of the built-in league", season(t, builtIn(t), 2800, true), 3)
}

func BenchmarkAcceptanceSpread(b *testing.B) {
	league := builtIn(b)
	for b.Loop() {
		report(b, "clubs of the built-in league", season(b, league, 20000, true), 0)
	}
}
