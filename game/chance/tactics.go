package chance

import (
	"fmt"

	"pressbox/game"
)

// Tactics are the sealed decisions of both managers for one turn. The zero value swings away, pitches to the
// batter, and positions the fielders at normal depth.
type Tactics struct {
	Offense Offense `json:"offence"` //nolint:misspell // the journal's key
	Defense Defense `json:"defence"` //nolint:misspell // the journal's key
}

// Offense is the decision of the side at bat.
type Offense string

// The tactics of the offense.
const (
	SwingAway   Offense = ""
	Take        Offense = "take"         // the batter takes the next pitch
	Sacrifice   Offense = "sacrifice"    // bunt to advance the runners
	BuntForHit  Offense = "bunt for hit" // bunt to reach first
	Squeeze     Offense = "squeeze"      // bunt with the runner on third going
	HitAndRun   Offense = "hit and run"  // the runner goes and the batter swings
	StealSecond Offense = "steal second"
	StealThird  Offense = "steal third"
	StealHome   Offense = "steal home"
	DoubleSteal Offense = "double steal" // all runners go
)

// Defense is the decision of the side in the field.
type Defense struct {
	Pitch      Pitch    `json:"pitch,omitzero"`
	Infield    Infield  `json:"infield,omitzero"`
	Outfield   Outfield `json:"outfield,omitzero"`
	PlayBehind bool     `json:"behind,omitzero"` // do not hold the runner on first: fewer singles, easier steals
	GuardLines bool     `json:"lines,omitzero"`  // guard the foul lines: fewer doubles, more singles
}

// Pitch is the approach of the pitcher to the batter.
type Pitch string

// The kinds of pitching.
const (
	PitchTo         Pitch = ""
	PitchAround     Pitch = "pitch around"
	IntentionalWalk Pitch = "intentional walk"
	PitchOut        Pitch = "pitch-out"
	PickoffThrow    Pitch = "pick-off throw" // at the last runner with an open base ahead
)

// Infield is the depth of the infielders.
type Infield string

// The depths of the infield.
const (
	NormalDepth     Infield = ""
	InfieldIn       Infield = "in"
	CornersIn       Infield = "corners in"
	DoublePlayDepth Infield = "double-play depth"
)

// Outfield is the depth of the outfielders.
type Outfield string

// The depths of the outfield.
const (
	NormalOutfield Outfield = ""
	Shallow        Outfield = "shallow"
	Deep           Outfield = "deep"
)

// An IllegalTacticError reports tactics that the state of the game does not allow.
type IllegalTacticError struct {
	Side   game.Side
	Detail string
}

func (e *IllegalTacticError) Error() string { return fmt.Sprintf("the %s team: %s", e.Side, e.Detail) }

// Limits of pick-off throws per batter. With the limit of 2023 the third is a balk unless it retires the runner (5.07).
const (
	maxPickoffThrows     = 9 // the notation has room for no more
	maxPickoffThrows2023 = 3
)

// LegalOffense returns all legal tactics of the offense, SwingAway first.
func LegalOffense(s *game.State) []Offense {
	all := [...]Offense{
		SwingAway, Take, Sacrifice, BuntForHit, Squeeze, HitAndRun, StealSecond, StealThird, StealHome, DoubleSteal,
	}
	legal := make([]Offense, 0, len(all))
	for _, o := range all {
		if o.check(s) == "" {
			legal = append(legal, o)
		}
	}
	return legal
}

