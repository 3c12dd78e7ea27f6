package retro

import (
	"fmt"
	"strings"

	"pressbox/game"
)

// Parse reads one event ("S7/L7.1-3") as a play in state s, which supplies the runners: the text may omit the batter
// and forced runners. Whether the play is legal is for [game.State.Apply] to check.
func Parse(s *game.State, event string) (game.Play, error) {
	x := parser{state: s}
	head, advances := cutOutside(stripMarks(event), '.')
	basic, modifiers := cutOutside(head, '/')
	basic = x.strength(basic)
	if err := x.modifiers(modifiers); err != nil {
		return game.Play{}, fmt.Errorf("event %q: %w", event, err)
	}
	if err := x.basic(basic); err != nil {
		return game.Play{}, fmt.Errorf("event %q: %w", event, err)
	}
	x.basicOuts = x.outs
	if err := x.advances(advances); err != nil {
		return game.Play{}, fmt.Errorf("event %q: %w", event, err)
	}
	x.complete()
	return x.play, nil
}

// strength reads and removes the + or - after a basic event, "43-", which a modifier may repeat.
func (x *parser) strength(basic string) string {
	text := strings.TrimRight(basic, "+-")
	if mark := basic[len(text):]; mark != "" {
		x.play.Ball.Strength = game.Hard
		if mark[0] == '-' {
			x.play.Ball.Strength = game.Soft
		}
	}
	return text
}

// stripMarks removes the marks of uncertainty and of notes, which do not change the play.
func stripMarks(event string) string {
	if !strings.ContainsAny(event, "#!?") {
		return event
	}
	return strings.NewReplacer("#", "", "!", "", "?", "").Replace(event)
}

// cutOutside cuts text at the first sep outside parentheses.
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

// A parser builds one play.
type parser struct {
	state         *game.State
	play          game.Play
	outs          int
	errors        int
	explicit      [4]bool // by starting base: the text has the advance or the out
	throwingError bool    // modifier TH: the error of the basic event was a throw
	multipleOuts  bool    // modifier DP or TP
	basicOuts     int     // outs in the basic event
	lastFielder   byte    // the last fielder with the ball in the basic event
}

func (x *parser) addOut(o game.Out) error {
	if x.outs == len(x.play.Outs) {
		return fmt.Errorf("more than %d outs", x.outs)
	}
	if strings.Contains(o.Fielders, "99") || strings.Contains(o.Fielders, "0") {
		o.Fielders = "" // unknown
	}
	x.play.Outs[x.outs] = o
	x.outs++
	x.explicit[o.Runner] = true
	x.play.Advances[o.Runner].To = game.AtBat
	return nil
}

func (x *parser) addError(e game.Error) error {
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
		kind, err := x.basicEvent(first)
		if err != nil {
			return err
		}
		if i == 0 {
			x.play.Kind = kind
		}
		if also == "" {
			continue
		}
		if x.play.Also, err = x.basicEvent(also); err != nil {
			return err
		}
	}
	return nil
}

// basicEvent reads one basic event and returns its kind.
func (x *parser) basicEvent(text string) (game.PlayKind, error) {
	if text != "" && text[0] >= '0' && text[0] <= '9' {
		err := x.fieldedBall(text)
		if err == nil && x.outs == 0 && x.errors > 0 {
			return game.ReachedOnError, nil // 6E3: the throw was good, but dropped
		}
		return game.BattedOut, err
	}
	word := text[:eventCodeLength(text)]
	rest := text[len(word):]
	if kind, ok := simpleEvents().read(word); ok {
		if word == "DGR" {
			x.play.Flags |= game.GroundRuleDouble
		}
		return x.simpleEvent(kind, rest)
	}
	switch word {
	case "K":
		return game.Strikeout, x.strikeout(rest)
	case "E":
		return game.ReachedOnError, x.fieldedBall(text)
	case "FLE":
		return game.FoulError, x.fieldedBall(text[2:])
	case "SB", "POSB":
		return game.StolenBase, x.stolenBase(rest)
	case "CS":
		return game.CaughtStealing, x.attempt(rest, game.Caught)
	case "PO":
		return game.PickOff, x.attempt(rest, game.PickedOff)
	case "POCS":
		return game.PickOff, x.attempt(rest, game.PickedOffStealing)
	default:
		return game.NoKind, fmt.Errorf("unknown basic event %q", text)
	}
}

