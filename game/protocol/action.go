package protocol

import (
	"slices"

	"pressbox/game"
	"pressbox/game/chance"
)

// A Command is a manager's action, with an id under which it is carried out once.
type Command struct {
	ID       string // 1–64 printable ASCII characters; unique per person and game
	Revision uint64 // of the game as the manager saw it
	Action   Action
}

// An Action is one thing that a manager may do. It is opaque to clients, which send back one that the server offered,
// unchanged, or combined as [Choice] describes.
type Action struct {
	Verb     string `json:"a"`          // see the constants below
	Decision uint64 `json:"d,omitzero"` // number of the decision that it is for
	// "home" or "away"; "": the manager's own, in hot seat the one that must act.
	Side           string `json:"side,omitzero"`
	Call           string `json:"call,omitzero"` // offense: "swing" or a [chance.Offense]
	Bold           *bool  `json:"bold,omitzero"` // answer
	On             *bool  `json:"on,omitzero"`   // takeover: whether the bot manages the side from now on; skip_until
	Subs           []Sub  `json:"subs,omitzero"` // substitute: all at once
	chance.Defense        // defense: "pitch", "infield", "outfield", "behind", "lines"
	*Skip                 // skip_until
}

// JSONSchemaBytes returns the schema of an opaque object.
func (Action) JSONSchemaBytes() ([]byte, error) {
	return []byte(`{"type": "object", "additionalProperties": true}`), nil
}

// A Sub is one substitution of an action's side.
type Sub struct {
	Player   game.PlayerID `json:"player_id"`
	Slot     int           `json:"slot"` // place in the order, 1–9; 0 for a pitcher who does not bat
	Position game.Position `json:"position"`
}

// A Skip leaves turns to the usual calls until one matters: until the coach disagrees by the margin, a substitution is
// due, or what the manager has chosen.
type Skip struct {
	Until SkipUntil `json:"until"`
	// Win probability, in percent, by which the coach's call must be better than the usual one.
	Margin float64 `json:"margin" minimum:"0.1" maximum:"5" default:"0.5"`
}

// SkipUntil is what ends a [Skip] as well.
type SkipUntil string

// What ends one.
const (
	UntilLeverage SkipUntil = "leverage" // a batter on whom much of the game depends
	UntilInning   SkipUntil = "inning"   // the start of an inning
	UntilNever    SkipUntil = "never"    // nothing else
)

// Enum returns the values.
func (SkipUntil) Enum() []any {
	return []any{string(UntilLeverage), string(UntilInning), string(UntilNever)}
}

// Label returns what a manager asks for, in English.
func (u SkipUntil) Label() string {
	return map[SkipUntil]string{
		UntilLeverage: "Play on until it matters", UntilInning: "Play on until the inning ends",
		UntilNever: "Play on until the coach disagrees",
	}[u]
}

// DefaultMargin is the margin of a [Skip] without one.
const DefaultMargin = .5

// Complete sets what a client left out, and returns an error if the rest is invalid.
func (s *Skip) Complete() error {
	if s.Margin == 0 {
		s.Margin = DefaultMargin
	}
	if !slices.Contains(s.Until.Enum(), any(string(s.Until))) {
		return Refuse(Malformed, "until is %.20q, want leverage, inning or never", s.Until)
	}
	if !(s.Margin >= .1 && s.Margin <= 5) {
		return Refuse(Malformed, "margin is %v, want 0.1 to 5 (percent)", s.Margin)
	}
	return nil
}

// The verbs.
const (
	DoOffense    = "offense"
	DoDefense    = "defense"
	DoAnswer     = "answer"
	DoUndo       = "undo"
	DoSubstitute = "substitute"
	DoPause      = "pause"
	DoResume     = "resume"
	DoConcede    = "concede"
	DoEnd        = "end"   // the other side has left
	DoClaim      = "claim" // the other side's time is over, in a game by correspondence
	DoTakeover   = "takeover"
	DoSkipUntil  = "skip_until" // false in on: decide every turn again
)

// Decides reports whether the action is a decision that a game can wait for; only these advance it.
func (a *Action) Decides() bool {
	return a.Verb == DoOffense || a.Verb == DoDefense || a.Verb == DoAnswer
}

// MaxCommandID is the most characters of a command's id.
const MaxCommandID = 64

// Check returns an error if the action names a side that does not exist.
func (a *Action) Check() error {
	if a.Side != "" && a.Side != game.Home.String() && a.Side != game.Away.String() {
		return ErrSideName(a.Side)
	}
	return nil
}

// ErrSideName refuses a name that is not a side's.
func ErrSideName(name string) error {
	return Refuse(Malformed, "side is %.20q, want home or away", name)
}

// Check returns an error if the command's id is invalid.
func (c *Command) Check() error {
	if len(c.ID) == 0 || len(c.ID) > MaxCommandID {
		return Refuse(Malformed, "a command id must have 1 to %d characters", MaxCommandID)
	}
	for i := range len(c.ID) {
		if c.ID[i] < ' ' || c.ID[i] > '~' {
			return Refuse(Malformed, "a command id must be printable ASCII")
		}
	}
	return nil
}
