package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"pressbox/auth"
)

// Accounts returns all accounts, in order of id.
func (s *Sessions) Accounts(ctx context.Context) ([]auth.Account, error) {
	return list(ctx, s, tableUser, func(string, auth.Account) bool { return true })
}

// HasAdministrator reports whether there is an administrator's account that is not disabled.
func (s *Sessions) HasAdministrator(ctx context.Context) (found bool, err error) {
	accounts, err := s.Accounts(ctx)
	return slices.ContainsFunc(accounts, func(a auth.Account) bool { return a.Admin && !a.Disabled }), err
}

// Count returns the number of accounts and of live sessions.
func (s *Sessions) Count(ctx context.Context) (accounts, sessions int, err error) {
	all, err := s.Accounts(ctx)
	live, liveErr := list(ctx, s, tableSession, func(_ string, session auth.Session) bool { return !s.over(session) })
	return len(all), len(live), errors.Join(err, liveErr)
}

// An AccountChange changes an account; a nil field does not.
type AccountChange struct{ Disabled, Admin *bool }

// ChangeAccount disables an account and ends its sessions, enables it, or makes it
// an administrator's or not.
func (s *Sessions) ChangeAccount(ctx context.Context, id string, change AccountChange) error {
	var ended []string
	var account auth.Account
	err := s.repo.Update(ctx, func(tx auth.Tx) (err error) {
		if account, err = get[auth.Account](tx, tableUser, []byte(id)); err != nil {
			return err
		}
		if change.Admin != nil {
			account.Admin = *change.Admin
		}
		if change.Disabled != nil {
			account.Disabled = *change.Disabled
		}
		if account.Disabled {
			if ended, err = s.endIn(tx, id, auth.EndedByOperator, func(auth.Session) bool { return true }); err != nil {
				return err
			}
		}
		return put(tx, tableUser, []byte(id), account)
	})
	if err != nil {
		return fmt.Errorf("change account %s: %w", id, err)
	}
	s.log.Info("account changed", "account", id, "disabled", account.Disabled, "admin", account.Admin)
	s.notifyEnded(ended...)
	return nil
}

// DeleteAccount deletes an account, its identity, its sessions and, for the local
// provider, its name and passphrase.
func (s *Sessions) DeleteAccount(ctx context.Context, id string) error {
	var ended []string
	err := s.repo.Update(ctx, func(tx auth.Tx) error {
		account, err := get[auth.Account](tx, tableUser, []byte(id))
		if err != nil {
			return err
		}
		identity := auth.Identity{Provider: account.Provider, Issuer: account.Issuer, Subject: account.Subject}
		ended, err = s.endIn(tx, id, auth.EndedByOwner, func(auth.Session) bool { return true })
		return errors.Join(err, tx.Delete(tableIdentity, identityKey(identity)),
			deleteLocalAccount(tx, identity), tx.Delete(tableUser, []byte(id)))
	})
	if err != nil {
		return fmt.Errorf("delete account %s: %w", id, err)
	}
	s.log.Info("account deleted", "account", id)
	s.notifyEnded(ended...)
	return nil
}
