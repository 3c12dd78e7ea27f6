package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/auth/session"
	"pressbox/game/live"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
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

// checkUsage checks that the counted size of each bucket is its size, and that its pages take no more.
func checkUsage(t *testing.T, s *Store) {
	t.Helper()
	look(t, s, func(tx *bolt.Tx) {
		for _, row := range bucketRows() {
			b := tx.Bucket(row.name)
			counted, size := tableOf(tx, row.name).bytes(), sizeOf(b)
			stats := b.Stats()
			pages := int64(stats.BranchAlloc + stats.LeafAlloc)
			check.That(t, counted == size && pages <= size+2*pageSize,
				"%s: counted %d bytes, has %d, takes %d", row.name, counted, size, pages)
		}
	})
}

// The shares have room together in a store of any size, and each is nearly full at 90 %.
func TestShares_limits(t *testing.T) {
	t.Parallel()
	for _, most := range []int64{2 << 20, 8 << 20, 64 << 20, 512 << 20, 8 << 30} {
		st := Stats{Max: most}
		sum, s := int64(0), &Store{maxSize: most}
		for sh := range shareCount {
			sum += s.limit(sh)
			for used, want := range map[int64]bool{s.limit(sh) / 10 * 9: false, s.limit(sh)/10*9 + 1: true} {
				got := (Share{Used: used, Max: s.limit(sh)}).nearlyFull()
				check.Equal(t, got, want, "%s with %d of %d bytes is nearly full", sh, used, s.limit(sh))
			}
		}
		check.That(t, sum <= st.left()-st.reserve() && sum >= most/8, "of %d bytes, all shares have %d", most, sum)
	}
}

// A wrong size is corrected when the store is opened after an unclean shutdown; right ones are not written.
func TestOpen_recounts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	s := check.Must(Open(path, Options{}))(t)
	check.NoError(t, s.SaveTeamData(t.Context(), "url", []byte("{}")))
	check.NoError(t, appendGame(s, "g1", 1, 30, "{}"))
	check.NoError(t, s.update(t.Context(), func(tx *bolt.Tx) error {
		usage := tx.Bucket(usageBucket)
		return errors.Join(usage.Put(movesBucket, number(1<<40)), usage.Delete(teamDataBucket))
	}))
	check.NoError(t, s.Close())
	for _, want := range []int{2, 0} {
		var log check.Log
		s := check.Must(Open(path, Options{Recount: true, Log: slog.New(slog.NewTextHandler(&log, nil))}))(t)
		checkUsage(t, s)
		if got := strings.Count(log.String(), "counted wrongly"); got != want || want == 0 && s.commits.Load() != 0 {
			t.Errorf("%d wrong sizes, %d commits, want %d wrong sizes:\n%s", got, s.commits.Load(), want, log.String())
		}
		check.NoError(t, s.Close())
	}
}

// Every bucket of a store has a row in bucketRows, unless its size is fixed.
func TestBuckets_bounded(t *testing.T) {
	t.Parallel()
	rows := []string{string(metaBucket), string(usageBucket)}
	for _, row := range bucketRows() {
		rows = append(rows, string(row.name))
	}
	s, names := OpenForTest(t, "", Options{}), []string{}
	check.NoError(t, s.view(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, _ *bolt.Bucket) error {
			names = append(names, string(name))
			return nil
		})
	}))
	slices.Sort(rows)
	check.That(t, slices.Equal(names, rows), "the buckets are\n%v, bucketRows has\n%v", names, rows)
}

// fillAuth writes records into a table of sign-in until it is rejected.
func fillAuth(t *testing.T, s *Store, table string) (err error) {
	t.Helper()
	for i := 0; err == nil; i++ {
		err = s.Auth().Update(t.Context(), func(tx auth.Tx) error {
			for j := range 100 {
				key := fmt.Appendf(nil, "%s-%032d", table, i*100+j)
				if err := tx.Put(auth.Table(table), key, make([]byte, 300)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return err
}

// A full share rejects its own data only. Accounts leave half of theirs to sessions.
func TestShares_independent(t *testing.T) {
	s := NewForTest(t, Options{MaxSize: 8 << 20})
	for name, err := range map[string]error{
		"accounts": fillAuth(t, s, "auth_user"),
		"sessions": fillAuth(t, s, "auth_session"),
	} {
		check.That(t, err != nil && strings.Contains(err.Error(), ErrFull.Error()),
			"%s: %v, want %v", name, err, ErrFull)
	}
	box := make([]byte, 20_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(box) // it fails never
	games := 0
	for ; appendGame(s, fmt.Sprintf("g%06d", games), 1, 30, string(box)) == nil; games++ {
	}
	for i := range 30 {
		check.NoError(t, s.SaveTeamData(t.Context(), fmt.Sprint("https://example.org/", i), make([]byte, 60_000)))
	}
	check.NoError(t, s.SaveCalibration("5e1f", []byte("{}")))
	for i := range 100 {
		err := postEnded(s, uint64(i+1), announce.IdempotencyKey{Key: fmt.Sprint(i)}, s.now())
		check.Require(t, err == nil, "announcement %d: %v", i, err)
	}
	checkUsage(t, s)
	st := check.Must(s.Stats())(t)
	t.Logf("%d games; %+v", games, st)
	check.That(t, st.NearlyFull() == "sign-in" && s.Health() == nil && st.Size <= 8<<20,
		"nearly full: %q, health %v, %d bytes", st.NearlyFull(), s.Health(), st.Size)
	check.NoError(t, s.Auth().Update(t.Context(), func(tx auth.Tx) error { // a full share shrinks
		return tx.Delete("auth_user", fmt.Appendf(nil, "auth_user-%032d", 0))
	}))
	check.Must(s.Games().Append(t.Context(), live.Change{Game: "g000000"}))(t)
	checkUsage(t, s)
}

// newSignIn returns a sign-in over s that identifies every user as Anna.
func newSignIn(tb testing.TB, s *Store) *session.SignIn {
	tb.Helper()
	return authtest.NewSignIn(tb, s.Auth(), nil, slog.New(slog.DiscardHandler))
}

// BenchmarkSignInStart saves pending sign-ins at their limit. Limit: 500 per second.
func BenchmarkSignInStart(b *testing.B) {
	s := OpenForTest(b, "", Options{})
	in := newSignIn(b, s)
	for range auth.MaxPendingFlows {
		authtest.Begin(b, in)
	}
	b.SetParallelism(16)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			authtest.Begin(b, in)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "starts/s")
}

// BenchmarkRefresh renews sessions; each renewal is one sync.
func BenchmarkRefresh(b *testing.B) {
	s := OpenForTest(b, "", Options{})
	host := authtest.NewHost()
	c := check.Must(session.OpenClock(b.Context(), s.Auth(), host.Source(), authtest.Released))(b)
	in := authtest.NewSignIn(b, s.Auth(), c, slog.New(slog.DiscardHandler))
	token := authtest.Run(b, in).Refresh
	before := s.commits.Load()
	for b.Loop() {
		host.Pass(auth.Renewing / auth.MaxRenewals)
		token = check.Must(in.Sessions.Refresh(b.Context(), token))(b).Refresh
	}
	b.ReportMetric(float64(s.commits.Load()-before)/float64(b.N), "syncs/op")
}
