package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// TeamData returns the cached answer of the team-data API under a key, nil if
// there is none.
func (s *Store) TeamData(_ context.Context, key string) (value []byte, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		value = bytes.Clone(tx.Bucket(teamDataBucket).Get([]byte(key)))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read team data: %w", err)
	}
	return value, nil
}

// SaveTeamData caches an answer of the team-data API. It returns [ErrFull] if the
// share of caches has no room for it alone.
func (s *Store) SaveTeamData(ctx context.Context, key string, value []byte) error {
	err := s.cache(ctx, teamDataBucket, []byte(key), value)
	if err != nil {
		return fmt.Errorf("save team data: %w", err)
	}
	return nil
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
func (s *Store) Cached(_ context.Context, key string) (value []byte, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		value = bytes.Clone(tx.Bucket(idpCacheBucket).Get([]byte(key)))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	return value, nil
}

// SaveCached caches a document of a sign-in provider.
func (s *Store) SaveCached(ctx context.Context, key string, value []byte) error {
	err := s.cache(ctx, idpCacheBucket, []byte(key), value)
	if err != nil {
		return fmt.Errorf("save %s: %w", key, err)
	}
	return nil
}

// Calibration returns the calibration of the voice whose model has this hash.
func (s *Store) Calibration(hash string) (json []byte, ok bool, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		json = bytes.Clone(tx.Bucket(calibrationsBucket).Get([]byte(hash)))
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("read the calibration of %s: %w", hash, err)
	}
	return json, json != nil, nil
}

// SaveCalibration saves the calibration of the voice whose model has this hash.
func (s *Store) SaveCalibration(hash string, json []byte) error {
	err := s.cache(context.Background(), calibrationsBucket, []byte(hash), json)
	if err != nil {
		return fmt.Errorf("save the calibration of %s: %w", hash, err)
	}
	return nil
}
