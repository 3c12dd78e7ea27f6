// Package session runs sign-ins: it starts and finishes OAuth flows, issues and
// renews tokens, and authenticates requests.
//
// Every check reads the records of that moment, and everything that may happen
// only once happens in one transaction. A token proves nothing by itself: its
// SHA-256 is looked up, and the session, the account and their ages are read
// each time.
//
// The package has no I/O and starts no goroutine. [auth.Repository] stores the
// records, [auth.Provider] identifies users, [clock.Clock] provides ages.
//
// [SignIn] starts and finishes flows; [Sessions] does the rest.
//
// The tables; keys are bytes (numbers are big-endian), values are JSON unless
// noted:
//
//	auth_state        SHA-256(state)                        → auth.PendingFlow
//	auth_state_order  sequence (8 bytes)                    → key in auth_state (32 bytes), network " " client
//	auth_access       SHA-256(access token)                 → accessRecord
//	auth_refresh      SHA-256(refresh token)                → refreshRecord
//	auth_session      account id "/" session id             → auth.Session
//	auth_user         account id                            → auth.Account
//	auth_identity     provider 0x00 issuer 0x00 subject     → account id
//	auth_apitoken     SHA-256(API token)                    → auth.APIToken
//	auth_invite       SHA-256(invite)                       → inviteRecord
//	auth_guest        SHA-256(code)                         → guestCode
//	auth_admin_code   "code"                                → adminCode
//	auth_local        canonical name                        → auth.LocalAccount
//	meta_clock        boot id                               → clock.Boot
//	meta_clock_order  sequence (8 bytes)                    → key in meta_clock
//
// The two order tables list the keys of another table by age, so that the oldest
// record is found without reading the others.
package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"pressbox/auth"
	"pressbox/store/clock"
)

// Sessions manages accounts, their sessions and tokens, API tokens and invites.
// Its methods may be called concurrently.
type Sessions struct {
	repo   auth.Repository
	clock  *clock.Clock
	maxAge time.Duration
	log    *slog.Logger

	playing func(game string) bool // nil: all games go on

	mu       sync.Mutex // guards watchers
	watchers map[string][]chan struct{}
}

// New returns the sessions in a repository. A session ends maxAge after its
// sign-in regardless of activity; 0 means [auth.MaxAge].
func New(repo auth.Repository, c *clock.Clock, maxAge time.Duration, log *slog.Logger) *Sessions {
	if maxAge == 0 {
		maxAge = auth.MaxAge
	}
	return &Sessions{repo: repo, clock: c, maxAge: maxAge, log: log, watchers: make(map[string][]chan struct{})}
}

// Watch returns a channel that is closed when a session ends before its time.
// The caller calls stop when it no longer waits. A session that expires does not
// close the channel: see [Sessions.Validate].
func (s *Sessions) Watch(session auth.Session) (ended <-chan struct{}, stop func()) {
	ch := make(chan struct{})
	key := sessionKey(session)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers[key] = append(s.watchers[key], ch)
	return ch, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		rest := slices.DeleteFunc(s.watchers[key], func(c chan struct{}) bool { return c == ch })
		if len(rest) == 0 {
			delete(s.watchers, key)
			return
		}
		s.watchers[key] = rest
	}
}

// notifyEnded closes the channels of sessions that have ended.
func (s *Sessions) notifyEnded(keys ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		for _, ch := range s.watchers[key] {
			close(ch)
		}
		delete(s.watchers, key)
	}
}

// view returns what read returns, on a consistent state.
func view[T any](ctx context.Context, s *Sessions, read func(auth.Tx) (T, error)) (v T, err error) {
	err = s.repo.View(ctx, func(tx auth.Tx) (err error) {
		v, err = read(tx)
		return err
	})
	return v, err
}

// sessionKey returns the key of a session. Sessions of one account are adjacent.
func sessionKey(session auth.Session) string { return session.Account + "/" + session.ID }

// over reports whether a session has ended or has reached its age limit.
func (s *Sessions) over(session auth.Session) bool {
	return session.Ended != "" || s.clock.Age(session.Started) > s.maxAge ||
		s.clock.Age(session.Renewed) > auth.RefreshTTL
}

// sessionsOf returns the sessions of an account, also those that are over.
func sessionsOf(tx auth.Tx, account string) (all []auth.Session, err error) {
	err = each(tx, tableSession, []byte(account+"/"), func(_ string, session auth.Session) error {
		all = append(all, session)
		return nil
	})
	return all, err
}

// live returns the sessions of an account that are not over.
func (s *Sessions) live(tx auth.Tx, account string) ([]auth.Session, error) {
	all, err := sessionsOf(tx, account)
	return slices.DeleteFunc(all, s.over), err
}

// end marks a session as ended. Its tokens stay until they expire, so that a
// late request learns that its session has ended.
func end(tx auth.Tx, session auth.Session, why auth.EndReason) error {
	session.Ended = why
	return put(tx, tableSession, []byte(sessionKey(session)), session)
}

// sessionOf returns the session of an access or refresh token, live or not.
func sessionOf(tx auth.Tx, t auth.Token) (auth.Session, error) {
	tables := map[auth.TokenKind]auth.Table{auth.KindAccess: tableAccess, auth.KindRefresh: tableRefresh}
	table, ok := tables[t.Kind()]
	if !ok {
		return auth.Session{}, auth.ErrNotFound
	}
	hash := t.Hash()
	record, err := get[accessRecord](tx, table, hash[:]) // a refreshRecord has its members, too
	if err != nil {
		return auth.Session{}, err
	}
	return get[auth.Session](tx, tableSession, []byte(record.Session))
}

// DeleteExpired deletes the records that no longer matter. The server calls it
// every ten minutes.
func (s *Sessions) DeleteExpired(ctx context.Context) error {
	err := s.repo.Update(ctx, func(tx auth.Tx) error {
		live := make(map[string]bool) // keys of sessions
		return errors.Join(
			s.deleteExpiredFlows(tx),
			deleteWhere(tx, tableSession, func(key string, session auth.Session) bool {
				live[key] = !s.over(session) && !s.guestGone(tx, session)
				return !live[key]
			}),
			s.deleteGuests(tx),
			deleteWhere(tx, tableAccess, func(_ string, a accessRecord) bool {
				return s.clock.Age(a.Issued) > auth.AccessTTL || !live[a.Session]
			}),
			deleteWhere(tx, tableRefresh, func(_ string, r refreshRecord) bool {
				return s.clock.Age(r.Issued) > auth.RefreshTTL+time.Minute || !live[r.Session]
			}),
			deleteWhere(tx, tableInvite, func(key string, i inviteRecord) bool { return !s.inviteValid(key, i) }),
			deleteWhere(tx, tableGuest, func(_ string, c guestCode) bool { return !s.codeValid(c) }),
			deleteWhere(tx, tableAPIToken, func(key string, t auth.APIToken) bool { return !s.tokenValid(key, t) }),
		)
	})
	if err != nil {
		return fmt.Errorf("delete expired sign-in records: %w", err)
	}
	return nil
}
