// Package auth defines the values and rules of signing in: tokens and their
// hashes, accounts, sessions, OAuth flows, names, passphrases and error codes.
//
// Tokens are opaque random numbers (see [Token]). Only their SHA-256 is stored,
// and each use reads the session and the account again, so a token proves
// nothing by itself.
//
// The package has no I/O, no clock and no state. Package auth/session runs
// sign-ins over a [Repository]; package auth/idp implements [Provider].
package auth

import (
	"errors"
	"fmt"
	"time"
)

// Lifetimes.
const (
	FlowTTL    = 10 * time.Minute    // a flow, from its start to its callback
	AccessTTL  = time.Hour           // an access token
	RefreshTTL = 7 * 24 * time.Hour  // an unused refresh token
	MaxAge     = 30 * 24 * time.Hour // a session, regardless of activity; the default
	InviteTTL  = 7 * 24 * time.Hour  // an invite
	ReuseGrace = 15 * time.Second    // a used refresh token still yields its one successor
	ReauthAge  = 15 * time.Minute    // an authentication that suffices for sensitive administration
	CodeWindow = time.Hour           // in which [MaxCodeTries] are counted
	Renewing   = time.Hour           // in which [MaxRenewals] are counted

	GuestCodeTTL = time.Hour // a code that admits a guest, until it is taken
	// KeepGuest is the time since the last renewal in which a guest becomes an account although the game is over.
	KeepGuest = 2 * time.Hour
)

// Limits on what is stored. Those of flows and of sessions are lower in a store with little room: see [Tx].
const (
	MaxPendingFlows = 256 // to make room, the oldest of the client with most is deleted
	MaxSessions     = 32  // per account; the one that has been idle longest ends
	MaxRenewals     = 12  // of a session within [Renewing]; a page in use renews it once
	MaxUsedTokens   = 4   // used refresh tokens of a session; older ones are unknown, and so are their access tokens
	MaxAPITokens    = 100 // that have not expired; the next one is refused
	MaxInvites      = 100 // that are valid; the next one is refused
	MaxGuests       = 50  // of all games
	MaxGuestsEach   = 4   // of a game, and codes that are valid
	MaxGuestName    = 32  // characters
	GuestCodeLength = 10  // characters of RFC 4648's base32: 50 bits
	MaxCodeTries    = 5   // of the administrator code within [CodeWindow], by an account from a network
)

// Errors that a caller branches on.
var (
	// ErrNoCredentials: the request carries no credentials.
	ErrNoCredentials = errors.New("no credentials")
	// ErrInvalidToken: the request carries credentials and none is valid. The
	// attempt changed nothing.
	ErrInvalidToken = errors.New("invalid token")
	// ErrSessionEnded: the token is genuine and its session has ended, so the
	// browser's cookies should be cleared. It is also an [ErrInvalidToken].
	ErrSessionEnded error = endedError{}
	// ErrNotFound: no such account, session, token or invite.
	ErrNotFound = errors.New("not found")
	// ErrNameTaken: another account has this name or one that looks the same.
	ErrNameTaken = errors.New("name is taken")
	// ErrNotInvited: sign-up is closed or needs a valid invite.
	ErrNotInvited = errors.New("sign-up needs a valid invite")
	// ErrTooManyTokens: there are [MaxAPITokens] API tokens.
	ErrTooManyTokens = fmt.Errorf("there are %d API tokens, the maximum: revoke one first", MaxAPITokens)
	// ErrTooManyInvites: there are [MaxInvites] invites.
	ErrTooManyInvites = fmt.Errorf("there are %d unused invites, the maximum: each expires after a week", MaxInvites)
)

// Errors of guests.
var (
	ErrUnknownCode  = errors.New("this code is not known: it is valid for an hour, and for one guest")
	ErrInvalidGuest = fmt.Errorf("a guest's name has 1 to %d printable characters", MaxGuestName)
	ErrGuestsFull   = fmt.Errorf("there are %d guests, or %d of this game, the maximum", MaxGuests, MaxGuestsEach)
)

// ErrFull is the error of a [Repository] without room for the change.
var ErrFull = errors.New("there is no room for another session or account; administrators can still sign in")

type endedError struct{}

func (endedError) Error() string        { return "session has ended" }
func (endedError) Is(target error) bool { return target == ErrInvalidToken }
