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
			slack := errors * err
			if seasons.least == seasons.most {
				slack = max(errors, meanErrors) * err
			}
			if !(got >= seasons.least-slack && got <= seasons.most+slack) {
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
			t.countIf(noHittersRelieved, s.Position == game.Pitcher && !before.Teams[s.Side].Relieved &&
				before.Inning > 8 && book.BoxScore(before).Teams[s.Side.Other()].Hits == 0)
		}
		book.RecordSubstitutions(before, subs, after)
	}
	g.OnPlay = func(before *game.State, _ *chance.Resolution, play *game.Play, after *game.State) {
		book.RecordPlay(before, play, after)
		chances = append(chances, winProbability().HomeWin(before))
		t.countPlay(before, play)
		h.count(t, before, play, after)
	}
	for !g.State.Over() {
		g.Manage()
		calls := g.Tactics()
		t.countIf(guarded, calls.Defense.GuardLines && g.State.Inning <= 3)
		g.Play(calls, g.Answer)
	}
	box := book.BoxScore(&g.State)
	t.countGame(&g.State, &box)
	t.countChances(chances, g.State.Score[game.Home] > g.State.Score[game.Away])
}

// A row is a measurement of games, and what it was in the seasons 2015–17 and 2019: in games with the designated
// hitter, without, and in all of them; nil where it is not known.
type row struct {
	name          string
	of            func(*tally) float64
	dh, noDH, all *target
}

// A target is the range of a measurement.
type target struct {
	want, least, most float64
}

func (t *target) String() string {
	if t.want == 0 {
		return fmt.Sprintf("%.4g–%.4g", t.least, t.most)
	}
	return fmt.Sprintf("%.4g", t.want)
}

// meanErrors is the number of standard errors that a measurement may be off a mean.
const meanErrors = 3

// mean returns the mean of 2015–19 as a range without tolerance.
func mean(want float64) *target { return within(0, want) }

// within returns the range of a value with a tolerance in percent.
func within(percent, want float64) *target {
	return &target{want, want * (1 - percent/100), want * (1 + percent/100)}
}

func between(least, most float64) *target { return &target{0, least, most} }

func per(n, of int, factor float64) func(*tally) float64 {
	return func(t *tally) float64 { return factor * float64(t.n[n]) / float64(t.n[of]) }
}

// perTeam returns a measurement per team and game, percent one in percent of turns at bat.
func perTeam(n int) func(*tally) float64 { return per(n, games, .5) }
func percent(n int) func(*tally) float64 { return per(n, turns, 100) }

