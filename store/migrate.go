package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
)

// firstSchema is the first schema that is supported: that of version 0.5.0, which migrates older
// stores to it. A new file has it before its migrations.
const firstSchema = 7

// A migration converts a store from one schema to the next.
type migration func(*bolt.Tx) error

// migrations convert from [firstSchema] on; there is none yet. A released migration is never
// changed. A store lacks no bucket that has a row in [bucketRows], so that a new bucket without
// content needs no migration.
//
//nolint:gochecknoglobals // a table
var migrations []migration

func newestSchema() uint64 { return firstSchema + uint64(len(migrations)) }

// supported returns [ErrOlder] or [ErrNewer] unless a store of this schema can be migrated to the
// newest; 0 is the schema of an empty file.
func supported(schema, newest uint64) error {
	switch {
	case schema > newest:
		return fmt.Errorf("%w: its schema is %d, this version supports up to %d", ErrNewer, schema, newest)
	case schema > 0 && schema < firstSchema:
		return fmt.Errorf("%w: its schema is %d, this version supports %d and later; start version 0.5.0 once, "+
			"which migrates it", ErrOlder, schema, firstSchema)
	default:
		return nil
	}
}

// migrate creates missing buckets and converts the store to the newest schema, after a copy was
// saved. The transaction of each step also writes the number of the schema.
func (s *Store) migrate(steps []migration) error {
	var at uint64
	complete := true
	err := s.view(func(tx *bolt.Tx) error {
		at = schema(tx)
		for _, row := range bucketRows() {
			complete = complete && tx.Bucket(row.name) != nil
		}
		return nil
	})
	if err != nil {
		return err
	}
	newest := firstSchema + uint64(len(steps))
	if err := supported(at, newest); err != nil {
		return fmt.Errorf("%w%s", err, s.wayBack(newest))
	}
	fresh := at == 0
	if !fresh && at < newest {
		if _, err := WriteAtomic(copyOf(s.path, at), s.Backup, nil); err != nil {
			return fmt.Errorf("copy the store before its migration from schema %d: %w", at, err)
		}
	}
	at = max(at, firstSchema)
	if !complete {
		if err := s.step(at, createBuckets); err != nil {
			return fmt.Errorf("create the buckets: %w", err)
		}
	}
	for _, step := range steps[at-firstSchema:] {
		at++
		if err := s.step(at, step); err != nil {
			return fmt.Errorf("migrate the store to schema %d: %w", at, err)
		}
		if !fresh {
			s.log.Info("store migrated", "path", s.path, "schema", at)
		}
	}
	return nil
}

// step makes a change after which the store has a schema.
func (s *Store) step(schema uint64, change migration) error {
	return s.update(context.Background(), func(tx *bolt.Tx) error {
		if err := change(tx); err != nil {
			return err
		}
		return tx.Bucket(metaBucket).Put(schemaKey, number(schema))
	})
}

// createBuckets creates the buckets that are missing.
func createBuckets(tx *bolt.Tx) error {
	names := [][]byte{metaBucket, usageBucket}
	for _, row := range bucketRows() {
		names = append(names, row.name)
	}
	for _, name := range names {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// copyOf returns the name of the copy that is saved before a store of this schema is
// migrated. [Store.PruneCopies] removes it.
func copyOf(path string, schema uint64) string { return fmt.Sprintf("%s.schema-%d", path, schema) }

// PruneCopies removes the copies of migrations, those of 0.5.0 too: all but the one of the newest
// schema, and that one as well if it was made before a time.
func (s *Store) PruneCopies(before time.Time) error {
	newest := true
	for at := newestSchema(); at > 0; at-- {
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
	return fmt.Sprintf("; install the newer version again, or go back with \"pressbox restore %s\", "+
		"without what was saved since that copy", path)
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
