package bot_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"testing"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/bot/bottest"
	"pressbox/game/chance"
	"pressbox/game/odds"
)

var ceilingGames = flag.Int("ceiling.games", 200,
	"games that the search of BenchmarkCeiling plays; the bot plays twenty times as many")

// gains holds the win probability gained by decisions that are not the bot's: calls of the offense and of the
// defense, pitchers, pinch hitters.
type gains [4]float64

// A searcher decides better than the bot against a side that decides nothing, at any cost. Its calls are the best
// against none, by the exact distribution of the turn. Each change that it considers is played on, many times with
// the same dice as what the bot would do; a second set of dice shows what it is worth.
type searcher struct {
	*bot.Manager
	game   *bottest.Game
	side   game.Side
	tb     testing.TB
	gained gains
}

func (m *searcher) Offense(turn *bot.Turn) chance.Offense {
	best, _ := turn.AgainstNothing()
	m.gained[0] += turn.WinProbability(best, chance.Defense{}) - turn.WinProbability(m.Manager.Offense(turn),
		chance.Defense{})
	return best
}

func (m *searcher) Defense(turn *bot.Turn) chance.Defense {
	_, best := turn.AgainstNothing()
	m.gained[1] += turn.WinProbability(chance.SwingAway,
		m.Manager.Defense(turn)) - turn.WinProbability(chance.SwingAway, best)
	return best
}

// Rollouts of a change: those that decide, and those that show what it is worth.
const (
	deciding = 48
	showing  = 32
)

func (m *searcher) Substitutions(s *game.State, progress chance.Progress) []game.Substitution {
	usual := m.Manager.Substitutions(s, progress)
	best, most, base := usual, 0.0, []float64(nil)
	for _, choice := range m.candidates(s, progress, usual) {
		if _, err := s.Substitute(choice...); err != nil {
			continue
		}
		if base == nil {
			base = m.play(s, progress, usual, 0, deciding)
		}
		gain, err := compare(m.play(s, progress, choice, 0, deciding), base)
		if gain > 1.5*err && gain > most {
			best, most = choice, gain
		}
	}
	if most > 0 {
		gain, _ := compare(m.play(s, progress, best, deciding, showing), m.play(s, progress, usual, deciding, showing))
		if s.Fielding() == m.side {
			m.gained[2] += gain
		} else {
			m.gained[3] += gain
		}
	}
	return best
}

// candidates returns the changes that are worth a search: another pitcher, or none, at the start of a half-inning
// and where the bot changes the pitcher; a hitter from the sixth inning on who hits better than the one whose turn
// it is.
func (m *searcher) candidates(
	s *game.State, progress chance.Progress, usual []game.Substitution,
) (all [][]game.Substitution) {
	team := &s.Teams[m.side]
	if progress.Pitches != (chance.Pitches{}) || len(usual) > 1 || s.Over() {
		return nil
	}
	if s.Fielding() == m.side {
		starts := s.Outs == 0 && s.Bases == [3]game.Runner{}
		if team.Pitcher == "" || team.BattersFaced < 3 || s.Inning < 4 || len(usual) == 0 && !starts {
			return nil
		}
		if len(usual) == 1 {
			all = append(all, nil)
		}
		if in := m.NextReliever(s); in != "" && (len(usual) == 0 || usual[0].Player != in) {
			all = append(all, []game.Substitution{{Side: m.side, Player: in, Position: game.Pitcher}})
		}
		return all
	}
	if len(usual) == 1 {
		return [][]game.Substitution{nil}
	}
	if in := m.bestHitter(s, progress); s.Inning >= 6 && in != "" {
		all = append(all,
			[]game.Substitution{{Side: m.side, Player: in, Slot: team.NextBatter + 1, Position: game.PinchHitter}})
	}
	return all
}

// bestHitter returns the player on the bench who reaches base most often, "" if that is the batter whose turn it is.
func (m *searcher) bestHitter(s *game.State, progress chance.Progress) (best game.PlayerID) {
	team := &s.Teams[m.side]
	next, most := *s, 0.0
	for _, id := range append([]game.PlayerID{s.Batter()}, team.Bench...) {
		next.Teams[m.side].Order[team.NextBatter].Player = id
		if r := m.game.Simulator.ExpectedRates(&next, progress, chance.Tactics{}); 1-r.K-r.Out() > most+.01 {
			best, most = id, 1-r.K-r.Out()
		}
	}
	if best == s.Batter() {
		return ""
	}
	return best
}

