package game_test

import (
	"testing"

	"pressbox/game"
	"pressbox/packaging/check"
)

// A law is what the rules of baseball demand of each play, written from their text alone: FuzzApply holds each play
// that Apply accepts against all of them.
type law struct {
	rule, text string
	holds      func(*playing) bool
}

// playing is a play with the states before and after it.
type playing struct {
	*game.Play

	before, after *game.State
}

// laws are the laws of plays that were not ruled otherwise by an umpire.
var laws = []law{
	{"5.06(b)", "no runner goes back", func(p *playing) bool {
		return p.each(func(from, to game.Base) bool { return to >= from })
	}},
	{"5.09(b)(9)", "no runner passes or joins one ahead", func(p *playing) bool {
		ahead := game.HomePlate
		for from := game.Third; ; from-- {
			if to, safe := p.ends(from); safe {
				if to > ahead || to == ahead && to != game.HomePlate {
					return false
				}
				ahead = to
			}
			if from == game.AtBat {
				return true
			}
		}
	}},
	{"5.09", "who is out is on no base and has not scored", func(p *playing) bool {
		for _, out := range p.Outs[:p.Outs.Count()] {
			if p.Advances[out.Runner].To != game.AtBat && !p.replaced(out) {
				return false
			}
		}
		return true
	}},
	{"5.09(e)", "a half-inning has three outs, and one more only on appeal", func(p *playing) bool {
		n := p.Outs.Count()
		return p.before.Outs+n <= 3 || p.before.Outs+n == 4 && p.Outs[n-1].Kind == game.AppealOut
	}},
	{"5.09", "only players on the bases, and the batter, are put out or advance", func(p *playing) bool {
		for _, out := range p.Outs[:p.Outs.Count()] {
			if out.Runner > game.AtBat && p.before.Bases[out.Runner-1].Player == "" {
				return false
			}
		}
		for from := game.First; from <= game.Third; from++ {
			if p.Advances[from].To != game.AtBat && p.before.Bases[from-1].Player == "" {
				return false
			}
		}
		return true
	}},
	{"5.08(a)", "no run scores if the third out is a force, or the batter before first base", func(p *playing) bool {
		n := p.Outs.Count()
		if n == 0 || p.before.Outs+n != 3 {
			return true
		}
		switch p.Outs[n-1].Kind {
		case game.StruckOut, game.FlyOut, game.OutBeforeFirst, game.ForceOut:
			return p.runs() == 0
		default:
			return true
		}
	}},
	{"5.08", "the score rises by the runs of the play", func(p *playing) bool {
		side := p.before.Batting()
		return p.after.Score[side]-p.before.Score[side] == p.runs() &&
			p.after.Score[side.Other()] == p.before.Score[side.Other()]
	}},
	{"5.05(a)(2)", "with first base taken and less than two out, a third strike is an out", func(p *playing) bool {
		_, reached := p.ends(game.AtBat)
		return p.Kind != game.Strikeout || !reached || p.before.Bases[0].Player == "" || p.before.Outs == 2
	}},
	{"5.06(c)(1), 5.05(b)", "an award moves no runner who is not forced", func(p *playing) bool {
		switch p.Kind {
		case game.IntentionalWalk, game.HitByPitch, game.CatchersInterference:
		default:
			return true
		}
		forced := true
		return p.each(func(from, to game.Base) bool {
			if from == game.AtBat {
				return true
			}
			forced = forced && p.before.Bases[from-1].Player != ""
			return forced || to == from || p.Advances[from].Reason != game.ByPlay || p.Also != game.NoKind
		})
	}},
	{"5.06(b)(4)(F)", "a ball that bounces out of play gives two bases to each", func(p *playing) bool {
		return !p.Flags.Has(game.GroundRuleDouble) || p.Errors[0].Fielder != 0 || p.after.Over() ||
			p.each(func(from, to game.Base) bool { return to == min(from+2, game.HomePlate) })
	}},
	{"5.05(a)(5)", "a home run lets all score", func(p *playing) bool {
		return p.Kind != game.HomeRun || p.each(func(_, to game.Base) bool { return to == game.HomePlate })
	}},
	{"6.02(a)", "a balk moves each runner", func(p *playing) bool {
		exempt := p.Kind != game.Balk || p.Errors[0].Fielder != 0 || p.after.Over()
		return exempt || p.each(func(from, to game.Base) bool { return from == game.AtBat || to > from })
	}},
	{"definition of infield fly", "an infield fly needs two runners and less than two out", func(p *playing) bool {
		return !p.Flags.Has(game.InfieldFly) ||
			p.before.Outs < 2 && p.before.Bases[0].Player != "" && p.before.Bases[1].Player != ""
	}},
	{"9.08(d)", "a sacrifice fly is hit with less than two out, and a runner scores", func(p *playing) bool {
		return !p.Flags.Has(game.SacrificeFly) || p.before.Outs < 2 && p.runs() > 0
	}},
	{"9.08(a)", "a sacrifice bunt is made with less than two out", func(p *playing) bool {
		return !p.Flags.Has(game.SacrificeHit) || p.before.Outs < 2 && !p.Kind.IsHit()
	}},
	{"9.07", "the batter steals nothing", func(p *playing) bool {
		return p.Advances[game.AtBat].Reason != game.Stole
	}},
	{
		"9.02(a)(17)",
		"who grounds into a double play makes two outs or has an error", func(p *playing) bool {
			return !p.Flags.Has(game.GroundedIntoDoublePlay) || p.Outs.Count() >= 2 || p.Errors[0].Fielder != 0
		},
	},
	{"5.04(a)", "the next batter is next in the order, after a turn at bat", func(p *playing) bool {
		side := p.before.Batting()
		was, is := p.before.Teams[side].NextBatter, p.after.Teams[side].NextBatter
		if p.Flags&(game.OutOfTurn|game.OutForBattingOutOfTurn) != 0 || p.Batter != "" {
			return true
		}
		if p.Kind.EndsPlateAppearance() {
			return is == (was+1)%9
		}
		return is == was
	}},
	{"5.09(e)", "after three outs the bases are empty and the others bat", func(p *playing) bool {
		if p.after.Over() || p.before.Outs+p.Outs.Count() < 3 {
			return true
		}
		return p.after.Outs == 0 && p.after.Batting() != p.before.Batting()
	}},
	{
		"7.01(g)(3)",
		"the last hit of a game scores one run more than the visitors have, but for a home run", func(p *playing) bool {
			lead := p.after.Score[game.Home] - p.after.Score[game.Away]
			walkOff := p.after.Over() && p.before.Batting() == game.Home && lead > 0 &&
				p.before.Score[game.Home] <= p.before.Score[game.Away]
			return !walkOff || lead == 1 || p.Kind == game.HomeRun && !p.Flags.Has(game.InsideTheParkHomeRun)
		},
	},
	{"5.02", "only the nine fielders field", func(p *playing) bool {
		for _, out := range p.Outs[:p.Outs.Count()] {
			for _, fielder := range out.Fielders {
				if fielder < '1' || fielder > '9' {
					return false
				}
			}
		}
		return true
	}},
}

