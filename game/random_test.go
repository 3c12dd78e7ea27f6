package game_test

import (
	"bytes"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"pressbox/game"
	"pressbox/game/retro"
)

// TestRandomGames plays random legal games to their end. After every move the state keeps its laws and the box score
// proves; the scorecard, written as an event file and read, replays to the same end and the same box score.
func TestRandomGames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o := game.Options{DH: rapid.Bool().Draw(rt, "dh"), Innings: rapid.IntRange(1, 9).Draw(rt, "innings")}
		s := newGame(t, o)
		g := randomGame{rt: rt, t: t, s: s, book: game.NewScorebook(&s, clubs()), card: retro.NewScorecard("HOM202604010", &s, clubs())}
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

// play applies a random legal play: drawn ones until one is legal, else a strikeout.
func (g *randomGame) play() {
	for range 40 {
		p := g.s.LimitWalkOff(draw(&g.s, g.pick))
		if after, err := g.s.Apply(p); err == nil {
			g.take(p, after)
			return
		}
	}
	p := game.Play{Kind: game.Strikeout, Outs: [4]game.Out{{Kind: game.StruckOut, Fielders: "2"}}}
	after, err := g.s.Apply(p)
	if err != nil {
		g.rt.Fatalf("a strikeout at %s: %v", describe(&g.s), err)
	}
	g.take(p, after)
}

func (g *randomGame) take(p game.Play, after game.State) {
	keepsLaws(g.t, &g.s, &after, nil)
	tally := g.s.Tally(p)
	if got := after.Score[g.s.Batting()] - g.s.Score[g.s.Batting()]; got != tally.Runs {
		g.rt.Fatalf("%d runs scored, the tally says %d", got, tally.Runs)
	}
	g.book.RecordPlay(&g.s, &p, &after)
	if err := g.book.Prove(&after); err != nil {
		g.rt.Fatalf("%+v at %s: %v", p, describe(&g.s), err)
	}
	g.card.RecordPlay(&g.s, p)
	g.s = after
}

func (g *randomGame) pick(n int) int { return rapid.IntRange(0, n-1).Draw(g.rt, "pick") }

// substitute changes a pitcher, a batter or a runner, if the rules let it.
func (g *randomGame) substitute() {
	side := g.s.Fielding()
	sub := game.Substitution{Side: side, Position: game.Pitcher}
	switch g.pick(3) {
	case 0:
		for i, slot := range g.s.Teams[side].Order {
			if slot.Position == game.Pitcher {
				sub.Slot = i + 1
			}
		}
	case 1:
		sub.Side = side.Other()
		sub.Position, sub.Slot = game.PinchHitter, g.s.Teams[sub.Side].NextBatter+1
	default:
		sub.Position, sub.Slot = game.LeftField, 1+g.pick(9)
		sub.Position = g.s.Teams[side].Order[sub.Slot-1].Position
	}
	bench := g.s.Teams[sub.Side].Bench
	if len(bench) == 0 || sub.Position == game.NoPosition {
		return
	}
	sub.Player = bench[g.pick(len(bench))]
	after, err := g.s.Substitute(sub)
	if err != nil {
		return
	}
	subs := []game.Substitution{sub}
	if sub.Position == game.PinchHitter {
		subs, after = g.takesField(sub, after)
	}
	if subs == nil {
		return
	}
	keepsLaws(g.t, &g.s, &after, nil)
	for _, one := range subs {
		next, err := g.s.Substitute(one)
		if err != nil {
			g.rt.Fatal(err)
		}
		g.book.RecordSubstitutions(&g.s, []game.Substitution{one}, &next)
		g.card.RecordSubstitutions(&g.s, []game.Substitution{one})
		g.s = next
	}
}

// takesField gives a pinch hitter the position of the man he bats for at once, so that the side can take the field later.
// A pitcher is not batted for here.
func (g *randomGame) takesField(sub game.Substitution, after game.State) ([]game.Substitution, game.State) {
	at := g.s.Teams[sub.Side].Order[sub.Slot-1].Position
	if at == game.Pitcher {
		return nil, after
	}
	if at == game.DesignatedHitter {
		return []game.Substitution{sub}, after
	}
	field := sub
	field.Position = at
	next, err := after.Substitute(field)
	if err != nil {
		g.rt.Fatal(err)
	}
	return []game.Substitution{sub, field}, next
}

// export writes the game and reads it back.
func (g *randomGame) export() {
	written, err := g.card.EventFile(&g.s, g.book)
	if err != nil {
		g.rt.Fatal(err)
	}
	var file bytes.Buffer
	if err := retro.Write(&file, written); err != nil {
		g.rt.Fatal(err)
	}
	for read, err := range retro.Read(&file) {
		if err != nil {
			g.rt.Fatal(err)
		}
		end, err := read.Replay(func(*retro.Step, *game.Scorebook) {})
		if err != nil {
			g.rt.Fatal(err)
		}
		want, got := g.book.BoxScore(&g.s), end.Scorebook.BoxScore(&end.End)
		for side := range want.Teams {
			a, b := want.Teams[side], got.Teams[side]
			a.Fielding, b.Fielding = nil, nil // a box lists them in order of appearance
			if !reflect.DeepEqual(a, b) {
				g.rt.Fatalf("the box score is\n%+v, written and read\n%+v", a, b)
			}
		}
		if end.End.Score != g.s.Score || end.End.Inning != g.s.Inning || want.WinningPitcher != got.WinningPitcher || want.LosingPitcher != got.LosingPitcher || want.SavingPitcher != got.SavingPitcher {
			g.rt.Fatalf("%s, written and read %s", describe(&g.s), describe(&end.End))
		}
	}
}
