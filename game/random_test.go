package game_test

import (
	"flag"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"pressbox/game"
	"pressbox/game/gametest"
	"pressbox/game/retro"
	"pressbox/packaging/check"
)

// Every run checks the same properties of the same values.
var _ = flag.Set("rapid.seed", "1")

// Random legal games: after every move the state keeps its laws and the box score balances. The scorecard, written
// as an event file and read, replays to the same end and the same box score.
func TestScorebook_randomGames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o := game.Options{DH: rapid.Bool().Draw(rt, "dh"), Innings: rapid.IntRange(1, 9).Draw(rt, "innings")}
		s := newGame(t, o)
		g := randomGame{
			rt: rt, t: t, s: s, book: game.NewScorebook(&s, clubs()),
			card: retro.NewScorecard("HOM202604010", &s, clubs()),
		}
		for moves := 0; !g.s.Over(); moves++ {
			if moves > 3000 {
				rt.Fatalf("the game does not end: %s", describe(&g.s))
			}
			if rapid.IntRange(0, 9).Draw(rt, "what") == 0 {
				g.substitute()
			}
			g.play()
		}
		g.export()
	})
}

type randomGame struct {
	rt   *rapid.T
	t    *testing.T
	s    game.State
	book *game.Scorebook
	card *retro.Scorecard
}

// play applies a random legal play, or a strikeout if 40 draws are illegal.
func (g *randomGame) play() {
	p := game.Play{Kind: game.Strikeout, Outs: game.Outs{{Kind: game.StruckOut, Fielders: "2"}}}
	after, err := g.s.Apply(p)
	if err != nil {
		g.rt.Fatalf("a strikeout at %s: %v", describe(&g.s), err)
	}
	for range 40 {
		drawn := g.s.LimitWalkOff(draw(&g.s, g.pick))
		if next, err := g.s.Apply(drawn); err == nil {
			p, after = drawn, next
			break
		}
	}
	keepsLaws(g.t, &g.s, &after, nil)
	tally := g.s.Tally(p)
	if got := after.Score[g.s.Batting()] - g.s.Score[g.s.Batting()]; got != tally.Runs {
		g.rt.Fatalf("%d runs scored, %d in the tally", got, tally.Runs)
	}
	g.book.RecordPlay(&g.s, &p, &after)
	if err := g.book.Prove(&after); err != nil {
		g.rt.Fatalf("%+v at %s: %v", p, describe(&g.s), err)
	}
	g.card.RecordPlay(&g.s, p)
	g.s = after
}

func (g *randomGame) pick(n int) int { return rapid.IntRange(0, n-1).Draw(g.rt, "pick") }

// substitute replaces the pitcher or a player of the order at the same position, if the rules allow it.
func (g *randomGame) substitute() {
	sub := game.Substitution{Side: game.Side(g.pick(2)), Slot: g.pick(10), Position: game.Pitcher}
	team := &g.s.Teams[sub.Side]
	if sub.Slot > 0 {
		sub.Position = team.Order[sub.Slot-1].Position
	}
	if len(team.Bench) == 0 {
		return
	}
	sub.Player = team.Bench[g.pick(len(team.Bench))]
	after, err := g.s.Substitute(sub)
	if err != nil {
		return
	}
	keepsLaws(g.t, &g.s, &after, nil)
	g.book.RecordSubstitutions(&g.s, []game.Substitution{sub}, &after)
	g.card.RecordSubstitutions(&g.s, []game.Substitution{sub})
	g.s = after
}

// export writes the game and reads it back.
func (g *randomGame) export() {
	_, read, err := gametest.WriteRead(g.card, &g.s, g.book)
	check.NoError(g.rt, err)
	end := check.Must(read.Replay(func(*retro.Step, *game.Scorebook) {}))(g.rt)
	want, got := g.book.BoxScore(&g.s), end.Scorebook.BoxScore(&end.End)
	for side := range want.Teams {
		want.Teams[side].Fielding, got.Teams[side].Fielding = nil, nil // in order of appearance
	}
	if !reflect.DeepEqual(want, got) {
		g.rt.Fatalf("the box score is\n%+v, written and read\n%+v", want, got)
	}
	if end.End.Score != g.s.Score || end.End.Inning != g.s.Inning {
		g.rt.Fatalf("%s, written and read %s", describe(&g.s), describe(&end.End))
	}
}