// keepsPlayLaws checks the laws of a play.
func keepsPlayLaws(t *testing.T, before, after *game.State, p game.Play) {
	t.Helper()
	if p.Flags.Has(game.AsRuled) {
		return
	}
	for _, l := range laws {
		check.Require(t, l.holds(&playing{&p, before, after}), "%s, %s: %+v at %s", l.rule, l.text, p, describe(before))
	}
}

// ends returns the base at which a player ends the play, and whether the player is safe and was there.
func (p *playing) ends(from game.Base) (to game.Base, safe bool) {
	for _, out := range p.Outs[:p.Outs.Count()] {
		if out.Runner == from && !p.replaced(out) {
			return 0, false
		}
	}
	if from == game.AtBat {
		to = p.Advances[from].To
		return to, to != game.AtBat
	}
	return max(p.Advances[from].To, from), p.before.Bases[from-1].Player != ""
}

// replaced reports whether an out is the third one, in the place of which an appeal is.
func (p *playing) replaced(out game.Out) bool {
	n := p.Outs.Count()
	return p.before.Outs+n == 4 && n > 1 && out == p.Outs[n-2]
}

// each reports whether something holds for all who are safe, from the batter on.
func (p *playing) each(holds func(from, to game.Base) bool) bool {
	for from := game.AtBat; from <= game.Third; from++ {
		if to, safe := p.ends(from); safe && !holds(from, to) {
			return false
		}
	}
	return true
}

func (p *playing) runs() int {
	n := 0
	for from := game.AtBat; from <= game.Third; from++ {
		if to, safe := p.ends(from); safe && to == game.HomePlate {
			n++
		}
	}
	return n
}
