package store

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/auth/session"
	"pressbox/packaging/check"
)

// newSignIn returns a sign-in over s that identifies every user as Anna.
func newSignIn(tb testing.TB, s *Store) *session.SignIn {
	tb.Helper()
	return authtest.NewSignIn(tb, s.Auth(), nil, slog.New(slog.DiscardHandler))
}

// A burst of sign-ins leaves the limit of pending ones, and the file does not grow by the others.
func TestAuth_burst(t *testing.T) {
	t.Parallel()
	s := OpenForTest(t, "", Options{})
	in := newSignIn(t, s)
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			for range 10 {
				if _, err := in.Begin(t.Context(), auth.FlowOptions{Redirect: "x"}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n, order := count(t, s, flowBucket), count(t, s, flowOrderBucket); n != auth.MaxPendingFlows || order != n {
		t.Errorf("%d pending sign-ins in an order of %d, want %d", n, order, auth.MaxPendingFlows)
	}
	stats, err := s.Stats()
	check.True(t, err == nil && stats.Size-stats.Free <= 1<<20,
		"%d bytes are used, %v; want at most 1 MiB", stats.Size-stats.Free, err)
}

// An error inside a transaction rolls it back and is returned.
func TestAuth_transactions(t *testing.T) {
	t.Parallel()
	s := OpenForTest(t, "", Options{})
	const table = auth.Table("auth_state")
	err := s.Auth().Update(t.Context(), func(tx auth.Tx) error {
		return errors.Join(tx.Put(table, []byte("a"), []byte("1")), errRefused)
	})
	check.True(t, errors.Is(err, errRefused) && count(t, s, []byte(table)) == 0,
		"refused: %v, and %d records", err, count(t, s, []byte(table)))
	check.NoError(t, s.Auth().Update(t.Context(), func(tx auth.Tx) error {
		for _, key := range []string{"a/1", "a/2", "b/1"} {
			if err := tx.Put(table, []byte(key), []byte(key)); err != nil {
				return err
			}
		}
		return tx.Delete(table, []byte("a/1"))
	}))
	var seen []string
	err = s.Auth().View(t.Context(), func(tx auth.Tx) error {
		return tx.Each(table, []byte("a/"), func(key, value []byte) error {
			seen = append(seen, fmt.Sprintf("%s=%s %s", key, value, tx.Get(table, key)))
			return nil
		})
	})
	check.True(t, err == nil && fmt.Sprint(seen) == "[a/2=a/2 a/2]", "visited %v, %v", seen, err)
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
	in := newSignIn(b, s)
	token := authtest.Run(b, in).Refresh
	before := s.commits.Load()
	for b.Loop() {
		pair := check.Must(in.Sessions.Refresh(b.Context(), token))(b)
		token = pair.Refresh
	}
	b.ReportMetric(float64(s.commits.Load()-before)/float64(b.N), "syncs/op")
}
