package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pressbox/daemon/web"
	"pressbox/packaging/check"
)

// Only responses above 1,024 bytes are compressed, and only for clients that accept it.
func TestWriteLargeJSON(t *testing.T) {
	t.Parallel()
	const small, large = 1024 - len("\"\"\n"), 1025 - len("\"\"\n")
	for _, tt := range []struct {
		accepts string
		size    int
		gzipped bool
	}{
		{"gzip", large, true},
		{"gzip", small, false},
		{"", large, false},
		{"gzip;q=0", large, false},
		{"gzip;q=0.0, br", large, false},
		{"br, GZIP;q=0.5", large, true},
		{"identity", large, false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if tt.accepts != "" {
			r.Header.Set("Accept-Encoding", tt.accepts)
		}
		text := strings.Repeat("x", tt.size)
		for range 2 { // the second one uses the compressor of the first
			w := httptest.NewRecorder()
			check.NoError(t, web.WriteLargeJSON(w, r, text))
			got, body := w.Header().Get("Content-Encoding") == "gzip", io.Reader(w.Body)
			if got {
				body = check.Must(gzip.NewReader(w.Body))(t)
			}
			if plain := check.Must(io.ReadAll(body))(t); string(plain) != `"`+text+"\"\n" {
				t.Errorf("%q, %d bytes: the body is %.20q", tt.accepts, tt.size, plain)
			}
			if vary := w.Header().Get("Vary"); got != tt.gzipped || vary != "Accept-Encoding" ||
				w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%q, %d bytes: compressed %v, Vary %q, want %v", tt.accepts, tt.size, got, vary, tt.gzipped)
			}
		}
	}
	w := httptest.NewRecorder()
	if err := web.WriteLargeJSON(w, httptest.NewRequest(http.MethodGet, "/", nil), make(chan int)); err == nil ||
		w.Header().Get("Vary") != "" {
		t.Errorf("what is not JSON: %v, %v", err, w.Header())
	}
}

// A client that has the value already receives no body, however it is encoded.
func TestWriteLargeJSON_conditional(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 2000)
	ask := func(text, accepts, has string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", accepts)
		if has != "" {
			r.Header.Set("If-None-Match", has)
		}
		w := httptest.NewRecorder()
		check.NoError(t, web.WriteLargeJSON(w, r, text))
		return w
	}
	first := ask(text, "gzip", "")
	tag := first.Header().Get("ETag")
	if first.Code != 200 || !strings.HasPrefix(tag, `W/"`) ||
		first.Header().Get("Cache-Control") != "private, no-cache" {
		t.Errorf("status %d, %v", first.Code, first.Header())
	}
	for _, tt := range []struct {
		text, has string
		want      int
	}{
		{text, tag, 304},
		{text, `"a", ` + tag, 304},
		{text, "*", 304},
		{text + "y", tag, 200},
		{text, `W/"a"`, 200},
		{text, "", 200},
	} {
		for _, accepts := range []string{"gzip", "identity"} {
			if w := ask(tt.text, accepts, tt.has); w.Code != tt.want || (w.Body.Len() == 0) != (tt.want == 304) {
				t.Errorf("If-None-Match %s, %s: status %d with %d bytes, want %d",
					tt.has, accepts, w.Code, w.Body.Len(), tt.want)
			}
		}
	}
}
