package retro

import (
	"fmt"
	"strings"

	"pressbox/game"
)

// Format returns the event of a play. [Parse] reads the same play back in the same state; count, pitches and the
// batter's name are not part of it. A play without a notation gives an error; no legal play without one is known.
func Format(s *game.State, p game.Play) (string, error) {
	want := normalizePlay(p)
	f := formatter{play: &p}
	for k := f.play.Outs.Count(); k >= 0; k-- {
		text := f.event(k)
		if got, err := Parse(s, text); err == nil && normalizePlay(got) == want {
			return text, nil
		}
	}
	return "", fmt.Errorf("a %s has no notation (tried %q)", p.Kind, f.event(f.play.Outs.Count()))
}

// normalizePlay returns the part of a play that an event contains. A run ruled earned is not marked.
func normalizePlay(p game.Play) game.Play {
	p.Count, p.Pitches, p.Batter = game.Count{}, "", ""
	p.Flags &^= game.OutOfTurn | game.AsRuled
	for i := range p.Advances {
		if p.Advances[i].Earned == game.Yes {
			p.Advances[i].Earned = game.ByRule
		}
	}
	return p
}

// A formatter writes one play. Many outs can stand either with the fielders of the basic event or as an advance; Format
// tries how many of them the basic event must hold for the text to read back.
type formatter struct {
	play *game.Play
}

func (f *formatter) event(basic int) string {
	parts := []string{f.basic(basic)}
	parts = append(parts, f.modifiers()...)
	text := strings.Join(parts, "/")
	if advances := f.advances(basic); len(advances) > 0 {
		text += "." + strings.Join(advances, ";")
	}
	return text
}

func (f *formatter) basic(basic int) string {
	p := f.play
	switch p.Kind {
	case game.BattedOut:
		return f.fieldedOuts(basic)
	case game.Strikeout:
		text := "K"
		if f.isThrownOut() {
			text += p.Outs[0].Fielders
		}
		return text + f.secondEvent()
	case game.ReachedOnError:
		return f.mainError()
	case game.FoulError:
		return "FL" + f.mainError()
	case game.StolenBase, game.CaughtStealing, game.PickOff:
		return f.attempts(p.Kind)
	default:
		return eventCode(p) + p.FieldedBy + f.secondEvent()
	}
}

// isBeyondSteal reports whether a runner tried for more than the stolen base.
func (f *formatter) isBeyondSteal(from game.Base) bool {
	r := f.play.Advances[from]
	to := r.To
	if i := f.play.OutIndex(from); i >= 0 {
		to = f.play.Outs[i].At
	}
	return r.Reason == game.Stole && to > from+1
}

// isThrownOut reports whether the first out is a strikeout's batter, thrown out by fielders, who follow the K. An
// error or a reason needs an advance.
func (f *formatter) isThrownOut() bool {
	o := f.play.Outs[0]
	return f.play.Kind == game.Strikeout && o.Runner == game.AtBat && o.Kind == game.OutBeforeFirst &&
		len(o.Fielders) > 1 &&
		f.errors(game.AtBat)+f.reason(game.AtBat) == ""
}

// eventCode returns the basic event of a kind that is only a code.
func eventCode(p *game.Play) string {
	if p.Flags.Has(game.GroundRuleDouble) {
		return "DGR"
	}
	return simpleEvents().write(p.Kind)
}

// secondEvent returns the second event on the pitch of a strikeout or walk. A wild pitch or passed ball that gave
// a runner more than the stolen base stands in that runner's advance.
func (f *formatter) secondEvent() string {
	switch p := f.play; p.Also {
	case game.NoKind:
		return ""
	case game.WildPitch, game.PassedBall:
		for from := game.First; from <= game.Third; from++ {
			if f.isBeyondSteal(from) {
				return "+" + f.attempts(game.StolenBase)
			}
		}
		return "+" + eventCode(&game.Play{Kind: p.Also})
	case game.StolenBase, game.CaughtStealing, game.PickOff:
		return "+" + f.attempts(p.Also)
	case game.ReachedOnError:
		return "+" + f.mainError()
	default:
		return "+" + eventCode(&game.Play{Kind: p.Also})
	}
}

// mainError returns the error of the basic event: "6E3". A throwing error is marked by a modifier.
func (f *formatter) mainError() string {
	e := f.play.Errors[0]
	return fmt.Sprintf("%sE%d", e.Assists, e.Fielder)
}

// fieldedOuts returns the first outs as groups of fielders: "64(1)3".
func (f *formatter) fieldedOuts(basic int) string {
	var b strings.Builder
	last := byte(0)
	for i, o := range f.play.Outs[:basic] {
		by := o.Fielders
		switch {
		case by == "":
			by = "99"
		case len(by) > 1 && by[0] == last:
			by = by[1:]
		}
		b.WriteString(by)
		if o.Fielders != "" {
			last = o.Fielders[len(o.Fielders)-1]
		}
		if o.Runner != game.AtBat {
			fmt.Fprintf(&b, "(%d)", o.Runner)
		} else if i < basic-1 {
			b.WriteString("(B)")
		}
	}
	if e := f.play.Errors[0]; f.batterReachedOnError() {
		fmt.Fprintf(&b, "%sE%d", e.Assists, e.Fielder)
	}
	return b.String()
}