// compare returns the mean difference of two samples with the same dice, and its standard error.
func compare(a, b []float64) (mean, err float64) {
	sum, squares, n := 0.0, 0.0, float64(len(a))
	for i := range a {
		sum += a[i] - b[i]
		squares += (a[i] - b[i]) * (a[i] - b[i])
	}
	mean = sum / n
	return mean, math.Sqrt((squares/n - mean*mean) / n)
}

// horizonHalves is the number of half-innings that a rollout plays; then the model of game/odds gives the chance
// to win.
const horizonHalves = 5

// play plays on after substitutions with n sets of dice from the first one on, and returns the chances to win.
func (m *searcher) play(s *game.State, progress chance.Progress, subs []game.Substitution, first, n int) []float64 {
	after, err := s.Substitute(subs...)
	if err != nil {
		m.tb.Fatalf("%+v: %v", subs, err)
	}
	model, won := odds.For(s.Options), make([]float64, n)
	for i := range won {
		var seed chance.Seed
		binary.BigEndian.PutUint64(seed[8:], uint64(first+i)+1) // the dice of the game are unknown
		g := *m.game
		g.State, g.Progress, g.Simulator, g.Pitches = after, progress, m.game.Simulator.WithSeed(seed),
			map[game.PlayerID]int{}
		g.Managers = [2]bottest.Manager{}
		g.Managers[m.side] = &hasty{g.Bot(m.side)}
		for half, halves := s.Half, 0; halves < horizonHalves && !g.State.Over(); {
			g.Manage()
			g.Play(chance.Tactics{}, g.Answer)
			if g.State.Half != half {
				half = g.State.Half
				halves++
			}
		}
		won[i] = model.HomeWin(&g.State)
		if m.side == game.Away {
			won[i] = 1 - won[i]
		}
	}
	return won
}

// A hasty manager substitutes as the bot does and calls nothing.
type hasty struct{ *bot.Manager }

func (h *hasty) Offense(*bot.Turn) chance.Offense { return chance.SwingAway }
func (h *hasty) Defense(*bot.Turn) chance.Defense { return chance.Defense{} }

// search plays a game of a searcher against a side that decides nothing, and returns what its decisions gained
// over the bot's.
func search(tb testing.TB, p *bottest.Pairing, n int, side game.Side) gains {
	tb.Helper()
	g := p.Start(tb, uint64(n), game.Options{}, [2]bool{})
	m := &searcher{Manager: g.Bot(side), game: g, side: side, tb: tb}
	g.Managers[side] = m
	g.Finish()
	return m.gained
}

// BenchmarkCeiling compares the bot with a search, both against a side that decides nothing. What the search wins
// more is the sum of what its decisions gain: to count its wins would take a hundred times as many games. The bot
// reaches .8 of its margin, and .53.
func BenchmarkCeiling(b *testing.B) {
	for b.Loop() {
		bots := compete(b, 20**ceilingGames, true)
		all, won, by := fixtures(b, true), make([]float64, *ceilingGames), gains{}
		for n := range won {
			g := search(b, all[n%len(all)], n, game.Side(n/len(all)%2))
			for i := range g {
				won[n] += g[i]
				by[i] += g[i] / float64(len(won))
			}
		}
		gain, err := compare(won, make([]float64, len(won)))
		fmt.Fprintf(os.Stdout,
			"against no decisions: the bot won %.4f of %d games, standard error %.4f; the search %.4f more in %d, "+
				"standard error %.4f (offense %.4f, defense %.4f, pitchers %.4f, pinch hitters %.4f)\n",
			bots.share(), bots.games, bots.err(), gain, len(won), err, by[0], by[1], by[2], by[3])
		margin := bots.share() - .5
		b.ReportMetric(bots.share()+2*bots.err(), "won+2se")
		b.ReportMetric(margin/(margin+gain), "x-ceiling")
	}
}
