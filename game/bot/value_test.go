package bot_test

import (
	"math"
	"testing"

	"pressbox/game"
	"pressbox/game/bot/bottest"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

// A situation is a state of a game between two clubs of the built-in league.
type situation struct {
	inning  int
	half    game.Half
	outs    int
	bases   string // "1-3": runners on first and third
	score   [2]int // visitors, home
	batter  int    // place in the order, 1–9
	batters int    // that the pitcher has faced
}

// start returns the situation in a new game with a DH.
func (at situation) start(tb testing.TB) *bottest.Game {
	tb.Helper()
	g := fixtures(tb, true)[0].Start(tb, 1, game.Options{ExtraInnings: game.Standard}, [2]bool{true, true})
	s := &g.State
	s.Inning, s.Half, s.Outs, s.Score = at.inning, at.half, at.outs, at.score
	team := &s.Teams[s.Batting()]
	team.NextBatter = max(at.batter, 1) - 1
	for i, base := range at.bases {
		if base != '-' {
			s.Bases[i] = game.Runner{Player: team.Order[(team.NextBatter+6+i)%9].Player}
		}
	}
	g.Progress.Workloads[s.Fielding()] = chance.Workload{
		Pitcher: s.Pitcher(), Batters: at.batters, Pitches: 4 * at.batters,
	}
	s.Teams[s.Fielding()].BattersFaced = at.batters
	return g
}

// The first call is worth about what the position is: by the league's run expectancy and by the model of game/odds.
func TestOffenseValues_position(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		at            situation
		least, most   float64 // runs
		fewest, share float64 // chance to win
	}{
		{situation{inning: 1}, .35, .7, .4, .55},
		{situation{inning: 5, bases: "123", half: game.Bottom}, 1.9, 2.6, .6, .85},
		{situation{inning: 9, bases: "123", half: game.Bottom}, 1.9, 2.6, .85, 1},
		{situation{inning: 9, outs: 2, score: [2]int{4, 0}, half: game.Bottom}, .05, .2, 0, .01},
	} {
		g := tt.at.start(t)
		v := g.Turn().OffenseValues()[0]
		check.That(t, v.Call == chance.SwingAway && v.Runs >= tt.least && v.Runs <= tt.most &&
			v.WinProbability >= tt.fewest && v.WinProbability <= tt.share,
			"%+v: %+v, want %v to %v runs and %v to %v wins", tt.at, v, tt.least, tt.most, tt.fewest, tt.share)
	}
}

// What both sides expect is an equilibrium: the best call of each is worth the same.
func TestValues_equilibrium(t *testing.T) {
	t.Parallel()
	for _, bases := range []string{"", "1", "-2", "12", "1-3", "--3"} {
		for outs := range 3 {
			g := situation{inning: 6, bases: bases, outs: outs, half: game.Bottom, batters: 12}.start(t)
			turn := g.Turn()
			most, least := 0.0, 1.0
			for _, v := range turn.OffenseValues() {
				most = max(most, v.WinProbability)
			}
			for _, v := range turn.DefenseValues() {
				least = min(least, 1-v.WinProbability)
			}
			check.That(t, math.Abs(most-least) <= .015,
				"bases %q, %d out: the side at bat expects %.4f, the side in the field %.4f", bases, outs, most, least)
		}
	}
}

// A fresh pitcher is worth more than one who is exhausted, and a substitution that the rules forbid nothing.
func TestSubstitutionValue_freshPitcher(t *testing.T) {
	t.Parallel()
	g := situation{inning: 7, batters: 33}.start(t)
	m, s := g.Bot(game.Home), &g.State
	in := game.Substitution{Side: game.Home, Player: m.NextReliever(s), Position: game.Pitcher}
	stay := check.Must(m.SubstitutionValue(s, g.Progress))(t)
	change := check.Must(m.SubstitutionValue(s, g.Progress, in))(t)
	check.That(t, change.WinProbability >= stay.WinProbability+.01 && change.Runs <= stay.Runs-.1,
		"stay %+v, change %+v", stay, change)
	in.Side = game.Away
	v, err := m.SubstitutionValue(s, g.Progress, in)
	check.That(t, err != nil, "another club's pitcher: %+v", v)
}
