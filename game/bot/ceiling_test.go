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
)

var ceilingGames = flag.Int("ceiling.games", 400, "games of BenchmarkCeiling")

// rollouts is the number of games that are played to the end for each choice of a pitcher.
const rollouts = 60

// A searcher decides as the best bot does, but plays each change of the pitcher that it considers at the start of a
// half-inning to the end of the game, many times with other dice, against a side that decides nothing.
type searcher struct {
	*bot.Manager
	game *bottest.Game
	side game.Side
	tb   testing.TB
}

func (m *searcher) Substitutions(s *game.State, progress chance.Progress) []game.Substitution {
	subs := m.Manager.Substitutions(s, progress)
	team := &s.Teams[m.side]
	if s.Fielding() != m.side || s.Inning < 3 || s.Outs > 0 || s.Bases != [3]game.Runner{} || team.BattersFaced < 3 ||
		team.Pitcher == "" || progress.Pitches != (chance.Pitches{}) || len(subs) > 1 {
		return subs
	}
	best, usual := subs, m.play(s, progress, subs)
	choices := [][]game.Substitution{nil}
	if in := m.NextReliever(s); in != "" && subs == nil {
		choices[0] = []game.Substitution{{Side: m.side, Player: in, Position: game.Pitcher}}
	}
	for _, choice := range choices {
		if _, err := s.Substitute(choice...); err != nil {
			continue
		}
		if wins := m.play(s, progress, choice); better(wins, usual) {
			best = choice
		}
	}
	return best
}

// better reports whether wins are more than usual by more than chance explains.
func better(wins, usual []float64) bool {
	sum, squares, n := 0.0, 0.0, float64(len(wins))
	for i := range wins {
		sum += wins[i] - usual[i]
		squares += (wins[i] - usual[i]) * (wins[i] - usual[i])
	}
	return sum/n > 1.3*math.Sqrt((squares/n-sum*sum/n/n)/n)
}

// play plays the rest of the game after substitutions, many times, and returns which were won.
func (m *searcher) play(s *game.State, progress chance.Progress, subs []game.Substitution) []float64 {
	after, err := s.Substitute(subs...)
	if err != nil {
		m.tb.Fatalf("%+v: %v", subs, err)
	}
	won := make([]float64, rollouts)
	for n := range won {
		var seed chance.Seed
		binary.BigEndian.PutUint64(seed[8:], uint64(n)+1) // the dice of the game are unknown
		g := *m.game
		g.State, g.Progress, g.Simulator, g.Pitches = after, progress, m.game.Simulator.WithSeed(seed), map[game.PlayerID]int{}
		g.OnPlay, g.OnSubstitutions = nil, nil
		g.Managers = [2]bottest.Manager{}
		g.Managers[m.side] = &hasty{g.Bot(m.side)}
		g.Finish()
		if winner, ok := g.State.Winner(); ok && winner == m.side {
			won[n] = 1
		}
	}
	return won
}

// A hasty manager substitutes as the bot does and calls nothing.
type hasty struct{ *bot.Manager }

func (h *hasty) Offence(*bot.Turn) chance.Offence { return chance.SwingAway }
func (h *hasty) Defence(*bot.Turn) chance.Defence { return chance.Defence{} }

// BenchmarkCeiling compares the best bot with one that searches, both against a side that decides nothing, with the same
// dice. The bot reaches .8 of the margin of the search.
func BenchmarkCeiling(b *testing.B) {
	for b.Loop() {
		bots, search := &contest{}, &contest{}
		all := fixtures(b, true)
		for n := range *ceilingGames / 2 {
			for _, c := range []*contest{bots, search} {
				won := 0.0
				for side := range 2 {
					g := all[n%len(all)].Start(b, uint64(n), game.Options{}, [2]bool{side == 0, side == 1})
					if c == search {
						g.Managers[side] = &searcher{g.Bot(game.Side(side)), g, game.Side(side), b}
					}
					g.Finish()
					if winner, ok := g.State.Winner(); ok && winner == game.Side(side) {
						won++
					}
				}
				c.add(2, won)
			}
		}
		fmt.Fprintf(os.Stdout, "against no decisions: the bot won %.4f, the search %.4f of %d games; standard error %.4f\n",
			bots.share(), search.share(), bots.games, bots.err())
		if margin, ceiling := bots.share()-.5, search.share()-.5; margin < .8*ceiling-2*bots.err() || margin < .03 {
			b.Errorf("a margin of %.3f, want .8 of %.3f and .03", margin, ceiling)
		}
	}
}
