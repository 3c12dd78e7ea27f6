package store

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"pressbox/clock"
	"pressbox/voice/announce"
)

var update = flag.Bool("update", false, "write the store of the present schema into testdata")

// count returns how many keys a bucket has.
func count(t *testing.T, s *Store, bucket []byte) (n int) {
	t.Helper()
	err := s.view(func(tx *bolt.Tx) error {
		for range pairs(tx.Bucket(bucket)) {
			n++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// unpack returns a copy of a store in testdata.
func unpack(t *testing.T, name string) (path string) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEveryOldSchemaIsRead opens a store of each schema there has been.
func TestEveryOldSchemaIsRead(t *testing.T) {
	t.Parallel()
	if *update {
		writeGolden(t)
	}
	for schema := 1; schema <= len(migrations); schema++ {
		s, err := Open(unpack(t, fmt.Sprintf("schema%d.db", schema)), Options{})
		if err != nil {
			t.Fatalf("schema %d: %v", schema, err)
		}
		waiting, ended, err := s.Load(t.Context())
		if err != nil || len(waiting) != 2 || len(ended) != 1 || ended[0].Message != "over" || waiting[1].Message != "second" {
			t.Errorf("schema %d: loaded %+v and %+v, %v", schema, waiting, ended, err)
		}
		if json, ok, err := s.Calibration("5e1f"); !ok || err != nil || string(json) != `{"gain":1.2}` {
			t.Errorf("schema %d: calibration %s, %v, %v", schema, json, ok, err)
		}
		if n := count(t, s, keysBucket); n != 1 {
			t.Errorf("schema %d: %d keys, want 1", schema, n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// writeGolden writes what TestEveryOldSchemaIsRead will read for ever.
func writeGolden(t *testing.T) {
	t.Helper()
	s := newStore(t, Options{})
	wall := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	s.now = func() clock.Moment { return at(wall, "boot", time.Hour) }
	for i, message := range []string{"over", "first", "second"} {
		n := announce.Announcement{
			ID: fmt.Sprint("id", i), Seq: uint64(i + 1), Message: message, Voice: "en_US-pressbox-medium", Rate: 170,
			Created: wall, Expires: wall.Add(time.Hour), Status: announce.Queued,
		}
		key := announce.IdempotencyKey{}
		if i == 2 {
			key.Key = "key"
		}
		_, _, err := s.Append(t.Context(), n, key)
		if i == 0 {
			n.Status, n.Started, n.Ended = announce.Done, wall, wall
			err = errors.Join(err, s.Done(t.Context(), n))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SaveCalibration("5e1f", []byte(`{"gain":1.2}`)); err != nil {
		t.Fatal(err)
	}
	enterGolden(t, s)
	playGolden(t, s)
	f, err := os.Create(filepath.Join("testdata", fmt.Sprintf("schema%d.db.gz", len(migrations))))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if err := errors.Join(s.Backup(z), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestMigrationsRunInOrderOnceAndWhole(t *testing.T) {
	t.Parallel()
	path := unpack(t, "schema1.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var ran []string
	step := func(name string, fault error) migration {
		return func(tx *bolt.Tx) error {
			ran = append(ran, name)
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
			return fault
		}
	}
	old := len(migrations)
	steps := append(migrations[:old:old], step("two", nil), step("three", errRefused), step("four", nil))
	if err := s.migrate(steps); !errors.Is(err, errRefused) {
		t.Errorf("migrate: %v, want the third step's error", err)
	}
	steps[old+1] = step("three", nil)
	if err := s.migrate(steps); err != nil {
		t.Errorf("migrate again: %v", err)
	}
	if err := s.migrate(steps); err != nil {
		t.Errorf("migrate what is migrated: %v", err)
	}
	if got := fmt.Sprint(ran); got != "[two three three four]" {
		t.Errorf("ran %s, want each once but the one that failed", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, ErrNewer) {
		t.Errorf("open a newer store: %v, want ErrNewer", err)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, ErrNewer) {
		t.Errorf("open a newer store again: %v, want ErrNewer and not a lock", err)
	}
}

func TestOnlyAnOldStoreIsSaidToBeMigrated(t *testing.T) {
	t.Parallel()
	said := func(path string) int {
		var text bytes.Buffer
		s, err := Open(path, Options{Log: slog.New(slog.NewTextHandler(&text, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		return bytes.Count(text.Bytes(), []byte("store migrated"))
	}
	if n := said(filepath.Join(t.TempDir(), "pressbox.db")); n != 0 {
		t.Errorf("a new store was said to be migrated %d times", n)
	}
	if n, want := said(unpack(t, "schema1.db")), len(migrations)-1; n != want {
		t.Errorf("a store of schema 1 was said to be migrated %d times, want %d", n, want)
	}
}

func TestAStoreThatWasNeverBegunIsBegun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	if err := create(path); err != nil { // and then the power went
		t.Fatal(err)
	}
	if err := create(path); err != nil {
		t.Errorf("make what is there: %v", err)
	}
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.update(t.Context(), put("a")); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".new-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
