package live

import (
	"errors"
	"fmt"

	"pressbox/game"
)

// ErrFull is the error of a [Journal] without room for another game.
var ErrFull = errors.New("no room for another game")

// A Code says to programs why something was refused.
type Code string

// The codes. The first group are also those of a refused command on the websocket.
const (
	Malformed      Code = "malformed"       // not an action, or a command id that is none
	UnknownGame    Code = "unknown_game"    // there is none, or no longer
	Forbidden      Code = "forbidden"       // only a manager of the game, or its creator, may
	NotYourSide    Code = "not_your_side"   // the other manager's
	StaleRevision  Code = "stale_revision"  // the decision was for an earlier moment
	IllegalAction  Code = "illegal_action"  // the rules or the moment forbid it
	AlreadySealed  Code = "already_sealed"  // undo first
	NotActive      Code = "not_active"      // has not begun, or is over
	GamePaused     Code = "paused"          // resume first
	Unavailable    Code = "unavailable"     // could not be kept; nothing has changed
	NotPending     Code = "not_pending"     // has begun
	SeatTaken      Code = "seat_taken"      // both sides have a manager
	NotReady       Code = "not_ready"       // Detail says which line-ups or managers are missing
	NotFinished    Code = "not_finished"    // goes on
	Invalid        Code = "invalid"         // Errors says what
	UnknownTeam    Code = "unknown_team"    // or one without enough players
	StoreFull      Code = "store_full"      // no new games
	TooManyGames   Code = "too_many_games"  // of one person's
	NewerRules     Code = "newer_rules"     // the game was begun by a newer pressbox
	UnreadableGame Code = "unreadable_game" // its moves do not make a game
)

// An Error is why something was refused; nothing has changed.
type Error struct {
	Code   Code
	Detail string           // for people
	Errors []game.Violation // everything wrong with a line-up or a request, by JSON pointer
	Rev    uint64           // of the game now, when it was [StaleRevision]
	cause  error
}

func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %v", e.Detail, e.cause)
	}
	return e.Detail
}

// Unwrap returns what is behind it: of [Unavailable] the journal's error.
func (e *Error) Unwrap() error { return e.cause }

func refuse(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Detail: fmt.Sprintf(format, args...)}
}
