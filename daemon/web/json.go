package web

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// compressAbove is the size of JSON above which compression pays, in bytes: a smaller
// response fits into one packet anyway.
const compressAbove = 1 << 10

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
// accepts gzip. v must hold no secret: the size of the response depends on all of it.
func WriteLargeJSON(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := encodeJSON(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Add("Vary", "Accept-Encoding")
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

// compressors holds idle writers, each of which has buffers of 800 KB.
var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }} //nolint:gochecknoglobals // a cache

func encodeJSON(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode the response: %w", err)
	}
	return append(body, '\n'), nil
}
