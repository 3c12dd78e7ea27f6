package retro

import (
	"fmt"
	"strings"

	"pressbox/game"
)

// Format writes a play as an event, such that [Parse] reads the same play back in the same state; count, pitches and the
// batter's name are not part of it. Plays that the notation cannot say, which no legal play that was seen is, give an error.
func Format(s *game.State, p game.Play) (string, error) {
	want := plain(p)
	f := formatter{play: &p}
	for k := f.outs(); k >= 0; k-- {
		text := f.event(k)
		if got, err := Parse(s, text); err == nil && plain(got) == want {
			return text, nil
		}
	}
	return "", fmt.Errorf("a %s has no notation (tried %q)", p.Kind, f.event(f.outs()))
}

// plain leaves of a play what an event says. A run that the scorer calls earned is not marked.
func plain(p game.Play) game.Play {
	p.Count, p.Pitches, p.Batter = game.Count{}, "", ""
	p.Flags &^= game.OutOfTurn | game.AsRuled
	for i := range p.Advances {
		if p.Advances[i].Earned == game.Yes {
			p.Advances[i].Earned = game.ByRule
		}
	}
	return p
}

// A formatter writes one play. An out can often be told in two ways, among the fielders of the basic event or as an
// advance; basic is the number of outs told the first way, and Format tries which one reads back.
type formatter struct {
	play *game.Play
}

func (f *formatter) outs() int {
	n := 0
	for n < len(f.play.Outs) && f.play.Outs[n].Kind != game.NotOut {
		n++
	}
	return n
}

func (f *formatter) out(who game.Base) int {
	for i := range f.outs() {
		if f.play.Outs[i].Runner == who {
			return i
		}
	}
	return -1
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
		return f.fielded(basic)
	case game.Strikeout:
		text := "K"
		if i := f.out(game.AtBat); i >= 0 && thrownOut(p.Outs[i]) {
			text += p.Outs[i].Fielders
		}
		return text + f.also()
	case game.ReachedOnError:
		return f.mainError()
	case game.FoulError:
		return "FL" + f.mainError()
	case game.StolenBase, game.CaughtStealing, game.PickOff:
		return f.attempts(p.Kind)
	default:
		return word(p) + p.FieldedBy + f.also()
	}
}

// thrownOut reports whether a batter struck out by fielders told behind the K.
func thrownOut(o game.Out) bool { return o.Kind == game.OutBeforeFirst && len(o.Fielders) > 1 }

// word is the basic event of a kind that is only a word.
func word(p *game.Play) string {
	if p.Flags.Has(game.GroundRuleDouble) {
		return "DGR"
	}
	return map[game.PlayKind]string{
		game.NoPlay: "NP", game.Indifference: "DI", game.WildPitch: "WP", game.PassedBall: "PB", game.Balk: "BK",
		game.OtherAdvance: "OA", game.Walk: "W", game.IntentionalWalk: "IW", game.HitByPitch: "HP",
		game.CatchersInterference: "C", game.FieldersChoice: "FC", game.Single: "S", game.Double: "D", game.Triple: "T",
		game.HomeRun: "HR",
	}[p.Kind]
}

// also is the second event on the pitch of a strikeout or walk.
func (f *formatter) also() string {
	switch p := f.play; p.Also {
	case game.NoKind:
		return ""
	case game.StolenBase, game.CaughtStealing, game.PickOff:
		return "+" + f.attempts(p.Also)
	case game.ReachedOnError:
		return "+" + f.mainError()
	default:
		second := game.Play{Kind: p.Also}
		return "+" + word(&second)
	}
}

// mainError is the error of the basic event: "6E3". A bad throw is told by a modifier.
func (f *formatter) mainError() string {
	e := f.play.Errors[0]
	return fmt.Sprintf("%sE%d", e.Assists, e.Fielder)
}

// fielded writes the first outs as groups of fielders: "64(1)3".
func (f *formatter) fielded(basic int) string {
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
	if e := f.play.Errors[0]; f.batterHelped() {
		fmt.Fprintf(&b, "%sE%d", e.Assists, e.Fielder)
	}
	return b.String()
}

