package retro

import (
	"fmt"
	"strings"

	"pressbox/game"
)

// Parse reads one event ("S7/L7.1-3") as a play in a state, which tells who is on base: batters and forced runners may
// be left out of the text. Whether the play is legal is [game.State.Apply]'s to say.
func Parse(s *game.State, event string) (game.Play, error) {
	x := parser{state: s}
	head, advances := cutOutside(strip(event), '.')
	basic, modifiers := cutOutside(head, '/')
	if err := x.modifiers(modifiers); err != nil {
		return game.Play{}, fmt.Errorf("event %q: %w", event, err)
	}
	if err := x.basic(basic); err != nil {
		return game.Play{}, fmt.Errorf("event %q: %w", event, err)
	}
	x.fieldedOuts = x.outs
	if err := x.advances(advances); err != nil {
		return game.Play{}, fmt.Errorf("event %q: %w", event, err)
	}
	x.complete()
	return x.play, nil
}

// strip drops the marks of doubt and of note, which carry no meaning.
func strip(event string) string {
	if !strings.ContainsAny(event, "#!?") {
		return event
	}
	return strings.NewReplacer("#", "", "!", "", "?", "").Replace(event)
}

// cutOutside cuts text at the first sep that is not inside parentheses.
func cutOutside(text string, sep byte) (before, after string) {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		case sep:
			if depth == 0 {
				return text[:i], text[i+1:]
			}
		}
	}
	return text, ""
}

// A parser collects one play.
type parser struct {
	state       *game.State
	play        game.Play
	outs        int
	errors      int
	told        [4]bool // whose movement the text has told
	throw       bool    // modifier TH: the error of the basic event was a throw
	double      bool    // modifier DP or TP
	fieldedOuts int     // outs told by the basic event
	last        byte    // the fielder who had the ball last in the basic event
}

func (x *parser) out(o game.Out) error {
	if x.outs == len(x.play.Outs) {
		return fmt.Errorf("more than %d outs", x.outs)
	}
	if strings.Contains(o.Fielders, "99") || strings.Contains(o.Fielders, "0") {
		o.Fielders = "" // nobody knows
	}
	x.play.Outs[x.outs] = o
	x.outs++
	x.told[o.Runner] = true
	x.play.Advances[o.Runner].To = game.AtBat
	return nil
}

func (x *parser) fault(e game.Error) error {
	if x.errors == len(x.play.Errors) {
		return fmt.Errorf("more than %d errors", x.errors)
	}
	x.play.Errors[x.errors] = e
	x.errors++
	return nil
}

func (x *parser) basic(text string) error {
	for i, part := range strings.Split(text, ";") {
		first, also := cutOutside(part, '+')
		kind, err := x.event(first)
		if err != nil {
			return err
		}
		if i == 0 {
			x.play.Kind = kind
		}
		if also == "" {
			continue
		}
		if x.play.Also, err = x.event(also); err != nil {
			return err
		}
	}
	return nil
}

// event reads one basic event and returns its kind.
func (x *parser) event(text string) (game.PlayKind, error) {
	if text != "" && text[0] >= '0' && text[0] <= '9' {
		err := x.fielded(text)
		if err == nil && x.outs == 0 && x.errors > 0 {
			return game.ReachedOnError, nil // 6E3: the throw was good, but dropped
		}
		return game.BattedOut, err
	}
	word := text[:wordEnd(text)]
	rest := text[len(word):]
	if kind, ok := plainEvents(word); ok {
		if word == "DGR" {
			x.play.Flags |= game.GroundRuleDouble
		}
		return x.plain(kind, rest)
	}
	switch word {
	case "K":
		return game.Strikeout, x.strikeout(rest)
	case "E":
		return game.ReachedOnError, x.fielded(text)
	case "FLE":
		return game.FoulError, x.fielded(text[2:])
	case "SB":
		return game.StolenBase, x.steal(rest)
	case "CS":
		return game.CaughtStealing, x.attempt(rest, game.Caught)
	case "PO":
		return game.PickOff, x.attempt(rest, game.PickedOff)
	case "POCS":
		return game.PickOff, x.attempt(rest, game.PickedOffStealing)
	default:
		return game.NoKind, fmt.Errorf("basic event %q is not known", text)
	}
}

