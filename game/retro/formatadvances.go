package retro

import (
	"slices"

	"pressbox/game"
)

// advances returns what each player did that the basic event does not contain, foremost first, with outs and
// errors in the order they happened.
func (f *formatter) advances(basic int) []string {
	order := []game.Base{game.Third, game.Second, game.First, game.AtBat}
	f.sortRanked(order, func(b game.Base) int {
		if i := f.play.OutIndex(b); i >= basic && !f.isOutInAttempt(b) {
			return i
		}
		return -1
	})
	f.sortRanked(order, f.errorRank)
	var all []string
	for _, from := range order {
		if text := f.advance(from, basic); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// errorRank returns the index of the first error in a player's advance, -1 for none.
func (f *formatter) errorRank(runner game.Base) int {
	for i, e := range f.play.Errors {
		if e.Fielder != 0 && e.Runner == runner && !f.isAttempt(runner) && (i > 0 || !f.errorInBasic()) {
			return i
		}
	}
	return -1
}

// sortRanked sorts the bases that have a rank (0 and up) among themselves, and leaves the others in place.
func (f *formatter) sortRanked(order []game.Base, rank func(game.Base) int) {
	var ranked []game.Base
	for _, b := range order {
		if rank(b) >= 0 {
			ranked = append(ranked, b)
		}
	}
	slices.SortFunc(ranked, func(a, b game.Base) int { return rank(a) - rank(b) })
	for i := range order {
		if rank(order[i]) >= 0 {
			order[i], ranked = ranked[0], ranked[1:]
		}
	}
}

// advance returns one player's advance, "" when the basic event contains it.
func (f *formatter) advance(from game.Base, basic int) string {
	r := f.play.Advances[from]
	name := baseLetter(from)
	errors := f.errors(from)
	if f.isAttempt(from) {
		errors = ""
	}
	if i := f.play.OutIndex(from); i >= 0 {
		o := f.play.Outs[i]
		if i < basic || f.isOutInAttempt(from) || from == game.AtBat && (o.Kind == game.StruckOut || f.isThrownOut()) {
			return ""
		}
		credit := ""
		if o.Fielders != "" {
			credit = "(" + o.Fielders + ")"
		}
		return name + "X" + baseLetter(o.At) + errors + credit + f.reason(from)
	}
	remarks := f.annotations(from)
	if r.Reason == game.OnThrow && errors != "" {
		errors, remarks = "(TH)"+errors, f.rulings(from) // after the error it would be read as a part of it
	}
	if f.isImplied(from, r.To) && remarks == "" && errors == "" {
		return ""
	}
	to := r.To
	if to == game.AtBat {
		to = from
	}
	if to == game.AtBat {
		return ""
	}
	return name + "-" + baseLetter(to) + errors + remarks
}

// isImplied reports whether the basic event alone determines the destination of a player.
func (f *formatter) isImplied(from, to game.Base) bool {
	p := f.play
	switch {
	case to == game.AtBat:
		return p.Advances[from].Reason != game.Caught && p.Advances[from].Reason != game.PickedOffStealing
	case from == game.AtBat && p.Kind == game.Strikeout:
		return false
	case from == game.AtBat:
		return to == impliedBase(p.Kind) && p.Kind != game.BattedOut && p.Kind != game.ReachedOnError &&
			p.Kind != game.FieldersChoice
	case p.Advances[from].Reason == game.Stole:
		return to == from+1
	case p.Advances[from].Reason == game.Caught || p.Advances[from].Reason == game.PickedOffStealing:
		return to == from+1
	default:
		return false
	}
}

// annotations returns the reason of an advance and the scorer's rulings on it.
func (f *formatter) annotations(from game.Base) string { return f.reason(from) + f.rulings(from) }

// reason returns the reason of an advance, "" for one that needs no mark.
func (f *formatter) reason(from game.Base) string {
	switch reason := f.play.Advances[from].Reason; {
	case reason == game.OnWildPitch, f.isBeyondSteal(from) && f.play.Also == game.WildPitch:
		return "(WP)"
	case reason == game.OnPassedBall, f.isBeyondSteal(from) && f.play.Also == game.PassedBall:
		return "(PB)"
	case reason == game.OnThrow:
		return "(TH)"
	default:
		return ""
	}
}

// rulings returns the scorer's rulings on a run.
func (f *formatter) rulings(from game.Base) string {
	r := f.play.Advances[from]
	text := ""
	switch r.RBI {
	case game.Yes:
		text += "(RBI)"
	case game.No, game.TeamOnly:
		text += "(NR)"
	default:
	}
	switch r.Earned {
	case game.No:
		text += "(UR)"
	case game.TeamOnly:
		text += "(TUR)"
	default:
	}
	return text
}

func baseLetter(b game.Base) string { return "B123H"[b : b+1] }
