package protocol

import (
	"time"

	"pressbox/game/teams"
)

// A LiveScore holds what a display shows of a game that has started: the same for every viewer, and complete, so that a
// display needs no earlier one.
type LiveScore struct {
	ID         string      `json:"id"`
	Revision   uint64      `json:"rev"`
	At         time.Time   `json:"at"`      // of the latest event
	Innings    int         `json:"innings"` // of the options: 3, 5, 7 or 9
	Away       ScoreLine   `json:"away"`
	Home       ScoreLine   `json:"home"`
	Scoreboard *Scoreboard `json:"now"`
	Batter     Batter      `json:"batter"`
	Pitcher    Pitcher     `json:"pitcher"`
	Text       []string    `json:"text"` // the latest play in words; after the end also the outcome
	Paused     bool        `json:"paused,omitzero"`
	Result     *Result     `json:"result,omitzero"` // after the end
}

// A ScoreLine is one side's row of a scoreboard.
type ScoreLine struct {
	Team    teams.Ref `json:"team"`
	Manager *Manager  `json:"manager"` // nil: the side is the bot's
	Bot     bool      `json:"bot"`
	Line    []int     `json:"line"` // runs by inning; no entry for an inning without a turn at bat
	Runs    int       `json:"r"`
	Hits    int       `json:"h"`
	Errors  int       `json:"e"`
}

// A Batter is a batter with the figures of the game.
type Batter struct {
	Name   string `json:"name"`
	AtBats int    `json:"ab"`
	Hits   int    `json:"h"`
}

// A Pitcher is a pitcher with the figures of the game.
type Pitcher struct {
	Name       string `json:"name"`
	Outs       int    `json:"outs"` // three to an inning
	Strikeouts int    `json:"so"`
}
