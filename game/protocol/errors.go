package protocol

import (
	"context"
	"errors"
	"fmt"

	"pressbox/game"
)

// A Code is the reason of a refusal, for programs.
type Code string

// The codes. Those of the first group also refuse commands on the websocket, and only it has those of the last.
const (
	Malformed     Code = "malformed"      // not a valid action or command id
	UnknownGame   Code = "unknown_game"   // does not exist, or no longer
	Forbidden     Code = "forbidden"      // only for a manager of the game, or its creator
	NotYourSide   Code = "not_your_side"  // the other manager's
	StaleRevision Code = "stale_revision" // for an earlier decision
	IllegalAction Code = "illegal_action" // against the rules, or not possible now
	AlreadySealed Code = "already_sealed" // undo first
	NotActive     Code = "not_active"     // has not started, or is over
	GamePaused    Code = "paused"         // resume first
	Unavailable   Code = "unavailable"    // could not be saved; nothing has changed

	NotPending     Code = "not_pending"    // has started
	SeatTaken      Code = "seat_taken"     // both sides have a manager
	NotReady       Code = "not_ready"      // Detail lists the missing line-ups and managers
	NotFinished    Code = "not_finished"   // is not over
	Invalid        Code = "invalid"        // Errors lists what is wrong
	UnknownTeam    Code = "unknown_team"   // or one without enough players
	UnknownPlayer  Code = "unknown_player" // not of the game, or of the season
	StoreFull      Code = "store_full"     // no new games
	TooManyGames   Code = "too_many_games" // of one person
	UnknownLeague  Code = "unknown_league" // does not exist, or no longer
	TooManyLeagues Code = "too_many_leagues"
	UnknownLineup  Code = "unknown_lineup" // that is saved
	TooManyLineups Code = "too_many_lineups"
	NewerRules     Code = "newer_rules"     // the game was written by a newer version of the program
	UnreadableGame Code = "unreadable_game" // the recorded moves do not make a game

	UnknownType Code = "unknown_type" // of a frame
	NotJoined   Code = "not_joined"   // join the game first
	RateLimited Code = "rate_limited" // too many frames
	TooLarge    Code = "too_large"    // a frame
)

// An Error is a refusal; nothing has changed.
type Error struct {
	Code     Code
	Detail   string           // for people
	Errors   []game.Violation // everything that is wrong with a line-up or a request, by JSON pointer
	Revision uint64           // [StaleRevision]: the present revision
	cause    error
}

// Wrap returns an error of a code that wraps cause.
func Wrap(cause error, c Code, detail string) *Error {
	return &Error{Code: c, Detail: detail, cause: cause}
}

func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %v", e.Detail, e.cause)
	}
	return e.Detail
}

// Unwrap returns the cause: of [Unavailable] the journal's error.
func (e *Error) Unwrap() error { return e.cause }

// ErrNotSignedIn refuses an anonymous person.
func ErrNotSignedIn() *Error { return Refuse(Forbidden, "sign in first") }

// ErrNotManager refuses a person who manages no side.
func ErrNotManager() *Error { return Refuse(Forbidden, "you do not manage a side of this game") }

// RefuseField refuses one member of a request, named by a JSON pointer.
func RefuseField(c Code, path, code, format string, args ...any) *Error {
	var found game.Violations
	found.Add(path, code, format, args...)
	return &Error{Code: c, Detail: found[0].Detail, Errors: found}
}

// ErrUnknownTeam refuses the team that a member of a request names.
func ErrUnknownTeam(cause error, path string) *Error {
	return RefuseField(UnknownTeam, path, string(UnknownTeam), "%v", cause)
}

// ErrUnavailable wraps an error of what a request needs: full is that of a journal without room. A context's error is
// returned as it is.
func ErrUnavailable(err, full error, doing string) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, full):
		return Wrap(err, StoreFull, "there is "+full.Error())
	default:
		return Wrap(err, Unavailable, "the server cannot "+doing)
	}
}

// Refuse returns an error of a code with a detail for people.
func Refuse(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Detail: fmt.Sprintf(format, args...)}
}
