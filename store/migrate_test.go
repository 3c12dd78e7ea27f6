package store

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"pressbox/packaging/check"
)

// count returns the number of keys in a bucket.
func count(t *testing.T, s *Store, bucket []byte) (n int) {
	t.Helper()
	look(t, s, func(tx *bolt.Tx) {
		for range pairs(tx.Bucket(bucket)) {
			n++
		}
	})
	return n
}

// look calls view with a transaction that reads.
func look(t *testing.T, s *Store, view func(tx *bolt.Tx)) {
	t.Helper()
	check.NoError(t, s.view(func(tx *bolt.Tx) error { view(tx); return nil }))
}

// newFile returns a store with a calibration, changed by edit and closed.
func newFile(t *testing.T, edit func(*bolt.Tx) error) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pressbox.db")
	s := check.Must(Open(path, Options{}))(t)
	check.NoError(t, errors.Join(s.SaveCalibration("5e1f", []byte("1.2")), s.update(t.Context(), edit), s.Close()))
	return path
}

func withSchema(n uint64) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error { return tx.Bucket(metaBucket).Put(schemaKey, number(n)) }
}

// A store of another version is refused, stays as it is and is not locked. The error says what to do.
func TestOpen_otherSchema(t *testing.T) {
	t.Parallel()
	for n, tt := range map[uint64]struct {
		want error
		text string
	}{
		1:               {ErrOlder, "start version 0.5.0 once, which migrates it"},
		firstSchema - 1: {ErrOlder, "start version 0.5.0 once, which migrates it"},
		firstSchema + 1: {ErrNewer, "its schema is 8, this version supports up to 7"},
	} {
		path := newFile(t, withSchema(n))
		before := check.Must(os.ReadFile(path))(t)
		for range 2 {
			for what, err := range map[string]error{"open": check.Err(Open(path, Options{})), "check": Check(path)} {
				check.That(t, errors.Is(err, tt.want) && strings.Contains(err.Error(), tt.text),
					"%s a store of schema %d: %v, want %v: %s", what, n, err, tt.want, tt.text)
			}
		}
		check.That(t, bytes.Equal(check.Must(os.ReadFile(path))(t), before) && !UncleanShutdown(path),
			"the store of schema %d was changed", n)
	}
}

// Migrations run in order, each once and in one transaction, and are logged. The store is copied
// before: the version before names the copy, and can go on with it.
func TestMigrate_steps(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	path := newFile(t, withSchema(firstSchema))
	s := check.Must(Open(path, Options{Log: slog.New(slog.NewTextHandler(&log, nil))}))(t)
	var ran []string
	step := func(name string, fault error) migration {
		return func(tx *bolt.Tx) error {
			ran = append(ran, name)
			_, err := tx.CreateBucket([]byte(name))
			return errors.Join(err, fault)
		}
	}
	steps := []migration{step("one", nil), step("two", errRefused), step("three", nil)}
	check.ErrorIs(t, s.migrate(steps), errRefused, "migrate")
	steps[1] = step("two", nil)
	for range 2 {
		check.NoError(t, s.migrate(steps))
	}
	if got := fmt.Sprint(ran); got != "[one two two three]" || strings.Count(log.String(), "store migrated") != 3 {
		t.Errorf("ran %s, want each once but the one that failed; logged %s", got, log.String())
	}
	for at, want := range map[uint64]uint64{firstSchema: firstSchema, firstSchema + 1: firstSchema + 1} {
		check.NoError(t, Check(copyOf(path, firstSchema)))
		db := check.Must(bolt.Open(copyOf(path, at), 0o600, &bolt.Options{ReadOnly: true}))(t)
		check.NoError(t, errors.Join(db.View(func(tx *bolt.Tx) error {
			check.Equal(t, schema(tx), want, "the copy %d has schema", at)
			return nil
		}), db.Close()))
	}
	check.NoError(t, s.Close())
	err := check.Err(Open(path, Options{}))
	way := "pressbox restore " + path + ".schema-7"
	check.That(t, errors.Is(err, ErrNewer) && strings.Contains(err.Error(), way),
		"the version before: %v, want %q", err, way)
}

// A store that cannot be copied is not migrated.
func TestMigrate_needsCopy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	s := OpenForTest(t, path, Options{})
	check.NoError(t, os.MkdirAll(path+".schema-7/full", 0o700)) // no file can replace it
	err := s.migrate([]migration{func(*bolt.Tx) error { return errors.New("migrated") }})
	check.That(t, err != nil && strings.Contains(err.Error(), "copy the store before its migration"),
		"migrate: %v", err)
}

// Of the copies, the newest stays for a time; what is none stays.
func TestStore_pruneCopies(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	s := OpenForTest(t, path, Options{})
	for _, name := range []string{".schema-1", ".schema-3", ".schema-7", ".schema-old"} {
		check.NoError(t, os.WriteFile(path+name, nil, 0o600))
	}
	for _, tt := range []struct {
		before time.Time
		want   []string
	}{
		{time.Now().Add(-time.Hour), []string{path + ".schema-7", path + ".schema-old"}},
		{time.Now().Add(time.Hour), []string{path + ".schema-old"}},
	} {
		check.NoError(t, s.PruneCopies(tt.before))
		got := check.Must(filepath.Glob(path + ".schema-*"))(t)
		check.That(t, slices.Equal(got, tt.want), "the copies %q, want %q", got, tt.want)
	}
}

// A store whose creation was interrupted can be opened. Nothing is copied or logged as migrated.
func TestOpen_emptyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	for range 2 { // the second must not replace the first
		check.NoError(t, create(path))
	}
	var log bytes.Buffer
	s := OpenForTest(t, path, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	check.NoError(t, s.update(t.Context(), put("a")))
	left := check.Must(filepath.Glob(filepath.Join(filepath.Dir(path), ".new-*")))(t)
	copies := check.Must(filepath.Glob(path + ".schema-*"))(t)
	check.That(t, len(left)+len(copies) == 0 && log.Len() == 0,
		"unfinished files: %q, copies: %q, logged %s", left, copies, log.String())
}

// A store of the version before, without a bucket that is new, gets it, and can still be opened by that version.
func TestOpen_missingBucket(t *testing.T) {
	t.Parallel()
	path := newFile(t, func(tx *bolt.Tx) error {
		return errors.Join(tx.DeleteBucket(leaguesBucket), tx.DeleteBucket(teamDataBucket))
	})
	s := OpenForTest(t, path, Options{})
	check.NoError(t, errors.Join(
		s.SaveLeague(t.Context(), "a", []byte("{}")), s.SaveTeamData(t.Context(), "b", []byte("{}")),
		s.view(func(tx *bolt.Tx) error {
			check.Equal(t, schema(tx), firstSchema, "schema")
			return nil
		}),
	))
	data, _, err := s.Calibration("5e1f")
	check.That(t, string(data) == "1.2" && err == nil, "the calibration is %q, %v", data, err)
}
