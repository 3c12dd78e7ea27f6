// Package chance says what happens: decisions, players' ratings and dice in, one [game.Play] out that [game.State.Apply]
// accepts.
//
// Its one law: the same seed, clubs, ratings and decisions give the same game, on any machine, for ever. Chance keeps no
// state of its own, reads no clock and draws no number but from the [Seed], one stream for each turn, in a documented
// order ([Dice]).
//
// A turn goes through stages. What happens between pitches comes first: a steal, a pick-off, a wild pitch, a balk
// (between.go). If nothing does, the odds ratio of batter, pitcher and league gives the class of what the batter does
// (odds.go), a table of where balls go gives the fielder (ball.go), and the measured transition table of 740,020 plate
// appearances gives where everybody ends (table.go, script.go). Decisions, speed and arms re-weight the rows of that
// table; they are never a second roll. Last the pitches are drawn that lead to what has happened (pitches.go).
//
// The figures were obtained from Retrosheet's data, see NOTICE. Where a comment says "estimate" there is no measurement
// behind a constant, only its source or our judgement.
package chance

import (
	"pressbox/game"
)

// Simulator is one game as chance sees it: who plays how well, where, and from which seed. It never changes.
type Simulator struct {
	seed    Seed
	park    ParkFactors
	players map[game.PlayerID]*figure
	data    *data
}

// Progress is what chance must know beside the State, and what changes from turn to turn. The zero value is the start of a
// game. Keep Turn.Next of the last turn for the next.
type Progress struct {
	Turns         uint64      `json:"turn"`   // turns resolved: the number of the next stream of dice
	Workloads     [2]Workload `json:"work"`   // of the last pitcher seen, by side
	PickoffThrows int         `json:"throws"` // pick-off throws to this batter
	Pitches       Pitches     `json:"thrown"` // to this batter, when his turn was interrupted
}

// Workload is what a pitcher has done in this game.
type Workload struct {
	Pitcher game.PlayerID `json:"pitcher"`
	Batters int           `json:"batters"`
	Pitches int           `json:"pitches"`
}

// Resolution is one turn resolved. If Ask is set, Play is what the percentages say, and the side Asker may have it otherwise.
type Resolution struct {
	Play          game.Play // legal in the state it was resolved in; Pitches is left empty, see [Resolution.Final]
	Question      Question  // "" if there is nothing to decide
	Decider       game.Side
	SuccessChance float64   // chance that the bold choice succeeds
	Bold          bool      // Play is what follows the bold choice
	Alternative   game.Play // what follows the other choice
	Next          Progress

	thrown Pitches
}

// Question is the one choice that a side may have after contact.
type Question string

// The questions. The bold choice stands first in each.
const (
	NoQuestion Question = ""
	SendRunner Question = "send the runner or hold him"
	ThrowHome  Question = "throw for the runner or cut the ball off"
	TurnTwo    Question = "try for two or take the sure out"
	ThrowPlate Question = "throw to the plate or take the sure out at first"
)
