package chance

import (
	"fmt"

	"pressbox/game"
)

// Tactics are the sealed decisions of both managers for one turn. The zero value is baseball without tactics: swing away,
// pitch, fielders where they usually stand.
type Tactics struct {
	Offence Offence `json:"offence"`
	Defence Defence `json:"defence"`
}

// Offence is what the side at bat decides before a turn. "" is SwingAway.
type Offence string

// The decisions of the side at bat.
const (
	SwingAway   Offence = ""
	Take        Offence = "take"         // lets the next pitch go by
	Sacrifice   Offence = "sacrifice"    // bunts the runners along
	BuntForHit  Offence = "bunt for hit" // bunts to reach first
	Squeeze     Offence = "squeeze"      // bunts while the runner from third breaks for home
	HitAndRun   Offence = "hit and run"  // the runner goes, the batter must swing
	StealSecond Offence = "steal second"
	StealThird  Offence = "steal third"
	StealHome   Offence = "steal home"
	DoubleSteal Offence = "double steal" // everybody who can goes
)

// Defence is what the side in the field decides before a turn.
type Defence struct {
	Pitch      Pitch    `json:"pitch,omitzero"`
	Infield    Infield  `json:"infield,omitzero"`
	Outfield   Outfield `json:"outfield,omitzero"`
	PlayBehind bool     `json:"behind,omitzero"` // plays behind the runner on first instead of holding him: fewer singles, easier steals
	GuardLines bool     `json:"lines,omitzero"`  // guards the foul lines: fewer doubles, more singles
}

// Pitch is how the pitcher goes after the batter. "" is to pitch to him.
type Pitch string

// The ways to pitch.
const (
	PitchTo         Pitch = ""
	PitchAround     Pitch = "pitch around"
	IntentionalWalk Pitch = "intentional walk"
	PitchOut        Pitch = "pitch-out"
	PickoffThrow    Pitch = "pick-off throw" // at the leading runner who is not blocked in; two to a batter
)

// Infield is where the infielders stand. "" is the usual depth.
type Infield string

// The depths.
const (
	NormalDepth     Infield = ""
	InfieldIn       Infield = "in"
	CornersIn       Infield = "corners in"
	DoublePlayDepth Infield = "double-play depth"
)

// Outfield is where the outfielders stand. "" is the usual depth.
type Outfield string

// The depths.
const (
	NormalOutfield Outfield = ""
	Shallow        Outfield = "shallow"
	Deep           Outfield = "deep"
)

// A IllegalTacticError says why a decision cannot be made in the state of the game.
type IllegalTacticError struct {
	Side   game.Side
	Detail string // for people
}

func (e *IllegalTacticError) Error() string { return fmt.Sprintf("the %s team: %s", e.Side, e.Detail) }

// most pick-off throws to one batter: with a third the runner would be safe (5.07, the disengagements of 2023).
const mostThrows = 2

// LegalOffence returns every decision the side at bat may make, SwingAway first.
func LegalOffence(s *game.State) []Offence {
	all := [...]Offence{
		SwingAway, Take, Sacrifice, BuntForHit, Squeeze, HitAndRun, StealSecond, StealThird, StealHome, DoubleSteal,
	}
	legal := make([]Offence, 0, len(all))
	for _, o := range all {
		if o.check(s) == "" {
			legal = append(legal, o)
		}
	}
	return legal
}

// LegalDefence returns the decisions the side in the field may make, the usual one first and then each that differs from
// it in one thing. They may be combined; [Simulator.Resolve] refuses what does not go together.
func LegalDefence(s *game.State, m Progress) []Defence {
	all := [...]Defence{
		{},
		{Pitch: PitchAround},
		{Pitch: IntentionalWalk},
		{Pitch: PitchOut},
		{Pitch: PickoffThrow},
		{Infield: InfieldIn},
		{Infield: CornersIn},
		{Infield: DoublePlayDepth},
		{Outfield: Shallow},
		{Outfield: Deep},
		{PlayBehind: true},
		{GuardLines: true},
	}
	legal := make([]Defence, 0, len(all))
	for _, d := range all {
		if d.check(s, &m) == "" {
			legal = append(legal, d)
		}
	}
	return legal
}

// Check returns a [*IllegalTacticError] if the decisions cannot be made.
func (c Tactics) Check(s *game.State, m Progress) error {
	if detail := c.Offence.check(s); detail != "" {
		return &IllegalTacticError{Side: s.Batting(), Detail: detail}
	}
	if detail := c.Defence.check(s, &m); detail != "" {
		return &IllegalTacticError{Side: s.Fielding(), Detail: detail}
	}
	return nil
}

// check says what is wrong with the decision, "" if nothing.
func (o Offence) check(s *game.State) string {
	on := occupied(s)
	switch o {
	case SwingAway, Take, BuntForHit:
		return ""
	case Sacrifice:
		return unless(s.Outs < 2 && on != 0, "a sacrifice needs a runner and less than two out")
	case Squeeze:
		return unless(s.Outs < 2 && on&onThird != 0, "a squeeze needs a runner on third and less than two out")
	case HitAndRun:
		return unless(on&onFirst != 0 && on&onThird == 0, "a hit and run needs a runner on first and nobody on third")
	case StealSecond:
		return unless(on&onFirst != 0 && on&onSecond == 0, "nobody can steal second")
	case StealThird:
		return unless(on&onSecond != 0 && on&onThird == 0, "nobody can steal third")
	case StealHome:
		return unless(on&onThird != 0, "nobody can steal home")
	case DoubleSteal:
		return unless(on == onFirst|onSecond || on == onFirst|onThird, "a double steal needs a runner on first and another ahead")
	default:
		return fmt.Sprintf("%q is no decision", string(o))
	}
}

// check says what is wrong with the decision, "" if nothing.
func (d Defence) check(s *game.State, m *Progress) string {
	on := occupied(s)
	switch d.Pitch {
	case PitchTo, PitchAround, IntentionalWalk, PitchOut:
	case PickoffThrow:
		if on == 0 {
			return "a pick-off throw with nobody on base"
		}
		if m.PickoffThrows >= mostThrows {
			return "both pick-off throws to this batter are used up (5.07)"
		}
	default:
		return fmt.Sprintf("%q is no way to pitch", string(d.Pitch))
	}
	switch d.Infield {
	case NormalDepth:
	case InfieldIn, CornersIn:
		if on&onThird == 0 || s.Outs == 2 {
			return "the infield comes in for a runner on third with less than two out"
		}
	case DoublePlayDepth:
		if on&onFirst == 0 || s.Outs == 2 {
			return "double-play depth needs a runner on first and less than two out"
		}
	default:
		return fmt.Sprintf("%q is no infield", string(d.Infield))
	}
	switch {
	case d.Outfield != NormalOutfield && d.Outfield != Shallow && d.Outfield != Deep:
		return fmt.Sprintf("%q is no outfield", string(d.Outfield))
	case d.PlayBehind && !held(on):
		return "there is no runner on first to play behind"
	}
	return ""
}

func unless(right bool, detail string) string {
	if right {
		return ""
	}
	return detail
}

// The bases as a mask.
const (
	onFirst  = 1
	onSecond = 2
	onThird  = 4
)

// occupied returns which bases are held, as a mask.
func occupied(s *game.State) int {
	mask := 0
	for i := range s.Bases {
		if s.Bases[i].Player != "" {
			mask |= 1 << i
		}
	}
	return mask
}

// held reports whether the first baseman usually holds the runner: first is taken and second is not.
func held(on int) bool { return on&onFirst != 0 && on&onSecond == 0 }