// wordEnd returns the length of the letters an event begins with, but for the H of a base (SBH).
func wordEnd(text string) int {
	i := 0
	for i < len(text) && text[i] >= 'A' && text[i] <= 'Z' && (text[i] != 'H' || i == 0) {
		i++
	}
	return i
}

// plainEvents are the basic events that are a word and perhaps the fielders who touched the ball.
func plainEvents(word string) (game.PlayKind, bool) {
	switch word {
	case "S":
		return game.Single, true
	case "D", "DGR":
		return game.Double, true
	case "T":
		return game.Triple, true
	case "HR", "H":
		return game.HomeRun, true
	case "W":
		return game.Walk, true
	case "IW", "I":
		return game.IntentionalWalk, true
	case "HP":
		return game.HitByPitch, true
	case "C":
		return game.CatchersInterference, true
	case "FC":
		return game.FieldersChoice, true
	case "WP":
		return game.WildPitch, true
	case "PB":
		return game.PassedBall, true
	case "BK":
		return game.Balk, true
	case "DI":
		return game.Indifference, true
	case "OA":
		return game.OtherAdvance, true
	case "NP":
		return game.NoPlay, true
	default:
		return game.NoKind, false
	}
}

func (x *parser) plain(kind game.PlayKind, rest string) (game.PlayKind, error) {
	if !digits(rest) {
		return kind, fmt.Errorf("fielders %q", rest)
	}
	x.play.FieldedBy = rest
	switch {
	case kind == game.HomeRun && rest != "":
		x.play.Flags |= game.InsideTheParkHomeRun
	case kind == game.CatchersInterference && x.errors == 0:
		return kind, x.fault(game.Error{Fielder: 2})
	}
	return kind, nil
}

func digits(text string) bool { return strings.Trim(text, "0123456789") == "" }

func (x *parser) strikeout(rest string) error {
	switch {
	case !digits(rest):
		return fmt.Errorf("strikeout by %q", rest)
	case len(rest) > 1:
		return x.out(game.Out{Runner: game.AtBat, At: game.First, Kind: game.OutBeforeFirst, Fielders: rest})
	default:
		return x.out(game.Out{Runner: game.AtBat, Kind: game.StruckOut, Fielders: "2"})
	}
}

// fielded reads a batted ball handled in the infield or caught: groups of fielders, each ending in the man put out,
// "64(1)3", or in an error, "6E3".
func (x *parser) fielded(text string) error {
	start := 0
	failed := false // the group ended in an error
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case 'E':
			if i+1 == len(text) {
				return fmt.Errorf("an error by nobody")
			}
			if err := x.fault(game.Error{Fielder: text[i+1] - '0', Kind: x.errorKind(), Assists: text[start:i]}); err != nil {
				return err
			}
			failed, i, start = true, i+1, i+2
		case '(':
			who, length, err := runner(text[i:])
			if err != nil {
				return err
			}
			if err := x.group(text[start:i], who, failed); err != nil {
				return err
			}
			failed, i, start = false, i+length-1, i+length
		}
	}
	if rest := text[start:]; rest != "" {
		return x.group(rest, game.AtBat, false)
	}
	return nil
}

func (x *parser) errorKind() game.ErrorKind {
	if x.throw {
		return game.ThrowingError
	}
	return game.FieldingError
}

// runner reads "(2)" or "(B)".
func runner(text string) (who game.Base, length int, err error) {
	if len(text) < 3 || text[2] != ')' {
		return 0, 0, fmt.Errorf("runner %q", text)
	}
	who, ok := base(text[1])
	if !ok || who == game.HomePlate {
		return 0, 0, fmt.Errorf("runner %q", text[:3])
	}
	return who, 3, nil
}

