package session

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"pressbox/auth"
)

// Authenticate returns the caller that a request's credentials belong to. An
// Authorization header takes precedence over everything else, also if it is
// invalid. Otherwise any one valid cookie suffices, because browsers may send
// several of one name, and without a valid cookie the token of a websocket's
// auth frame.
//
// It returns [auth.ErrNoCredentials] if there are none and [auth.ErrInvalidToken]
// if none is valid.
func (s *Sessions) Authenticate(ctx context.Context, c auth.RequestCredentials) (auth.Caller, error) {
	if len(c.Authorization) > 0 {
		token, ok := auth.Bearer(c.Authorization)
		if !ok {
			return auth.Caller{}, auth.ErrInvalidToken
		}
		return s.caller(ctx, token, c.From)
	}
	failure := auth.ErrNoCredentials
	for _, value := range slices.Concat(c.Cookies, []string{c.FrameToken}) {
		if value == "" {
			continue
		}
		failure = auth.ErrInvalidToken
		token, ok := auth.ParseToken(value)
		if !ok {
			continue
		}
		caller, err := s.caller(ctx, token, c.From)
		if !errors.Is(err, auth.ErrInvalidToken) {
			return caller, err
		}
	}
	return auth.Caller{}, failure
}

// caller returns the Caller that token t belongs to.
func (s *Sessions) caller(ctx context.Context, t auth.Token, from netip.Addr) (c auth.Caller, err error) {
	switch t.Kind() {
	case auth.KindAccess:
		c, err = view(ctx, s, func(tx auth.Tx) (auth.Caller, error) { return s.accessCaller(tx, t) })
	case auth.KindAPI:
		c.APIToken, err = s.apiToken(ctx, t, from)
	default:
		return auth.Caller{}, auth.ErrInvalidToken
	}
	if errors.Is(err, auth.ErrNotFound) {
		return auth.Caller{}, auth.ErrInvalidToken
	}
	if err != nil {
		return auth.Caller{}, fmt.Errorf("look up a token: %w", err)
	}
	return c, nil
}

// accessCaller returns the session and account of an access token.
func (s *Sessions) accessCaller(tx auth.Tx, t auth.Token) (auth.Caller, error) {
	hash := t.Hash()
	a, err := get[accessRecord](tx, tableAccess, hash[:])
	if err != nil {
		return auth.Caller{}, err
	}
	if s.clock.Age(a.Issued) > auth.AccessTTL {
		return auth.Caller{}, auth.ErrNotFound
	}
	return s.sessionCaller(tx, a.Session)
}

// sessionCaller returns a session and its account if the session is live.
func (s *Sessions) sessionCaller(tx auth.Tx, key string) (auth.Caller, error) {
	session, err := get[auth.Session](tx, tableSession, []byte(key))
	if err != nil {
		return auth.Caller{}, err
	}
	account, err := get[auth.Account](tx, tableUser, []byte(session.Account))
	if err != nil {
		return auth.Caller{}, err
	}
	if s.over(session) || account.Disabled || !s.plays(account) {
		return auth.Caller{}, auth.ErrNotFound
	}
	age := s.clock.Age(session.Started)
	if session.Proven.Boot != "" {
		age = min(age, s.clock.Age(session.Proven))
	}
	return auth.Caller{Account: account, Session: session, AuthAge: age}, nil
}

// Reauthenticated records that the user of a live session has entered the passphrase again. It
// returns [auth.ErrSessionEnded] if the session is no longer live.
func (s *Sessions) Reauthenticated(ctx context.Context, session auth.Session) error {
	err := s.repo.Update(ctx, func(tx auth.Tx) error {
		key := sessionKey(session)
		current, err := s.sessionCaller(tx, key)
		if err != nil {
			return err
		}
		current.Session.Proven = s.clock.Now()
		return put(tx, tableSession, []byte(key), current.Session)
	})
	switch {
	case errors.Is(err, auth.ErrNotFound):
		return auth.ErrSessionEnded
	case err != nil:
		return fmt.Errorf("record an authentication: %w", err)
	}
	return nil
}

// Validate returns [auth.ErrSessionEnded] if an authenticated session is no
// longer live. The server calls it every minute for each open connection.
func (s *Sessions) Validate(ctx context.Context, session auth.Session) error {
	_, err := s.AccountOf(ctx, session)
	return err
}

// AccountOf returns the account of a live session, of which ID and Account must be set, or
// [auth.ErrSessionEnded]. These prove nothing about who sent them.
func (s *Sessions) AccountOf(ctx context.Context, session auth.Session) (auth.Account, error) {
	caller, err := view(ctx, s, func(tx auth.Tx) (auth.Caller, error) {
		return s.sessionCaller(tx, sessionKey(session))
	})
	if errors.Is(err, auth.ErrNotFound) {
		return auth.Account{}, auth.ErrSessionEnded
	}
	return caller.Account, err
}
