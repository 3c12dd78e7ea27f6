package web_test

import (
	"net/http/httptest"
	"testing"

	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
)

// What the guards, the reading and the writing of a request cost, without the
// disk: an announcement that is refused at the last check.
func BenchmarkRefusedAnnouncement(b *testing.B) {
	r := webtest.NewRig(b)
	h := r.Handler()
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, webtest.NewRequest("POST", "/notify", `{"message": "Dinner is ready.", "voice": "nobody"}`, "Client", "127.0.0.1:1"))
		if w.Code != 422 {
			b.Fatal(w.Code)
		}
	}
}

// How long the daemon waits for its server before it can listen.
func BenchmarkNew(b *testing.B) {
	r := webtest.NewRig(b)
	for b.Loop() {
		if _, err := site.New(r.Config); err != nil {
			b.Fatal(err)
		}
	}
}
