package openapi_test

import (
	"compress/gzip"
	"io"
	"testing"

	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

func TestDocs_assets(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, path := range []string{"/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js"} {
		plain := r.Do(t, "GET", path, "").Want(200).Text
		gzipped := r.Do(t, "GET", path, "", "Accept-Encoding", "br, gzip").Want(200)
		if gzipped.Header.Get("Content-Encoding") != "gzip" || gzipped.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("GET %s: %v", path, gzipped.Header)
		}
		z := check.Must(gzip.NewReader(gzipped.Body))(t)
		unzipped, err := io.ReadAll(z)
		if err != nil || plain != string(unzipped) || len(plain) < 50_000 {
			t.Errorf("GET %s: %d bytes plain, %d unzipped, %v", path, len(plain), len(unzipped), err)
		}
		tag := gzipped.Header.Get("ETag")
		for etag, want := range map[string]int{tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, `"x"`: 200} {
			w := r.Do(t, "GET", path, "", "Accept-Encoding", "gzip", "If-None-Match", etag)
			if w.StatusCode != want || (len(w.Text) == 0) != (want == 304) {
				t.Errorf("GET %s with If-None-Match %s: status %d and %d bytes, want %d",
					path, etag, w.StatusCode, len(w.Text), want)
			}
		}
		for _, accept := range []string{"gzip;q=0", "br", "gzip; q=0.000, br", "x-gzip"} {
			w := r.Do(t, "GET", path, "", "Accept-Encoding", accept).Want(200)
			if w.Header.Get("Content-Encoding") != "" || len(w.Text) != len(plain) {
				t.Errorf("GET %s with Accept-Encoding %s: %v", path, accept, w.Header)
			}
		}
		r.Do(t, "GET", path, "", "Accept-Encoding", "gzip", "Range", "bytes=999999999-").Want(200)
	}
}
