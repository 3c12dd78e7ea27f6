package retro

import (
	"fmt"
	"strings"

	"pressbox/game"
)

// modifiers reads the parts after the slashes of the basic event.
func (x *parser) modifiers(text string) error {
	for text != "" {
		var one string
		one, text = cutOutside(text, '/')
		if err := x.modifier(one); err != nil {
			return err
		}
	}
	return nil
}

func (x *parser) modifier(text string) error {
	if flag, ok := modifierFlag(text); ok {
		x.play.Flags |= flag
		return nil
	}
	switch text {
	case "", "FO": // the outs show a force-out
		return nil
	case "TH":
		x.throwingError = true
		return nil
	case "DP", "TP":
		x.multipleOuts = true
		return nil
	case "GDP", "GTP", "LDP", "LTP", "FDP", "FTP", "BGDP", "BGTP", "BPDP", "BPTP":
		x.doublePlayModifier(text[:len(text)-2])
		return nil
	}
	if strings.HasPrefix(text, "E") && len(text) == 2 && text[1] >= '1' && text[1] <= '9' {
		return x.addError(game.Error{Fielder: text[1] - '0'})
	}
	if x.battedBall(text) {
		return nil
	}
	if x.play.OtherModifiers != "" {
		text = x.play.OtherModifiers + "/" + text
	}
	if len(text) > maxOtherModifiers {
		return fmt.Errorf("%d bytes of modifiers, want at most %d", len(text), maxOtherModifiers)
	}
	x.play.OtherModifiers = text
	return nil
}

// maxOtherModifiers limits the modifiers that no rule depends on, in bytes.
const maxOtherModifiers = 80

func modifierFlag(text string) (game.Flags, bool) {
	switch text {
	case "SH":
		return game.SacrificeHit, true
	case "SF":
		return game.SacrificeFly, true
	case "NDP":
		return game.NoDoublePlay, true
	case "FL":
		return game.Foul, true
	case "IF":
		return game.InfieldFly, true
	case "AP":
		return game.Appeal, true
	case "BINT":
		return game.BatterInterference, true
	case "RINT":
		return game.RunnerInterference, true
	case "IPHR":
		return game.InsideTheParkHomeRun, true
	case "BOOT":
		return game.OutForBattingOutOfTurn, true
	default:
		return 0, false
	}
}

// doublePlayModifier reads the contact of GDP, LDP and the like.
func (x *parser) doublePlayModifier(ball string) {
	x.multipleOuts = true
	if ball == "G" || ball == "BG" {
		x.play.Flags |= game.GroundedIntoDoublePlay
	}
	if c, ok := parseContact(ball); ok && x.play.Ball.Contact == game.NoContact {
		x.play.Ball.Contact = c
	}
}

func parseContact(text string) (game.Contact, bool) {
	switch text {
	case "G":
		return game.GroundBall, true
	case "F":
		return game.FlyBall, true
	case "L":
		return game.LineDrive, true
	case "P":
		return game.PopUp, true
	case "BG":
		return game.BuntGround, true
	case "BP":
		return game.BuntPopUp, true
	case "BL":
		return game.BuntLineDrive, true
	default:
		return game.NoContact, false
	}
}

// battedBall reads contact, location and strength, "L7LD+", and reports whether the modifier is one.
func (x *parser) battedBall(text string) bool {
	i := strings.IndexAny(text, "0123456789+-")
	if i < 0 {
		i = len(text)
	}
	c, ok := parseContact(text[:i])
	if !ok && i > 0 || text == "" {
		return false
	}
	location := text[i:]
	strength := game.Unmarked
	for location != "" && (location[len(location)-1] == '+' || location[len(location)-1] == '-') {
		strength = game.Hard
		if location[len(location)-1] == '-' {
			strength = game.Soft
		}
		location = location[:len(location)-1]
	}
	b := &x.play.Ball
	if c != game.NoContact {
		b.Contact = c
	}
	if location != "" || strength != game.Unmarked {
		b.Location = location
	}
	if strength != game.Unmarked {
		b.Strength = strength
	}
	return true
}
