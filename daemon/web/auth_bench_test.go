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

// BenchmarkMe is GET /api/auth/me with a cookie, beside the same answer without
// asking who it is: x-limit is what it takes, of 1.25 times the other and 40 µs.
func BenchmarkMe(b *testing.B) {
	h := newHouse(b, func(c *web.Config) { c.Log = slog.New(slog.DiscardHandler) })
	br := h.browser(b)
	br.signIn()
	r := newRequest("GET", "/api/auth/me", "", "Cookie", "pressbox_access="+br.access())
	ask := func(handler http.Handler) {
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, r); w.Code != http.StatusOK {
			b.Fatalf("status %d: %s", w.Code, w.Body)
		}
	}
	bare := web.BareMe(h.Server, auth.Account{ID: "x", Name: "Anna", Provider: "test", Created: time.Now()})
	var without, with time.Duration
	for b.Loop() { // in turn, so that a busy machine slows both
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
