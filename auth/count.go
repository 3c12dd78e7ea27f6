package auth

import (
	"context"
	"fmt"
)

// Count returns how many accounts there are, and how many sessions are alive.
func (b *Sessions) Count(ctx context.Context) (accounts, sessions int, err error) {
	err = b.repo.View(ctx, func(tx Tx) error {
		err := tx.Each(tableUser, nil, func(_, _ []byte) error {
			accounts++
			return nil
		})
		if err != nil {
			return err
		}
		return each(tx, tableSession, nil, func(_ string, s Session) error {
			if s.Ended == "" && !b.stale(s) {
				sessions++
			}
			return nil
		})
	})
	if err != nil {
		return 0, 0, fmt.Errorf("count the accounts: %w", err)
	}
	return accounts, sessions, nil
}
