package store

import (
	"context"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// MostSeasons is the limit of imported seasons.
const MostSeasons = 50

// SaveSeason saves an imported season, in place of one of the same year. It
// returns [ErrFull] beyond [MostSeasons], or if the share of games is full.
func (s *Store) SaveSeason(ctx context.Context, year int, data []byte) error {
	data, err := compress(data)
	if err == nil {
		err = s.grow(ctx, gamesShare, func(tx *bolt.Tx) error {
			t, key := tableOf(tx, seasonsBucket), number(uint64(year)) //nolint:gosec // a year
			if t.Get(key) == nil && t.Stats().KeyN >= MostSeasons {
				return fmt.Errorf("%w: %d seasons are imported; remove one first", ErrFull, MostSeasons)
			}
			return t.Put(key, data)
		})
	}
	if err != nil {
		return fmt.Errorf("save the season of %d: %w", year, err)
	}
	return nil
}

// Season returns an imported season, nil if it is not there.
func (s *Store) Season(_ context.Context, year int) (data []byte, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		value := tx.Bucket(seasonsBucket).Get(number(uint64(year))) //nolint:gosec // a year
		if value == nil {
			return nil
		}
		data, err = decompress(value)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the season of %d: %w", year, err)
	}
	return data, nil
}

// Seasons returns the years of the imported seasons, ascending.
func (s *Store) Seasons(context.Context) (years []int, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		years = nil
		for k := range pairs(tx.Bucket(seasonsBucket)) {
			years = append(years, int(binary.BigEndian.Uint64(k))) //nolint:gosec // a year
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the seasons: %w", err)
	}
	return years, nil
}

// DeleteSeason deletes an imported season, and reports whether it was there.
func (s *Store) DeleteSeason(ctx context.Context, year int) (found bool, err error) {
	key := number(uint64(year)) //nolint:gosec // a year
	err = s.update(ctx, func(tx *bolt.Tx) error {
		t := tableOf(tx, seasonsBucket)
		found = t.Get(key) != nil
		return t.Delete(key)
	})
	if err != nil {
		return false, fmt.Errorf("delete the season of %d: %w", year, err)
	}
	return found, nil
}
