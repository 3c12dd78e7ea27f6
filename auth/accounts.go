package auth

import (
	"context"
	"fmt"
)

// Accounts are all accounts, in order of id.
func (b *Sessions) Accounts(ctx context.Context) (accounts []Account, err error) {
	err = b.repo.View(ctx, func(tx Tx) error {
		accounts = nil
		return each(tx, tableUser, nil, func(_ string, a Account) error {
			accounts = append(accounts, a)
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list the accounts: %w", err)
	}
	return accounts, nil
}

// SetDisabled shuts an account out, at once and everywhere, or lets it in again.
func (b *Sessions) SetDisabled(ctx context.Context, id string, disabled bool) error {
	var ended []string
	err := b.repo.Update(ctx, func(tx Tx) error {
		account, err := get[Account](tx, tableUser, []byte(id))
		if err != nil {
			return err
		}
		account.Disabled = disabled
		if disabled {
			if ended, err = b.endIn(tx, id, EndedByOperator, func(Session) bool { return true }); err != nil {
				return err
			}
		}
		return put(tx, tableUser, []byte(id), account)
	})
	if err != nil {
		return fmt.Errorf("disable %s: %w", id, err)
	}
	b.log.Info("account changed", "account", id, "disabled", disabled)
	b.notifyEnded(ended...)
	return nil
}

// DeleteAccount removes an account, its identity, its sessions and, where it is the
// appliance's own, its name and passphrase.
func (b *Sessions) DeleteAccount(ctx context.Context, id string) error {
	var ended []string
	err := b.repo.Update(ctx, func(tx Tx) error {
		account, err := get[Account](tx, tableUser, []byte(id))
		if err != nil {
			return err
		}
		if ended, err = b.endIn(tx, id, EndedByOwner, func(Session) bool { return true }); err != nil {
			return err
		}
		who := Identity{Provider: account.Provider, Issuer: account.Issuer, Subject: account.Subject}
		if err := tx.Delete(tableIdentity, identityKey(who)); err != nil {
			return err
		}
		if err := forgetLogin(tx, who); err != nil {
			return err
		}
		return tx.Delete(tableUser, []byte(id))
	})
	if err != nil {
		return fmt.Errorf("forget %s: %w", id, err)
	}
	b.log.Info("account removed", "account", id)
	b.notifyEnded(ended...)
	return nil
}
