// Package game is baseball: what a game's state is, which plays are legal in it, and what the official scorer makes of them.
//
// Its one law: a [Play] says everything that happened, and [State.Apply] either takes it whole or refuses it, naming the
// rule. Nothing is guessed, mended or drawn by lot, so the games people play here and the real games that game/retro
// replays run through the same code.
//
// Three values do the work. [State] is the field as the umpires see it: inning, outs, runners, line-ups, score.
// [Play] is one thing that happened. [Scorebook] is the official scorer, who watches each play between the State before
// and the State after, and keeps the box score.
//
// A State is a value: copy it, keep it, go back to it. Slices inside it are never written to after they were set.
// encoding/json gives its canonical form (fields in order, no maps), fit for hashing.
//
// Rule numbers are those of the Official Baseball Rules, 2023 edition.
package game

// PlayerID names a player; unique among both clubs of a game.
type PlayerID string

// A Player is one name on a club's roster.
type Player struct {
	ID        PlayerID `json:"id"`
	Name      string   `json:"name"`
	Bats      Hand     `json:"bats"`      // L, R, or S for both
	Throws    Hand     `json:"throws"`    // L or R
	Positions []Role   `json:"positions"` // what he can play, his best first
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

// A Hand is the side a player bats or throws from.
type Hand string

// The hands.
const (
	Left   Hand = "L"
	Right  Hand = "R"
	Switch Hand = "S" // bats from either side
)

// A Role is a roster's word for a position: a [Position]'s text, or SP and RP for the two kinds of pitcher.
type Role string

// A Club is a team and the players it brought.
type Club struct {
	ID      string   `json:"id"`
	Abbrev  string   `json:"abbrev"`
	Name    string   `json:"name"`
	Players []Player `json:"players"`
}

// Player finds a player of the club by id.
func (c Club) Player(id PlayerID) (Player, bool) {
	for _, p := range c.Players {
		if p.ID == id {
			return p, true
		}
	}
	return Player{}, false
}

// Options are the rules that may differ from game to game. The zero value is nine innings without a designated hitter,
// with the automatic runner and the three-batter minimum.
type Options struct {
	DH                   bool         `json:"dh"`
	Innings              int          `json:"innings"`       // scheduled; 0 means 9
	ExtraInnings         ExtraInnings `json:"extra_innings"` // "" means AutomaticRunner
	HomeBatsFirst        bool         `json:"home_first,omitzero"`
	NoThreeBatterMinimum bool         `json:"no_minimum,omitzero"` // before 2020: a pitcher may leave after one batter (5.10(g))
}

// ScheduledInnings returns the number of innings after which a lead wins.
func (o Options) ScheduledInnings() int {
	if o.Innings == 0 {
		return 9
	}
	return o.Innings
}

// ExtraInnings says how a tie after the scheduled innings goes on.
type ExtraInnings string

// The two ways.
const (
	AutomaticRunner ExtraInnings = "runner"   // each extra half-inning starts with a runner on second, 7.01(b)
	Standard        ExtraInnings = "standard" // as any other inning
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

// MarshalText writes "away" or "home".
func (s Side) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads "away" or "home".
func (s *Side) UnmarshalText(text []byte) error {
	i, err := sideNames.parse("side", text)
	*s = Side(i)
	return err
}

// A Half is half an inning.
type Half uint8

// The halves.
const (
	Top Half = iota
	Bottom
)

const halfNames names = "top|bottom"

func (h Half) String() string { return halfNames.name(uint8(h)) }

// MarshalText writes "top" or "bottom".
func (h Half) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads "top" or "bottom".
func (h *Half) UnmarshalText(text []byte) error {
	i, err := halfNames.parse("half", text)
	*h = Half(i)
	return err
}