// eventCodeLength returns the length of the letters that begin an event, without the H of a base (SBH).
func eventCodeLength(text string) int {
	i := 0
	for i < len(text) && text[i] >= 'A' && text[i] <= 'Z' && (text[i] != 'H' || i == 0) {
		i++
	}
	return i
}

// simpleEvents returns the basic events that are a code and perhaps the fielders who touched the ball. Of several codes
// of a kind the first is written.
func simpleEvents() table[game.PlayKind] {
	return table[game.PlayKind]{
		{"S", game.Single},
		{"D", game.Double},
		{"DGR", game.Double},
		{"T", game.Triple},
		{"HR", game.HomeRun},
		{"H", game.HomeRun},
		{"W", game.Walk},
		{"IW", game.IntentionalWalk},
		{"I", game.IntentionalWalk},
		{"HP", game.HitByPitch},
		{"HBP", game.HitByPitch},
		{"C", game.CatchersInterference},
		{"FC", game.FieldersChoice},
		{"WP", game.WildPitch},
		{"PB", game.PassedBall},
		{"BK", game.Balk},
		{"DI", game.Indifference},
		{"OA", game.OtherAdvance},
		{"OBA", game.OtherAdvance},
		{"NP", game.NoPlay},
	}
}

// A table holds codes and what they mean.
type table[T comparable] []struct {
	code  string
	means T
}

// read returns what a code means.
func (t table[T]) read(code string) (means T, ok bool) {
	for _, row := range t {
		if row.code == code {
			return row.means, true
		}
	}
	return means, false
}

// write returns the first code of a meaning, "" without one.
func (t table[T]) write(means T) string {
	for _, row := range t {
		if row.means == means {
			return row.code
		}
	}
	return ""
}

func (x *parser) simpleEvent(kind game.PlayKind, rest string) (game.PlayKind, error) {
	if !isDigits(rest) {
		return kind, fmt.Errorf("fielders %q, want digits", rest)
	}
	x.play.FieldedBy = rest
	switch {
	case kind == game.HomeRun && rest != "":
		x.play.Flags |= game.InsideTheParkHomeRun
	case kind == game.CatchersInterference && x.errors == 0:
		return kind, x.addError(game.Error{Fielder: 2})
	}
	return kind, nil
}

func isDigits(text string) bool { return strings.Trim(text, "0123456789") == "" }

func (x *parser) strikeout(rest string) error {
	switch {
	case !isDigits(rest):
		return fmt.Errorf("strikeout with fielders %q, want digits", rest)
	case len(rest) > 1:
		return x.addOut(game.Out{Runner: game.AtBat, At: game.First, Kind: game.OutBeforeFirst, Fielders: rest})
	default:
		return x.addOut(game.Out{Runner: game.AtBat, Kind: game.StruckOut, Fielders: "2"})
	}
}

// fieldedBall reads a fielded or caught ball: groups of fielders, each ending in the player put out, "64(1)3", or in an
// error, "6E3".
func (x *parser) fieldedBall(text string) error {
	start := 0
	failed := false // the group ended in an error
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case 'E':
			if i+1 == len(text) {
				return fmt.Errorf("error without a fielder")
			}
			e := game.Error{Fielder: text[i+1] - '0', Kind: x.errorKind(), Assists: text[start:i]}
			if err := x.addError(e); err != nil {
				return err
			}
			failed, i, start = true, i+1, i+2
		case '(':
			runner, length, err := parseRunner(text[i:])
			if err != nil {
				return err
			}
			if err := x.fielderGroup(text[start:i], runner, failed); err != nil {
				return err
			}
			failed, i, start = false, i+length-1, i+length
		}
	}
	if rest := text[start:]; rest != "" {
		return x.fielderGroup(rest, game.AtBat, false)
	}
	return nil
}

