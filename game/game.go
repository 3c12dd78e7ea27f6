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

// PlayerID identifies a player. It is unique among both clubs of a game.
type PlayerID string

// A Player is a player as the rules know one.
type Player struct {
	ID        PlayerID `json:"id"`
	Name      string   `json:"name"`
	Bats      Hand     `json:"bats"`      // L, R, or S for both
	Throws    Hand     `json:"throws"`    // L or R
	Positions []Role   `json:"positions"` // the player's positions, best first
	Number    string   `json:"number,omitempty"`
}

// CanPitch reports whether a pitching role is among the player's positions.
func (p Player) CanPitch() bool {
	for _, r := range p.Positions {
		if r == "SP" || r == "RP" || r == "CP" || r == "P" {
			return true
		}
	}
	return false
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

// Options are the rules that differ between games. The zero value is nine innings without a designated hitter, with the
// automatic runner and the three-batter minimum.
type Options struct {
	DH                   bool           `json:"dh"`
	Innings              int            `json:"innings"`       // scheduled; 0 means 9
	ExtraInnings         ExtraInnings   `json:"extra_innings"` // "" means AutomaticRunner
	HomeBatsFirst        bool           `json:"home_first,omitzero"`
	NoThreeBatterMinimum bool           `json:"no_minimum,omitzero"`     // a pitcher may leave after one batter
	Disengagements       Disengagements `json:"disengagements,omitzero"` // "" means Unlimited
	Mercy                Mercy          `json:"mercy,omitzero"`          // "" means MercyOff
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
	AutomaticRunner ExtraInnings = "runner"   // each extra half-inning starts with a runner on second, 7.01(b)
	Standard        ExtraInnings = "standard" // like any other inning
)

// Disengagements selects the limit of pick-off throws. State.Apply does not depend on it.
type Disengagements string

// The limits.
const (
	Unlimited Disengagements = "unlimited" // before 2023
	Limit2023 Disengagements = "2023"      // two per batter; a third that does not retire the runner is a balk
)

// Mercy selects whether the mercy rule calls a game that is decided.
type Mercy string

// The choices of the mercy rule.
const (
	MercyOff Mercy = "off"
	MercyOn  Mercy = "on"
)

// A Side is one of the two teams.
type Side uint8

// The sides, numbered as Retrosheet numbers them.
const (
	Away Side = iota
	Home
)

const sideNames names = "away|home"

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
