package web

import (
	"net/http"
	"strings"
	"time"
)

// File returns a handler that responds with body.
func File(media string, body []byte) Handler {
	if media == "text/html" || media == "text/css" || media == "text/javascript" {
		media += "; charset=utf-8"
	}
	return func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", media)
		_, _ = w.Write(body) // the client may have disconnected
		return nil
	}
}

// AcceptsGzip reports whether the client accepts a response compressed with
// gzip (RFC 9110 §12.5.3).
func AcceptsGzip(r *http.Request) bool {
	accepted := strings.Join(r.Header.Values("Accept-Encoding"), ",")
	for part := range strings.SplitSeq(accepted, ",") {
		coding, weight, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			weight, ok := strings.CutPrefix(strings.TrimSpace(weight), "q=")
			return !ok || strings.Trim(weight, "0.") != ""
		}
	}
	return false
}

// A Timestamp is a time whose JSON is RFC 3339 in UTC with milliseconds.
type Timestamp struct{ time.Time }

// MarshalJSON returns the time, such as "2026-11-20T19:05:00.000Z".
func (t Timestamp) MarshalJSON() ([]byte, error) {
	return []byte(t.UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}