func (x *parser) errorKind() game.ErrorKind {
	if x.throwingError {
		return game.ThrowingError
	}
	return game.FieldingError
}

// parseRunner reads "(2)" or "(B)".
func parseRunner(text string) (runner game.Base, length int, err error) {
	if len(text) < 3 || text[2] != ')' {
		return 0, 0, fmt.Errorf("runner %q, want (1), (2), (3) or (B)", text)
	}
	runner, ok := parseBase(text[1])
	if !ok || runner == game.HomePlate {
		return 0, 0, fmt.Errorf("runner %q, want (1), (2), (3) or (B)", text[:3])
	}
	return runner, 3, nil
}

func parseBase(c byte) (game.Base, bool) {
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

// fielderGroup adds the out of a group of fielders. After an error the player is safe.
func (x *parser) fielderGroup(by string, runner game.Base, failed bool) error {
	if failed {
		x.play.Errors[x.errors-1].Runner = runner
		return nil
	}
	if !isDigits(by) {
		return fmt.Errorf("fielders %q, want digits", by)
	}
	if x.lastFielder != 0 && by != "" && by[0] != x.lastFielder {
		by = string(x.lastFielder) + by
	}
	if by != "" {
		x.lastFielder = by[len(by)-1]
	}
	return x.addOut(x.classifyOut(by, runner))
}

// classifyOut returns the out that the fielders of a batted ball made.
func (x *parser) classifyOut(by string, runner game.Base) game.Out {
	o := game.Out{Runner: runner, At: runner + 1, Kind: game.TagOut, Fielders: by}
	caught := x.outs > 0 && x.play.Outs[0].Runner == game.AtBat && x.play.Outs[0].Kind == game.FlyOut
	switch {
	case runner == game.AtBat && x.isCaught(by):
		o.At, o.Kind = game.AtBat, game.FlyOut
	case runner == game.AtBat:
		o.Kind = game.OutBeforeFirst
	case caught:
		o.At, o.Kind = runner, game.AppealOut
	case x.isForced(runner):
		o.Kind = game.ForceOut
	}
	return o
}

// isCaught reports whether the fielders put the batter out in the air.
func (x *parser) isCaught(by string) bool {
	switch x.play.Ball.Contact {
	case game.GroundBall, game.BuntGround:
		return false
	case game.NoContact:
		return len(by) == 1 && !x.play.Flags.Has(game.GroundedIntoDoublePlay)
	default:
		return true
	}
}

// isForced reports whether a runner is forced after the outs so far.
func (x *parser) isForced(runner game.Base) bool {
	if !x.state.IsForced(runner) {
		return false
	}
	for _, o := range x.play.Outs[:x.outs] {
		if o.Runner < runner {
			return false
		}
	}
	return true
}

func (x *parser) stolenBase(rest string) error {
	from, err := stealOrigin(rest)
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
	x.explicit[from] = true
	return nil
}

// stealOrigin returns the base before the one that was attempted.
func stealOrigin(rest string) (game.Base, error) {
	if rest == "" {
		return 0, fmt.Errorf("steal without a base")
	}
	to, ok := parseBase(rest[0])
	if !ok || to < game.Second {
		return 0, fmt.Errorf("steal of %q, want 2, 3 or H", rest)
	}
	return to - 1, nil
}

// attempt reads CS2(26), PO1(13), POCS2(136), or the same with an error, PO1(E3).
func (x *parser) attempt(rest string, reason game.AdvanceReason) error {
	if rest == "" {
		return fmt.Errorf("attempt without a base")
	}
	at, ok := parseBase(rest[0])
	runner := at - 1
	if reason == game.PickedOff {
		runner = at
	}
	if !ok || runner < game.First || runner > game.Third {
		return fmt.Errorf("attempt at unknown base %q", rest)
	}
	x.play.Advances[runner].Reason = reason
	safe, err := x.attemptCredits(rest[1:], runner, at)
	if safe && reason != game.PickedOff {
		x.play.Advances[runner].To = at
	}
	x.explicit[runner] = true
	return err
}
