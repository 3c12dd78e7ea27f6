package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"pressbox/packaging/check"
)

var errRefused = errors.New("refused")

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

// has reports whether put put a key, and how many it counted.
func has(t *testing.T, s *Store, key string) (ok bool, count uint64) {
	t.Helper()
	look(t, s, func(tx *bolt.Tx) {
		b := tx.Bucket(metaBucket)
		ok, count = b.Get([]byte(key)) != nil, b.Sequence()
	})
	return ok, count
}

// runGroup runs changes in one group and returns their errors.
func runGroup(t *testing.T, s *Store, fns ...func(*bolt.Tx) error) []error {
	t.Helper()
	errs := make([]error, len(fns))
	var wait sync.WaitGroup
	hold := make(chan struct{})
	wait.Go(func() {
		err := s.update(context.Background(), func(*bolt.Tx) error { <-hold; return nil })
		check.That(t, err == nil, "the change before the group: %v", err)
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

// Changes that wait share a sync.
func TestUpdate_group(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := OpenForTest(t, "", Options{})
		before := s.commits.Load()
		var fns []func(*bolt.Tx) error
		for i := range 63 {
			fns = append(fns, put(fmt.Sprint("k", i)))
		}
		for i, err := range runGroup(t, s, fns...) {
			ok, _ := has(t, s, fmt.Sprint("k", i))
			check.That(t, ok && err == nil, "change %d: saved %v, %v", i, ok, err)
		}
		check.Equal(t, s.commits.Load()-before, 2, "commits for one change and 63 that waited")
	})
}

// A single change is not delayed.
func TestUpdate_alone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := OpenForTest(t, "", Options{})
		start, before := time.Now(), s.commits.Load()
		for range 10 {
			check.NoError(t, s.update(t.Context(), put("k")))
		}
		check.Equal(t, time.Since(start), 0, "waited")
		check.Equal(t, s.commits.Load()-before, 10, "commits for 10 changes")
	})
}

// A failed change of a group fails alone.
func TestUpdate_groupFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := OpenForTest(t, "", Options{})
		fail := func(key string) func(*bolt.Tx) error {
			return func(tx *bolt.Tx) error { return errors.Join(put(key)(tx), fmt.Errorf("%s: %w", key, errRefused)) }
		}
		errs := runGroup(t, s, fail("a"), put("b"), fail("c"), put("d"), fail("e"))
		for i, want := range []string{"a: refused", "", "c: refused", "", "e: refused"} {
			key := string(rune('a' + i))
			ok, count := has(t, s, key)
			check.That(t, ok == (want == "") && count == 2, "%s is saved: %v; %d changes, want 2", key, ok, count)
			check.That(t, want == "" && errs[i] == nil || want != "" && errors.Is(errs[i], errRefused) &&
				errs[i].Error() == want, "%s: %v, want its own error", key, errs[i])
		}
		check.NoError(t, s.Health())
	})
}

// A change that failed because of a rolled-back one runs again.
func TestUpdate_groupRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := OpenForTest(t, "", Options{})
		runs := 0
		once := func(tx *bolt.Tx) error { // puts a the first time
			if runs++; runs > 1 {
				return errRefused
			}
			return put("a")(tx)
		}
		unlessA := func(tx *bolt.Tx) error { // fails if a is there
			if tx.Bucket(metaBucket).Get([]byte("a")) != nil {
				return errRefused
			}
			return put("b")(tx)
		}
		errs := runGroup(t, s, once, unlessA, put("c"))
		check.That(t, errors.Is(errs[0], errRefused) && errs[1] == nil && errs[2] == nil,
			"%v, want an error of the first alone: what the second saw was rolled back", errs)
	})
}

// A change that is too large for the disk fails alone.
func TestUpdate_groupTooLarge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := OpenForTest(t, "", Options{MaxSize: 2 << 20})
		huge := func(tx *bolt.Tx) error {
			return tx.Bucket(metaBucket).Put([]byte("huge"), make([]byte, 4<<20))
		}
		errs := runGroup(t, s, put("a"), huge, put("b"))
		check.That(t, errs[0] == nil && errors.Is(errs[1], ErrFull) && errs[2] == nil,
			"%v, want ErrFull of the second alone", errs)
		_, count := has(t, s, "a")
		check.That(t, count == 2, "%d changes are saved, want 2", count)
	})
}

