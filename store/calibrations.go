package store

import (
	"bytes"
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Calibration returns what was kept for the voice whose model has this hash,
// and whether there is something.
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

// SaveCalibration keeps what was learnt about the voice whose model has this
// hash.
func (s *Store) SaveCalibration(hash string, json []byte) error {
	err := s.update(context.Background(), func(tx *bolt.Tx) error {
		return tx.Bucket(calibrationsBucket).Put([]byte(hash), json)
	})
	if err != nil {
		return fmt.Errorf("keep the calibration of %s: %w", hash, err)
	}
	return nil
}
