package web_test

import (
	"net/http/httptest"
	"testing"

	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// BenchmarkRefusedAnnouncement measures guards, decoding and encoding without the
// disk: the last check refuses the announcement.
func BenchmarkRefusedAnnouncement(b *testing.B) {
	r := webtest.NewRig(b)
	h := r.Handler()
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, webtest.NewRequest("POST", "/notify",
			`{"message": "Dinner is ready.", "voice": "unknown"}`, "Client", "127.0.0.1:1"))
		if w.Code != 422 {
			b.Fatal(w.Code)
		}
	}
}

// BenchmarkNew measures the start of the web server.
func BenchmarkNew(b *testing.B) {
	r := webtest.NewRig(b)
	for b.Loop() {
		check.Must(site.New(r.Config))(b)
	}
}
