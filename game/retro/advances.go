package retro

import (
	"fmt"
	"slices"
	"strings"

	"pressbox/game"
)

// advances reads the part after the full stop: "2-H(UR);1X3(75)".
func (x *parser) advances(text string) error {
	text = strings.TrimRight(text, "+-")
	for text != "" {
		var one string
		one, text = cutOutside(text, ';')
		if err := x.advance(one); err != nil {
			return err
		}
	}
	return nil
}

func (x *parser) advance(text string) error {
	if len(text) < 3 || text[1] != '-' && text[1] != 'X' {
		return fmt.Errorf("unknown advance %q", text)
	}
	from, ok1 := parseBase(text[0])
	to, ok2 := parseBase(text[2])
	if !ok1 || !ok2 || from == game.HomePlate || to == game.AtBat {
		return fmt.Errorf("unknown base in advance %q", text)
	}
	x.explicit[from] = true
	x.undoStrikeoutOut(from)
	if text[1] == '-' {
		x.setDestination(from, to)
		_, err := x.credits(text[3:], from, game.AtBat)
		return err
	}
	safe, err := x.attemptCredits(text[3:], from, to)
	if err == nil && safe {
		x.setDestination(from, to)
	}
	return err
}

// attemptCredits reads the parentheses after X, CS or PO. The runner is out, by fielders who may be unknown,
// unless there is an error and no put-out.
func (x *parser) attemptCredits(text string, runner, at game.Base) (safe bool, err error) {
	errors := x.errors
	out, err := x.credits(text, runner, at)
	switch {
	case err != nil, out:
		return false, err
	case x.errors > errors:
		return true, nil
	default:
		return false, x.advanceOut(runner, at, "")
	}
}

// undoStrikeoutOut removes the batter's out that a strikeout implies when an advance of the batter follows.
func (x *parser) undoStrikeoutOut(from game.Base) {
	if from != game.AtBat || x.outs == 0 || x.play.Outs[0].Runner != game.AtBat || x.play.Kind != game.Strikeout {
		return
	}
	copy(x.play.Outs[:], x.play.Outs[1:])
	x.play.Outs[len(x.play.Outs)-1] = game.Out{}
	x.outs--
}

func (x *parser) setDestination(from, to game.Base) {
	if from == to {
		to = game.AtBat // stays
	}
	x.play.Advances[from].To = to
}

