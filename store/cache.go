package store

import (
	"bytes"
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// teamDataBucket is created with its first value. A cache needs no migration: a
// store without the bucket has cached nothing, and earlier versions ignore it.
var teamDataBucket = []byte("teamcache")

// TeamData returns the cached answer of the team-data API under a key, nil if
// there is none.
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

// SaveTeamData caches an answer of the team-data API. It returns [ErrFull] when
// the store is nearly full.
func (s *Store) SaveTeamData(ctx context.Context, key string, value []byte) error {
	err := s.checkSpace()
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
		return fmt.Errorf("save team data: %w", err)
	}
	return nil
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
	err := s.update(ctx, func(tx *bolt.Tx) error {
		return tx.Bucket(idpCacheBucket).Put([]byte(key), value)
	})
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
	err := s.update(context.Background(), func(tx *bolt.Tx) error {
		return tx.Bucket(calibrationsBucket).Put([]byte(hash), json)
	})
	if err != nil {
		return fmt.Errorf("save the calibration of %s: %w", hash, err)
	}
	return nil
}