func base(c byte) (game.Base, bool) {
	switch c {
	case 'B':
		return game.AtBat, true
	case 'H':
		return game.HomePlate, true
	case '1', '2', '3':
		return game.Base(c - '0'), true
	default:
		return 0, false
	}
}

// group ends one group of fielders: the man is out, or, after an error, safe.
func (x *parser) group(by string, who game.Base, failed bool) error {
	if failed {
		x.play.Errors[x.errors-1].Runner = who
		return nil
	}
	if !digits(by) {
		return fmt.Errorf("fielders %q", by)
	}
	if x.last != 0 && by != "" && by[0] != x.last {
		by = string(x.last) + by
	}
	if by != "" {
		x.last = by[len(by)-1]
	}
	return x.out(x.fieldedOut(by, who))
}

// fieldedOut says how a man was put out by the fielders of a batted ball.
func (x *parser) fieldedOut(by string, who game.Base) game.Out {
	o := game.Out{Runner: who, At: who + 1, Kind: game.TagOut, Fielders: by}
	caught := x.outs > 0 && x.play.Outs[0].Runner == game.AtBat && x.play.Outs[0].Kind == game.FlyOut
	switch {
	case who == game.AtBat && x.caught(by):
		o.At, o.Kind = game.AtBat, game.FlyOut
	case who == game.AtBat:
		o.Kind = game.OutBeforeFirst
	case caught:
		o.At, o.Kind = who, game.AppealOut
	case x.forced(who):
		o.Kind = game.ForceOut
	}
	return o
}

// caught reports whether the batter put out by the fielders was out in the air.
func (x *parser) caught(by string) bool {
	switch x.play.Ball.Contact {
	case game.GroundBall, game.BuntGround:
		return false
	case game.NoContact:
		return len(by) == 1 && !x.play.Flags.Has(game.GroundedIntoDoublePlay)
	default:
		return true
	}
}

// forced reports whether a runner is forced with the outs told so far.
func (x *parser) forced(who game.Base) bool {
	if !x.state.IsForced(who) {
		return false
	}
	for _, o := range x.play.Outs[:x.outs] {
		if o.Runner < who {
			return false
		}
	}
	return true
}

// steal reads the base of SB.
func (x *parser) steal(rest string) error {
	from, err := stolenFrom(rest)
	if err != nil {
		return err
	}
	to := from + 1
	if strings.HasPrefix(rest[1:], "(UR)") {
		x.play.Advances[from].Earned = game.No
	} else if strings.HasPrefix(rest[1:], "(TUR)") {
		x.play.Advances[from].Earned = game.TeamOnly
	}
	x.play.Advances[from].To, x.play.Advances[from].Reason = to, game.Stole
	x.told[from] = true
	return nil
}

// stolenFrom returns the base before the one that was tried.
func stolenFrom(rest string) (game.Base, error) {
	if rest == "" {
		return 0, fmt.Errorf("a steal of no base")
	}
	to, ok := base(rest[0])
	if !ok || to < game.Second {
		return 0, fmt.Errorf("a steal of %q", rest)
	}
	return to - 1, nil
}

// attempt reads CS2(26), PO1(13), POCS2(136), or the same with an error, PO1(E3).
func (x *parser) attempt(rest string, why game.AdvanceReason) error {
	if rest == "" {
		return fmt.Errorf("a runner on no base")
	}
	at, ok := base(rest[0])
	who := at - 1
	if why == game.PickedOff {
		who = at
	}
	if !ok || who < game.First || who > game.Third {
		return fmt.Errorf("a runner at %q", rest)
	}
	x.play.Advances[who].Reason = why
	if rest[1:] == "" {
		return x.advanceOut(who, at, "")
	}
	out, err := x.credits(rest[1:], who, at)
	switch {
	case err != nil:
		return err
	case out:
		return nil
	case why != game.PickedOff:
		x.play.Advances[who].To = at
	}
	x.told[who] = true
	return nil
}
