package retro

import (
	"slices"

	"pressbox/game"
)

// advances writes what every man did that the basic event does not say, the foremost first; but outs, and errors, stand
// in the order in which they happened.
func (f *formatter) advances(basic int) []string {
	order := []game.Base{game.Third, game.Second, game.First, game.AtBat}
	f.arrange(order, func(b game.Base) int {
		if i := f.out(b); i >= basic && !f.attempted(b) {
			return i
		}
		return -1
	})
	f.arrange(order, func(b game.Base) int {
		return slices.IndexFunc(f.play.Errors[:], func(e game.Error) bool { return e.Fielder != 0 && e.Runner == b && !f.attempted(b) })
	})
	var all []string
	for _, from := range order {
		if text := f.advance(from, basic); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// arrange sorts those of the bases that have a rank (0 and up) among the places they hold.
func (f *formatter) arrange(order []game.Base, rank func(game.Base) int) {
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

// advance writes one man's movement, "" when the basic event says all of it.
func (f *formatter) advance(from game.Base, basic int) string {
	r := f.play.Advances[from]
	name := baseName(from)
	if i := f.out(from); i >= 0 {
		o := f.play.Outs[i]
		if i < basic || f.attempted(from) || from == game.AtBat && f.play.Kind == game.Strikeout && (o.Kind == game.StruckOut || thrownOut(o)) {
			return ""
		}
		credit := ""
		if o.Fielders != "" {
			credit = "(" + o.Fielders + ")"
		}
		return name + "X" + baseName(o.At) + f.errors(from) + credit
	}
	remarks := f.remarks(from)
	errors := f.errors(from)
	if f.attempted(from) {
		errors = ""
	}
	if f.implied(from, r.To) && remarks == "" && errors == "" {
		return ""
	}
	to := r.To
	if to == game.AtBat {
		to = from
	}
	if to == game.AtBat {
		return ""
	}
	return name + "-" + baseName(to) + errors + remarks
}

// implied reports whether the basic event says by itself where a man went.
func (f *formatter) implied(from, to game.Base) bool {
	p := f.play
	switch {
	case to == game.AtBat:
		return true
	case from == game.AtBat && p.Kind == game.Strikeout:
		return false
	case from == game.AtBat:
		return to == impliedBase(p.Kind) && p.Kind != game.BattedOut && p.Kind != game.ReachedOnError && p.Kind != game.FieldersChoice
	case p.Advances[from].Reason == game.Stole:
		return to == from+1
	case p.Advances[from].Reason == game.Caught || p.Advances[from].Reason == game.PickedOffStealing:
		return to == from+1
	default:
		return false
	}
}

// remarks are the scorer's rulings on a man's advance.
func (f *formatter) remarks(from game.Base) string {
	r := f.play.Advances[from]
	text := ""
	switch r.Reason {
	case game.OnWildPitch:
		text += "(WP)"
	case game.OnPassedBall:
		text += "(PB)"
	case game.OnThrow:
		text += "(TH)"
	case game.Stole:
		if to := r.To; to > from+1 && f.play.Also == game.WildPitch {
			text += "(WP)"
		} else if to > from+1 && f.play.Also == game.PassedBall {
			text += "(PB)"
		}
	default:
	}
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

func baseName(b game.Base) string { return "B123H"[b : b+1] }