// batterHelped reports whether the first error let the batter of a double play reach, "64(1)E3".
func (f *formatter) batterHelped() bool {
	e := f.play.Errors[0]
	return f.play.Kind == game.BattedOut && e.Fielder != 0 && e.Runner == game.AtBat && f.play.Advances[game.AtBat].Reason == game.ByPlay
}

// attempts writes the steals and pick-offs of a play, those of its kind first.
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
		return "SB" + baseName(from+1), game.StolenBase
	case game.Caught:
		return "CS" + baseName(from+1) + f.attemptCredits(from), game.CaughtStealing
	case game.PickedOffStealing:
		return "POCS" + baseName(from+1) + f.attemptCredits(from), game.PickOff
	case game.PickedOff:
		return "PO" + baseName(from) + f.attemptCredits(from), game.PickOff
	default:
		return "", game.NoKind
	}
}

// attemptCredits are the errors and the put-out of an attempt.
func (f *formatter) attemptCredits(from game.Base) string {
	text := f.errors(from)
	if i := f.out(from); i >= 0 && f.play.Outs[i].Fielders != "" {
		text += "(" + f.play.Outs[i].Fielders + ")"
	}
	return text
}

// attempted reports whether the man's out or errors are told by an attempt.
func (f *formatter) attempted(from game.Base) bool {
	why := f.play.Advances[from].Reason
	return why == game.Caught || why == game.PickedOff || why == game.PickedOffStealing
}

// errors are the errors that helped a man, but for the one of the basic event.
func (f *formatter) errors(who game.Base) string {
	var b strings.Builder
	for i, e := range f.play.Errors {
		if e.Fielder == 0 || e.Runner != who || i == 0 && f.errorInBasic() {
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

// errorInBasic reports whether the first error is told before the full stop.
func (f *formatter) errorInBasic() bool {
	switch p := f.play; p.Kind {
	case game.ReachedOnError, game.FoulError, game.CatchersInterference:
		return true
	default:
		return p.Also == game.ReachedOnError || f.batterHelped()
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
		if text := flagText(flag); p.Flags.Has(flag) && text != "" {
			all = append(all, text)
		}
	}
	if text := f.doublePlay(); text != "" {
		all = append(all, text)
	}
	if text := ballText(p.Ball); text != "" {
		all = append(all, text)
	}
	if p.OtherModifiers != "" {
		all = append(all, p.OtherModifiers)
	}
	return all
}

// flagText is the modifier of a flag, "" for one that is told otherwise.
func flagText(flag game.Flags) string {
	for _, text := range []string{"SH", "SF", "FL", "IF", "AP", "BINT", "RINT", "IPHR", "BOOT"} {
		if got, _ := flagOf(text); got == flag {
			return text
		}
	}
	return ""
}

// doublePlay is the modifier that says how many outs were one play. FO says that it was a force-out only.
func (f *formatter) doublePlay() string {
	p := f.play
	kind := "DP"
	if f.outs() > 2 {
		kind = "TP"
	}
	switch {
	case p.Flags.Has(game.GroundedIntoDoublePlay) && p.Ball.Contact == game.BuntGround:
		return "BG" + kind
	case p.Flags.Has(game.GroundedIntoDoublePlay):
		return "G" + kind
	case p.Flags.Has(game.NoDoublePlay) && f.outs() < 2:
		return "NDP"
	case f.outs() >= 2 && !p.Flags.Has(game.NoDoublePlay):
		return kind
	case p.Kind == game.BattedOut && p.Outs[0].Kind == game.ForceOut:
		return "FO"
	default:
		return ""
	}
}

func ballText(b game.BattedBall) string {
	text := ""
	for _, c := range []string{"G", "F", "L", "P", "BG", "BP", "BL"} {
		if got, _ := contact(c); got == b.Contact && got != game.NoContact {
			text = c
		}
	}
	text += b.Location
	switch {
	case b.Strength == game.Hard:
		text += "+"
	case b.Strength == game.Soft:
		text += "-"
	}
	return text
}
