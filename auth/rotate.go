package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
)

// refreshRecord is a refresh token as it is kept. Once used it stays, with when it
// was used and the salt of its successor, so that a second use is known as one.
// That mark is on disk: a restart forgives nothing (CVE-2026-9802).
type refreshRecord struct {
	Session string   `json:"session"` // key of its session
	Made    Instant  `json:"made"`
	Used    *Instant `json:"used,omitempty"`
	Salt    []byte   `json:"salt,omitempty"`
}

// family is what a refresh token is judged by.
type family struct {
	token   refreshRecord
	next    *refreshRecord // its successor, once used
	session Session
	account Account // the zero Account when it is gone
}

// verdict is what becomes of a refresh token.
type verdict int

const (
	verdictOver   verdict = iota // the session is over
	verdictRenew                 // the first use: mark it, issue its successor
	verdictRepeat                // used moments ago: the same successor again
	verdictLate                  // used moments ago, and its successor too: refused, no harm done
	verdictReuse                 // used long ago: somebody has a copy
)

// judge is the rule of rotation (RFC 9700 §4.14.2).
func (b *Sessions) judge(f family) verdict {
	switch {
	case f.session.Ended != "", f.account.ID == "", f.account.Disabled, b.clock.Age(f.session.Started) > b.maxAge:
		return verdictOver
	case f.token.Used == nil && b.clock.Age(f.token.Made) > RefreshTTL:
		return verdictOver
	case f.token.Used == nil:
		return verdictRenew
	case b.clock.Age(*f.token.Used) > ReuseGrace:
		return verdictReuse
	case f.next == nil || f.next.Used != nil:
		return verdictLate
	default:
		return verdictRepeat
	}
}

// Refresh exchanges a refresh token for the session's next pair. The same token
// yields the same pair for a few seconds, because a browser's tabs do not know
// of each other; after that, using it ends the session.
//
// Its errors are [ErrInvalidToken] and, when the browser's cookies are dead as
// well, [ErrSessionEnded].
func (b *Sessions) Refresh(ctx context.Context, old Token) (Pair, error) {
	if old.Kind() != KindRefresh {
		return Pair{}, ErrInvalidToken
	}
	salt := make([]byte, 32)
	rand.Read(salt) // never fails
	var v verdict
	var f family
	judge := func(tx Tx) (err error) {
		f, err = familyOf(tx, old)
		v = b.judge(f)
		return err
	}
	err := b.repo.View(ctx, judge) // an unknown token costs no write
	if err == nil && (v == verdictRenew || v == verdictReuse) {
		err = b.repo.Update(ctx, func(tx Tx) error {
			if err := judge(tx); err != nil { // again: another may have been first
				return err
			}
			return b.carryOut(tx, v, &f, old, salt)
		})
	}
	switch {
	case errors.Is(err, ErrNotFound):
		return Pair{}, ErrInvalidToken
	case err != nil:
		return Pair{}, fmt.Errorf("renew a session: %w", err)
	}
	return b.answer(v, f, old)
}

// carryOut writes what a verdict changes.
func (b *Sessions) carryOut(tx Tx, v verdict, f *family, old Token, salt []byte) error {
	switch v {
	case verdictRenew:
		now, hash := b.clock.Now(), old.Hash()
		f.token.Used, f.token.Salt, f.session.Renewed = &now, salt, now
		if err := put(tx, tableRefresh, hash[:], f.token); err != nil {
			return err
		}
		return b.open(tx, f.session, successors(old, salt))
	case verdictReuse:
		return end(tx, f.session, EndedByReuse)
	default:
		return nil
	}
}

// answer is what the holder of the token hears of the verdict.
func (b *Sessions) answer(v verdict, f family, old Token) (Pair, error) {
	switch v {
	case verdictRenew, verdictRepeat:
		return successors(old, f.token.Salt), nil
	case verdictLate:
		return Pair{}, ErrInvalidToken
	case verdictReuse:
		b.log.Warn("a refresh token was used twice: session ended",
			"account", f.session.Account, "session", f.session.ID, "network", f.session.Device.Network)
		b.notifyEnded(f.session.key())
		return Pair{}, ErrSessionEnded
	default:
		return Pair{}, ErrSessionEnded
	}
}

func successors(old Token, salt []byte) Pair {
	return Pair{old.next(KindAccess, salt), old.next(KindRefresh, salt)}
}

// familyOf reads what a refresh token is judged by. Only the token itself must
// exist; of what else is gone, its zero value says so.
func familyOf(tx Tx, t Token) (f family, err error) {
	hash := t.Hash()
	if f.token, err = get[refreshRecord](tx, tableRefresh, hash[:]); err != nil {
		return f, err
	}
	if f.session, err = get[Session](tx, tableSession, []byte(f.token.Session)); err == nil {
		f.account, err = get[Account](tx, tableUser, []byte(f.session.Account))
	}
	if err == nil && f.token.Used != nil {
		var next refreshRecord
		hash := t.next(KindRefresh, f.token.Salt).Hash()
		if next, err = get[refreshRecord](tx, tableRefresh, hash[:]); err == nil {
			f.next = &next
		}
	}
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return f, err
}
