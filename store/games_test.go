package store

import (
	"bytes"
	"context"
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

	"pressbox/game/live"
	"pressbox/packaging/check"
)

// appendGame appends moves whose text is their revision.
func appendGame(s *Store, id string, first, last uint64, box string) error {
	c := live.Change{Game: id, Summary: fmt.Appendf(nil, "summary of %s at %d", id, last), First: first}
	for rev := first; rev <= last; rev++ {
		c.Moves = append(c.Moves, fmt.Appendf(nil, "%s %d", id, rev))
	}
	if box != "" {
		c.Box = []byte(box)
	}
	_, err := s.Games().Append(context.Background(), c)
	return err
}

// checkMoves checks that a game has the moves from 1 to last.
func checkMoves(t *testing.T, s *Store, id string, last uint64) {
	t.Helper()
	moves, err := s.Games().Moves(t.Context(), id)
	check.Require(t, err == nil && len(moves) == int(last), "%d moves of %s, %v, want %d", len(moves), id, err, last)
	for i, m := range moves {
		check.Equal(t, string(m), fmt.Sprintf("%s %d", id, i+1), "move")
	}
}

// Moves are stored in order, and survive a restart.
func TestJournal_order(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	s := check.Must(Open(path, Options{}))(t)
	check.NoError(t, errors.Join(
		appendGame(s, "one", 1, 3, ""), appendGame(s, "two", 1, 1, ""), appendGame(s, "one", 4, 300, ""),
	))
	for _, first := range []uint64{300, 302, 1, 0} {
		check.ErrorIs(t, appendGame(s, "one", first, first, ""), errOrder, "move %d after 300", first)
	}
	check.NoError(t, s.Close())
	s = OpenForTest(t, path, Options{})
	checkMoves(t, s, "one", 300)
	checkMoves(t, s, "two", 1)
	checkMoves(t, s, "unknown", 0)
	summaries, err := s.Games().Summaries(t.Context())
	check.That(t, err == nil && len(summaries) == 2 && string(summaries["one"].Summary) == "summary of one at 300" &&
		string(summaries["two"].Summary) == "summary of two at 1", "summaries %+v, %v", summaries, err)
}

// The moves of a finished game are packed, and later ones follow them.
func TestJournal_packed(t *testing.T) {
	s := NewForTest(t, Options{})
	box := strings.Repeat("a box score ", 1000)
	check.NoError(t, errors.Join(
		appendGame(s, "one", 1, 200, ""), appendGame(s, "one", 201, 202, box), appendGame(s, "one", 203, 203, ""),
	))
	checkMoves(t, s, "one", 203)
	check.ErrorIs(t, appendGame(s, "one", 203, 203, ""), errOrder, "move 203 again")
	boxes, err := s.Games().Boxes(t.Context(), []string{"one", "two"})
	check.That(t, err == nil && len(boxes) == 1 && string(boxes["one"]) == box, "boxes %.40q, %v", boxes, err)
	look(t, s, func(tx *bolt.Tx) {
		check.Equal(t, tx.Bucket(movesBucket).Bucket([]byte("one")).Stats().KeyN, 1, "moves are not packed")
		n := len(tx.Bucket(boxesBucket).Get([]byte("one")))
		check.That(t, n <= len(box)/10, "the box takes %d bytes of %d", n, len(box))
	})
}

// A replaced move takes the place of the earlier one, and no more room; one that is not there, or packed, is refused.
func TestJournal_replaced(t *testing.T) {
	s := NewForTest(t, Options{})
	check.NoError(t, errors.Join(appendGame(s, "one", 1, 3, ""), appendGame(s, "two", 1, 2, "box")))
	replace := func(id string, rev uint64, text string) (live.Space, error) {
		return s.Games().Append(t.Context(), live.Change{
			Game: id, Summary: []byte("s"), First: rev, Moves: [][]byte{[]byte(text)}, Replace: true,
		})
	}
	first := check.Must(replace("one", 2, "other"))(t)
	for range 100 {
		check.Equal(t, check.Must(replace("one", 2, "again"))(t).Game, first.Game, "bytes")
	}
	for id, rev := range map[string]uint64{"one": 4, "two": 2, "three": 1} {
		check.ErrorIs(t, check.Err(replace(id, rev, "x")), errOrder, "move %d of %s", rev, id)
	}
	moves := check.Must(s.Games().Moves(t.Context(), "one"))(t)
	check.Equal(t, string(bytes.Join(moves, []byte("|"))), "one 1|again|one 3", "moves")
	check.NoError(t, errors.Join(appendGame(s, "one", 4, 5, "box"), s.recount()))
	all := check.Must(s.Games().Summaries(t.Context()))(t)
	check.That(t, all["one"].Bytes > 0 && all["one"].Bytes < first.Game, "packed, %+v after %+v", all["one"], first)
}