// credits reads the parentheses after an advance or an attempt: fielders, errors and annotations. It reports
// whether they are a put-out: fielders without an error, at a base. Of a credit that cannot be read, 5X, the
// fielders before what is unknown count.
func (x *parser) credits(text string, runner, at game.Base) (out bool, err error) {
	for text != "" {
		end := strings.IndexByte(text, ')')
		if text[0] != '(' || end < 0 {
			return out, fmt.Errorf("unbalanced parentheses in credits %q", text)
		}
		one := text[1:end]
		text = text[end+1:]
		by, _, _ := strings.Cut(one, "/")
		fielders := by[:len(by)-len(strings.TrimLeft(by, "0123456789"))]
		switch {
		case isError(by):
			err = x.advanceError(one, runner)
		case fielders != "" && at != game.AtBat && !out:
			out = true
			err = x.advanceOut(runner, at, fielders)
		default:
			x.annotation(one, runner)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// isError reports whether a credit is fielders, an E and a fielder.
func isError(by string) bool {
	after, err, _ := strings.Cut(by, "E")
	return isDigits(after) && err != "" && err[0] >= '1' && err[0] <= '9'
}

func (x *parser) advanceError(one string, runner game.Base) error {
	by, note, _ := strings.Cut(one, "/")
	after, fielder, _ := strings.Cut(by, "E")
	e := game.Error{Fielder: fielder[0] - '0', Runner: runner, Assists: after}
	if strings.HasPrefix(note, "TH") {
		e.Kind = game.ThrowingError
	}
	if r := &x.play.Advances[runner]; r.Reason == game.ByPlay &&
		(runner != game.AtBat || x.play.Kind != game.ReachedOnError) {
		r.Reason = game.OnError
	}
	return x.addError(e)
}

// advanceOut adds an out on the bases and classifies it.
func (x *parser) advanceOut(runner, at game.Base, by string) error {
	o := game.Out{Runner: runner, At: at, Kind: game.TagOut, Fielders: by}
	batted := x.play.Kind.IsInPlay()
	switch {
	case runner == game.AtBat && at == game.First && x.play.Kind < game.ReachedOnError:
		o.Kind = game.OutBeforeFirst
	case batted && at == runner, batted && x.play.Flags.Has(game.Appeal):
		o.Kind = game.AppealOut
	case batted && runner != game.AtBat && at == runner+1 && !x.play.Kind.IsHit() && x.isForced(runner):
		o.Kind = game.ForceOut
	}
	if err := x.addOut(o); err != nil {
		return err
	}
	x.sortOuts()
	return nil
}

// sortOuts moves the last out before one that was made with the same throws and more: the text lists advances by
// runner, but (46) was made before (4654).
func (x *parser) sortOuts() {
	for i := x.outs - 1; i > x.basicOuts; i-- {
		a, b := &x.play.Outs[i-1], &x.play.Outs[i]
		if len(b.Fielders) >= len(a.Fielders) || !strings.HasPrefix(a.Fielders, b.Fielders) || b.Fielders == "" {
			return
		}
		*a, *b = *b, *a
	}
}

// annotation reads one of the scorer's rulings on an advance.
func (x *parser) annotation(text string, runner game.Base) {
	r := &x.play.Advances[runner]
	switch text {
	case "UR":
		r.Earned = game.No
	case "TUR":
		r.Earned = game.TeamOnly
	case "NR", "NORBI":
		r.RBI = game.No
	case "RBI":
		r.RBI = game.Yes
	case "WP":
		x.pitchGotAway(r, game.OnWildPitch, game.WildPitch)
	case "PB":
		x.pitchGotAway(r, game.OnPassedBall, game.PassedBall)
	case "TH":
		if r.Reason == game.ByPlay {
			r.Reason = game.OnThrow
		}
	}
}

// pitchGotAway records a wild pitch or passed ball as the reason of an advance, or as the second event for the base
// after a stolen one.
func (x *parser) pitchGotAway(r *game.Advance, reason game.AdvanceReason, kind game.PlayKind) {
	switch r.Reason {
	case game.Stole:
		x.play.Also = kind
	case game.Caught, game.PickedOff, game.PickedOffStealing:
	default:
		r.Reason = reason
	}
}

// complete adds what the notation leaves out: the batter's destination and forced runners.
func (x *parser) complete() {
	p := &x.play
	if p.Kind.EndsPlateAppearance() && !x.explicit[game.AtBat] {
		p.Advances[game.AtBat].To = impliedBase(p.Kind)
	}
	if p.Kind == game.HomeRun {
		x.clearBases()
	}
	if p.Advances[game.AtBat].To == game.First && x.state.Outs+x.outs < 3 {
		for b := game.First; b <= game.Third && x.state.RunnerOn(b).Player != "" && !x.explicit[b]; b++ {
			p.Advances[b].To = b + 1
		}
	}
	if p.Flags.Has(game.SacrificeHit) {
		p.Ball.Contact = asBunt(p.Ball.Contact)
	}
	x.resolveThirdOut()
	x.resolveOutOfTurn()
	if x.outs >= 2 && !x.multipleOuts {
		p.Flags |= game.NoDoublePlay
	}
	x.adjustRulings()
}

// clearBases scores every runner without an explicit advance.
func (x *parser) clearBases() {
	for b := game.First; b <= game.Third; b++ {
		if !x.explicit[b] && x.state.RunnerOn(b).Player != "" {
			x.play.Advances[b].To = game.HomePlate
		}
	}
}

// adjustRulings removes rulings from advances without a run.
func (x *parser) adjustRulings() {
	p := &x.play
	for b := range p.Advances {
		r := &p.Advances[b]
		switch {
		case r.To != game.HomePlate:
			r.Earned, r.RBI = game.ByRule, game.ByRule
		case p.Kind == game.ReachedOnError && p.Errors[0].Assists != "" && r.RBI == game.ByRule &&
			!x.isAided(game.Base(b)):
			r.RBI = game.Yes // a play that should have been an out bats runs in unless the scorer rules otherwise
		}
	}
}

// isAided reports whether a further error helped the runner from a base or one ahead, or spoiled a double play.
func (x *parser) isAided(from game.Base) bool {
	return x.play.Flags.Has(game.GroundedIntoDoublePlay) ||
		slices.ContainsFunc(x.play.Errors[1:x.errors], func(e game.Error) bool { return e.Runner >= from })
}

// resolveThirdOut reads an advance that ended in the third out as a tag play when a run counts: X does not show whether
// the runner was forced.
func (x *parser) resolveThirdOut() {
	if x.outs <= x.basicOuts || x.state.Outs+x.outs < 3 {
		return
	}
	for _, r := range x.play.Advances {
		if third := &x.play.Outs[x.outs-1]; r.To == game.HomePlate && third.Kind == game.ForceOut {
			third.Kind = game.TagOut
		}
	}
}

// resolveOutOfTurn reads BOOT as a note, not as an appeal, if the play of the improper batter counted: on appeal the
// proper batter is out, and nothing else happened (6.03(b)(3)).
func (x *parser) resolveOutOfTurn() {
	p := &x.play
	moved := slices.ContainsFunc(p.Advances[:],
		func(r game.Advance) bool { return r.To != game.AtBat && r.Reason == game.ByPlay })
	appeal := (p.Kind == game.BattedOut || p.Kind == game.Strikeout) && x.outs == 1 &&
		p.Outs[0].Runner == game.AtBat && !moved
	if !p.Flags.Has(game.OutForBattingOutOfTurn) || appeal {
		return
	}
	p.Flags &^= game.OutForBattingOutOfTurn
	p.OtherModifiers = strings.TrimPrefix(p.OtherModifiers+"/BOOT", "/")
}

// asBunt returns the bunt of a contact: a sacrifice hit is a bunt even where the text has only G.
func asBunt(c game.Contact) game.Contact {
	switch c {
	case game.GroundBall:
		return game.BuntGround
	case game.PopUp, game.FlyBall:
		return game.BuntPopUp
	case game.LineDrive:
		return game.BuntLineDrive
	default:
		return c
	}
}

// impliedBase returns the batter's destination if the text has none.
func impliedBase(k game.PlayKind) game.Base {
	switch k {
	case game.Double:
		return game.Second
	case game.Triple:
		return game.Third
	case game.HomeRun:
		return game.HomePlate
	default:
		return game.First
	}
}
