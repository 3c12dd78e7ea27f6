package retro

import (
	"fmt"
	"strings"

	"pressbox/game"
)

// modifiers reads the parts behind the slashes of the basic event.
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
	if flag, ok := flagOf(text); ok {
		x.play.Flags |= flag
		return nil
	}
	switch text {
	case "", "FO": // a force-out is told by the outs
		return nil
	case "TH":
		x.throw = true
		return nil
	case "DP", "TP":
		x.double = true
		return nil
	case "GDP", "GTP", "LDP", "LTP", "FDP", "FTP", "BGDP", "BGTP", "BPDP", "BPTP":
		x.doublePlay(text[:len(text)-2])
		return nil
	}
	if strings.HasPrefix(text, "E") && len(text) == 2 && text[1] >= '1' && text[1] <= '9' {
		return x.fault(game.Error{Fielder: text[1] - '0'})
	}
	if x.ball(text) {
		return nil
	}
	if x.play.OtherModifiers != "" {
		text = x.play.OtherModifiers + "/" + text
	}
	if len(text) > maxNotes {
		return fmt.Errorf("modifiers longer than %d", maxNotes)
	}
	x.play.OtherModifiers = text
	return nil
}

// maxNotes bounds what is kept of modifiers that mean nothing to the rules.
const maxNotes = 80

// flagOf returns the flag of a modifier that is one.
func flagOf(text string) (game.Flags, bool) {
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

// doublePlay reads the part of GDP, LDP, … that tells the kind of ball.
func (x *parser) doublePlay(ball string) {
	x.double = true
	if ball == "G" || ball == "BG" {
		x.play.Flags |= game.GroundedIntoDoublePlay
	}
	if c, ok := contact(ball); ok && x.play.Ball.Contact == game.NoContact {
		x.play.Ball.Contact = c
	}
}

func contact(text string) (game.Contact, bool) {
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

// ball reads how and where the ball was hit, "L7LD+"; false if the modifier is none of that.
func (x *parser) ball(text string) bool {
	i := strings.IndexAny(text, "0123456789+-")
	if i < 0 {
		i = len(text)
	}
	c, ok := contact(text[:i])
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
		b.Location, b.Strength = location, strength
	}
	return true
}
