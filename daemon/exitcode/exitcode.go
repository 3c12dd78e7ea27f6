// Package exitcode defines the exit codes of the program.
//
// One law: a code never changes its meaning; scripts depend on it.
package exitcode

import (
	"errors"
	"strings"
)

// The exit codes of every command; [Help] lists them.
const (
	Failure     = 1 // any other error
	Usage       = 2 // invalid command line or setting
	Unreachable = 3 // no server answers
	Refused     = 4 // the server refused the request
	NotPlayed   = 5 // the announcement ended without being played
	InUse       = 6 // another process uses the port or the store
)

// Help describes the codes, one per line.
const Help = `Exit codes:
  0  success
  1  failure
  2  invalid command line or setting
  3  no server answers
  4  the server refused the request
  5  the announcement was not played
  6  another process uses the port or the store`

// An Error is an error that ends the program with an exit code.
type Error struct {
	Code int
	error
}

// With returns err with an exit code.
func With(code int, err error) error { return &Error{code, err} }

// Unwrap returns the error without its code.
func (e *Error) Unwrap() error { return e.error }

// Of returns the exit code of err, and whether it has one.
func Of(err error) (code int, ok bool) {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code, true
	}
	return Failure, false
}

// Prefix begins each line of an error that a command prints.
const Prefix = "pressbox: "

// Reason returns the error at the end of what a command of this program has printed, in one line.
func Reason(printed string) string {
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	at := len(lines) - 1
	for at > 0 && strings.HasPrefix(lines[at-1], Prefix) && strings.HasPrefix(lines[at], Prefix) {
		at--
	}
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], Prefix)
	}
	return strings.Join(lines[at:], "; ")
}

// ErrInterrupted is the error of an operation that the user or the service manager ended.
var ErrInterrupted = errors.New("interrupted")