// rows returns the table. The tolerances of rates of players are 3 %; those of rare events and of what managers decide
// are wider, because clubs of those seasons differed as much.
func rows() []row {
	all := []row{
		// The clubs are the same with and without the DH, unlike the two leagues.
		{"runs", perTeam(runs), within(5, 4.622), within(4, 4.48), within(3, 4.551)},
		{"plate appearances", perTeam(turns), nil, nil, within(1.5, 38.08)},
		{"batting average", per(hits, atBats, 1), nil, nil, within(2, .2543)},
		{"on-base average", onBase, nil, nil, within(2, .3213)},
		{"singles, %", percent(singles), nil, nil, within(3, 14.65)},
		{"doubles, %", percent(doubles), nil, nil, within(3, 4.517)},
		{"doubles", perTeam(doubles), nil, mean(1.72), nil},
		{"triples, %", percent(triples), nil, nil, within(4, .458)},
		{"home runs, %", percent(homeRuns), nil, nil, within(3, 3.162)},
		{"walks, %", percent(walks), nil, nil, within(3, 8.227)},
		{"strikeouts, %", percent(strikeouts), nil, nil, within(3, 21.53)},
		{"hit batters, %", percent(hitByPitch), nil, nil, within(3, .946)},
		{"sacrifice flies, %", percent(sacrificeFlies), nil, nil, within(5, .644)},
		// What managers hardly do: at most as often as in the 898 games of 2020; the lines have no source.
		{"bunts with two out and a runner on third", perTeam(lateBunts), nil, nil, between(0, .0023)},
		{"bunts with the bases full", perTeam(fullBunts), nil, nil, between(0, .0023)},
		{"bunts three and more behind, from the seventh", perTeam(losingBunts), nil, nil, between(0, .0039)},
		{"steals at seven and more runs", perTeam(idleSteals), nil, nil, between(0, .0017)},
		{"steals with two out, one behind, from the ninth", perTeam(lastSteals), nil, nil, between(0, .0028)},
		{"lines guarded, innings 1–3", perTeam(guarded), nil, nil, between(0, .02)},
		{"sacrifice hits", perTeam(sacrificeHits), within(35, .128), within(35, .276), nil},
		{"intentional walks", perTeam(intentionalWalks), within(35, .137), mean(.235), nil},
		// Of 3,606 in four seasons: chance/measured.txt.
		{
			"intentional walks with a runner on first, %", per(walksBehindRunners, intentionalWalks, 100), nil, nil,
			between(0, 4.1),
		},
		{"stolen bases", perTeam(stolenBases), nil, nil, within(20, .507)},
		{"caught stealing", perTeam(caughtStealing), nil, nil, within(20, .197)},
		{"attempts to steal third", perTeam(stealsOfThird), nil, nil, between(.03, .09)},
		{"double steals", perTeam(doubleSteals), nil, nil, between(.01, .06)},
		{"errors", perTeam(errs), nil, nil, within(5, .586)},
		{"wild pitches", perTeam(wildPitches), nil, nil, within(6, .369)},
		{"passed balls", perTeam(passedBalls), nil, nil, within(8, .073)},
		{"double plays", perTeam(doublePlays), nil, nil, within(5, .883)},
		{"grounded into double plays", perTeam(groundedIntoDoublePlays), nil, nil, mean(.75)},
		{"left on base", perTeam(leftOnBase), nil, nil, within(3, 6.76)},
		{"pitches per turn", per(pitches, turns, 1), nil, nil, within(2.5, 3.88)},
		{"pitchers", perTeam(pitchers), within(6, 4.14), mean(4.33), nil},
		{"eight and more pitchers, %", perTeamPercent(manyPitchers), nil, nil, between(0, 1.9)},
		{"starter's outs", perTeam(starterOuts), nil, nil, mean(16.5)},
		{"starters gone before the fifth, %", perTeamPercent(shortStarts), between(20, 30), between(20, 30), nil},
		{"starts of more than 125 pitches, %", perTeamPercent(longStarts), between(0, 0), between(0, 0), nil},
		{"complete games, %", perTeamPercent(completeGames), between(.8, 2.6), between(.6, 2.4), mean(1.37)},
		{"no-hitters relieved after the eighth, %", perTeamPercent(noHittersRelieved), nil, nil, between(0, 0)},
		{"pinch hitters", perTeam(pinchHitters), within(30, .532), nil, nil},
		{"turns of pitchers, %", percent(pitchersTurns), between(0, 0), between(4.5, 6.5), nil},
		{"home wins, %", perGame(homeWins), nil, nil, between(52, 54.5)},
		{"one-run games, %", perGame(oneRun), nil, nil, between(26.2, 29.2)},
		{"margins of ten and more, %", perGame(tenRuns), nil, nil, within(14, 4.49)},
		{"extra innings, %", perGame(extraInnings), between(7, 8.9), nil, mean(8.3)},
		{"shut out, %", perTeamPercent(shutouts), nil, nil, between(5.2, 6.5)},
		{"indifference", perTeam(indifference), nil, nil, between(.03, .08)},
		{"strikeout and caught stealing", perTeam(strikeoutThrow), nil, nil, within(35, .029)}, // 2,812 in 20 seasons
		{"picked off stealing", perTeam(pickedStealing), nil, nil, between(.01, .05)},
		{"ground-rule doubles", perTeam(groundRule), nil, nil, between(.06, .12)},
		{"unassisted forces", perTeam(unassisted), nil, nil, between(.1, .22)},
	}
	for at, want := range measuredExpectancy() {
		tolerance := 5.
		if at/3 >= 4 {
			tolerance = 8 // a runner on third: less than 10,000 turns in four seasons
		}
		bases := [8]string{"---", "1--", "-2-", "12-", "--3", "1-3", "-23", "123"}[at/3]
		all = append(all, row{
			fmt.Sprintf("run expectancy, %s %d out", bases, at%3),
			func(t *tally) float64 { return float64(t.scored[at]) / float64(t.times[at]) }, nil, nil,
			within(tolerance, want),
		})
	}
	return all
}

func perGame(n int) func(*tally) float64        { return per(n, games, 100) }
func perTeamPercent(n int) func(*tally) float64 { return per(n, games, 50) }

func onBase(t *tally) float64 {
	reached := t.n[walks] + t.n[hitByPitch]
	return float64(t.n[hits]+reached) / float64(t.n[atBats]+reached+t.n[sacrificeFlies])
}

