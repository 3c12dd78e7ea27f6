package game

import (
	"fmt"
	"strings"
)

// A Lineup is a manager's line-up card. With a designated hitter either one of the nine is DH and the pitcher is not
// among them, or the DH is the pitcher (two-way, 5.11(b)). Without one the pitcher bats at P.
type Lineup struct {
	Order   []Slot   `json:"batting_order" required:"true"` // nine entries
	Pitcher PlayerID `json:"pitcher_id" required:"true"`    // also bats without a designated hitter, or as one
}

// A Slot is one place in the batting order.
type Slot struct {
	Player   PlayerID `json:"player_id" required:"true"`
	Position Position `json:"position" required:"true"` // P, C, 1B, 2B, 3B, SS, LF, CF, RF or DH
}

// A Violation is one fault of a line-up.
type Violation struct {
	Path   string        `json:"path"` // JSON pointer into the line-up: "/batting_order/3/position"
	Code   ViolationCode `json:"code"`
	Detail string        `json:"detail"` // in English
}

// Violations are faults of a request.
type Violations []Violation

// Add adds a fault; the detail has the form of fmt.Sprintf.
func (v *Violations) Add(path, code, format string, args ...any) {
	*v = append(*v, Violation{Path: path, Code: ViolationCode(code), Detail: fmt.Sprintf(format, args...)})
}

// A ViolationCode identifies a kind of violation.
type ViolationCode string

// The violations.
const (
	WrongOrderLength     ViolationCode = "not_nine"             // the order does not have nine entries
	InvalidPosition      ViolationCode = "no_such_position"     // not a fielding position or DH
	DuplicatePosition    ViolationCode = "position_twice"       // an earlier entry has the position
	UnfilledPosition     ViolationCode = "position_empty"       // no entry has the position
	DuplicatePlayer      ViolationCode = "player_twice"         // an earlier entry has the player
	NotOnRoster          ViolationCode = "not_on_roster"        // the club has no such player
	DHNotAllowed         ViolationCode = "dh_not_allowed"       // the game has no designated hitter
	DHWithPitcher        ViolationCode = "dh_with_pitcher"      // DH together with a P entry
	PitcherNotInOrder    ViolationCode = "pitcher_not_in_order" // no DH, and pitcher_id does not bat
	PitcherMismatch      ViolationCode = "pitcher_differs"      // the P entry is not pitcher_id
	PitcherNotAtPosition ViolationCode = "pitcher_elsewhere"    // pitcher_id bats at a fielder's position
	CannotPitch          ViolationCode = "cannot_pitch"         // pitcher_id has no pitching role
)

// LineupError is a line-up with violations.
type LineupError struct {
	Side       Side
	Violations []Violation
}

func (e *LineupError) Error() string {
	texts := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		texts[i] = v.Path + ": " + v.Detail
	}
	return fmt.Sprintf("%s line-up: %s", e.Side, strings.Join(texts, "; "))
}

// Check returns all violations of a line-up of club c, nil for none.
func (l Lineup) Check(c Club, dh bool) []Violation {
	k := lineupCheck{lineup: l, club: c}
	if len(l.Order) != 9 {
		k.add("/batting_order", WrongOrderLength, "%d entries, want nine", len(l.Order))
	}
	for i := range l.Order {
		k.checkPlayer(i)
		k.checkPosition(i, dh)
	}
	k.checkPitcher()
	k.checkFilled()
	return k.found
}

// A lineupCheck collects the violations of a line-up.
type lineupCheck struct {
	lineup Lineup
	club   Club
	found  []Violation
}

func (k *lineupCheck) add(path string, code ViolationCode, format string, args ...any) {
	k.found = append(k.found, Violation{Path: path, Code: code, Detail: fmt.Sprintf(format, args...)})
}

func (k *lineupCheck) checkPlayer(i int) {
	id := k.lineup.Order[i].Player
	path := fmt.Sprintf("/batting_order/%d/player_id", i)
	if _, ok := k.club.Player(id); !ok {
		k.add(path, NotOnRoster, "%q is not on the roster of %s", id, k.club.Abbrev)
	}
	for j, earlier := range k.lineup.Order[:i] {
		if earlier.Player == id {
			k.add(path, DuplicatePlayer, "%q already bats in place %d", id, j+1)
			return
		}
	}
}

func (k *lineupCheck) checkPosition(i int, dh bool) {
	at := k.lineup.Order[i].Position
	path := fmt.Sprintf("/batting_order/%d/position", i)
	if !at.IsFielder() && at != DesignatedHitter {
		k.add(path, InvalidPosition, "want one of the nine fielding positions or DH")
		return
	}
	if at == DesignatedHitter && !dh {
		k.add(path, DHNotAllowed, "this game has no designated hitter")
	}
	if at == DesignatedHitter && k.indexOf(Pitcher) >= 0 {
		k.add(path, DHWithPitcher, "with a designated hitter the pitcher does not bat")
	}
	if j := k.indexOf(at); j < i {
		k.add(path, DuplicatePosition, "place %d already has %s", j+1, at)
	}
}

// indexOf returns the first index of a position in the order, -1 for none.
func (k *lineupCheck) indexOf(at Position) int {
	for i, s := range k.lineup.Order {
		if s.Position == at {
			return i
		}
	}
	return -1
}

// checkPitcher checks the pitcher against the batting order.
func (k *lineupCheck) checkPitcher() {
	id := k.lineup.Pitcher
	if p, ok := k.club.Player(id); !ok {
		k.add("/pitcher_id", NotOnRoster, "%q is not on the roster of %s", id, k.club.Abbrev)
	} else if !p.CanPitch() {
		k.add("/pitcher_id", CannotPitch, "%s is not a pitcher", p.Name)
	}
	if i := k.indexOf(Pitcher); i >= 0 && k.lineup.Order[i].Player != id {
		k.add("/pitcher_id", PitcherMismatch, "place %d bats at P, but %q pitches", i+1, id)
	}
	for i, s := range k.lineup.Order {
		if s.Player == id && s.Position != Pitcher && s.Position != DesignatedHitter {
			k.add(fmt.Sprintf("/batting_order/%d/position", i), PitcherNotAtPosition, "the pitcher bats at P or as DH")
		}
	}
	if k.indexOf(DesignatedHitter) < 0 && k.indexOf(Pitcher) < 0 {
		k.add("/pitcher_id", PitcherNotInOrder, "without a designated hitter the pitcher bats")
	}
}

// checkFilled checks that each of the eight other positions is filled.
func (k *lineupCheck) checkFilled() {
	for at := Catcher; at <= RightField; at++ {
		if k.indexOf(at) < 0 {
			k.add("/batting_order", UnfilledPosition, "no player at %s", at)
		}
	}
}
