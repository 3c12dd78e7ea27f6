package store

import (
	"context"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"pressbox/game/leagues"
)

// Leagues returns all records of [leagues.Repository].
func (s *Store) Leagues(context.Context) (map[string][]byte, error) {
	all, err := s.values(leaguesBucket)
	return all, wrapped(err, "read the leagues")
}

// SaveLeague creates or replaces a record of [leagues.Repository]. A new one finds
// no room in the last sixteenth of the share of games, which is for those that
// exist.
func (s *Store) SaveLeague(ctx context.Context, id string, data []byte) error {
	err := s.grow(ctx, gamesShare, func(tx *bolt.Tx) error {
		t := tableOf(tx, leaguesBucket)
		fresh := t.Get([]byte(id)) == nil
		if err := t.Put([]byte(id), data); err != nil || !fresh {
			return err
		}
		return s.checkNewGame(tx)
	})
	if errors.Is(err, ErrFull) {
		err = fmt.Errorf("%w: %w", leagues.ErrFull, err)
	}
	return wrapped(err, "save league %s", id)
}

// DeleteLeague deletes a record of [leagues.Repository], if it exists.
func (s *Store) DeleteLeague(ctx context.Context, id string) error {
	err := s.update(ctx, func(tx *bolt.Tx) error {
		return tableOf(tx, leaguesBucket).Delete([]byte(id))
	})
	return wrapped(err, "delete league %s", id)
}