// A deleted game leaves nothing.
func TestJournal_delete(t *testing.T) {
	s := NewForTest(t, Options{})
	check.NoError(t, errors.Join(
		appendGame(s, "one", 1, 2, "box"), appendGame(s, "one", 3, 3, ""), appendGame(s, "two", 1, 1, ""),
	))
	for range 2 { // also if there is none
		check.Must(s.Games().Append(t.Context(), live.Change{Game: "one"}))(t)
	}
	look(t, s, func(tx *bolt.Tx) {
		for _, bucket := range [][]byte{summariesBucket, packsBucket, boxesBucket, movesBucket} {
			b := tx.Bucket(bucket)
			check.That(t, b.Get([]byte("one")) == nil && b.Bucket([]byte("one")) == nil, "%s still has it", bucket)
		}
	})
	check.NoError(t, appendGame(s, "one", 1, 2, "")) // the same id again
	checkMoves(t, s, "two", 1)
}

// A nearly full share of games is reported, a full one rejects new games before it rejects moves.
func TestJournal_full(t *testing.T) {
	s := NewForTest(t, Options{MaxSize: 4 << 20})
	check.NoError(t, appendGame(s, "one", 1, 1, ""))
	n := uint64(2)
	move := func() (nearlyFull bool, err error) {
		c := live.Change{Game: "one", Summary: []byte("h"), First: n, Moves: [][]byte{bytes.Repeat([]byte("x"), 8<<10)}}
		space, err := s.Games().Append(t.Context(), c)
		if err == nil {
			n++
		}
		return space.Crowded, err
	}
	for nearlyFull := false; !nearlyFull; {
		nearlyFull = check.Must(move())(t)
	}
	check.NoError(t, errors.Join(appendGame(s, "two", 1, 1, ""), s.Health())) // a new game in a nearly full share
	for appendGame(s, fmt.Sprint(n), 1, 1, "") == nil {
		check.Must(move())(t) // a move before new games are rejected
	}
	check.Must(move())(t) // a move when new games are rejected
	var err error
	for err == nil {
		_, err = move()
	}
	check.That(t, errors.Is(err, live.ErrFull) && s.Health() == nil,
		"a move in a full share: %v, health %v; want %v and nil", err, s.Health(), live.ErrFull)
	_, err = s.Games().Append(t.Context(), live.Change{Game: "one"})
	check.NoError(t, errors.Join(err, appendGame(s, "three", 1, 1, ""))) // a new game after an old one was deleted
}

// A value larger than any game is damage, and is not truncated.
func TestDecompress_limit(t *testing.T) {
	t.Parallel()
	part := check.Must(compress(make([]byte, 1<<20)))(t)
	parts := bytes.Repeat(part, maxDecompressed>>20+1) // gzip reads them as one
	plain, err := decompress(parts)
	check.That(t, errors.Is(err, ErrCorrupt), "%d bytes, %v, want %v", len(plain), err, ErrCorrupt)
}

// FuzzPack decodes any bytes as packed moves, compressed or not: it finds moves that are in them, or damage.
func FuzzPack(f *testing.F) {
	for _, plain := range []string{
		"", "\x03abc", "\x03abc\x00\x02de", "\x05abc", strings.Repeat("\xff", 9) + "\x01", "\x80",
	} {
		f.Add([]byte(plain))
	}
	f.Add(check.Must(compress([]byte("\x03abc")))(f)[:20]) // cut
	read := func(t *testing.T, pack []byte) [][]byte {
		t.Helper()
		moves, err := unpackMoves(pack)
		check.Require(t, err == nil || errors.Is(err, ErrCorrupt), "%v, want %v", err, ErrCorrupt)
		return moves
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read(t, data)
		pack := check.Must(compress(data))(t)
		rest := data
		for _, m := range read(t, pack) {
			i := bytes.Index(rest, m)
			check.Require(t, i >= 0, "the move %x is not in %x", m, data)
			rest = rest[i+len(m):]
		}
	})
}

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
