package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"

	bolt "go.etcd.io/bbolt"
)

var (
	metaBucket         = []byte("meta")
	waitingBucket      = []byte("waiting")
	endedBucket        = []byte("ended")
	keysBucket         = []byte("keys")
	keysByAgeBucket    = []byte("keys-by-age")
	calibrationsBucket = []byte("calibrations")
	idpCacheBucket     = []byte("idp_cache")

	schemaKey = []byte("schema")
	probeKey  = []byte("probe")
)

// A migration brings a store from one schema to the next.
type migration func(*bolt.Tx) error

// migrations lead from schema 0, an empty file, to the present one, which is
// their number. One that has been released is never changed.
//
//nolint:gochecknoglobals // a table
var migrations = []migration{
	makeBuckets(metaBucket, waitingBucket, endedBucket, keysBucket, keysByAgeBucket, calibrationsBucket),
	makeBuckets(authBuckets()...),
	makeBuckets(gameHeadsBucket, gameMovesBucket, gamePacksBucket, gameBoxesBucket),
}

// makeBuckets returns the migration that adds empty buckets.
func makeBuckets(names ...[]byte) migration {
	return func(tx *bolt.Tx) error {
		for _, name := range names {
			if _, err := tx.CreateBucket(name); err != nil {
				return fmt.Errorf("make the bucket %s: %w", name, err)
			}
		}
		return nil
	}
}

// migrate brings the store to the newest schema, each step in a transaction
// together with the number it leads to.
func (s *Store) migrate(steps []migration) error {
	var at uint64
	err := s.view(func(tx *bolt.Tx) error {
		at = schema(tx)
		return nil
	})
	if err != nil {
		return err
	}
	if at > uint64(len(steps)) {
		return fmt.Errorf("%w: its schema is %d, this one knows up to %d", ErrNewer, at, len(steps))
	}
	for i, step := range steps[at:] {
		to := at + uint64(i) + 1
		err := s.update(context.Background(), func(tx *bolt.Tx) error {
			if err := step(tx); err != nil {
				return err
			}
			return tx.Bucket(metaBucket).Put(schemaKey, number(to))
		})
		if err != nil {
			return fmt.Errorf("bring the store to schema %d: %w", to, err)
		}
		if at > 0 { // a new store comes from nowhere
			s.log.Info("store migrated", "path", s.path, "schema", to)
		}
	}
	return nil
}

// schema returns the number of the schema; 0 means that there is nothing yet.
func schema(tx *bolt.Tx) uint64 {
	meta := tx.Bucket(metaBucket)
	if meta == nil {
		return 0
	}
	v := meta.Get(schemaKey)
	if len(v) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(v)
}

// pairs yields a bucket's keys and values in order, lent by bbolt.
func pairs(b *bolt.Bucket) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		c := b.Cursor()
		for k, v := c.First(); k != nil && yield(k, v); k, v = c.Next() {
		}
	}
}

// number returns n as a key that sorts as numbers do.
func number(n uint64) []byte {
	return binary.BigEndian.AppendUint64(nil, n)
}
