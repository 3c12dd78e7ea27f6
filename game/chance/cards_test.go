package chance_test

import (
	"math"
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

// Spent is 1 where Fatigue is, begins at what the days before took, and is the same on a good and on a bad day.
func TestSimulator_spent(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	s := f.at(t, 0)
	starter := s.Pitcher()
	work := chance.RecentWork{starter: {0, 100}}
	sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs, Recent: work})
	got := sim.Spent(&s, chance.Progress{}, starter)
	check.That(t, math.Abs(got-.4*.8) <= 1e-9, "two days after a start %.3f of the stamina is spent, want 0.32", got)
	got = sim.Spent(&game.State{}, chance.Progress{}, starter)
	check.That(t, math.Abs(got-.4*.8) <= 1e-9, "before the game: %.3f", got)
	last := -1.
	for n := range 40 {
		m := worked(&s, n, n*39/10)
		spent, fatigue := sim.Spent(&s, m, starter), sim.Fatigue(&s, m)
		check.That(t, spent > last && (spent >= 1) == (fatigue >= 1),
			"after %d batters %.3f are spent, fatigue %.3f", n, spent, fatigue)
		other := sim.WithSeed(chance.Seed{9}).Spent(&s, m, starter)
		check.That(t, other == spent, "with another seed %.3f are spent, not %.3f", other, spent)
		last = spent
	}
}

// Rest days are counted from yesterday, 0, to RecentDays.
func TestRecentWork_restDays(t *testing.T) {
	t.Parallel()
	for days, want := range map[[chance.RecentDays]int]int{
		{20}: 0, {0, 20}: 1, {0, 0, 0, 0, 1}: 4, {}: chance.RecentDays,
	} {
		check.Equal(t, (chance.RecentWork{"p": days}).RestDays("p"), want, "%v: days", days)
	}
	check.Equal(t, chance.RecentWork(nil).RestDays("p"), chance.RecentDays, "without work: days")
}

// The averages of the positions are around the league's, and differ as positions do.
func TestPositionAverage(t *testing.T) {
	t.Parallel()
	positions := []game.Role{"C", "1B", "2B", "3B", "SS", "LF", "CF", "RF", "DH"}
	var hr, k float64
	for _, at := range positions {
		r := chance.PositionAverage([]game.Role{at, "DH"})
		hr, k = hr+r.Batting.HR/9, k+r.Batting.K/9
		out := r.Batting.Out()
		check.That(t, out >= .4 && out <= .55, "%s: %.3f outs", at, out)
	}
	l := chance.LeagueRates()
	check.That(t, math.Abs(hr/l.HR-1) <= .01 && math.Abs(k/l.K-1) <= .01,
		"all positions: %.4f home runs, %.4f strikeouts, want %.4f, %.4f", hr, k, l.HR, l.K)
	first, short := chance.PositionAverage([]game.Role{"1B"}), chance.PositionAverage([]game.Role{"SS"})
	check.That(t, first.Batting.HR >= 1.5*short.Batting.HR && first.Speed <= short.Speed-1,
		"first base %+v, shortstop %+v", first, short)
	for _, none := range [][]game.Role{nil, {"SP"}, {"RP", "1B"}} {
		check.Equal(t, chance.PositionAverage(none), (chance.Rating{}), "%v", none)
	}
}

// A player without rates has those that the simulator takes for them.
func TestEffective(t *testing.T) {
	t.Parallel()
	l := chance.LeagueRates()
	hitter := chance.Effective(game.Player{Positions: []game.Role{"SS"}}, chance.Rating{})
	starter := chance.Effective(game.Player{Positions: []game.Role{"SP"}}, chance.Rating{})
	reliever := chance.Effective(game.Player{Positions: []game.Role{"RP"}}, chance.Rating{})
	both := chance.Effective(game.Player{Positions: []game.Role{"SP", "DH"}}, chance.Rating{})
	check.That(t, hitter.Batting == l && hitter.Pitching.HR > l.HR && starter.Pitching == l &&
		starter.Batting.K > l.K && both.Batting == l,
		"hitter %+v, starter %+v, both %+v", hitter, starter, both)
	check.That(t, starter.Stamina == chance.StarterStamina && reliever.Stamina == chance.RelieverStamina,
		"stamina %d and %d", starter.Stamina, reliever.Stamina)
}
