// Package game holds the rules of baseball: the state of a game, the plays that are legal in it, and the official
// scoring.
//
// Its one law: a [Play] describes everything that happened, and [State.Apply] either applies all of it or refuses
// it with the number of the rule. It infers nothing and draws nothing at random, so games played here and the real
// games that game/retro replays run through the same code.
//
// [State] is the situation: inning, outs, runners, line-ups, score. [Play] is one event. [Scorebook] keeps the box
// score from each play and the states before and after it.
//
// A State is a value that can be copied and compared with an earlier one. Slices inside it are never written to
// after they were set. Its encoding/json form is canonical (fields in order, no maps) and can be hashed.
//
// Rule numbers are those of the Official Baseball Rules, 2023 edition.
package game

import "slices"

// PlayerID identifies a player. It is unique among both clubs of a game.
type PlayerID string

// A Player is a player as the rules know one.
type Player struct {
	ID        PlayerID `json:"id"`
	Name      string   `json:"name"`
	Bats      Hand     `json:"bats"`
	Throws    Hand     `json:"throws"`
	Positions []Role   `json:"positions"` // best first
	Number    string   `json:"number,omitempty"`
}

// CanPitch reports whether a role of the player is a pitcher's.
func (p Player) CanPitch() bool { return slices.ContainsFunc(p.Positions, Role.IsPitcher) }

// CanField reports whether a role of the player is not a pitcher's.
func (p Player) CanField() bool {
	return slices.ContainsFunc(p.Positions, func(r Role) bool { return !r.IsPitcher() })
}

// A Hand is the side from which a player bats or throws.
type Hand string

// The hands.
const (
	Left   Hand = "L"
	Right  Hand = "R"
	Switch Hand = "S" // bats from either side
)

// A Role is a roster's position: the text of a [Position], or SP, RP or CP for the kinds of pitcher.
type Role string

// IsPitcher reports whether the role is a pitcher's.
func (r Role) IsPitcher() bool { return r == "P" || r == "SP" || r == "RP" || r == "CP" }

// Covers reports whether a role covers a position; IF and OF cover several.
func (r Role) Covers(at Position) bool {
	switch r {
	case "OF":
		return at >= LeftField && at <= RightField
	case "IF":
		return at >= FirstBase && at <= Shortstop
	default:
		return string(r) == at.String()
	}
}

// A Club is a team and its players as the rules know them.
type Club struct {
	ID      string   `json:"id"`
	Abbrev  string   `json:"abbrev"`
	Name    string   `json:"name"`
	Players []Player `json:"players"`
}

// Player returns the player of the club with an id.
func (c Club) Player(id PlayerID) (Player, bool) {
	for _, p := range c.Players {
		if p.ID == id {
			return p, true
		}
	}
	return Player{}, false
}

// Options are the rules that differ between games.
type Options struct {
	DH            bool         `json:"dh"`
	Innings       int          `json:"innings"` // scheduled; 0: nine
	ExtraInnings  ExtraInnings `json:"extra_innings"`
	HomeBatsFirst bool         `json:"home_first,omitzero"`
	// A pitcher may leave after one batter, as before 2020.
	NoThreeBatterMinimum bool           `json:"no_minimum,omitzero"`
	Disengagements       Disengagements `json:"disengagements,omitzero"` // missing: unlimited
	Mercy                Mercy          `json:"mercy,omitzero"`          // missing: off
}

// ScheduledInnings returns the number of innings after which a lead wins.
func (o Options) ScheduledInnings() int {
	if o.Innings == 0 {
		return 9
	}
	return o.Innings
}

// ExtraInnings selects the rule for innings after the scheduled ones.
type ExtraInnings string

// The extra-inning rules.
const (
	AutomaticRunner ExtraInnings = "runner"   // each extra half-inning begins with a runner on second base
	Standard        ExtraInnings = "standard" // like any other inning
)

// Disengagements selects the limit of pick-off throws. State.Apply does not depend on it.
type Disengagements string

// The limits.
const (
	Unlimited Disengagements = "unlimited" // before 2023
	Limit2023 Disengagements = "2023"      // a third throw to a batter that does not retire the runner is a balk
)

// Mercy selects whether the mercy rule calls a game that is decided.
type Mercy string

// The choices of the mercy rule.
const (
	MercyOff Mercy = "off"
	MercyOn  Mercy = "on" // called at a lead of 20 runs, or of 10 at the end of an inning from the third-last on
)

// A Side is one of the two teams.
type Side uint8

// The sides, numbered as Retrosheet numbers them.
const (
	Away Side = iota
	Home
)

const sideNames names = "away|home"

// Sides returns both sides, the visitors first.
func Sides() [2]Side { return [2]Side{Away, Home} }

// Other returns the opponent.
func (s Side) Other() Side { return 1 - s }

func (s Side) String() string { return sideNames.name(uint8(s)) }

// MarshalText returns "away" or "home".
func (s Side) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads "away" or "home".
func (s *Side) UnmarshalText(text []byte) error { return parse(s, "side", sideNames, text) }

// A Half is half an inning.
type Half uint8

// The halves.
const (
	Top Half = iota
	Bottom
)

const halfNames names = "top|bottom"

func (h Half) String() string { return halfNames.name(uint8(h)) }

// MarshalText returns "top" or "bottom".
func (h Half) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads "top" or "bottom".
func (h *Half) UnmarshalText(text []byte) error { return parse(h, "half", halfNames, text) }
