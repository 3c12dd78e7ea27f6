package realismtest

import "fmt"

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
		{"triples, %", percent(triples), nil, nil, within(4, .458)},
		{"home runs, %", percent(homeRuns), nil, nil, within(3, 3.162)},
		{"walks, %", percent(walks), nil, nil, within(3, 8.227)},
		{"strikeouts, %", percent(strikeouts), nil, nil, within(3, 21.53)},
		{"hit batters, %", percent(hitByPitch), nil, nil, within(3, .946)},
		{"sacrifice flies, %", percent(sacrificeFlies), nil, nil, within(5, .644)},
		{"sacrifice hits", perTeam(sacrificeHits), within(35, .128), within(35, .276), nil},
		{"intentional walks", perTeam(intentionalWalks), within(35, .137), within(35, .234), nil},
		{"stolen bases", perTeam(stolenBases), nil, nil, within(20, .507)},
		{"caught stealing", perTeam(caughtStealing), nil, nil, within(20, .197)},
		{"attempts to steal third", perTeam(stealsOfThird), nil, nil, between(.03, .09)},
		{"double steals", perTeam(doubleSteals), nil, nil, between(.01, .06)},
		{"errors", perTeam(errs), nil, nil, within(5, .586)},
		{"wild pitches", perTeam(wildPitches), nil, nil, within(6, .369)},
		{"passed balls", perTeam(passedBalls), nil, nil, within(8, .073)},
		{"double plays", perTeam(doublePlays), nil, nil, within(5, .883)},
		{"left on base", perTeam(leftOnBase), nil, nil, within(3, 6.76)},
		{"pitches per turn", per(pitches, turns, 1), nil, nil, within(2.5, 3.88)},
		{"pitchers", perTeam(pitchers), within(6, 4.14), within(6, 4.31), nil},
		{"starter's outs", perTeam(starterOuts), nil, nil, within(5, 16.6)},
		{"starters gone before the fifth, %", perTeamPercent(shortStarts), between(20, 30), between(20, 30), nil},
		{"starts of more than 125 pitches, %", perTeamPercent(longStarts), between(0, 0), between(0, 0), nil},
		{"complete games, %", perTeamPercent(completeGames), between(.8, 2.6), between(.6, 2.4), nil},
		{"pinch hitters", perTeam(pinchHitters), within(30, .532), nil, nil},
		{"turns of pitchers, %", percent(pitchersTurns), between(0, 0), between(4.5, 6.5), nil},
		{"home wins, %", perGame(homeWins), nil, nil, between(52, 54.5)},
		{"one-run games, %", perGame(oneRun), nil, nil, between(26.2, 29.2)},
		{"margins of ten and more, %", perGame(tenRuns), nil, nil, within(14, 4.49)},
		{"extra innings, %", perGame(extraInnings), between(7, 8.9), nil, between(7.3, 9)},
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
