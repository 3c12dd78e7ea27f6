package store

import (
	"bytes"
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// teamDataBucket is made when something is kept in it first. A cache needs no migration: a store without it is one that
// has cached nothing, and an older pressbox leaves it alone.
var teamDataBucket = []byte("teamcache")

// TeamData returns what was kept under key of the team-data API's answers; nil when there is nothing.
func (s *Store) TeamData(_ context.Context, key string) (value []byte, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		if b := tx.Bucket(teamDataBucket); b != nil {
			value = bytes.Clone(b.Get([]byte(key)))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read team data: %w", err)
	}
	return value, nil
}

// SaveTeamData keeps an answer of the team-data API, unless the store is nearly full: there are better uses for the
// rest.
func (s *Store) SaveTeamData(ctx context.Context, key string, value []byte) error {
	err := s.room()
	if err == nil {
		err = s.update(ctx, func(tx *bolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists(teamDataBucket)
			if err != nil {
				return err
			}
			return b.Put([]byte(key), value)
		})
	}
	if err != nil {
		return fmt.Errorf("keep team data: %w", err)
	}
	return nil
}
