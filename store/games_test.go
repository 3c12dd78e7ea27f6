package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"pressbox/game/live"
)

// keepMoves keeps moves of a game that say their revisions.
func keepMoves(s *Store, id string, first, last uint64, box string) error {
	c := live.Change{Game: id, Summary: fmt.Appendf(nil, "head of %s at %d", id, last), First: first}
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
	if err != nil || len(moves) != int(last) {
		t.Fatalf("%d moves of %s, %v, want %d", len(moves), id, err, last)
	}
	for i, m := range moves {
		if want := fmt.Sprintf("%s %d", id, i+1); string(m) != want {
			t.Errorf("move %q, want %q", m, want)
		}
	}
}

func TestMovesAreKeptInOrderOverARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		keepMoves(s, "one", 1, 3, ""), keepMoves(s, "two", 1, 1, ""), keepMoves(s, "one", 4, 300, ""),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, first := range []uint64{300, 302, 1, 0} {
		if err := keepMoves(s, "one", first, first, ""); !errors.Is(err, errOrder) {
			t.Errorf("move %d after 300: %v, want %v", first, err, errOrder)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	checkMoves(t, s, "one", 300)
	checkMoves(t, s, "two", 1)
	checkMoves(t, s, "unknown", 0)
	heads, err := s.Games().Summaries(t.Context())
	want := map[string][]byte{"one": []byte("head of one at 300"), "two": []byte("head of two at 1")}
	if err != nil || !reflect.DeepEqual(heads, want) {
		t.Errorf("heads %q, %v", heads, err)
	}
}

func TestAGameThatEndedIsPackedAndGoesOn(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	box := strings.Repeat("a box score ", 1000)
	for _, err := range []error{
		keepMoves(s, "one", 1, 200, ""), keepMoves(s, "one", 201, 202, box), keepMoves(s, "one", 203, 203, ""),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	checkMoves(t, s, "one", 203)
	if err := keepMoves(s, "one", 203, 203, ""); !errors.Is(err, errOrder) {
		t.Errorf("move 203 again: %v, want %v", err, errOrder)
	}
	boxes, err := s.Games().Boxes(t.Context(), []string{"one", "two"})
	if err != nil || len(boxes) != 1 || string(boxes["one"]) != box {
		t.Errorf("boxes %.40q, %v", boxes, err)
	}
	err = s.view(func(tx *bolt.Tx) error {
		if n := tx.Bucket(movesBucket).Bucket([]byte("one")).Stats().KeyN; n != 1 {
			t.Errorf("%d moves are not packed, want the one after the end", n)
		}
		if n := len(tx.Bucket(boxesBucket).Get([]byte("one"))); n > len(box)/10 {
			t.Errorf("the box takes %d bytes of %d", n, len(box))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAGameIsForgottenWhole(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	for _, err := range []error{
		keepMoves(s, "one", 1, 2, "box"), keepMoves(s, "one", 3, 3, ""), keepMoves(s, "two", 1, 1, ""),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // one that is not there is well
		if _, err := s.Games().Append(t.Context(), live.Change{Game: "one"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, bucket := range [][]byte{summariesBucket, packsBucket, boxesBucket, movesBucket} {
		err := s.view(func(tx *bolt.Tx) error {
			for id := range pairs(tx.Bucket(bucket)) {
				if string(id) == "one" {
					t.Errorf("%s has it still", bucket)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := keepMoves(s, "one", 1, 2, ""); err != nil {
		t.Errorf("the same id anew: %v", err)
	}
	checkMoves(t, s, "two", 1)
}

// A store without much room says so to who plays, then refuses new games, and keeps what is being played.
func TestAFullStoreTakesMovesButNoNewGames(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{MaxSize: 4 << 20})
	if err := keepMoves(s, "one", 1, 1, ""); err != nil {
		t.Fatal(err)
	}
	n := uint64(2)
	move := func() (crowded bool) {
		crowded, err := s.Games().Append(t.Context(), live.Change{Game: "one", Summary: []byte("h"), First: n, Moves: [][]byte{bytes.Repeat([]byte("x"), 50<<10)}})
		if err != nil {
			t.Fatalf("move %d: %v", n, err)
		}
		n++
		return crowded
	}
	for !move() {
	}
	if err := errors.Join(keepMoves(s, "two", 1, 1, ""), s.Health()); err != nil {
		t.Errorf("a new game with little room: %v", err)
	}
	for s.Health() == nil {
		move()
	}
	if err := keepMoves(s, "three", 1, 1, ""); !errors.Is(err, live.ErrFull) {
		t.Errorf("a new game: %v, want %v", err, live.ErrFull)
	}
	if err := keepMoves(s, "one", n, n, ""); err != nil {
		t.Errorf("a move: %v", err)
	}
	if _, err := s.Games().Append(t.Context(), live.Change{Game: "one"}); err != nil {
		t.Fatal(err)
	}
	if err := keepMoves(s, "three", 1, 1, ""); err != nil {
		t.Errorf("a new game, after an old one has gone: %v", err)
	}
}

// The store is crowded from about nine tenths on, and only then full.
func TestTheStoreIsCrowdedBeforeItIsFull(t *testing.T) {
	t.Parallel()
	for _, most := range []int64{2 << 20, 4 << 20, 8 << 20, 16 << 20, 64 << 20, 512 << 20, 8 << 30} {
		crowded, full := most, most
		for size := most; size > 0; size -= 64 << 10 {
			st := Stats{Size: size, Max: most}
			if st.NearlyFull() {
				crowded = size
			}
			if st.left() < st.reserve() {
				full = size
			}
		}
		if crowded >= full || most-full < most/16 {
			t.Errorf("of %d bytes: crowded from %d, full from %d", most, crowded, full)
		}
		if share := float64(crowded) / float64(most); most >= 512<<20 && (share < .895 || share > .905 || float64(full) < .93*float64(most)) {
			t.Errorf("of %d bytes: crowded from %.3f, full from %.3f", most, share, float64(full)/float64(most))
		}
	}
}

// A pack that is larger than any game is damage, and does not become a shorter one.
func TestAPackThatIsTooLargeIsNoGame(t *testing.T) {
	t.Parallel()
	packed, err := compress(make([]byte, maxDecompressed+1))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := decompress(packed); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%d bytes, %v, want %v", len(plain), err, ErrCorrupt)
	}
}

func TestAPackThatIsDamagedIsNoGame(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	if err := keepMoves(s, "one", 1, 50, "box"); err != nil {
		t.Fatal(err)
	}
	var pack []byte
	err := s.view(func(tx *bolt.Tx) error {
		pack = bytes.Clone(tx.Bucket(packsBucket).Get([]byte("one")))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var cut bytes.Buffer
	z := gzip.NewWriter(&cut)
	z.Write([]byte("\x05abc"))
	z.Close()
	for name, damaged := range map[string][]byte{"no gzip": []byte("one"), "cut": pack[:len(pack)-9], "short": cut.Bytes()} {
		err := s.update(t.Context(), func(tx *bolt.Tx) error { return tx.Bucket(packsBucket).Put([]byte("one"), damaged) })
		if err != nil {
			t.Fatal(err)
		}
		if moves, err := s.Games().Moves(t.Context(), "one"); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %d moves, %v, want %v", name, len(moves), err, ErrCorrupt)
		}
	}
}

// FuzzPack reads anything as a pack of moves, as it is and as what was packed: it is moves that lie in it, or damage.
func FuzzPack(f *testing.F) {
	for _, plain := range []string{"", "\x03abc", "\x03abc\x00\x02de", "\x05abc", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x80"} {
		f.Add([]byte(plain))
	}
	read := func(t *testing.T, pack []byte) [][]byte {
		t.Helper()
		moves, err := unpackMoves(pack)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%v, want %v", err, ErrCorrupt)
		}
		return moves
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read(t, data)
		pack, err := compress(data)
		if err != nil {
			t.Fatal(err)
		}
		rest := data
		for _, m := range read(t, pack) {
			i := bytes.Index(rest, m)
			if i < 0 {
				t.Fatalf("the move %x is not in %x", m, data)
			}
			rest = rest[i+len(m):]
		}
	})
}

func TestAClosedStoreKeepsNoGame(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := keepMoves(s, "one", 1, 1, ""); !errors.Is(err, ErrClosed) {
		t.Errorf("keep: %v, want %v", err, ErrClosed)
	}
	if _, err := s.Games().Summaries(context.Background()); !errors.Is(err, ErrClosed) {
		t.Errorf("heads: %v, want %v", err, ErrClosed)
	}
}

// playGolden keeps two games in a store that will be read for ever.
func playGolden(t *testing.T, s *Store) {
	t.Helper()
	for _, err := range []error{keepMoves(s, "over", 1, 40, "box"), keepMoves(s, "over", 41, 41, ""), keepMoves(s, "active", 1, 5, "")} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Games of every schema that has them go on.
func TestOldGamesGoOn(t *testing.T) {
	t.Parallel()
	for schema := 3; schema <= len(migrations); schema++ {
		s, err := Open(unpack(t, fmt.Sprintf("schema%d.db", schema)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := keepMoves(s, "active", 6, 6, ""); err != nil {
			t.Errorf("schema %d: %v", schema, err)
		}
		checkMoves(t, s, "active", 6)
		checkMoves(t, s, "over", 41)
		boxes, err := s.Games().Boxes(t.Context(), []string{"over"})
		if err != nil || string(boxes["over"]) != "box" {
			t.Errorf("schema %d: boxes %q, %v", schema, boxes, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A store from before there were games can have some.
func TestAnOlderStoreTakesGames(t *testing.T) {
	t.Parallel()
	for schema := 1; schema < 3; schema++ {
		s, err := Open(unpack(t, fmt.Sprintf("schema%d.db", schema)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := keepMoves(s, "one", 1, 2, ""); err != nil {
			t.Errorf("schema %d: %v", schema, err)
		}
		checkMoves(t, s, "one", 2)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