// measuredExpectancy returns runs to the end of the half-inning by base-out state, innings 1–8.
func measuredExpectancy() [24]float64 {
	return [24]float64{
		.517, .277, .109, .909, .535, .234, 1.163, .709, .325, 1.519, .954, .445,
		1.407, .981, .382, 1.780, 1.208, .501, 2.034, 1.430, .583, 2.274, 1.630, .785,
	}
}

// The counters of a tally, both teams together.
const (
	games = iota
	runs
	turns
	atBats
	hits
	singles
	doubles
	triples
	homeRuns
	walks // with the intentional ones
	intentionalWalks
	strikeouts
	hitByPitch
	sacrificeHits
	sacrificeFlies
	stolenBases
	caughtStealing
	stealsOfThird // attempts
	doubleSteals
	errs
	wildPitches
	passedBalls
	doublePlays
	leftOnBase
	pitches
	pitchers
	starterOuts
	shortStarts   // gone before the fifth inning ended
	longStarts    // more than 125 pitches
	completeGames // by one pitcher
	pinchHitters
	homeWins
	oneRun  // margins
	tenRuns // margins of ten and more
	extraInnings
	shutouts
	groundRule // doubles
	indifference
	strikeoutThrow // strikeouts with a runner caught stealing
	pickedStealing // runners picked off stealing
	unassisted     // forces at second
	pitchersTurns  // at bat
	groundedIntoDoublePlays
	manyPitchers       // eight or more in nine innings
	noHittersRelieved  // pitchers who had allowed no hit in eight innings
	walksBehindRunners // intentional ones with a runner on first
	lateBunts          // with two out and a runner on third
	fullBunts
	losingBunts // three and more behind, from the seventh inning
	idleSteals  // attempts seven and more ahead or behind
	lastSteals  // attempts with two out, one behind, from the ninth inning
	guarded     // turns with the lines guarded in the first three innings
	counters
)

// A tally counts games.
type tally struct {
	n             [counters]int
	times, scored [24]int // by base-out state, innings 1–8: turns begun, runs to the end of the half-inning

	// By the win probability of the home team before each play; each game has the weight 1.
	expected, won, moments [10]float64
}

func (t *tally) add(u *tally) {
	for i, n := range u.n {
		t.n[i] += n
	}
	for i := range u.moments {
		t.expected[i] += u.expected[i]
		t.won[i] += u.won[i]
		t.moments[i] += u.moments[i]
	}
	for i := range u.times {
		t.times[i] += u.times[i]
		t.scored[i] += u.scored[i]
	}
}

func (t *tally) countIf(n int, is bool) {
	if is {
		t.n[n]++
	}
}

// countPlay counts what no box score has.
func (t *tally) countPlay(before *game.State, p *game.Play) {
	stole, tries := 0, 0
	for from := game.First; from <= game.Third; from++ {
		reason := p.Advances[from].Reason
		if reason == game.Stole {
			stole++
		}
		if reason == game.Stole || reason == game.Caught || reason == game.PickedOffStealing {
			tries++
		}
		t.countIf(stealsOfThird, from == game.Second && (reason == game.Stole || reason == game.Caught))
		t.countIf(pickedStealing, reason == game.PickedOffStealing && p.Kind == game.PickOff)
	}
	t.countIf(doubleSteals, stole > 1)
	t.countUnwise(before, p, tries)
	t.countIf(passedBalls, p.Kind == game.PassedBall || p.Also == game.PassedBall)
	t.countIf(pitchersTurns, p.Kind.EndsPlateAppearance() && before.Batter() == before.Teams[before.Batting()].Pitcher)
	t.countIf(groundRule, p.Flags.Has(game.GroundRuleDouble))
	t.countIf(indifference, p.Kind == game.Indifference)
	t.countIf(strikeoutThrow, p.Kind == game.Strikeout && p.Also == game.CaughtStealing)
	t.countIf(unassisted, p.Outs[0].Kind == game.ForceOut && p.Outs[0].At == game.Second &&
		len(p.Outs[0].Fielders) == 1)
	t.n[doublePlays] += map[bool]int{true: 1}[before.Tally(*p).DoublePlay]
}

