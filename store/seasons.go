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
	return wrapped(err, "save the season of %d", year)
}

// Season returns an imported season, nil if it is not there.
func (s *Store) Season(_ context.Context, year int) (data []byte, err error) {
	data, err = s.value(seasonsBucket, number(uint64(year))) //nolint:gosec // a year
	if data != nil {
		data, err = decompress(data)
	}
	return data, wrapped(err, "read the season of %d", year)
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
	return years, wrapped(err, "list the seasons")
}

// DeleteSeason deletes an imported season, and reports whether it was there.
func (s *Store) DeleteSeason(ctx context.Context, year int) (found bool, err error) {
	key := number(uint64(year)) //nolint:gosec // a year
	err = s.update(ctx, func(tx *bolt.Tx) error {
		t := tableOf(tx, seasonsBucket)
		found = t.Get(key) != nil
		return t.Delete(key)
	})
	return found, wrapped(err, "delete the season of %d", year)
}
