// Package chance draws the outcomes of plate appearances: tactics, ratings and dice in, a [game.Play] that
// [game.State.Apply] accepts out.
//
// Its one law: the same seed, clubs, ratings and tactics give the same game, on every host, for ever. The package
// has no state, reads no clock and takes random numbers only from the [Seed]: one stream per turn, in a documented
// order ([Dice]).
//
// [Simulator.Resolve] works in stages. Plays between pitches come first: steals, pick-offs, wild pitches, balks
// (betweenpitches.go). Otherwise the odds ratio of batter, pitcher and league gives the class of the plate
// appearance (plateappearance.go), a table of batted balls the fielder (battedball.go), and the measured table of
// 740,020 plate appearances where the batter and the runners end (measurements.go, rows.go, runners.go). Tactics,
// speed and arms change the weights of that table's rows; there is no second draw. Last come pitches that lead to
// the outcome (pitches.go).
//
// Measurements are from Retrosheet's data, see NOTICE. A constant marked "estimate" was not measured.
package chance

import (
	"fmt"

	"pressbox/game"
)

// A Simulator resolves the turns of one game. It never changes and may be shared.
type Simulator struct {
	seed    Seed
	park    ParkFactors
	players map[game.PlayerID]*ratedPlayer
	recent  RecentWork
	data    *measurements
}

// Rules is the version of the rules of chance. A released version never changes: a change of the odds is a new version,
// and a game keeps the version that it began with. Version 1 was last played by Pressbox 0.5.0.
const Rules = 2

// Progress holds what a [Simulator] needs in addition to the state of the game. The zero value is the start of a
// game; the value for the next turn is Resolution.Next.
type Progress struct {
	Turns         uint64      `json:"turn"`   // turns resolved; the number of the next stream of dice
	Workloads     [2]Workload `json:"work"`   // of the current pitcher, by side
	PickoffThrows int         `json:"throws"` // pick-off throws to this batter
	Pitches       Pitches     `json:"thrown"` // to this batter, after a play between pitches
}

// A Workload counts what a pitcher has done in a game.
type Workload struct {
	Pitcher game.PlayerID `json:"pitcher"`
	Batters int           `json:"batters"`
	Pitches int           `json:"pitches"`
}

// A Resolution is the result of a turn. If Question is set, Play follows the percentages, and Decider may choose
// Alternative.
type Resolution struct {
	Play          game.Play // legal in the state it was resolved in; without Pitches, which [Resolution.Final] sets
	Question      Question  // NoQuestion if there is nothing to decide
	Decider       game.Side
	SuccessChance float64   // of the bold choice
	Bold          bool      // Play follows the bold choice
	Alternative   game.Play // follows the other choice
	Next          Progress

	thrown  Pitches
	class   class // with a question: of the plate appearance
	zone    int   // where the ball was hit
	fielder int
}

// A Question is a choice after contact.
type Question string

// The questions.
const (
	NoQuestion Question = ""
	SendRunner Question = "send the runner"
	ThrowHome  Question = "throw home"
	TurnTwo    Question = "turn two"
	ThrowPlate Question = "throw to the plate"
)

// Text returns both choices in words, the bold one first.
func (q Question) Text() string {
	switch q {
	case SendRunner:
		return "send the runner or hold"
	case ThrowHome:
		return "throw for the runner or cut the ball off"
	case TurnTwo:
		return "try for two or take the sure out"
	case ThrowPlate:
		return "throw to the plate or take the sure out at first"
	default:
		return ""
	}
}

// Labels returns the labels of the bold and the safe choice.
func (q Question) Labels() (bold, safe string) {
	switch q {
	case SendRunner:
		return "send the runner", "hold the runner"
	case ThrowHome:
		return "throw home", "cut it off"
	case TurnTwo:
		return "try for two", "take the sure out"
	case ThrowPlate:
		return "throw to the plate", "take the out at first"
	default:
		return "", ""
	}
}

// UnmarshalText parses a question.
func (q *Question) UnmarshalText(text []byte) error {
	for _, known := range [...]Question{NoQuestion, SendRunner, ThrowHome, TurnTwo, ThrowPlate} {
		if string(text) == string(known) {
			*q = known
			return nil
		}
	}
	return fmt.Errorf("unknown question %q", text)
}
