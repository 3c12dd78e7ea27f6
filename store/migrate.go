package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
)

// A migration converts a store from one schema to the next.
type migration func(*bolt.Tx) error

// migrations convert from schema 0, an empty file, to the present schema, which
// is their number. A released migration is never changed.
//
//nolint:gochecknoglobals // a table
var migrations = []migration{
	createBuckets(metaBucket, waitingBucket, endedBucket, oldKeysBucket, oldKeysByAgeBucket, calibrationsBucket),
	createBuckets(authBuckets()...),
	createBuckets(summariesBucket, movesBucket, packsBucket, boxesBucket),
	orderByAge,
	keysBySender,
	countUsage,
	createBuckets(controlsBucket),
}

// createBuckets returns the migration that adds empty buckets.
func createBuckets(names ...[]byte) migration {
	return func(tx *bolt.Tx) error {
		for _, name := range names {
			if _, err := tx.CreateBucket(name); err != nil {
				return fmt.Errorf("create the bucket %s: %w", name, err)
			}
		}
		return nil
	}
}

// orderByAge is the migration to schema 4. It adds the buckets that list pending
// flows and boots by age, and writes its sequence into each flow.
func orderByAge(tx *bolt.Tx) error {
	starts := map[string]time.Time{} // of boots
	boots, err := agesOf(tx.Bucket(bootBucket), func(id string, value []byte) (time.Time, error) {
		var boot struct{ Start time.Time }
		err := json.Unmarshal(value, &boot)
		starts[id] = boot.Start
		return boot.Start, err
	})
	if err != nil {
		return err
	}
	flows, err := agesOf(tx.Bucket(flowBucket), func(_ string, value []byte) (time.Time, error) {
		var flow struct {
			Made struct {
				Boot  string
				Since time.Duration
			}
		}
		err := json.Unmarshal(value, &flow)
		return starts[flow.Made.Boot].Add(flow.Made.Since), err
	})
	if err != nil {
		return err
	}
	if err := errors.Join(writeOrder(tx, bootOrderBucket, boots), writeOrder(tx, flowOrderBucket, flows)); err != nil {
		return err
	}
	for i, flow := range flows {
		if err := setSequence(tx.Bucket(flowBucket), []byte(flow.key), i); err != nil {
			return err
		}
	}
	return nil
}

type aged struct {
	key string
	at  time.Time
}

// agesOf returns the keys of a bucket, oldest first.
func agesOf(b *bolt.Bucket, at func(key string, value []byte) (time.Time, error)) ([]aged, error) {
	var all []aged
	for k, v := range pairs(b) {
		t, err := at(string(k), v)
		if err != nil {
			return nil, fmt.Errorf("%w: read the age of %x: %w", ErrCorrupt, k, err)
		}
		all = append(all, aged{string(k), t})
	}
	slices.SortFunc(all, func(a, b aged) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.key, b.key)) })
	return all, nil
}

// writeOrder creates a bucket: sequence → key.
func writeOrder(tx *bolt.Tx, name []byte, keys []aged) error {
	order, err := tx.CreateBucket(name)
	if err != nil {
		return fmt.Errorf("create the bucket %s: %w", name, err)
	}
	for i, k := range keys {
		if err := order.Put(number(uint64(i)), []byte(k.key)); err != nil {
			return err
		}
	}
	return nil
}

// setSequence writes a number as the member "seq" of a JSON object.
func setSequence(b *bolt.Bucket, key []byte, sequence int) error {
	var object map[string]any
	if err := json.Unmarshal(b.Get(key), &object); err != nil {
		return err
	}
	object["seq"] = sequence
	value, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return b.Put(key, value)
}

// migrate converts the store to the newest schema, after a copy was saved. The
// transaction of each step also writes the number of the schema.
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
		return fmt.Errorf("%w: its schema is %d, this version supports up to %d%s", ErrNewer, at, len(steps), s.wayBack(uint64(len(steps))))
	}
	if at > 0 && at < uint64(len(steps)) { // a new file is not migrated
		if _, err := WriteAtomic(copyOf(s.path, at), s.Backup, nil); err != nil {
			return fmt.Errorf("copy the store before its migration from schema %d: %w", at, err)
		}
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
			return fmt.Errorf("migrate the store to schema %d: %w", to, err)
		}
		if at > 0 {
			s.log.Info("store migrated", "path", s.path, "schema", to)
		}
	}
	return nil
}

// copyOf returns the name of the copy that is saved before a store of this schema is
// migrated. [Store.PruneCopies] removes it.
func copyOf(path string, schema uint64) string { return fmt.Sprintf("%s.schema-%d", path, schema) }

// PruneCopies removes the copies of migrations: all but the one of the newest schema, and that one
// as well if it was made before a time.
func (s *Store) PruneCopies(before time.Time) error {
	newest := true
	for at := uint64(len(migrations)); at > 0; at-- {
		path := copyOf(s.path, at)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && (!newest || info.ModTime().Before(before)) {
			err = os.Remove(path)
		}
		if err != nil {
			return fmt.Errorf("remove the copy of a migration: %w", err)
		}
		newest = false
	}
	return nil
}

// wayBack describes the copy with which a version that supports this schema can go on; ""
// if there is none.
func (s *Store) wayBack(schema uint64) string {
	path := copyOf(s.path, schema)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return fmt.Sprintf("; install the newer version again, or go back with \"pressbox restore %s\", without what was saved since that copy", path)
}

// schema returns the schema of a store; 0 means an empty file.
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
