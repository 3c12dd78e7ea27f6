package live

import (
	"sync"
	"time"

	"pressbox/game"
	"pressbox/game/chance"
)

// A Message is what somebody who watches is told. Its JSON is a frame of the protocol. One Message goes to everybody who
// may see the same; it is never written to.
type Message struct {
	Type      string `json:"t"` // "event", "skip", "hello", "state", "ack", "presence", "clock", "bye"; in the lobby "game", "gone"
	Game      string `json:"g"`
	Revision  uint64 `json:"rev,omitzero"` // of the event or skip; of the game, of "hello" and "state"
	CommandID string `json:"cid,omitzero"` // of "ack"
	Data      any    `json:"d,omitzero"`   // *Event, *Hello, *Standing, Ack, *Presence, Clock, Bye, *Game

	// Batch, if not nil, is several messages in one, to be written in their order; the other fields are then zero.
	Batch []*Message `json:"-"`

	once  sync.Once
	frame any
}

// Frame returns what prepare makes of the message; it is made once, by whoever comes first.
func (m *Message) Frame(prepare func(*Message) any) any {
	m.once.Do(func() { m.frame = prepare(m) })
	return m.frame
}

// Send hands a message to somebody who watches. It must not wait and must not call the hall: it puts the message into
// a queue, or returns false when that is full, and is then never called again. It is called with a table's lock held.
type Send func(*Message) bool

// Hello begins the answer to who joins the watchers.
type Hello struct {
	Role  string      `json:"role"`  // "manager" or "spectator"
	Sides []game.Side `json:"sides"` // that he manages
	Epoch string      `json:"epoch"` // another one: the game's history is not the one that was seen
}

// Snapshot is where a game stands, with all that the one who reads may do.
type Snapshot struct {
	State    *View     `json:"state"` // before the start without game.State
	Hash     string    `json:"hash,omitzero"`
	Legal    []Choice  `json:"legal"`
	Offers   []Choice  `json:"offers"`
	Clock    *Clock    `json:"clock,omitzero"`
	Presence *Presence `json:"presence"`
}

// Ack says that a command is kept, and which revision it became.
type Ack struct {
	Dup bool `json:"dup"` // it was there already
}

// Presence is who is there.
type Presence struct {
	Home     *ManagerPresence `json:"home"` // nil: no person manages the side
	Away     *ManagerPresence `json:"away"`
	Watchers int              `json:"watchers"` // connections, the managers' included
}

// ManagerPresence is whether a manager is there.
type ManagerPresence struct {
	Online  bool      `json:"online"`
	Since   time.Time `json:"since,omitzero"`   // when he left
	GoneIn  int       `json:"gone_in,omitzero"` // seconds until he counts as gone
	Gone    bool      `json:"gone,omitzero"`    // the bot may take over
	Decided bool      `json:"decided"`          // his call is in
}

// A Clock is the time that is left for a decision.
type Clock struct {
	Side   game.Side `json:"side"`
	EndsAt time.Time `json:"ends_at"`
	LeftMS int64     `json:"left_ms"`
}

// Bye is the last message: the game is gone, or the hall closes.
type Bye struct {
	Code string `json:"code"` // "cancelled", "restart"
}

// A EventKind is what an event is.
type EventKind string

// The kinds.
const (
	Created         EventKind = "created"
	Joined          EventKind = "joined"
	LineupSubmitted EventKind = "lineup" // whose, but not what: that only his manager sees
	Started         EventKind = "start"
	Sealed          EventKind = "sealed"   // only for its manager; a skip for everybody else
	Unsealed        EventKind = "unsealed" // as Sealed
	Played          EventKind = "play"
	Questioned      EventKind = "question"
	Answered        EventKind = "answer"
	Substituted     EventKind = "substitution"
	Paused          EventKind = "paused"
	Resumed         EventKind = "resumed"
	BotTookOver     EventKind = "takeover" // the bot manages a side
	SideReturned    EventKind = "giveback"
	TimedOut        EventKind = "clock" // the default decision was taken for a side
	Conceded        EventKind = "conceded"
	Ended           EventKind = "finished"
	RematchCreated  EventKind = "rematch"
)

// An Event is a move as somebody sees it. Which fields are set depends on its kind; Text may be empty.
type Event struct {
	Kind       EventKind            `json:"kind"`
	At         time.Time            `json:"at"`
	Side       *game.Side           `json:"side,omitzero"`
	Manager    string               `json:"who,omitzero"`  // name of the person
	Call       *Action              `json:"call,omitzero"` // Sealed: one's own
	Play       *game.Play           `json:"play,omitzero"` // Played
	Notation   string               `json:"notation,omitzero"`
	Calls      *chance.Tactics      `json:"by,omitzero"` // Played: what both sides had called
	Subs       []game.Substitution  `json:"substitutions,omitzero"`
	Question   *QuestionView        `json:"question,omitzero"`
	Bold       *bool                `json:"bold,omitzero"`    // Answered
	Lineups    *BySide[game.Lineup] `json:"lineups,omitzero"` // Started
	Lineup     *game.Lineup         `json:"lineup,omitzero"`  // LineupIn: one's own
	Result     *Result              `json:"result,omitzero"`  // Ended
	Seed       string               `json:"seed,omitzero"`    // Ended
	Reason     string               `json:"reason,omitzero"`  // TakenOver: "gone", "asked"
	Rematch    string               `json:"next,omitzero"`    // RematchBegan: the new game
	Text       []string             `json:"text"`
	Scoreboard *Scoreboard          `json:"now,omitzero"`
	Hash       string               `json:"hash,omitzero"` // after it
	HomeWin    *float64             `json:"win,omitzero"`  // Played: the home side's chance to win, after it

	// What is told only as it happens, with the last event of a command.
	State  *View    `json:"state,omitzero"`
	Legal  []Choice `json:"legal,omitzero"`  // for managers; empty when nothing is awaited of them
	Offers []Choice `json:"offers,omitzero"` // for managers
}
