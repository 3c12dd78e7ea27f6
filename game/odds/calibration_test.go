package odds_test

import (
	"math"
	"testing"

	"pressbox/game"
	"pressbox/game/bot/bottest"
	"pressbox/game/chance"
	"pressbox/game/league"
	"pressbox/game/odds"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

// Of the moments of simulated games with about the same chance, the home team wins that share.
func TestModel_calibrated(t *testing.T) {
	t.Parallel()
	const bins = 5
	games := 400
	if testing.Short() {
		games = 100
	}
	var expected, won, seen [bins]float64
	var clubs []teams.Roster
	for n := range league.LastSeason {
		season := check.Must(league.Season(n + 1))(t)
		clubs = append(clubs, season...)
	}
	tables := map[int]*odds.Model{}
	for _, innings := range []int{5, 7, 9} {
		tables[innings] = odds.New(game.Options{Innings: innings})
	}
	for n := range games {
		o := game.Options{DH: true, Innings: []int{9, 9, 7, 5}[n%4]}
		table := tables[o.Innings]
		var chances []float64
		season := clubs[n%league.LastSeason*len(clubs)/league.LastSeason:][:len(clubs)/league.LastSeason]
		end := play(t, n, o, season, func(s *game.State) { chances = append(chances, table.HomeWin(s)) })
		for _, p := range chances {
			bin := min(int(p*bins), bins-1)
			share := 1 / float64(len(chances)) // per game, because its moments are not independent
			expected[bin] += p * share
			won[bin] += table.HomeWin(end) * share
			seen[bin] += share
		}
	}
	for bin := range bins {
		p, got := expected[bin]/seen[bin], won[bin]/seen[bin]
		t.Logf("expected %.3f, won %.3f in moments of %.0f games", p, got, seen[bin])
		// three standard errors with games as samples, and the difference of the clubs
		if allowed := .03 + 3*math.Sqrt(p*(1-p)/seen[bin]); math.Abs(got-p) > allowed {
			t.Errorf("home team with chance %.3f wins %.3f, want within %.3f", p, got, allowed)
		}
	}
}

// play plays a game between two bots of the built-in league, and calls watch before every turn.
func play(t *testing.T, n int, o game.Options, clubs []teams.Roster, watch func(*game.State)) *game.State {
	t.Helper()
	away, home := clubs[n%len(clubs)], clubs[(n+1+n/len(clubs)%(len(clubs)-1))%len(clubs)]
	g := bottest.Pair(t, away, home, o.DH).Start(t, uint64(n), o, [2]bool{true, true})
	for !g.State.Over() {
		g.Manage()
		watch(&g.State)
		g.Play(g.Tactics(), func(r *chance.Resolution) bool { return r.Bold })
	}
	return &g.State
}

// The chance when the side is out is that of the state which the rules then reach; For returns the same model as New.
func TestModel_sideOut(t *testing.T) {
	t.Parallel()
	for _, extra := range []game.ExtraInnings{game.AutomaticRunner, game.Standard} {
		o := game.Options{Innings: 5, ExtraInnings: extra}
		model := odds.For(o)
		check.That(t, odds.For(o) == model, "the model is made twice")
		clubs := check.Must(league.Season(1))(t)
		g := bottest.Pair(t, clubs[0], clubs[1], false).Start(t, 1, o, [2]bool{})
		for _, inning := range []int{1, 4, 5, 6, 9} {
			for half := game.Top; half <= game.Bottom; half++ {
				for lead := -2; lead <= 2; lead++ {
					s := g.State
					s.Inning, s.Half, s.Outs = inning, half, 2
					s.Score[s.Batting()], s.Score[s.Fielding()] = max(lead, 0), max(-lead, 0)
					if inning >= 5 && half == game.Bottom && lead > 0 {
						continue // the game is over
					}
					play := game.Play{Kind: game.Strikeout}
					play.Outs[0] = game.Out{Runner: game.AtBat, Kind: game.StruckOut, Fielders: "2"}
					after := check.Must(s.Apply(play))(t)
					want := model.HomeWin(&after)
					if s.Batting() == game.Away {
						want = 1 - want
					}
					if got := model.SideOut(inning, half, lead); math.Abs(got-want) > 1e-12 {
						t.Errorf("%s of %d, lead %d: %.4f, want %.4f", half, inning, lead, got, want)
					}
				}
			}
		}
	}
}
