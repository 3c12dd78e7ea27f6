package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressbox/auth"
	"pressbox/store/clock"
)

// refreshRecord is a stored refresh token. After its use it stays, with the time
// of use and the salt of its successor, so that a second use is detected, also
// after a restart (CVE-2026-9802).
type refreshRecord struct {
	Session string         `json:"session"` // key of its session
	Issued  clock.Instant  `json:"made"`
	Used    *clock.Instant `json:"used,omitempty"`
	Salt    []byte         `json:"salt,omitempty"`
}

// A family holds the records that decide about a refresh token.
type family struct {
	token   refreshRecord
	next    *refreshRecord // successor of a used token
	session auth.Session   // zero if it is gone
	account auth.Account   // zero if it is gone
}

// A verdict decides whether a refresh token is rotated, replayed or revoked.
type verdict int

const (
	verdictEnded  verdict = iota // the session has ended
	verdictRotate                // first use: issue the successor
	verdictReplay                // used within the grace period: the same successor again
	verdictLate                  // used within the grace period, and so was its successor: refuse
	verdictReuse                 // used before that: the token was copied, end the session
	verdictWait                  // first use, after auth.MaxRenewals others within auth.Renewing: later
)

// judge applies the rules of rotation (RFC 9700 §4.14.2).
func (s *Sessions) judge(f family) verdict {
	switch {
	case f.session.Ended != "", f.account.ID == "", f.account.Disabled, !s.plays(f.account),
		s.clock.Age(f.session.Started) > s.maxAge:
		return verdictEnded
	case f.token.Used == nil && s.clock.Age(f.token.Issued) > auth.RefreshTTL:
		return verdictEnded
	case f.token.Used == nil && s.untilRenewal(f.session) > 0:
		return verdictWait
	case f.token.Used == nil:
		return verdictRotate
	case s.clock.Age(*f.token.Used) > auth.ReuseGrace:
		return verdictReuse
	case f.next == nil || f.next.Used != nil:
		return verdictLate
	default:
		return verdictReplay
	}
}

// untilRenewal returns the time until a session may be renewed; not above 0 if it may be now.
func (s *Sessions) untilRenewal(session auth.Session) time.Duration {
	if len(session.Renewals) < auth.MaxRenewals {
		return 0
	}
	return auth.Renewing - s.clock.Age(session.Renewals[0])
}

// Refresh exchanges a refresh token for the next pair of its session. Within
// [auth.ReuseGrace] the same token yields the same pair, because the tabs of a
// browser refresh independently; after that, its use ends the session.
//
// It returns [auth.ErrInvalidToken], or [auth.ErrSessionEnded] if the browser's
// cookies are useless as well, an [auth.ThrottledError] after [auth.MaxRenewals],
// or [auth.ErrFull].
func (s *Sessions) Refresh(ctx context.Context, old auth.Token) (auth.Result, error) {
	if old.Kind() != auth.KindRefresh {
		return auth.Result{}, auth.ErrInvalidToken
	}
	salt := make([]byte, 32)
	rand.Read(salt) // never fails
	var v verdict
	var f family
	judge := func(tx auth.Tx) (err error) {
		f, err = familyOf(tx, old)
		v = s.judge(f)
		return err
	}
	err := s.repo.View(ctx, judge) // an unknown token causes no write
	if err == nil && (v == verdictRotate || v == verdictReuse) {
		err = s.repo.Update(ctx, func(tx auth.Tx) error {
			if err := judge(tx); err != nil { // again: a concurrent request may have been first
				return err
			}
			return s.carryOut(tx, v, &f, old, salt)
		})
	}
	switch {
	case errors.Is(err, auth.ErrNotFound):
		return auth.Result{}, auth.ErrInvalidToken
	case err != nil:
		return auth.Result{}, fmt.Errorf("renew a session: %w", err)
	}
	pair, err := s.answer(v, f, old)
	if err != nil {
		return auth.Result{}, err
	}
	return auth.Result{TokenPair: pair, Account: f.account, Session: f.session}, nil
}

// carryOut writes the changes of a verdict.
func (s *Sessions) carryOut(tx auth.Tx, v verdict, f *family, old auth.Token, salt []byte) error {
	switch v {
	case verdictRotate:
		now, hash := s.clock.Now(), old.Hash()
		f.token.Used, f.token.Salt, f.session.Renewed = &now, salt, now
		f.session.Renewals = append(slices.DeleteFunc(f.session.Renewals,
			func(at clock.Instant) bool { return s.clock.Age(at) >= auth.Renewing }), now)
		leaveReserve(tx, f.account)
		return errors.Join(put(tx, tableRefresh, hash[:], f.token), s.save(tx, &f.session, old.Successors(salt)))
	case verdictReuse:
		return end(tx, f.session, auth.EndedByReuse)
	default:
		return nil
	}
}

// answer returns the result of a verdict.
func (s *Sessions) answer(v verdict, f family, old auth.Token) (auth.TokenPair, error) {
	switch v {
	case verdictRotate, verdictReplay:
		return old.Successors(f.token.Salt), nil
	case verdictLate:
		return auth.TokenPair{}, auth.ErrInvalidToken
	case verdictWait:
		return auth.TokenPair{}, &auth.ThrottledError{Wait: s.untilRenewal(f.session)}
	case verdictReuse:
		s.log.Warn("refresh token used twice, session ended",
			"account", f.session.Account, "session", f.session.ID, "network", f.session.Device.Network)
		s.notifyEnded(sessionKey(f.session))
	default:
	}
	return auth.TokenPair{}, auth.ErrSessionEnded
}

// familyOf reads the family of a refresh token. Only the token itself must
// exist; the other records are zero if they are gone.
func familyOf(tx auth.Tx, t auth.Token) (f family, err error) {
	hash := t.Hash()
	if f.token, err = get[refreshRecord](tx, tableRefresh, hash[:]); err != nil {
		return f, err
	}
	if f.session, err = get[auth.Session](tx, tableSession, []byte(f.token.Session)); err == nil {
		f.account, err = get[auth.Account](tx, tableUser, []byte(f.session.Account))
	}
	if err == nil && f.token.Used != nil {
		var next refreshRecord
		hash := t.Successors(f.token.Salt).Refresh.Hash()
		if next, err = get[refreshRecord](tx, tableRefresh, hash[:]); err == nil {
			f.next = &next
		}
	}
	if errors.Is(err, auth.ErrNotFound) {
		err = nil
	}
	return f, err
}
