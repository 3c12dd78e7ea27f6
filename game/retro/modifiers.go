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
	if flag, ok := modifierFlags().read(text); ok {
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

// modifierFlags returns the modifiers that are a flag.
func modifierFlags() table[game.Flags] {
	return table[game.Flags]{
		{"SH", game.SacrificeHit},
		{"SF", game.SacrificeFly},
		{"NDP", game.NoDoublePlay},
		{"FL", game.Foul},
		{"IF", game.InfieldFly},
		{"AP", game.Appeal},
		{"BINT", game.BatterInterference},
		{"RINT", game.RunnerInterference},
		{"IPHR", game.InsideTheParkHomeRun},
		{"BOOT", game.OutForBattingOutOfTurn},
	}
}

// doublePlayModifier reads the contact of GDP, LDP and the like.
func (x *parser) doublePlayModifier(ball string) {
	x.multipleOuts = true
	if ball == "G" || ball == "BG" {
		x.play.Flags |= game.GroundedIntoDoublePlay
	}
	if c, ok := contacts().read(ball); ok && x.play.Ball.Contact == game.NoContact {
		x.play.Ball.Contact = c
	}
}

// contacts returns the kinds of batted balls.
func contacts() table[game.Contact] {
	return table[game.Contact]{
		{"G", game.GroundBall},
		{"F", game.FlyBall},
		{"L", game.LineDrive},
		{"P", game.PopUp},
		{"BG", game.BuntGround},
		{"BP", game.BuntPopUp},
		{"BL", game.BuntLineDrive},
	}
}

// battedBall reads contact, location and strength, "L7LD+", and reports whether the modifier is one.
func (x *parser) battedBall(text string) bool {
	i := strings.IndexAny(text, "0123456789+-")
	if i < 0 {
		i = len(text)
	}
	c, ok := contacts().read(text[:i])
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
