package signin_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/daemon/web/signin"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// BenchmarkMe measures GET /api/auth/me with a cookie beside the same request without
// authentication. x-limit is the ratio to the limit, 1.25 times the other plus 40 µs.
func BenchmarkMe(b *testing.B) {
	h := webtest.NewSignInRig(b, func(c *site.Config) { c.Log = slog.New(slog.DiscardHandler) })
	br := h.Browser(b)
	br.SignIn()
	r := webtest.NewRequest("GET", "/api/auth/me", "", "Cookie", "pressbox_access="+br.AccessToken())
	ask := func(handler http.Handler) {
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, r); w.Code != http.StatusOK {
			b.Fatalf("status %d: %s", w.Code, w.Body)
		}
	}
	cfg := h.Config
	cfg.Sessions = fixedAccount{auth.Account{ID: "x", Name: "Anna", Provider: "test", Created: time.Now()}}
	other := check.Must(web.New(cfg.Config))(b)
	document := check.Must(site.OpenAPI(""))(b)
	check.NoError(b, other.Mount(signin.Routes(other, &signin.Authenticator{}), document))
	bare := other.Handler()
	var without, with time.Duration
	for b.Loop() { // in turn, so that load slows both
		began := time.Now()
		ask(bare)
		between := time.Now()
		ask(h.Handler())
		without += between.Sub(began)
		with += time.Since(between)
	}
	limit := without*5/4 + time.Duration(b.N)*40*time.Microsecond
	b.ReportMetric(float64(with)/float64(limit), "x-limit")
	b.ReportMetric(float64(without.Nanoseconds())/float64(b.N), "bare-ns/op")
}

// fixedAccount authenticates each request as the same account.
type fixedAccount struct{ account auth.Account }

func (a fixedAccount) SignedIn(*http.Request) (auth.Caller, error) {
	return auth.Caller{Account: a.account}, nil
}
