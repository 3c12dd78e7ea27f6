// Package protocol holds the JSON objects by which clients play: the messages of the websocket, the games, events
// and choices that the API answers with, the actions and requests that clients send, and the codes of refusals.
//
// Enumerations are words. The names of fields in JSON are a contract with clients and with stored data: Options,
// Result, Scoreboard and Person are part of stored summaries and of the journal too.
package protocol

import (
	"slices"
	"sync"
	"time"

	"pressbox/game"
	"pressbox/game/chance"
)

// A Message is one message to a subscriber. Its JSON is a frame of the websocket protocol. Subscribers that may
// see the same share one Message, which must not be modified.
type Message struct {
	// "event", "skip", "hello", "state", "ack", "presence", "clock", "reaction", "bye"; in the lobby "game", "gone"; of
	// rematches "rematch", "gone", "declined".
	Type      string `json:"t"`
	Game      string `json:"g"`
	Revision  uint64 `json:"rev,omitzero"` // "event", "skip": its own; "hello", "state": the present one
	CommandID string `json:"cid,omitzero"` // "ack"
	Data      any    `json:"d,omitzero"`   // *Event, *Hello, *Snapshot, Ack, *Presence, *Clock, *Reaction, Bye, *Game

	// Batch, if not nil, holds several messages to be sent in this order; the other fields are then zero.
	Batch []*Message `json:"-"`

	once  sync.Once
	frame any
}

// Frame returns the result of prepare, which is called once for all subscribers.
func (m *Message) Frame(prepare func(*Message) any) any {
	m.once.Do(func() { m.frame = prepare(m) })
	return m.frame
}

// Hello is the first message to a subscriber.
type Hello struct {
	Role  string      `json:"role" enum:"manager,spectator,visitor"` // visitor: without an account
	Sides []game.Side `json:"sides" nullable:"true"`                 // sides that the client manages
	// If it has changed, discard the cached events of the game.
	Epoch string `json:"epoch"`
}

// A Snapshot is the present state of a game, with what the subscriber may do.
type Snapshot struct {
	State *View  `json:"state" nullable:"false"`
	Hash  string `json:"hash,omitzero" pattern:"^([0-9a-f]{64})?$"` // as in the state
	// Decisions that the game waits for, default first.
	Legal    []Choice  `json:"legal"`
	Offers   []Choice  `json:"offers"` // other actions
	Clock    *Clock    `json:"clock,omitzero"`
	Presence *Presence `json:"presence" nullable:"false"`
}

// Ack is the answer to a command that is saved.
type Ack struct {
	Dup bool `json:"dup"` // the command was executed before
}

// Presence holds which managers are connected.
type Presence struct {
	Home     *ManagerPresence `json:"home"` // null: no person manages the side
	Away     *ManagerPresence `json:"away"`
	Watchers int              `json:"watchers" minimum:"0"` // number of connections, including those of the managers
}

// ManagerPresence holds whether a manager is connected.
type ManagerPresence struct {
	Online bool      `json:"online"`
	Since  time.Time `json:"since,omitzero"`               // time at which the manager disconnected
	GoneIn int       `json:"gone_in,omitzero" minimum:"0"` // seconds until the manager counts as gone
	Gone   bool      `json:"gone,omitzero"`                // the bot may manage the side
	// The manager has decided. A presence message says so 100 ms later, unless the turn is over by then.
	Decided bool `json:"decided"`
}

// A Clock holds the time left for a decision.
type Clock struct {
	Side   game.Side `json:"side"`
	EndsAt time.Time `json:"ends_at"`
	LeftMS int64     `json:"left_ms"`
}

// A Reaction is what a manager shows to all who follow the game. It is not saved.
type Reaction struct {
	Name ReactionName `json:"name"`
	Side game.Side    `json:"side"` // of the manager; of one who manages both, the visitors
}

// A ReactionName is what a reaction shows.
type ReactionName string

// Enum returns the names that there are.
func (ReactionName) Enum() []any {
	return []any{"clap", "cheer", "groan", "laugh", "wow", "hat", "ball", "heart"}
}

// Valid reports whether there is a reaction of this name.
func (n ReactionName) Valid() bool { return slices.Contains(n.Enum(), any(string(n))) }

