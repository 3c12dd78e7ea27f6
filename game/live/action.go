package live

import (
	"pressbox/game"
	"pressbox/game/chance"
)

// A Command is what a manager wants, with the id under which it happens once.
type Command struct {
	ID       string // 1–64 printable ASCII characters; unique per person and game
	Revision uint64 // of the game as he saw it
	Action   Action
}

// An Action is one thing a manager may do. To clients it is opaque: what the server offered is sent back. [ReadAction]
// reads one.
type Action struct {
	Verb           string `json:"a"`             // the verbs below
	Decision       uint64 `json:"d,omitzero"`    // number of the decision it is for
	Side           string `json:"side,omitzero"` // "home" or "away"; "" means one's own, or in hot seat whichever it can be for
	Call           string `json:"call,omitzero"` // offence: "swing" or a [chance.Offence]
	Bold           *bool  `json:"bold,omitzero"` // answer
	On             *bool  `json:"on,omitzero"`   // takeover: the bot takes over, or gives back
	Subs           []Sub  `json:"subs,omitzero"` // substitute: announced together
	chance.Defence        // defence: "pitch", "infield", "outfield", "behind", "lines"
}

// A Sub is one substitution of an action's side.
type Sub struct {
	Player   game.PlayerID `json:"player_id"`
	Slot     int           `json:"slot"` // place in the order, 1–9; 0 for a pitcher who does not bat
	Position game.Position `json:"position"`
}

// The verbs.
const (
	doOffence    = "offence"
	doDefence    = "defence"
	doAnswer     = "answer"
	doUndo       = "undo"
	doSubstitute = "substitute"
	doPause      = "pause"
	doResume     = "resume"
	doConcede    = "concede"
	doTakeover   = "takeover"
)

// Decides reports whether the action is a decision that a game can wait for: each of them brings it on.
func (a *Action) Decides() bool {
	return a.Verb == doOffence || a.Verb == doDefence || a.Verb == doAnswer
}
