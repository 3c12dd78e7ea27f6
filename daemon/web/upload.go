package web

import (
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"strings"
	"time"

	"pressbox/voice/announce/draft"
)

// uploadTime is the time limit of the body of a request with a sound; another one is that of its response.
const uploadTime = 30 * time.Second

// requestMedia returns the media type of a request and its parameters; "" if it has none, or several.
func requestMedia(r *http.Request) (media string, params map[string]string) {
	if values := r.Header.Values("Content-Type"); len(values) == 1 {
		media, params, _ = mime.ParseMediaType(values[0])
	}
	return media, params
}

// isAudio reports whether the body of a request is a sound. Browsers send it to their own origin only, as it is not one
// of the media types that need no preflight (Fetch §4.8).
func isAudio(r *http.Request) bool {
	media, _ := requestMedia(r)
	return strings.HasPrefix(media, "audio/")
}

// Seconds returns the length of a sound in seconds, to a hundredth.
func Seconds(d time.Duration) float64 { return math.Round(d.Seconds()*100) / 100 }

// HasUpload reports whether the body of a request may have a sound: an audio/* body, or a multipart form.
func HasUpload(r *http.Request) bool {
	media, _ := requestMedia(r)
	return isAudio(r) || media == "multipart/form-data"
}

// Upload reads such a body: it calls receive with the sound, if there is one, and returns the other fields of a form.
// limit is the most bytes of a sound, of which receive is to read one more at most. The error may be that of receive.
func Upload(w http.ResponseWriter, r *http.Request, limit int64, receive func(io.Reader) error) ([]draft.Field, error) {
	control := http.NewResponseController(w)
	now := time.Now()
	// A writer of a test has no deadlines.
	_ = control.SetReadDeadline(now.Add(uploadTime))
	_ = control.SetWriteDeadline(now.Add(2 * uploadTime))
	body := http.MaxBytesReader(w, r.Body, limit+draft.MaxFields+1)
	if isAudio(r) {
		return nil, receive(body)
	}
	_, params := requestMedia(r)
	fields, err := draft.Parts(body, params["boundary"], receive)
	if _, long := errors.AsType[*http.MaxBytesError](err); long || errors.Is(err, draft.ErrTooLarge) {
		return nil, ErrBodyTooLarge
	}
	return fields, err
}