// Declined names the manager who declined a rematch.
type Declined struct {
	Manager string `json:"who"` // the name
}

// Bye is the last message to a subscriber.
type Bye struct {
	Code string `json:"code" enum:"cancelled,restart"`
}

// An EventKind is the kind of a move and of its event.
type EventKind string

// The kinds of events.
const (
	Created         EventKind = "created"
	Joined          EventKind = "joined"
	LineupSubmitted EventKind = "lineup" // only its manager sees the line-up itself
	Started         EventKind = "start"
	Sealed          EventKind = "sealed"   // for its manager; a skip for others
	Unsealed        EventKind = "unsealed" // like Sealed
	Played          EventKind = "play"
	Questioned      EventKind = "question"
	Answered        EventKind = "answer"
	Substituted     EventKind = "substitution"
	Paused          EventKind = "paused"
	Resumed         EventKind = "resumed"
	BotTookOver     EventKind = "takeover" // the bot decides for a side
	SideReturned    EventKind = "giveback"
	TimedOut        EventKind = "clock" // the default decision was made for a side
	PlayingOn       EventKind = "skip_until"
	Stopped         EventKind = "stop" // a turn matters to a side that skips turns
	Conceded        EventKind = "conceded"
	Ended           EventKind = "finished"
	RematchCreated  EventKind = "rematch"
)

// A Turn is a manager that a new decision of a listed game waits for.
type Turn struct {
	Side    game.Side `json:"side"`
	Manager string    `json:"who"` // the name
}

// An Event is a move as a viewer sees it. Its kind determines which members are present.
type Event struct {
	Kind     EventKind           `json:"kind"`
	At       time.Time           `json:"at"`
	Side     *game.Side          `json:"side,omitzero"`
	Manager  string              `json:"who,omitzero"`      // name of the person who made the move
	Call     *Action             `json:"call,omitzero"`     // in sealed: the call of the caller
	Play     *game.Play          `json:"play,omitzero"`     // in play
	Notation string              `json:"notation,omitzero"` // the play in Retrosheet notation
	Calls    *Calls              `json:"by,omitzero"`       // in play: calls of both sides
	Subs     []game.Substitution `json:"substitutions,omitzero"`
	Question *QuestionView       `json:"question,omitzero"`
	Bold     *bool               `json:"bold,omitzero"`    // in answer
	Lineups  *Lineups            `json:"lineups,omitzero"` // in start
	Lineup   *game.Lineup        `json:"lineup,omitzero"`  // in lineup: the caller's own
	Result   *Result             `json:"result,omitzero"`  // in finished
	Seed     string              `json:"seed,omitzero" pattern:"^[0-9a-f]{64}$"`
	// In takeover: "gone", the manager was absent; "asked"; "left", the manager left the league, and the side is
	// the bot's for good. In conceded: why the side forfeits, "" if its manager conceded,
	// "claimed" if its time was over. In stop, for the caller's
	// own side: "coach", "substitution", "leverage" or "inning".
	Reason     string      `json:"reason,omitzero"`
	Rematch    string      `json:"next,omitzero"`    // in rematch: id of the new game
	Skip       *Skip       `json:"skip,omitzero"`    // in skip_until; absent if the manager decides every turn again
	Skipped    bool        `json:"skipped,omitzero"` // in play: both sides left it to the usual calls
	Text       []string    `json:"text"`             // lines of text for people
	Scoreboard *Scoreboard `json:"now,omitzero"`
	Hash       string      `json:"hash,omitzero" pattern:"^([0-9a-f]{64})?$"` // of the state after it
	// Win probability of the home side after the play.
	HomeWin *float64 `json:"win,omitzero" minimum:"0" maximum:"1"`

	// Only in the last event of a command, when it is sent to subscribers for the first time:
	State  *View    `json:"state,omitzero"`
	Legal  []Choice `json:"legal,omitzero"`  // for managers; empty if they have nothing to decide
	Offers []Choice `json:"offers,omitzero"` // for managers
}

// Lineups are the line-ups of both sides.
type Lineups = BySide[game.Lineup]

// Calls are the decisions of both sides for a play.
type Calls struct {
	Offense chance.Offense `json:"offense"`
	Defense chance.Defense `json:"defense"`
}