// countUnwise counts what managers hardly do, in a play with a number of attempts to steal.
func (t *tally) countUnwise(before *game.State, p *game.Play, steals int) {
	lead, bunt := before.Lead(), p.Ball.Contact.IsBunt()
	first, third := before.Bases[0].Player != "", before.Bases[2].Player != ""
	t.countIf(walksBehindRunners, p.Kind == game.IntentionalWalk && first)
	t.countIf(lateBunts, bunt && third && before.Outs == 2)
	t.countIf(fullBunts, bunt && chance.BaseOut(before)/3 == 7)
	t.countIf(losingBunts, bunt && before.Inning >= 7 && lead <= -3)
	if lead >= 7 || lead <= -7 {
		t.n[idleSteals] += steals
	}
	if before.Outs == 2 && lead == -1 && before.Inning >= 9 {
		t.n[lastSteals] += steals
	}
}

// countGame counts a box score.
func (t *tally) countGame(s *game.State, box *game.BoxScore) {
	t.n[games]++
	for side := range box.Teams {
		team := &box.Teams[side]
		t.n[runs] += team.Runs
		t.n[hits] += team.Hits
		t.n[errs] += team.Errors
		t.n[leftOnBase] += team.LeftOnBase
		t.countIf(shutouts, team.Runs == 0)
		for _, l := range team.Batting {
			t.n[turns] += l.PlateAppearances
			t.n[atBats] += l.AtBats
			t.n[doubles] += l.Doubles
			t.n[triples] += l.Triples
			t.n[homeRuns] += l.HomeRuns
			t.n[singles] += l.Hits - l.Doubles - l.Triples - l.HomeRuns
			t.n[walks] += l.Walks
			t.n[intentionalWalks] += l.IntentionalWalks
			t.n[strikeouts] += l.Strikeouts
			t.n[hitByPitch] += l.HitByPitch
			t.n[sacrificeHits] += l.SacrificeHits
			t.n[sacrificeFlies] += l.SacrificeFlies
			t.n[stolenBases] += l.StolenBases
			t.n[caughtStealing] += l.CaughtStealing
			t.n[groundedIntoDoublePlays] += l.GroundedIntoDoublePlays
		}
		t.countIf(manyPitchers, len(team.Pitching) >= 8 && s.Inning <= 9)
		for i, l := range team.Pitching {
			t.n[pitchers]++
			t.n[pitches] += l.Pitches
			t.n[wildPitches] += l.WildPitches
			if i == 0 {
				t.n[starterOuts] += l.Outs
				t.countIf(shortStarts, l.Outs < 15)
				t.countIf(longStarts, l.Pitches > 125)
				t.countIf(completeGames, len(team.Pitching) == 1)
			}
		}
	}
	margin := s.Score[game.Home] - s.Score[game.Away]
	t.countIf(homeWins, margin > 0)
	t.countIf(oneRun, margin == 1 || margin == -1)
	t.countIf(tenRuns, margin >= 10 || margin <= -10)
	t.countIf(extraInnings, s.Inning > 9)
}

// countChances counts the win probabilities of a game.
func (t *tally) countChances(chances []float64, won bool) {
	share := 1 / float64(len(chances)) // moments of one game are not independent
	for _, p := range chances {
		bin := min(int(10*p), 9)
		t.expected[bin] += p * share
		t.moments[bin] += share
		if won {
			t.won[bin] += share
		}
	}
}

// calibrationError returns the mean difference of the chance shown and the share of games won.
func (t *tally) calibrationError() float64 {
	sum := 0.0
	for i := range t.moments {
		sum += math.Abs(t.won[i] - t.expected[i])
	}
	return sum / float64(t.n[games])
}

// half counts one half-inning.
type half struct {
	at, before []int // of the turns begun: base-out state, and runs so far
	runs       int
}

func (h *half) count(t *tally, before *game.State, p *game.Play, after *game.State) {
	if before.Count == (game.Count{}) && (p.Kind.EndsPlateAppearance() || !h.begun(before)) {
		h.at, h.before = append(h.at, chance.BaseOut(before)), append(h.before, h.runs)
	}
	h.runs += before.Tally(*p).Runs
	if after.Half == before.Half && !after.Over() {
		return
	}
	if before.Inning <= 8 {
		for i, at := range h.at {
			t.times[at]++
			t.scored[at] += h.runs - h.before[i]
		}
	}
	*h = half{at: h.at[:0], before: h.before[:0]}
}

// begun reports whether the last turn counted is this one: the same state.
func (h *half) begun(s *game.State) bool {
	n := len(h.at)
	return n > 0 && h.at[n-1] == chance.BaseOut(s) && h.before[n-1] == h.runs
}
