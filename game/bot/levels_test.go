package bot_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

var levelGames = flag.Int("levels.games", 4000, "games of each pair of levels in BenchmarkLevels")

// versus plays games of a level of the bot against another one.
func versus(tb testing.TB, games int, dh bool, level, other bot.Level) *contest {
	tb.Helper()
	c := &contest{}
	all := fixtures(tb, dh)
	for n := range games / 2 {
		p := *all[n%len(all)]
		won := 0.0
		for side := range 2 {
			p.Levels[side], p.Levels[1-side] = level, other
			g := p.Start(tb, uint64(n), game.Options{}, [2]bool{true, true})
			g.Finish()
			if winner, ok := g.State.Winner(); ok && winner == game.Side(side) {
				won++
			}
		}
		c.add(2, won)
	}
	return c
}

// BenchmarkLevels plays each level against the next lower one. It wins at least .515.
func BenchmarkLevels(b *testing.B) {
	for b.Loop() {
		least := 1.0
		for level := bot.Expert; level > bot.Beginner; level-- {
			c := versus(b, *levelGames, true, level, level-1)
			fmt.Fprintf(os.Stdout, "level %d against %d: won %.4f of %d games, want .515; standard error %.4f\n",
				level, level-1, c.share(), c.games, c.err())
			least = min(least, c.share()+2*c.err())
		}
		b.ReportMetric(least, "won+2se")
	}
}

// A beginner calls nothing but sacrifices; an expert also steals.
func TestLevels_calls(t *testing.T) {
	t.Parallel()
	for level, want := range map[bot.Level][]chance.Offense{
		bot.Beginner: {chance.SwingAway, chance.Sacrifice},
		bot.Expert:   {chance.SwingAway, chance.Sacrifice, chance.StealSecond},
	} {
		p := *fixtures(t, false)[3]
		p.Levels = [2]bot.Level{level, level}
		called := map[chance.Offense]int{}
		for n := range 6 {
			g := p.Start(t, uint64(n), game.Options{}, [2]bool{true, true})
			for !g.State.Over() {
				g.Manage()
				tactics := g.Tactics()
				called[tactics.Offense]++
				check.That(t, level != bot.Beginner || tactics.Defense == (chance.Defense{}),
					"a beginner calls %+v", tactics.Defense)
				g.Play(tactics, g.Answer)
			}
		}
		for _, call := range want {
			check.That(t, called[call] != 0, "level %d: no %q in %v", level, call, called)
		}
		check.That(t, level != bot.Beginner || len(called) <= len(want), "a beginner calls %v", called)
	}
}