// batterReachedOnError reports whether the first error let the batter of a double play reach, "64(1)E3".
func (f *formatter) batterReachedOnError() bool {
	e := f.play.Errors[0]
	return f.play.Kind == game.BattedOut && e.Fielder != 0 && e.Runner == game.AtBat &&
		f.play.Advances[game.AtBat].Reason == game.ByPlay
}

// attempts returns the steals and pick-offs of a play, those of its kind first.
func (f *formatter) attempts(kind game.PlayKind) string {
	var first, rest []string
	for from := game.Third; from >= game.First; from-- {
		text, of := f.attempt(from)
		switch {
		case text == "":
		case of == kind:
			first = append(first, text)
		default:
			rest = append(rest, text)
		}
	}
	return strings.Join(append(first, rest...), ";")
}

func (f *formatter) attempt(from game.Base) (string, game.PlayKind) {
	switch f.play.Advances[from].Reason {
	case game.Stole:
		return "SB" + baseLetter(from+1), game.StolenBase
	case game.Caught:
		return "CS" + baseLetter(from+1) + f.attemptCredits(from), game.CaughtStealing
	case game.PickedOffStealing:
		return "POCS" + baseLetter(from+1) + f.attemptCredits(from), game.PickOff
	case game.PickedOff:
		return "PO" + baseLetter(from) + f.attemptCredits(from), game.PickOff
	default:
		return "", game.NoKind
	}
}

func (f *formatter) attemptCredits(from game.Base) string {
	text := f.errors(from)
	if f.isOutInAttempt(from) && f.play.Outs[f.play.OutIndex(from)].Fielders != "" {
		text += "(" + f.play.Outs[f.play.OutIndex(from)].Fielders + ")"
	}
	return text
}

// isOutInAttempt reports whether the runner was out at the base of the attempt, and not later, trying for another.
func (f *formatter) isOutInAttempt(from game.Base) bool {
	i := f.play.OutIndex(from)
	if i < 0 || !f.isAttempt(from) {
		return false
	}
	at := from + 1
	if f.play.Advances[from].Reason == game.PickedOff {
		at = from
	}
	return f.play.Outs[i].At == at || f.errors(from) == ""
}

// isAttempt reports whether the runner's out or errors belong to an attempt.
func (f *formatter) isAttempt(from game.Base) bool {
	reason := f.play.Advances[from].Reason
	return reason == game.Caught || reason == game.PickedOff || reason == game.PickedOffStealing
}

// errors returns the errors that helped a runner, without the one of the basic event.
func (f *formatter) errors(runner game.Base) string {
	var b strings.Builder
	for i, e := range f.play.Errors {
		if e.Fielder == 0 || e.Runner != runner || i == 0 && f.errorInBasic() {
			continue
		}
		fmt.Fprintf(&b, "(%sE%d", e.Assists, e.Fielder)
		if e.Kind == game.ThrowingError {
			b.WriteString("/TH")
		}
		b.WriteString(")")
	}
	return b.String()
}

// errorInBasic reports whether the first error stands before the full stop.
func (f *formatter) errorInBasic() bool {
	switch p := f.play; p.Kind {
	case game.ReachedOnError, game.FoulError, game.CatchersInterference:
		return true
	default:
		return p.Also == game.ReachedOnError || f.batterReachedOnError()
	}
}

func (f *formatter) modifiers() []string {
	var all []string
	p := f.play
	if p.Kind == game.CatchersInterference && p.Errors[0].Fielder != 2 {
		all = append(all, fmt.Sprintf("E%d", p.Errors[0].Fielder))
	} else if p.Kind == game.CatchersInterference {
		all = append(all, "E2")
	} else if f.errorInBasic() && p.Errors[0].Kind == game.ThrowingError {
		all = append(all, "TH")
	}
	for flag := game.SacrificeHit; flag <= game.AsRuled; flag <<= 1 {
		if text := modifierFlags().write(flag); flag != game.NoDoublePlay && p.Flags.Has(flag) && text != "" {
			all = append(all, text)
		}
	}
	if text := f.doublePlayModifier(); text != "" {
		all = append(all, text)
	}
	if text := ballModifier(p.Ball); text != "" {
		all = append(all, text)
	}
	if p.OtherModifiers != "" {
		all = append(all, p.OtherModifiers)
	}
	return all
}

// doublePlayModifier returns the modifier for outs made in one play, or FO for a force-out alone.
func (f *formatter) doublePlayModifier() string {
	p := f.play
	kind := "DP"
	if f.play.Outs.Count() > 2 {
		kind = "TP"
	}
	switch {
	case p.Flags.Has(game.GroundedIntoDoublePlay) && p.Ball.Contact == game.BuntGround:
		return "BG" + kind
	case p.Flags.Has(game.GroundedIntoDoublePlay):
		return "G" + kind
	case p.Flags.Has(game.NoDoublePlay) && f.play.Outs.Count() < 2:
		return "NDP"
	case f.play.Outs.Count() >= 2 && !p.Flags.Has(game.NoDoublePlay):
		return kind
	case p.Kind == game.BattedOut && p.Outs[0].Kind == game.ForceOut:
		return "FO"
	default:
		return ""
	}
}

func ballModifier(b game.BattedBall) string {
	text := contacts().write(b.Contact) + b.Location
	switch b.Strength {
	case game.Hard:
		text += "+"
	case game.Soft:
		text += "-"
	default:
	}
	return text
}
