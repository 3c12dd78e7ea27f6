package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	bolt "go.etcd.io/bbolt"
)

var errRefused = errors.New("refused")

func newStore(tb testing.TB, o Options) *Store {
	tb.Helper()
	s, err := Open(filepath.Join(tb.TempDir(), "pressbox.db"), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// put returns a change that puts a key, and counts it.
func put(key string) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		b := tx.Bucket(metaBucket)
		if err := b.SetSequence(b.Sequence() + 1); err != nil {
			return err
		}
		return b.Put([]byte(key), []byte("x"))
	}
}

// has says whether put put a key, and how many it counted.
func has(t *testing.T, s *Store, key string) (ok bool, count uint64) {
	t.Helper()
	err := s.view(func(tx *bolt.Tx) error {
		b := tx.Bucket(metaBucket)
		ok, count = b.Get([]byte(key)) != nil, b.Sequence()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ok, count
}

// together runs changes in one group and returns their errors.
func together(t *testing.T, s *Store, fns ...func(*bolt.Tx) error) []error {
	t.Helper()
	errs := make([]error, len(fns))
	var wait sync.WaitGroup
	hold := make(chan struct{})
	wait.Go(func() {
		if err := s.update(context.Background(), func(*bolt.Tx) error { <-hold; return nil }); err != nil {
			t.Errorf("the change that all wait for: %v", err)
		}
	})
	synctest.Wait()
	for i, fn := range fns {
		wait.Go(func() { errs[i] = s.update(context.Background(), fn) })
		synctest.Wait()
	}
	close(hold)
	wait.Wait()
	return errs
}

func TestWhoComesTogetherSharesASync(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, Options{})
		before := s.commits.Load()
		var fns []func(*bolt.Tx) error
		for i := range 63 {
			fns = append(fns, put(fmt.Sprint("k", i)))
		}
		for i, err := range together(t, s, fns...) {
			if ok, _ := has(t, s, fmt.Sprint("k", i)); !ok || err != nil {
				t.Errorf("change %d: kept %v, %v", i, ok, err)
			}
		}
		if n := s.commits.Load() - before; n != 2 {
			t.Errorf("%d commits for one change and 63 that came meanwhile, want 2", n)
		}
	})
}

func TestOneAloneDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, Options{})
		begin, before := time.Now(), s.commits.Load()
		for range 10 {
			if err := s.update(t.Context(), put("k")); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("waited %s for company", took)
		}
		if n := s.commits.Load() - before; n != 10 {
			t.Errorf("%d commits for 10 changes", n)
		}
	})
}

func TestAFailureInAGroupFailsNobodyElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, Options{})
		fail := func(key string) func(*bolt.Tx) error {
			return func(tx *bolt.Tx) error {
				if err := put(key)(tx); err != nil {
					return err
				}
				return fmt.Errorf("%s: %w", key, errRefused)
			}
		}
		errs := together(t, s, fail("a"), put("b"), fail("c"), put("d"), fail("e"))
		for i, want := range []bool{false, true, false, true, false} {
			key := string(rune('a' + i))
			ok, count := has(t, s, key)
			if ok != want || count != 2 {
				t.Errorf("%s is kept: %v, want %v; %d changes, want 2", key, ok, want, count)
			}
			if !want && (!errors.Is(errs[i], errRefused) || !strings.HasPrefix(errs[i].Error(), key)) {
				t.Errorf("%s: %v, want its own refusal", key, errs[i])
			}
			if want && errs[i] != nil {
				t.Errorf("%s: %v", key, errs[i])
			}
		}
		if err := s.Health(); err != nil {
			t.Errorf("health after refusals: %v", err)
		}
	})
}

func TestARefusalRestsOnWhatIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, Options{})
		runs := 0
		fickle := func(tx *bolt.Tx) error { // puts a once, and then never again
			if runs++; runs > 1 {
				return errRefused
			}
			return put("a")(tx)
		}
		unless := func(tx *bolt.Tx) error { // refuses when it sees a
			if tx.Bucket(metaBucket).Get([]byte("a")) != nil {
				return errRefused
			}
			return put("b")(tx)
		}
		errs := together(t, s, fickle, unless, put("c"))
		if !errors.Is(errs[0], errRefused) || errs[1] != nil || errs[2] != nil {
			t.Errorf("%v, want only the first refused: what the second saw was never kept", errs)
		}
	})
}

