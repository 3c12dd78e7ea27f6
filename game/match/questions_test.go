package match

import (
	"testing"

	"pressbox/game"
	"pressbox/game/bot/bottest"
	"pressbox/game/chance"
	"pressbox/game/league"
	"pressbox/game/odds"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

// A question is open within .35 of the break-even, by runs or by win probability, unless the game is decided.
func TestRisk_isOpen(t *testing.T) {
	t.Parallel()
	e := &engine{odds: odds.For(game.Options{})}
	const third = 3 * 4  // base-out state with a runner there and none out
	send := chance.Risk{ // one out; a runner from second scores, is out at home, or is held at third
		Success: []chance.Transition{{To: 1, Runs: 1, P: 1}},
		Failure: []chance.Transition{{To: 2, P: 1}},
		Safe:    []chance.Transition{{To: third + 1, P: 1}},
	}
	for _, tt := range []struct {
		name  string
		state game.State
		p     float64
		want  bool
	}{
		{"break-even", game.State{Inning: 1}, .75, true},
		{"risky", game.State{Inning: 1}, .35, true},
		{"too risky", game.State{Inning: 1}, .33, false},
		{"too risky, but one run wins", game.State{Inning: 9, Half: game.Bottom}, .33, true},
		{"nearly decided", game.State{Inning: 8, Score: [2]int{0, 6}}, .65, true},
		{"decided", game.State{Inning: 8, Score: [2]int{0, 15}}, .65, false},
	} {
		check.Equal(t, e.weigh(&tt.state, &send).isOpen(tt.p), tt.want, "%s: open", tt.name)
	}
}

// About half of the questions whether to send a runner are asked, and hardly any whose answer is always the same.
func TestEngine_asksHalf(t *testing.T) {
	t.Parallel()
	const games = 80
	e := &engine{odds: odds.For(game.Options{})}
	all, asked := map[chance.Question]float64{}, map[chance.Question]float64{}
	for n := range uint64(games) {
		g := pairing(t, int(n)).Start(t, n, game.Options{}, [2]bool{true, true})
		e.table = g.Simulator
		for !g.State.Over() {
			g.Manage()
			before, moment, calls := g.State, g.Progress, g.Tactics()
			g.Play(calls, func(r *chance.Resolution) bool {
				all[r.Question]++
				if e.asks(&before, moment, calls, r) {
					asked[r.Question]++
				}
				return g.Answer(r)
			})
		}
	}
	for q, limits := range map[chance.Question][2]float64{
		chance.SendRunner: {.35, .55}, chance.TurnTwo: {0, .1}, chance.ThrowHome: {.5, 1},
	} {
		if share := asked[q] / all[q]; share < limits[0] || share > limits[1] {
			t.Errorf("%s: %.0f of %.0f questions are asked, want %.2f to %.2f of them",
				q, asked[q], all[q], limits[0], limits[1])
		}
	}
}

// pairing returns two clubs of the built-in league.
func pairing(tb testing.TB, n int) *bottest.Pairing {
	tb.Helper()
	clubs := check.Must(builtIn.Teams(tb.Context(), league.LastSeason))(tb).Teams
	var rosters [2]teams.Roster
	for side := range rosters {
		rosters[side] = check.Must(builtIn.Roster(tb.Context(), league.LastSeason, clubs[(n+side*(1+n/8%7))%8].ID))(tb)
	}
	return bottest.Pair(tb, rosters[0], rosters[1], true)
}

var builtIn = league.New(league.LastSeason)
