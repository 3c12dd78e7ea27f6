package live

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"pressbox/game"
	"pressbox/game/chance"
)

// A move is one revision of a game as the journal keeps it: what somebody decided, or what followed from it, the drawn
// outcome included. Its JSON is the journal's format, which every later version reads.
type move struct {
	Rev      uint64              `json:"rev"`
	Kind     EventKind           `json:"kind"`
	At       time.Time           `json:"at"`
	By       Person              `json:"by,omitzero"`  // nobody: it followed, or a clock ran out
	CID      string              `json:"cid,omitzero"` // of the command that it is
	Side     game.Side           `json:"side"`         // whose, where a side has moved; the seat of Joined
	Origin   *origin             `json:"origin,omitzero"`
	Lineup   *game.Lineup        `json:"lineup,omitzero"`
	Calls    *chance.Tactics     `json:"calls,omitzero"` // Sealed, ClockRanOut: the side's own part; Played, Questioned: both
	Play     *game.Play          `json:"play,omitzero"`
	Next     *chance.Progress    `json:"next,omitzero"` // Played: chance's moment after it
	Question *question           `json:"question,omitzero"`
	Bold     bool                `json:"bold,omitzero"` // Answered
	Subs     []game.Substitution `json:"subs,omitzero"`
	Reason   string              `json:"reason,omitzero"` // TakenOver, Conceded
	Number   int                 `json:"number,omitzero"` // Started: 0 the club's first game of the day, 2 its second, …
	Game     string              `json:"game,omitzero"`   // RematchBegan
}

// An origin is all that a game is made from.
type origin struct {
	Rules    int       `json:"rules"`
	Options  Options   `json:"options"`
	Seed     seed      `json:"seed"`
	Season   int       `json:"season"`
	Clubs    [2]Club   `json:"clubs"`             // visitors, home
	Managers [2]Person `json:"managers"`          // nobody: open, or a bot's
	Reserved [2]Person `json:"reserved,omitzero"` // for whom an open seat is kept
	Bots     [2]bool   `json:"bots"`
	Former   string    `json:"former,omitzero"` // the game it follows
}

// A question is a choice after contact with what follows from either answer.
type question struct {
	Ask   chance.Question `json:"ask"`
	Asker game.Side       `json:"asker"`
	Odds  float64         `json:"odds"`  // that the bold choice succeeds
	Usual bool            `json:"usual"` // the percentages are bold
	Safe  game.Play       `json:"safe"`
	Bold  game.Play       `json:"bold"`
	Next  chance.Progress `json:"next"`
	Calls *chance.Tactics `json:"calls"` // of both sides
}

// play returns what follows from an answer.
func (q *question) play(bold bool) *game.Play {
	if bold {
		return &q.Bold
	}
	return &q.Safe
}

// turn returns the question as chance put it.
func (q *question) turn() *chance.Resolution {
	return &chance.Resolution{
		Play: *q.play(q.Usual), Alternative: *q.play(!q.Usual), Question: q.Ask, Decider: q.Asker, SuccessChance: q.Odds, Bold: q.Usual, Next: q.Next,
	}
}

// A seed is written as hex.
type seed chance.Seed

func (s seed) String() string { return hex.EncodeToString(s[:]) }

// MarshalText writes 64 hex digits.
func (s seed) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads 64 hex digits.
func (s *seed) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(s)) {
		return fmt.Errorf("a seed of %d digits", len(text))
	}
	_, err := hex.Decode(s[:], text)
	return err
}

// readMove reads a move of the journal.
func readMove(data []byte) (*move, error) {
	m := &move{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("read a move: %w", err)
	}
	return m, nil
}
