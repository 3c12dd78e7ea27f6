package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A SessionInfo is a session as its owner sees it.
type SessionInfo struct {
	Session
	Age  time.Duration // ago
	Idle time.Duration // ago; renewed once an hour while in use
}

// List are an account's live sessions, the one used last first.
func (b *Sessions) List(ctx context.Context, account string) ([]SessionInfo, error) {
	var live []Session
	err := b.repo.View(ctx, func(tx Tx) (err error) {
		live, err = b.live(tx, account)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the sessions of %s: %w", account, err)
	}
	sittings := make([]SessionInfo, len(live))
	for i, s := range live {
		sittings[i] = SessionInfo{s, b.clock.Age(s.Started), b.clock.Age(s.Renewed)}
	}
	slices.SortFunc(sittings, func(x, y SessionInfo) int {
		return cmp.Or(cmp.Compare(x.Idle, y.Idle), cmp.Compare(x.ID, y.ID))
	})
	return sittings, nil
}

// End ends one session of an account; one that is not live is [ErrNotFound].
func (b *Sessions) End(ctx context.Context, account, id string, why EndReason) error {
	n, err := b.endWhere(ctx, account, why, func(s Session) bool { return s.ID == id })
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return err
}

// EndAll ends every session of an account and says how many there were.
func (b *Sessions) EndAll(ctx context.Context, account string, why EndReason) (int, error) {
	return b.endWhere(ctx, account, why, func(Session) bool { return true })
}

// endWhere ends the live sessions of an account that match.
func (b *Sessions) endWhere(ctx context.Context, account string, why EndReason, match func(Session) bool) (int, error) {
	var ended []string
	err := b.repo.Update(ctx, func(tx Tx) (err error) {
		ended, err = b.endIn(tx, account, why, match)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("end sessions of %s: %w", account, err)
	}
	b.log.Info("sessions ended", "account", account, "count", len(ended), "why", why)
	b.notifyEnded(ended...)
	return len(ended), nil
}

func (b *Sessions) endIn(tx Tx, account string, why EndReason, match func(Session) bool) (ended []string, err error) {
	live, err := b.live(tx, account)
	for _, s := range live {
		if err == nil && match(s) {
			ended = append(ended, s.key())
			err = end(tx, s, why)
		}
	}
	return ended, err
}

// Logout ends the session of whichever of the tokens is known; with none that
// is, there is nothing to do and that is well.
func (b *Sessions) Logout(ctx context.Context, tokens ...Token) error {
	var found []Session
	err := b.repo.View(ctx, func(tx Tx) error {
		found = nil
		for _, t := range tokens {
			s, err := sessionOf(tx, t)
			if err == nil && s.Ended == "" {
				found = append(found, s)
			} else if err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("log out: %w", err)
	}
	for _, s := range found {
		if err := b.End(ctx, s.Account, s.ID, EndedByLogout); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}

// DeleteExpired deletes what can no longer matter. The daemon calls it every ten
// minutes.
func (b *Sessions) DeleteExpired(ctx context.Context) error {
	err := b.repo.Update(ctx, func(tx Tx) error {
		over := make(map[string]bool) // sessions, by key, that are gone with this
		return errors.Join(
			// An expired flow is kept a while, so that its callback hears why.
			sweep(tx, tableState, nil, func(_ string, s PendingFlow) bool { return b.clock.Age(s.Started) > 2*FlowTTL }),
			sweep(tx, tableSession, nil, func(key string, s Session) bool {
				over[key] = s.Ended != "" || b.stale(s)
				return over[key]
			}),
			sweep(tx, tableAccess, nil, func(_ string, a accessRecord) bool {
				return b.clock.Age(a.Made) > AccessTTL || over[a.Session]
			}),
			sweep(tx, tableRefresh, nil, func(_ string, r refreshRecord) bool {
				return b.clock.Age(r.Made) > RefreshTTL+time.Minute || over[r.Session]
			}),
			sweep(tx, tableInvite, nil, func(_ string, i inviteRecord) bool { return b.clock.Age(i.Made) > InviteTTL }),
			sweep(tx, tableAPIToken, nil, func(_ string, t APIToken) bool { return b.expired(t) }),
		)
	})
	if err != nil {
		return fmt.Errorf("sweep what has expired: %w", err)
	}
	return nil
}
