package store

import (
	"context"
	"errors"

	bolt "go.etcd.io/bbolt"
)

// TeamData returns the cached answer of the team-data API under a key, nil if
// there is none.
func (s *Store) TeamData(_ context.Context, key string) ([]byte, error) {
	value, err := s.value(teamDataBucket, []byte(key))
	return value, wrapped(err, "read team data")
}

// SaveTeamData caches an answer of the team-data API. It returns [ErrFull] if the
// share of caches has no room for it alone.
func (s *Store) SaveTeamData(ctx context.Context, key string, value []byte) error {
	return wrapped(s.cache(ctx, teamDataBucket, []byte(key), value), "save team data")
}

// cache saves an entry of a cache. If the share of caches is full, it first
// deletes all team data, which can be requested again.
func (s *Store) cache(ctx context.Context, bucket, key, value []byte) error {
	put := func(tx *bolt.Tx) error {
		return tableOf(tx, bucket).Put(key, value)
	}
	err := s.grow(ctx, cachesShare, put)
	if !errors.Is(err, ErrFull) {
		return err
	}
	if err := s.update(ctx, deleteTeamData); err != nil {
		return err
	}
	return s.grow(ctx, cachesShare, put)
}

func deleteTeamData(tx *bolt.Tx) error {
	if err := tx.DeleteBucket(teamDataBucket); err != nil {
		return err
	}
	if _, err := tx.CreateBucket(teamDataBucket); err != nil {
		return err
	}
	return tx.Bucket(usageBucket).Delete(teamDataBucket)
}

// Cached returns the cached document of a sign-in provider, nil if there is none.
func (s *Store) Cached(_ context.Context, key string) ([]byte, error) {
	value, err := s.value(idpCacheBucket, []byte(key))
	return value, wrapped(err, "read %s", key)
}

// SaveCached caches a document of a sign-in provider.
func (s *Store) SaveCached(ctx context.Context, key string, value []byte) error {
	return wrapped(s.cache(ctx, idpCacheBucket, []byte(key), value), "save %s", key)
}

// Calibration returns the calibration of the voice whose model has this hash.
func (s *Store) Calibration(hash string) (json []byte, ok bool, err error) {
	json, err = s.value(calibrationsBucket, []byte(hash))
	return json, json != nil, wrapped(err, "read the calibration of %s", hash)
}

// SaveCalibration saves the calibration of the voice whose model has this hash.
func (s *Store) SaveCalibration(hash string, json []byte) error {
	err := s.cache(context.Background(), calibrationsBucket, []byte(hash), json)
	return wrapped(err, "save the calibration of %s", hash)
}