func TestOneThatIsTooMuchForTheDiskFailsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, Options{MaxSize: 2 << 20})
		huge := func(tx *bolt.Tx) error {
			return tx.Bucket(metaBucket).Put([]byte("huge"), make([]byte, 4<<20))
		}
		errs := together(t, s, put("a"), huge, put("b"))
		if errs[0] != nil || !errors.Is(errs[1], ErrFull) || errs[2] != nil {
			t.Errorf("%v, want only the second refused, as ErrFull", errs)
		}
		if _, count := has(t, s, "a"); count != 2 {
			t.Errorf("%d changes are kept, want 2", count)
		}
	})
}

func TestAnEndedContextChangesNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.update(ctx, put("a")); !errors.Is(err, context.Canceled) {
		t.Errorf("update: %v, want context.Canceled", err)
	}
	if ok, _ := has(t, s, "a"); ok {
		t.Error("it was kept")
	}
}

func TestCloseWritesWhatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, Options{})
		hold := make(chan struct{})
		outcomes := make(chan error, 12)
		update := func(fn func(*bolt.Tx) error) {
			go func() { outcomes <- s.update(context.Background(), fn) }()
			synctest.Wait()
		}
		update(func(*bolt.Tx) error { <-hold; return nil })
		for i := range 10 {
			update(put(fmt.Sprint(i)))
		}
		go func() { outcomes <- s.Close() }()
		synctest.Wait()
		close(hold)
		for range 12 {
			if err := <-outcomes; err != nil {
				t.Errorf("what came before the end: %v", err)
			}
		}
		if err := s.update(t.Context(), put("late")); !errors.Is(err, ErrClosed) {
			t.Errorf("what comes after the end: %v, want ErrClosed", err)
		}
	})
}

// TestGroupsUnderLoad has many writers, some of which fail, and counts.
func TestGroupsUnderLoad(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var kept atomic.Uint64
	var wait sync.WaitGroup
	for writer := range 32 {
		wait.Go(func() {
			for i := range 50 {
				fails := (writer+i)%7 == 0
				err := s.update(t.Context(), func(tx *bolt.Tx) error {
					if err := put(fmt.Sprintf("%d-%d", writer, i))(tx); err != nil {
						return err
					}
					if fails {
						return errRefused
					}
					return nil
				})
				switch {
				case err == nil && !fails:
					kept.Add(1)
				case !errors.Is(err, errRefused) || !fails:
					t.Errorf("change %d-%d: %v, fails %v", writer, i, err, fails)
				}
			}
		})
	}
	wait.Wait()
	if st, err := s.Stats(); err != nil || st.Commits > kept.Load()/2 {
		t.Errorf("%d commits for %d changes, %v, want at most half", st.Commits, kept.Load(), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, count := has(t, s, "0-1"); count != kept.Load() {
		t.Errorf("%d changes are in the file, %d were confirmed", count, kept.Load())
	}
}

func TestAnUnconfirmedChangeIsTheLast(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	var id int
	err := s.update(t.Context(), func(tx *bolt.Tx) error { id = tx.ID(); return nil })
	if err != nil {
		t.Fatal(err)
	}
	// The disk took transaction id, as everybody can read, but reports now
	// that it could not sync it.
	if err := s.recordOutcome(id, errors.New("input/output error")); !errors.Is(err, ErrUnconfirmed) {
		t.Errorf("diagnosis: %v, want ErrUnconfirmed", err)
	}
	if err := s.update(t.Context(), put("a")); !errors.Is(err, ErrUnconfirmed) {
		t.Errorf("the next change: %v, want ErrUnconfirmed", err)
	}
	if err := s.Health(); !errors.Is(err, ErrUnconfirmed) {
		t.Errorf("health: %v, want ErrUnconfirmed", err)
	}
}

func TestHealthTriesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, Options{MaxSize: 2 << 20, Log: slog.New(slog.DiscardHandler)})
		err := s.update(t.Context(), func(tx *bolt.Tx) error {
			return tx.Bucket(metaBucket).Put([]byte("huge"), make([]byte, 4<<20))
		})
		if !errors.Is(err, ErrFull) {
			t.Fatalf("a huge change: %v, want ErrFull", err)
		}
		before := s.commits.Load()
		if err := s.Health(); err != nil {
			t.Errorf("health: %v, want it to try and succeed", err)
		}
		if n := s.commits.Load() - before; n != 1 {
			t.Errorf("%d tries, want 1", n)
		}
		if err := s.Health(); err != nil || s.commits.Load()-before != 1 {
			t.Errorf("a healthy store was tried again: %v", err)
		}
	})
}