// LegalDefense returns the legal tactics of the defense: the zero value first, then each that differs from it in
// one field. They may be combined; [Tactics.Check] reports combinations that are illegal.
func LegalDefense(s *game.State, m Progress) []Defense {
	all := [...]Defense{
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
	legal := make([]Defense, 0, len(all))
	for _, d := range all {
		if d.check(s, &m) == "" {
			legal = append(legal, d)
		}
	}
	return legal
}

// Check returns an [*IllegalTacticError] if the tactics are illegal in s.
func (c Tactics) Check(s *game.State, m Progress) error {
	if detail := c.Offense.check(s); detail != "" {
		return &IllegalTacticError{Side: s.Batting(), Detail: detail}
	}
	if detail := c.Defense.check(s, &m); detail != "" {
		return &IllegalTacticError{Side: s.Fielding(), Detail: detail}
	}
	return nil
}

// check returns why the tactic is illegal, "" if it is legal.
func (o Offense) check(s *game.State) string {
	on := occupied(s)
	switch o {
	case SwingAway, Take, BuntForHit:
		return ""
	case Sacrifice:
		return unless(s.Outs < 2 && on != 0, "a sacrifice needs a runner and less than two out")
	case Squeeze:
		return unless(s.Outs < 2 && on&onThird != 0, "a squeeze needs a runner on third and less than two out")
	case HitAndRun:
		return unless(on&onFirst != 0 && on&onThird == 0, "a hit and run needs a runner on first and none on third")
	case StealSecond:
		return unless(on&onFirst != 0 && on&onSecond == 0, "no runner can steal second")
	case StealThird:
		return unless(on&onSecond != 0 && on&onThird == 0, "no runner can steal third")
	case StealHome:
		return unless(on&onThird != 0, "no runner can steal home")
	case DoubleSteal:
		ok := on == onFirst|onSecond || on == onFirst|onThird
		return unless(ok, "a double steal needs a runner on first and another ahead")
	default:
		return fmt.Sprintf("unknown tactic %q", string(o))
	}
}

// check returns why the tactics are illegal, "" if they are legal.
func (d Defense) check(s *game.State, m *Progress) string {
	on := occupied(s)
	switch d.Pitch {
	case PitchTo, PitchAround, IntentionalWalk, PitchOut:
	case PickoffThrow:
		if on == 0 {
			return "a pick-off throw needs a runner"
		}
		if m.PickoffThrows >= maxPickoffThrows || s.Options.Disengagements == game.Limit2023 &&
			m.PickoffThrows >= maxPickoffThrows2023 {
			return "no pick-off throw is left for this batter"
		}
	default:
		return fmt.Sprintf("unknown pitch %q", string(d.Pitch))
	}
	switch d.Infield {
	case NormalDepth:
	case CornersIn: // against a bunt at any time
	case InfieldIn:
		if on&onThird == 0 || s.Outs == 2 {
			return "the infield in needs a runner on third and less than two out"
		}
	case DoublePlayDepth:
		if on&onFirst == 0 || s.Outs == 2 {
			return "double-play depth needs a runner on first and less than two out"
		}
	default:
		return fmt.Sprintf("unknown infield depth %q", string(d.Infield))
	}
	switch {
	case d.Outfield != NormalOutfield && d.Outfield != Shallow && d.Outfield != Deep:
		return fmt.Sprintf("unknown outfield depth %q", string(d.Outfield))
	case d.PlayBehind && !holdsRunner(on):
		return "playing behind the runner needs a runner on first and none on second"
	}
	return ""
}

// isSteal reports whether runners go on the pitch and the batter lets it pass.
func (o Offense) isSteal() bool {
	return o == StealSecond || o == StealThird || o == StealHome || o == DoubleSteal
}

func unless(ok bool, detail string) string {
	if ok {
		return ""
	}
	return detail
}

// Bits of a mask of bases.
const (
	onFirst  = 1
	onSecond = 2
	onThird  = 4
)

// occupied returns a mask of the occupied bases.
func occupied(s *game.State) int {
	mask := 0
	for i := range s.Bases {
		if s.Bases[i].Player != "" {
			mask |= 1 << i
		}
	}
	return mask
}

// BaseOut returns the base-out state, 3·mask + outs.
func BaseOut(s *game.State) int { return 3*occupied(s) + s.Outs }

// holdsRunner reports whether the first baseman usually holds the runner: first is occupied and second is open.
func holdsRunner(on int) bool { return on&onFirst != 0 && on&onSecond == 0 }