func TestUpdate_contextEnded(t *testing.T) {
	s := NewForTest(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.ErrorIs(t, s.update(ctx, put("a")), context.Canceled, "update")
	ok, _ := has(t, s, "a")
	check.That(t, !ok, "the change was saved")
}

// Close writes what waits.
func TestClose_writesQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := OpenForTest(t, "", Options{})
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
			check.ErrorIs(t, <-outcomes, nil, "a change before Close")
		}
		check.ErrorIs(t, s.update(t.Context(), put("late")), ErrClosed, "a change after Close")
	})
}

// Many writers, some of which fail: exactly the confirmed changes are in the file.
func TestUpdate_load(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	s := check.Must(Open(path, Options{}))(t)
	var saved atomic.Uint64
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
					saved.Add(1)
				case !errors.Is(err, errRefused) || !fails:
					t.Errorf("change %d-%d: %v, fails %v", writer, i, err, fails)
				}
			}
		})
	}
	wait.Wait()
	if st, err := s.Stats(); err != nil || st.Commits > saved.Load()/2 {
		t.Errorf("%d commits for %d changes, %v, want at most half", st.Commits, saved.Load(), err)
	}
	check.NoError(t, s.Close())
	s = OpenForTest(t, path, Options{})
	_, count := has(t, s, "0-1")
	check.That(t, count == saved.Load(), "%d changes are in the file, %d were confirmed", count, saved.Load())
}

// After an unconfirmed change nothing is written.
func TestUpdate_unconfirmed(t *testing.T) {
	s := NewForTest(t, Options{})
	var id int
	check.NoError(t, s.update(t.Context(), func(tx *bolt.Tx) error { id = tx.ID(); return nil }))
	// Transaction id can be read, but its sync has failed.
	check.ErrorIs(t, s.recordOutcome(id, errors.New("input/output error")), ErrUnconfirmed, "outcome")
	check.ErrorIs(t, s.update(t.Context(), put("a")), ErrUnconfirmed, "the next change")
	check.ErrorIs(t, s.Health(), ErrUnconfirmed, "health")
}

// Health tries a commit after a failed one, and not after a successful one.
func TestHealth_retries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := OpenForTest(t, "", Options{MaxSize: 2 << 20, Log: slog.New(slog.DiscardHandler)})
		err := s.update(t.Context(), func(tx *bolt.Tx) error {
			return tx.Bucket(metaBucket).Put([]byte("huge"), make([]byte, 4<<20))
		})
		check.Require(t, errors.Is(err, ErrFull), "a huge change: %v, want ErrFull", err)
		before := s.commits.Load()
		check.NoError(t, s.Health())
		check.Equal(t, s.commits.Load()-before, 1, "commits")
		err = s.Health()
		check.That(t, err == nil && s.commits.Load()-before == 1, "health of a healthy store: %v, want no commit", err)
	})
}

// A disk that cannot read the meta pages once bbolt has locked them stops the store, and nothing waits for it.
func TestView_stuck(t *testing.T) {
	t.Parallel()
	s := check.Must(Open(filepath.Join(t.TempDir(), "pressbox.db"), Options{}))(t)
	meta := s.db.Info().Data
	if _, _, errno := unix.Syscall(unix.SYS_MPROTECT, meta, 2*pageSize, unix.PROT_NONE); errno != 0 {
		t.Fatal(errno)
	}
	for range 2 {
		for name, err := range map[string]error{
			"view":   s.view(func(*bolt.Tx) error { return nil }),
			"update": s.update(t.Context(), put("a")), "Health": s.Health(),
		} {
			check.ErrorIs(t, err, ErrCorrupt, "%s", name)
		}
	}
	check.NoError(t, s.Close())
}
