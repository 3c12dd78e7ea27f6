package web_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web"
)

// BenchmarkMe is GET /api/auth/me with a cookie, and the same answer without
// asking who it is: the one may take 1.25 times the other, and 40 µs.
func BenchmarkMe(b *testing.B) {
	h := newHouse(b, func(c *web.Config) { c.Log = slog.New(slog.DiscardHandler) })
	br := h.browser(b)
	br.signIn()
	r := newRequest("GET", "/api/auth/me", "", "Cookie", "pressbox_access="+br.access())
	bare := web.BareMe(h.Server, auth.Account{ID: "x", Name: "Anna", Provider: "test", Created: time.Now()})
	each := func(name string, handler http.Handler) (took time.Duration) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				w := httptest.NewRecorder()
				if handler.ServeHTTP(w, r); w.Code != http.StatusOK {
					b.Fatalf("status %d: %s", w.Code, w.Body)
				}
			}
			took = b.Elapsed() / time.Duration(b.N)
		})
		return took
	}
	without := each("without", bare)
	with := each("with", h.Handler())
	if limit := without*5/4 + 40*time.Microsecond; without > 0 && with > limit {
		b.Errorf("with a cookie %v, want at most %v (without: %v)", with, limit, without)
	}
}
