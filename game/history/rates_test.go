package history_test

import (
	"bytes"
	"math"
	"testing"

	"pressbox/game"
	"pressbox/game/bot/bottest"
	"pressbox/game/chance"
	"pressbox/game/retro"
	"pressbox/game/retro/eventfile"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

// results counts ends of plate appearances: strikeouts, walks, hit batters, singles, doubles, triples, home runs.
type results struct {
	n  float64
	by [7]float64
}

func (r *results) add(p *game.Play) {
	if !p.Kind.EndsPlateAppearance() || p.Kind == game.IntentionalWalk || p.Kind == game.CatchersInterference ||
		p.Flags.Has(game.SacrificeHit) {
		return
	}
	r.n++
	for i, kind := range []game.PlayKind{
		game.Strikeout, game.Walk, game.HitByPitch, game.Single, game.Double, game.Triple, game.HomeRun,
	} {
		if p.Kind == kind {
			r.by[i]++
		}
	}
}

// A season counts what batters did, and what was done against pitchers.
type season struct{ batters, pitchers map[game.PlayerID]*results }

func newSeason() season { return season{map[game.PlayerID]*results{}, map[game.PlayerID]*results{}} }

func (s season) add(at *game.State, p *game.Play) {
	batter := p.Batter
	if batter == "" {
		batter = at.Batter()
	}
	of(s.batters, batter).add(p)
	of(s.pitchers, at.Teams[at.Fielding()].Pitcher).add(p)
}

func of(players map[game.PlayerID]*results, id game.PlayerID) *results {
	if players[id] == nil {
		players[id] = &results{}
	}
	return players[id]
}

// season2020Plays counts the season of 2020.
func season2020Plays(t *testing.T) season {
	t.Helper()
	all := newSeason()
	for name, file := range files2020(t) {
		if name[0] != '2' {
			continue
		}
		for g, err := range eventfile.Read(bytes.NewReader(file.Data)) {
			check.NoError(t, err)
			_, err := g.Replay(func(s *retro.Step, _ *game.Scorebook) { all.add(&s.Before, &s.Play) })
			check.NoError(t, err)
		}
	}
	return all
}

// Every club plays rounds of games against every other; then the regulars have their rates of 2020 back: 95 % of
// them lie within two standard errors of the difference. The clubs play with their best 26, so that batters meet
// better pitchers than in the season and the other way round: what remains of that is less than one standard
// error, on both sides.
func TestAll_ratesComeBack(t *testing.T) {
	s := season2020(t)
	const rounds = 2
	simulated := newSeason()
	for round := range rounds {
		for i := range s.Rosters {
			for j := range i {
				away, home := s.Rosters[i], s.Rosters[j]
				if round%2 == 1 {
					away, home = home, away
				}
				play(t, uint64(round*1000+i*30+j), away, home, simulated)
			}
		}
	}
	played := season2020Plays(t)
	compare(t, "batters", played.batters, simulated.batters, 3.1*60)
	compare(t, "pitchers", played.pitchers, simulated.pitchers, 200)
}

// compare compares the rates of players with at least regular plate appearances.
func compare(t *testing.T, kind string, played, simulated map[game.PlayerID]*results, regular float64) {
	t.Helper()
	within, all := 0, 0
	var bias [7]float64
	for id, r := range played {
		got := simulated[id]
		if r.n < regular || got == nil || got.n < regular/2 {
			continue
		}
		for i := range r.by {
			p := (r.by[i] + .5) / (r.n + 1)
			z := (got.by[i]/got.n - r.by[i]/r.n) / math.Sqrt(p*(1-p)*(1/r.n+1/got.n))
			bias[i] += z
			all++
			if math.Abs(z) <= 2 {
				within++
			}
		}
	}
	for i := range bias {
		bias[i] *= 7 / float64(all)
	}
	share := float64(within) / float64(all)
	t.Logf("%d rates of %s: %.3f within two standard errors; mean in standard errors %.2f", all, kind, share, bias)
	check.That(t, all >= 70 && share >= .95,
		"%d of %d rates of %s are within two standard errors: %.3f, want .95", within, all, kind, share)
}

func play(t *testing.T, n uint64, away, home teams.Roster, simulated season) {
	t.Helper()
	g := bottest.Pair(t, away, home, true).Start(t, n, game.Options{Innings: 9}, [2]bool{true, true})
	g.OnPlay = func(before *game.State, _ *chance.Resolution, p *game.Play, _ *game.State) { simulated.add(before, p) }
	g.Finish()
}
