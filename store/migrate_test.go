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
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/auth/session"
	"pressbox/packaging/check"
	"pressbox/store/clock"
	"pressbox/voice/announce"
)

var update = flag.Bool("update", false, "write a store of the present schema into testdata")

// count returns the number of keys in a bucket.
func count(t *testing.T, s *Store, bucket []byte) (n int) {
	t.Helper()
	check.NoError(t, s.view(func(tx *bolt.Tx) error {
		for range pairs(tx.Bucket(bucket)) {
			n++
		}
		return nil
	}))
	return n
}

// unpack returns a copy of a store in testdata.
func unpack(t *testing.T, name string) (path string) {
	t.Helper()
	f := check.Must(os.Open(filepath.Join("testdata", name+".gz")))(t)
	defer f.Close()
	z := check.Must(gzip.NewReader(f))(t)
	data := check.Must(io.ReadAll(z))(t)
	path = filepath.Join(t.TempDir(), name)
	check.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// goldenToken returns the file with the refresh token of a store in testdata.
func goldenToken(schema int) string {
	return filepath.Join("testdata", fmt.Sprintf("schema%d.token", schema))
}

// Announcements, keys and calibrations of every schema are read, sessions (since
// schema 2) renewed, and games (since schema 3) continued.
func TestMigrate_everySchema(t *testing.T) {
	t.Parallel()
	if *update {
		writeGolden(t)
	}
	for schema := 1; schema <= len(migrations); schema++ {
		t.Run(fmt.Sprint(schema), func(t *testing.T) {
			t.Parallel()
			s := OpenForTest(t, unpack(t, fmt.Sprintf("schema%d.db", schema)), Options{})
			waiting, ended, err := s.Load(t.Context())
			if err != nil || len(waiting) != 2 || len(ended) != 1 || ended[0].Message != "over" || waiting[1].Message != "second" {
				t.Errorf("loaded %+v and %+v, %v", waiting, ended, err)
			}
			if json, ok, err := s.Calibration("5e1f"); !ok || err != nil || string(json) != `{"gain":1.2}` {
				t.Errorf("calibration %s, %v, %v", json, ok, err)
			}
			if n := count(t, s, keysBucket); n != 1 {
				t.Errorf("%d keys, want 1", n)
			}
			if schema >= 2 {
				checkGoldenSession(t, s, schema)
			}
			checkGoldenGames(t, s, schema >= 3)
		})
	}
}

// goldenSignIn returns the sign-in of the stores in testdata, in the boot that
// wrote them.
func goldenSignIn(t *testing.T, s *Store) *session.SignIn {
	t.Helper()
	c := check.Must(session.OpenClock(t.Context(), s.Auth(), clock.Source{
		Wall: time.Now, Since: func() time.Duration { return time.Minute }, Boot: "boot",
	}, time.Time{}))(t)
	return authtest.NewSignIn(t, s.Auth(), c, slog.New(slog.DiscardHandler))
}

func checkGoldenSession(t *testing.T, s *Store, schema int) {
	t.Helper()
	text := check.Must(os.ReadFile(goldenToken(schema)))(t)
	token, ok := auth.ParseToken(string(text))
	if !ok {
		t.Fatal("no token")
	}
	in := goldenSignIn(t, s).Sessions
	pair := check.Must(in.Refresh(t.Context(), token))(t)
	caller, err := in.Authenticate(t.Context(), auth.RequestCredentials{FrameToken: pair.Access.Reveal()})
	if err != nil || caller.Account.Name != "Anna" || caller.Account.Created.IsZero() {
		t.Errorf("caller %+v, %v", caller, err)
	}
}

func checkGoldenGames(t *testing.T, s *Store, stored bool) {
	t.Helper()
	check.NoError(t, appendGame(s, "new", 1, 2, ""))
	checkMoves(t, s, "new", 2)
	if !stored {
		return
	}
	check.NoError(t, appendGame(s, "active", 6, 6, ""))
	checkMoves(t, s, "active", 6)
	checkMoves(t, s, "over", 41)
	boxes, err := s.Games().Boxes(t.Context(), []string{"over"})
	if err != nil || string(boxes["over"]) != "box" {
		t.Errorf("boxes %q, %v", boxes, err)
	}
}

// writeGolden writes the store of the present schema into testdata.
func writeGolden(t *testing.T) {
	t.Helper()
	s := OpenForTest(t, "", Options{})
	wall := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	s.now = func() clock.Moment { return at(wall, "boot", time.Hour) }
	for i, message := range []string{"over", "first", "second"} {
		n := announce.Announcement{
			ID: fmt.Sprint("id", i), Seq: uint64(i + 1), Content: announce.Content{Message: message, Voice: "en_US-pressbox-medium", Rate: 170}, Created: wall, Expires: wall.Add(time.Hour), Status: announce.Queued,
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
		check.NoError(t, err)
	}
	token := authtest.Run(t, goldenSignIn(t, s)).Refresh.Reveal()
	f := check.Must(os.Create(filepath.Join("testdata", fmt.Sprintf("schema%d.db.gz", len(migrations)))))(t)
	z := gzip.NewWriter(f)
	check.NoError(t, errors.Join(
		s.SaveCalibration("5e1f", []byte(`{"gain":1.2}`)),
		os.WriteFile(goldenToken(len(migrations)), []byte(token), 0o600),
		appendGame(s, "over", 1, 40, "box"), appendGame(s, "over", 41, 41, ""), appendGame(s, "active", 1, 5, ""),
		s.Backup(z), z.Close(), f.Close(),
	))
}

// Migrations run in order, each once and in one transaction.
func TestMigrate_steps(t *testing.T) {
	t.Parallel()
	path := unpack(t, "schema1.db")
	s := check.Must(Open(path, Options{}))(t)
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
	for range 2 {
		check.NoError(t, s.migrate(steps)) // again
	}
	if got := fmt.Sprint(ran); got != "[two three three four]" {
		t.Errorf("ran %s, want each once but the one that failed", got)
	}
	check.NoError(t, s.Close())
	for range 2 { // the first must not keep the file locked
		if _, err := Open(path, Options{}); !errors.Is(err, ErrNewer) {
			t.Errorf("open a newer store: %v, want %v", err, ErrNewer)
		}
	}
}

// A store is copied before it is migrated, and never else. The version before can go on with
// the copy, which the error names, and does not open the migrated store.
func TestMigrate_savesCopy(t *testing.T) {
	t.Parallel()
	const before = 5
	path := unpack(t, "schema5.db")
	copies := func() []string {
		return check.Must(filepath.Glob(filepath.Join(filepath.Dir(path), "*.schema-*")))(t)
	}
	s := check.Must(Open(path, Options{}))(t)
	err := s.migrate(migrations[:before]) // as the version before does
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "pressbox restore "+path+".schema-5") {
		t.Errorf("the version before: %v", err)
	}
	check.NoError(t, s.Close())
	if got := copies(); len(got) != 1 {
		t.Fatalf("copies %q, want one", got)
	}
	check.NoError(t, Check(copies()[0]))
	db := check.Must(bolt.Open(copies()[0], 0o600, &bolt.Options{ReadOnly: true}))(t)
	defer check.Close(t, db)
	check.NoError(t, db.View(func(tx *bolt.Tx) error {
		if got := schema(tx); got != before {
			t.Errorf("the copy has schema %d, want %d", got, before)
		}
		return nil
	}))

	path = filepath.Join(t.TempDir(), "new.db")
	for range 2 {
		check.NoError(t, check.Must(Open(path, Options{}))(t).Close())
	}
	if got := copies(); len(got) != 0 {
		t.Errorf("a store of the present schema: copies %q", got)
	}
}

// Of the copies, the newest stays for a time; what is none stays.
func TestStore_pruneCopies(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	s := OpenForTest(t, path, Options{})
	for _, name := range []string{".schema-1", ".schema-3", ".schema-5", ".schema-old"} {
		check.NoError(t, os.WriteFile(path+name, nil, 0o600))
	}
	for _, tt := range []struct {
		before time.Time
		want   []string
	}{
		{time.Now().Add(-time.Hour), []string{path + ".schema-5", path + ".schema-old"}},
		{time.Now().Add(time.Hour), []string{path + ".schema-old"}},
	} {
		check.NoError(t, s.PruneCopies(tt.before))
		if got := check.Must(filepath.Glob(path + ".schema-*"))(t); !slices.Equal(got, tt.want) {
			t.Errorf("the copies %q, want %q", got, tt.want)
		}
	}
}

// A store that cannot be copied is not migrated.
func TestMigrate_needsCopy(t *testing.T) {
	t.Parallel()
	path := unpack(t, "schema5.db")
	check.NoError(t, os.MkdirAll(path+".schema-5/full", 0o700)) // no file can replace it
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "copy the store before its migration") {
		t.Errorf("open: %v", err)
	}
	db := check.Must(bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true}))(t)
	defer check.Close(t, db)
	check.NoError(t, db.View(func(tx *bolt.Tx) error {
		if got := schema(tx); got != 5 {
			t.Errorf("the store has schema %d, want 5", got)
		}
		return nil
	}))
}

// A migration is logged; the creation of a store is not.
func TestMigrate_logged(t *testing.T) {
	t.Parallel()
	logged := func(path string) int {
		var text bytes.Buffer
		OpenForTest(t, path, Options{Log: slog.New(slog.NewTextHandler(&text, nil))})
		return bytes.Count(text.Bytes(), []byte("store migrated"))
	}
	if n := logged(""); n != 0 {
		t.Errorf("a new store: %d migrations logged, want 0", n)
	}
	if n, want := logged(unpack(t, "schema1.db")), len(migrations)-1; n != want {
		t.Errorf("a store of schema 1: %d migrations logged, want %d", n, want)
	}
}

// A store whose creation was interrupted before the first migration can be opened.
func TestOpen_emptyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	for range 2 { // the second must not replace the first
		check.NoError(t, create(path))
	}
	s := OpenForTest(t, path, Options{})
	check.NoError(t, s.update(t.Context(), put("a")))
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".new-*")); len(left) > 0 {
		t.Errorf("unfinished files: %v", left)
	}
}
