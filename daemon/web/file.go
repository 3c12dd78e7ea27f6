package web

import (
	"net/http"
	"strings"
	"time"
)

// File returns a handler that answers with bytes that never change.
func File(media string, body []byte) Handler {
	if media == "text/html" || media == "text/css" || media == "text/javascript" {
		media += "; charset=utf-8"
	}
	return func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", media)
		_, _ = w.Write(body) // the client may have gone
		return nil
	}
}

// AcceptsGzip reports whether the client accepts an answer compressed with
// gzip (RFC 9110 §12.5.3).
func AcceptsGzip(r *http.Request) bool {
	accepted := strings.Join(r.Header.Values("Accept-Encoding"), ",")
	for part := range strings.SplitSeq(accepted, ",") {
		coding, weight, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			weight, weighed := strings.CutPrefix(strings.TrimSpace(weight), "q=")
			return !weighed || strings.Trim(weight, "0.") != ""
		}
	}
	return false
}

// A Timestamp is a time that is written in JSON in UTC with milliseconds
// (RFC 3339).
type Timestamp struct{ time.Time }

// MarshalJSON returns the time, such as "2026-11-20T19:05:00.000Z".
func (t Timestamp) MarshalJSON() ([]byte, error) {
	return []byte(t.UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}
