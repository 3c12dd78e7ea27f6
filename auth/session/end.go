package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"pressbox/auth"
)

// List returns the live sessions of an account, most recently renewed first.
func (s *Sessions) List(ctx context.Context, account string) ([]auth.SessionInfo, error) {
	live, err := view(ctx, s, func(tx auth.Tx) ([]auth.Session, error) { return s.live(tx, account) })
	if err != nil {
		return nil, fmt.Errorf("list the sessions of %s: %w", account, err)
	}
	list := make([]auth.SessionInfo, len(live))
	for i, session := range live {
		list[i] = auth.SessionInfo{
			Session: session, Age: s.clock.Age(session.Started), Idle: s.clock.Age(session.Renewed),
		}
	}
	slices.SortFunc(list, func(x, y auth.SessionInfo) int {
		return cmp.Or(cmp.Compare(x.Idle, y.Idle), cmp.Compare(x.ID, y.ID))
	})
	return list, nil
}

// End ends one session of an account. It returns [auth.ErrNotFound] if that
// session is not live.
func (s *Sessions) End(ctx context.Context, account, id string, why auth.EndReason) error {
	n, err := s.endWhere(ctx, account, why, func(session auth.Session) bool { return session.ID == id })
	if err == nil && n == 0 {
		err = auth.ErrNotFound
	}
	return err
}

// EndAll ends all sessions of an account and returns their number.
func (s *Sessions) EndAll(ctx context.Context, account string, why auth.EndReason) (int, error) {
	return s.endWhere(ctx, account, why, func(auth.Session) bool { return true })
}

// endWhere ends the live sessions of an account that match.
func (s *Sessions) endWhere(
	ctx context.Context, account string, why auth.EndReason, match func(auth.Session) bool,
) (int, error) {
	var ended []string
	err := s.repo.Update(ctx, func(tx auth.Tx) (err error) {
		ended, err = s.endIn(tx, account, why, match)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("end sessions of %s: %w", account, err)
	}
	s.log.Info("sessions ended", "account", account, "count", len(ended), "why", why)
	s.notifyEnded(ended...)
	return len(ended), nil
}

// endIn ends the live sessions of an account that match, and returns their keys.
func (s *Sessions) endIn(
	tx auth.Tx, account string, why auth.EndReason, match func(auth.Session) bool,
) (ended []string, err error) {
	live, err := s.live(tx, account)
	for _, session := range live {
		if err == nil && match(session) {
			ended = append(ended, sessionKey(session))
			err = end(tx, session, why)
		}
	}
	return ended, err
}

// Logout ends the sessions of the given tokens. Unknown tokens are ignored.
func (s *Sessions) Logout(ctx context.Context, tokens ...auth.Token) error {
	var found []auth.Session
	err := s.repo.View(ctx, func(tx auth.Tx) error {
		found = nil
		for _, t := range tokens {
			session, err := sessionOf(tx, t)
			if err == nil && session.Ended == "" {
				found = append(found, session)
			} else if err != nil && !errors.Is(err, auth.ErrNotFound) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("log out: %w", err)
	}
	for _, session := range found {
		err := s.End(ctx, session.Account, session.ID, auth.EndedByLogout)
		if err != nil && !errors.Is(err, auth.ErrNotFound) {
			return err
		}
	}
	return nil
}
