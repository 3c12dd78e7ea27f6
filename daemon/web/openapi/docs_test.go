package openapi_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"pressbox/daemon/web/webtest"
)

func TestDocsAssets(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, path := range []string{"/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js"} {
		plain := r.Do(t, "GET", path, "").Want(200, "").Body.Bytes()
		packed := r.Do(t, "GET", path, "", "Accept-Encoding", "br, gzip").Want(200, "")
		if packed.Header().Get("Content-Encoding") != "gzip" || packed.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("GET %s: %v", path, packed.Header())
		}
		z, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(plain, unpacked) || len(plain) < 50_000 {
			t.Errorf("GET %s: %d bytes plain, %d unpacked, %v", path, len(plain), len(unpacked), err)
		}
		tag := packed.Header().Get("ETag")
		for known, want := range map[string]int{tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, `"x"`: 200} {
			w := r.Do(t, "GET", path, "", "Accept-Encoding", "gzip", "If-None-Match", known)
			if w.Code != want || (w.Body.Len() == 0) != (want == 304) {
				t.Errorf("GET %s again, knowing %s: status %d and %d bytes, want %d", path, known, w.Code, w.Body.Len(), want)
			}
		}
		for _, accepted := range []string{"gzip;q=0", "br", "gzip; q=0.000, br", "x-gzip"} {
			w := r.Do(t, "GET", path, "", "Accept-Encoding", accepted).Want(200, "")
			if w.Header().Get("Content-Encoding") != "" || w.Body.Len() != len(plain) {
				t.Errorf("GET %s with Accept-Encoding %s: %v", path, accepted, w.Header())
			}
		}
		r.Do(t, "GET", path, "", "Accept-Encoding", "gzip", "Range", "bytes=999999999-").Want(200, "")
	}
}
