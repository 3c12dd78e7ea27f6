package store

import (
	"log/slog"
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
