package web

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// compressAbove is the size of JSON above which compression pays, in bytes: a smaller
// response fits into one packet anyway.
const compressAbove = 1 << 10

// WriteNoContent responds 204 if err is nil; otherwise it returns err.
func WriteNoContent(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// WriteJSON responds with v as JSON.
func WriteJSON(w http.ResponseWriter, status int, v any) error {
	body, err := encodeJSON(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have disconnected
	return nil
}

// WriteLargeJSON responds with v as JSON, compressed if it is large and the client
// accepts gzip, or with 304 if the client has it already (If-None-Match). v must hold no
// secret: the size of the response depends on all of it.
func WriteLargeJSON(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := encodeJSON(v)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Cache-Control", "private, no-cache") // browsers may store it, and must revalidate it
	h.Add("Vary", "Accept-Encoding")
	sum := sha256.Sum256(body)
	tag := `W/"` + hex.EncodeToString(sum[:12]) + `"` // weak: compressed or not
	h.Set("ETag", tag)
	if matches(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", "application/json")
	if len(body) <= compressAbove || !AcceptsGzip(r) {
		_, _ = w.Write(body) // the client may have disconnected
		return nil
	}
	w.Header().Set("Content-Encoding", "gzip")
	z, _ := compressors.Get().(*gzip.Writer)
	defer compressors.Put(z)
	z.Reset(w)
	_, _ = z.Write(body)
	_ = z.Close()
	return nil
}

// matches reports whether an If-None-Match header contains a weak entity tag (RFC 9110
// section 13.1.2).
func matches(header []string, tag string) bool {
	for candidate := range strings.SplitSeq(strings.Join(header, ","), ",") {
		if candidate = strings.TrimSpace(candidate); candidate == tag || candidate == "*" {
			return true
		}
	}
	return false
}

// compressors holds idle writers, each of which has buffers of 800 KB.
var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }} //nolint:gochecknoglobals // a cache

func encodeJSON(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode the response: %w", err)
	}
	return append(body, '\n'), nil
}
