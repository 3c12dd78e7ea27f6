package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"pressbox/game/live"
)

// mostShelves is the largest number of accounts with saved line-ups.
const mostShelves = 500

// Lineups returns the record of an account of [live.Shelf], nil if there is none.
func (s *Store) Lineups(_ context.Context, account string) ([]byte, error) {
	data, err := s.value(lineupsBucket, []byte(account))
	return data, wrapped(err, "read the line-ups of %s", account)
}

// ChangeLineups changes the record of an account of [live.Shelf]; change returns nil to delete it.
func (s *Store) ChangeLineups(ctx context.Context, account string, change func(old []byte) ([]byte, error)) error {
	err := s.grow(ctx, gamesShare, func(tx *bolt.Tx) error {
		t, key := tableOf(tx, lineupsBucket), []byte(account)
		old := bytes.Clone(t.Get(key))
		data, err := change(old)
		switch {
		case err != nil:
			return err
		case data == nil:
			return t.Delete(key)
		case old == nil && t.Stats().KeyN >= mostShelves:
			return fmt.Errorf("%w: %d accounts have saved line-ups", ErrFull, mostShelves)
		}
		return t.Put(key, data)
	})
	if errors.Is(err, ErrFull) {
		err = fmt.Errorf("%w: %w", live.ErrFull, err)
	}
	return wrapped(err, "change the line-ups of %s", account)
}
