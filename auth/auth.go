// Package auth is the rules of signing in: what a flow, an account, a session
// and a token are, and when each begins, is renewed and ends.
//
// The law it keeps: whoever comes is judged by what is kept at that moment, and
// what may happen once happens inside one transaction. Nothing here believes a
// token for what it says; a token is a random number whose SHA-256 is looked
// up, and the session, the account and their ages are read each time.
//
// It does no I/O and has no clock and no loop of its own. The store comes in as
// a [Repository], the identity provider as a [Provider], the time as a [Source].
//
// [SignIn] lets people in (begin and finish a flow), [Sessions] knows who is in.
//
// What is kept, table by table; keys are bytes, values JSON:
//
//	auth_state      SHA-256(state)                        → State
//	auth_access     SHA-256(access token)                 → access
//	auth_refresh    SHA-256(refresh token)                → refresh
//	auth_session    account id "/" session id             → Session
//	auth_user       account id                            → Account
//	auth_identity   provider 0x00 issuer 0x00 subject     → account id
//	auth_apitoken   SHA-256(API token)                    → APIToken
//	auth_invite     SHA-256(invite)                       → invite
//	auth_local      canonical name                        → Login
//	meta_clock      boot id                               → Boot
package auth

import (
	"errors"
	"time"
)

// How long things last.
const (
	FlowTTL    = 10 * time.Minute    // a flow, from its beginning to its callback
	AccessTTL  = time.Hour           // an access token
	RefreshTTL = 7 * 24 * time.Hour  // a refresh token that nobody uses
	MaxAge     = 30 * 24 * time.Hour // a session, however much it is used; the default
	InviteTTL  = 7 * 24 * time.Hour  // an invite
	ReuseGrace = 15 * time.Second    // a used refresh token still yields its one successor
)

// Bounds of what strangers can make the store hold.
const (
	MaxPendingFlows = 256 // flows under way; the oldest gives way
	MaxSessions     = 32  // sessions of one account; the one unused for longest gives way
)

// What a caller branches on.
var (
	// ErrNoCredentials: nothing was presented.
	ErrNoCredentials = errors.New("no credentials")
	// ErrInvalidToken: something was presented and it opens nothing. Nothing has
	// been changed by trying.
	ErrInvalidToken = errors.New("invalid token")
	// ErrSessionEnded: the token was real and its session is over, so that the
	// browser's cookies are worth clearing. It is also an [ErrInvalidToken].
	ErrSessionEnded error = endedError{}
	// ErrNotFound: no such account, session, token or invite.
	ErrNotFound = errors.New("not found")
	// ErrNameTaken: another account already goes by a name that looks the same.
	ErrNameTaken = errors.New("the name is taken")
	// ErrNotInvited: an account would have to be made, and none may be.
	ErrNotInvited = errors.New("not invited")
)

type endedError struct{}

func (endedError) Error() string        { return "the session has ended" }
func (endedError) Is(target error) bool { return target == ErrInvalidToken }
