package auth

import (
	"context"
	"fmt"
)

// Accounts are all accounts, in order of id.
func (b *Book) Accounts(ctx context.Context) (accounts []Account, err error) {
	err = b.keeper.View(ctx, func(tx Tx) error {
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

// Disable shuts an account out, at once and everywhere, or lets it in again.
func (b *Book) Disable(ctx context.Context, id string, disabled bool) error {
	var ended []string
	err := b.keeper.Update(ctx, func(tx Tx) error {
		account, err := get[Account](tx, tableUser, []byte(id))
		if err != nil {
			return err
		}
		account.Disabled = disabled
		if disabled {
			if ended, err = b.endIn(tx, id, ByOperator, func(Session) bool { return true }); err != nil {
				return err
			}
		}
		return put(tx, tableUser, []byte(id), account)
	})
	if err != nil {
		return fmt.Errorf("disable %s: %w", id, err)
	}
	b.log.Info("account changed", "account", id, "disabled", disabled)
	b.tell(ended...)
	return nil
}

// Forget removes an account, its identity, its sessions and, where it is the
// appliance's own, its name and passphrase.
func (b *Book) Forget(ctx context.Context, id string) error {
	var ended []string
	err := b.keeper.Update(ctx, func(tx Tx) error {
		account, err := get[Account](tx, tableUser, []byte(id))
		if err != nil {
			return err
		}
		if ended, err = b.endIn(tx, id, ByOwner, func(Session) bool { return true }); err != nil {
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
	b.tell(ended...)
	return nil
}
