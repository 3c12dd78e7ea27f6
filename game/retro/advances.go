package retro

import (
	"fmt"
	"strings"

	"pressbox/game"
)

// advances reads the part behind the full stop: "2-H(UR);1X3(75)".
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
		return fmt.Errorf("advance %q", text)
	}
	from, ok1 := base(text[0])
	to, ok2 := base(text[2])
	if !ok1 || !ok2 || from == game.HomePlate || to == game.AtBat {
		return fmt.Errorf("advance %q", text)
	}
	x.told[from] = true
	x.undo(from)
	if text[1] == '-' {
		x.reach(from, to)
		_, err := x.credits(text[3:], from, game.AtBat)
		return err
	}
	if text[3:] == "" {
		return x.advanceOut(from, to, "")
	}
	out, err := x.credits(text[3:], from, to)
	if err == nil && !out {
		x.reach(from, to)
	}
	return err
}

// undo takes back the batter's out that a strikeout implies, when the text then tells what he did.
func (x *parser) undo(from game.Base) {
	if from != game.AtBat || x.outs == 0 || x.play.Outs[0].Runner != game.AtBat || x.play.Kind != game.Strikeout {
		return
	}
	copy(x.play.Outs[:], x.play.Outs[1:])
	x.play.Outs[len(x.play.Outs)-1] = game.Out{}
	x.outs--
}

func (x *parser) reach(from, to game.Base) {
	if from == to {
		to = game.AtBat // he stays
	}
	x.play.Advances[from].To = to
}

// credits reads the parentheses behind an advance or an attempt: fielders, errors, and the scorer's remarks. It reports
// whether the man was put out, which only fielders without an error do, and only at a base.
func (x *parser) credits(text string, who, at game.Base) (out bool, err error) {
	for text != "" {
		end := strings.IndexByte(text, ')')
		if text[0] != '(' || end < 0 {
			return out, fmt.Errorf("credits %q", text)
		}
		one := text[1:end]
		text = text[end+1:]
		switch by, _, _ := strings.Cut(one, "/"); {
		case by != "" && digits(by) && at != game.AtBat && !out:
			out = true
			err = x.advanceOut(who, at, by)
		case strings.Contains(by, "E") && x.isError(by):
			err = x.advanceError(one, who)
		default:
			x.remark(one, who)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// isError reports whether a credit is fielders, an E, and a fielder.
func (x *parser) isError(by string) bool {
	after, err, _ := strings.Cut(by, "E")
	return digits(after) && len(err) > 0 && digits(err[:1])
}

func (x *parser) advanceError(one string, who game.Base) error {
	by, note, _ := strings.Cut(one, "/")
	after, fielder, _ := strings.Cut(by, "E")
	e := game.Error{Fielder: fielder[0] - '0', Runner: who, Assists: after}
	if strings.HasPrefix(note, "TH") {
		e.Kind = game.ThrowingError
	}
	if r := &x.play.Advances[who]; r.Reason == game.ByPlay && (who != game.AtBat || x.play.Kind != game.ReachedOnError) {
		r.Reason = game.OnError
	}
	return x.fault(e)
}

// advanceOut says how a man was put out on the bases.
func (x *parser) advanceOut(who, at game.Base, by string) error {
	o := game.Out{Runner: who, At: at, Kind: game.TagOut, Fielders: by}
	batted := x.play.Kind.IsInPlay()
	switch {
	case who == game.AtBat && at == game.First && x.play.Kind < game.ReachedOnError:
		o.Kind = game.OutBeforeFirst
	case batted && at == who, batted && x.play.Flags.Has(game.Appeal):
		o.Kind = game.AppealOut
	case batted && who != game.AtBat && at == who+1 && !x.play.Kind.IsHit() && x.forced(who):
		o.Kind = game.ForceOut
	}
	if err := x.out(o); err != nil {
		return err
	}
	x.sortOuts()
	return nil
}

// sortOuts moves the last out before one that was made with the same throws and more: the text lists advances by
// runner, but (46) was made before (4654).
func (x *parser) sortOuts() {
	for i := x.outs - 1; i > x.fieldedOuts; i-- {
		a, b := &x.play.Outs[i-1], &x.play.Outs[i]
		if len(b.Fielders) >= len(a.Fielders) || !strings.HasPrefix(a.Fielders, b.Fielders) || b.Fielders == "" {
			return
		}
		*a, *b = *b, *a
	}
}

// remark reads the scorer's rulings on one man's advance.
func (x *parser) remark(text string, who game.Base) {
	r := &x.play.Advances[who]
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

// pitchGotAway notes a wild pitch or passed ball that a man used; one who stole a base used it for another.
func (x *parser) pitchGotAway(r *game.Advance, why game.AdvanceReason, kind game.PlayKind) {
	if r.Reason == game.Stole {
		x.play.Also = kind
		return
	}
	r.Reason = why
}

// complete adds what the notation leaves out: where the batter went, and the runners he forced.
func (x *parser) complete() {
	p := &x.play
	if p.Kind.EndsPlateAppearance() && !x.told[game.AtBat] {
		p.Advances[game.AtBat].To = impliedBase(p.Kind)
	}
	if p.Kind == game.HomeRun {
		x.clearBases()
	}
	if p.Advances[game.AtBat].To == game.First && x.state.Outs+x.outs < 3 {
		for b := game.First; b <= game.Third && x.state.RunnerOn(b).Player != "" && !x.told[b]; b++ {
			p.Advances[b].To = b + 1
		}
	}
	if p.Flags.Has(game.SacrificeHit) {
		p.Ball.Contact = bunted(p.Ball.Contact)
	}
	x.settleThirdOut()
	if x.outs >= 2 && !x.double {
		p.Flags |= game.NoDoublePlay
	}
	x.completeRulings()
}

// clearBases brings everybody home whose movement the text does not tell.
func (x *parser) clearBases() {
	for b := game.First; b <= game.Third; b++ {
		if !x.told[b] && x.state.RunnerOn(b).Player != "" {
			x.play.Advances[b].To = game.HomePlate
		}
	}
}

// completeRulings keeps rulings for runs only.
func (x *parser) completeRulings() {
	p := &x.play
	for b := range p.Advances {
		r := &p.Advances[b]
		switch {
		case r.To != game.HomePlate:
			r.Earned, r.RBI = game.ByRule, game.ByRule
		case p.Kind == game.ReachedOnError && p.Errors[0].Assists != "" && r.RBI == game.ByRule:
			r.RBI = game.Yes // a play that would have been an out drives runs in unless the scorer says otherwise
		}
	}
}

// settleThirdOut reads an advance that ended in the third out as a tag play when a run counts: X does not say whether
// the runner was forced.
func (x *parser) settleThirdOut() {
	if x.outs <= x.fieldedOuts || x.state.Outs+x.outs < 3 {
		return
	}
	for _, r := range x.play.Advances {
		if third := &x.play.Outs[x.outs-1]; r.To == game.HomePlate && third.Kind == game.ForceOut {
			third.Kind = game.TagOut
		}
	}
}

// bunted returns the bunt among contacts: a sacrifice hit is one even where the text has only G.
func bunted(c game.Contact) game.Contact {
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

// impliedBase is where the batter goes when the text does not say.
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
