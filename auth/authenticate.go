package auth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// RequestCredentials are what one caller presents at any door: a request's cookies and
// Authorization header, or a websocket's cookies and first message.
type RequestCredentials struct {
	Cookies       []string   // every value under the access cookie's name, in order
	Authorization []string   // the Authorization header's values; none when it is absent
	FrameToken    string     // token in a websocket's auth object; "" means none
	From          netip.Addr // the caller's address, for tokens bound to a network
}

// A Caller is who presented [RequestCredentials]: somebody signed in, or a machine
// with an API token.
type Caller struct {
	Account  Account  // the zero Account for a machine
	Session  Session  // the zero Session for a machine
	APIToken APIToken // the zero APIToken for people
}

// SignedIn says whether the caller is somebody rather than a machine.
func (c Caller) SignedIn() bool { return c.Account.ID != "" }

// Authenticate says who is calling. A header is judged alone: no cookie rescues
// a bad one. Otherwise any one cookie suffices, since a browser may send several
// of one name; and where no cookie does, a websocket's auth object.
//
// Its errors are [ErrNoCredentials] when nothing was presented and
// [ErrInvalidToken] when nothing that was presented opens anything.
func (b *Sessions) Authenticate(ctx context.Context, c RequestCredentials) (Caller, error) {
	if len(c.Authorization) > 0 {
		token, ok := Bearer(c.Authorization)
		if !ok {
			return Caller{}, ErrInvalidToken
		}
		return b.caller(ctx, token, c.From)
	}
	verdict := ErrNoCredentials
	for _, value := range slices.Concat(c.Cookies, []string{c.FrameToken}) {
		if value == "" {
			continue
		}
		verdict = ErrInvalidToken
		token, ok := ParseToken(value)
		if !ok {
			continue
		}
		caller, err := b.caller(ctx, token, c.From)
		if !errors.Is(err, ErrInvalidToken) {
			return caller, err
		}
	}
	return Caller{}, verdict
}

// Bearer reads an Authorization header (RFC 6750 §2.1): one value, the scheme
// in any case, one token.
func Bearer(header []string) (Token, bool) {
	if len(header) != 1 {
		return Token{}, false
	}
	scheme, rest, _ := strings.Cut(header[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return Token{}, false
	}
	return ParseToken(strings.TrimLeft(rest, " "))
}

// caller is who holds a token.
func (b *Sessions) caller(ctx context.Context, t Token, from netip.Addr) (c Caller, err error) {
	switch t.Kind() {
	case KindAccess:
		err = b.repo.View(ctx, func(tx Tx) (err error) {
			c, err = b.accessCaller(tx, t)
			return err
		})
	case KindAPI:
		c.APIToken, err = b.apiToken(ctx, t, from)
	default:
		return Caller{}, ErrInvalidToken
	}
	if errors.Is(err, ErrNotFound) {
		return Caller{}, ErrInvalidToken
	}
	if err != nil {
		return Caller{}, fmt.Errorf("look up a token: %w", err)
	}
	return c, nil
}

// accessCaller is the account that an access token stands for, as it is now.
func (b *Sessions) accessCaller(tx Tx, t Token) (Caller, error) {
	hash := t.Hash()
	a, err := get[accessRecord](tx, tableAccess, hash[:])
	if err != nil {
		return Caller{}, err
	}
	if b.clock.Age(a.Made) > AccessTTL {
		return Caller{}, ErrNotFound
	}
	return b.sessionCaller(tx, a.Session)
}

// sessionCaller is the account and session under a session's key, if it still lives.
func (b *Sessions) sessionCaller(tx Tx, key string) (Caller, error) {
	session, err := get[Session](tx, tableSession, []byte(key))
	if err != nil {
		return Caller{}, err
	}
	account, err := get[Account](tx, tableUser, []byte(session.Account))
	if err != nil {
		return Caller{}, err
	}
	if session.Ended != "" || b.stale(session) || account.Disabled {
		return Caller{}, ErrNotFound
	}
	return Caller{Account: account, Session: session}, nil
}

// Validate says whether a session that was authenticated once still is: nil, or
// [ErrSessionEnded]. Whoever keeps a connection open asks every minute.
func (b *Sessions) Validate(ctx context.Context, s Session) error {
	err := b.repo.View(ctx, func(tx Tx) error {
		_, err := b.sessionCaller(tx, s.key())
		return err
	})
	if errors.Is(err, ErrNotFound) {
		return ErrSessionEnded
	}
	return err
}
