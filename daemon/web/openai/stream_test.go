package openai_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pressbox/audio/ffmpeg"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// The first bytes of every format leave when the first clip is synthesized.
func TestSpeech_firstBytes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs ffmpeg")
	}
	for _, format := range []string{"flac", "mp3", "opus", "aac"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			r := webtest.NewRig(t)
			r.Speaker.Slow = 20 // each clip lasts two seconds
			r.Speaker.Gate = make(chan struct{}, 1)
			r.Speaker.Gate <- struct{}{}
			body := `{"input": "one two", "response_format": "` + format + `"}`
			resp := check.Must(http.Post(r.ListenTCP(t)+"/v1/audio/speech",
				"application/json", strings.NewReader(body)))(t)
			defer resp.Body.Close()
			check.Must(io.ReadFull(resp.Body, make([]byte, 300)))(t)
			r.Speaker.Gate <- struct{}{} // synthesizes the second clip
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Error(err)
			}
		})
	}
}

// With stream_format=sse each part is an event.
func TestSpeech_events(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	w := r.Do(t, "POST", "/v1/audio/speech", `{"input": "one two", "stream_format": "sse"}`).Want(200)
	check.Equal(t, w.Header.Get("Content-Type"), "text/event-stream", "Content-Type")
	events := strings.Split(w.Text, "\n\n")
	if len(events) != 4 || !strings.HasPrefix(events[0], `data: {"type":"speech.audio.delta","audio":"UklGR`) || // RIFF
		!strings.HasPrefix(events[2], `data: {"type":"speech.audio.done","usage":{`) || events[3] != "" {
		t.Errorf("the events are %.200q, want two deltas and done", events)
	}
	r.Speaker.FirstErr = webtest.ErrVoice
	r.Do(t, "POST", "/v1/audio/speech", `{"input": "one", "stream_format": "sse"}`).Want(500, "internal")
}

// Without ffmpeg, its formats are refused, and others are not.
func TestSpeech_noEncoder(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) {
		c.OpenAI.FFmpeg = ffmpeg.Program(filepath.Join(t.TempDir(), "ffmpeg"))
	})
	for format, ok := range map[string]bool{
		"wav": true, "pcm": true, "flac": true, "mp3": false, "opus": false, "aac": false,
	} {
		w := r.Do(t, "POST", "/v1/audio/speech", `{"input": "one", "response_format": "`+format+`"}`)
		if ok {
			w.Want(200)
			continue
		}
		w.Want(422, "encoder_missing")
		want := format + " needs the program ffmpeg on the server: install the package ffmpeg"
		if !strings.HasPrefix(w.Field("detail"), want) {
			t.Errorf("%s: %s, want %s", format, w.Field("detail"), want)
		}
	}
}

// An ffmpeg that fails at once is an internal error, with its output in the log.
func TestSpeech_encoderFails(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) { c.OpenAI.FFmpeg = program(t, "failing") })
	r.Do(t, "POST", "/v1/audio/speech", `{"input": "one two three", "response_format": "mp3"}`).Want(500, "internal")
	check.Contains(t, r.Log.String(), "no such codec", "the log")
}

// When the client disconnects, ffmpeg is ended before the request is.
func TestSpeech_encoderEnds(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs ffmpeg")
	}
	recorder := filepath.Join(t.TempDir(), "ffmpeg")
	check.NoError(t, os.Symlink(string(program(t, "recorder")), recorder))
	r := webtest.NewRig(t, func(c *site.Config) { c.OpenAI.FFmpeg = ffmpeg.Program(recorder) })
	r.Speaker.Slow = 20
	r.Speaker.Gate = make(chan struct{}, 1)
	r.Speaker.Gate <- struct{}{}
	server := httptest.NewServer(r.Handler())
	resp := check.Must(http.Post(server.URL+"/v1/audio/speech",
		"application/json", strings.NewReader(`{"input": "one two", "response_format": "mp3"}`)))(t)
	check.Must(io.ReadFull(resp.Body, make([]byte, 300)))(t)
	check.NoError(t, resp.Body.Close())
	server.Close() // waits for the request
	pid := check.Must(strconv.Atoi(strings.TrimSpace(string(check.Must(os.ReadFile(recorder + ".pid"))(t)))))(t)
	check.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "signal to ffmpeg")
}

// program returns a stand-in for ffmpeg.
func program(t *testing.T, name string) ffmpeg.Program {
	t.Helper()
	return ffmpeg.Program(check.Must(filepath.Abs("../../../audio/ffmpeg/testdata/" + name))(t))
}

// Every body gets a response that is valid by the OpenAPI document, and an error one that
// OpenAI's clients can read.
func FuzzSpeechBody(f *testing.F) {
	for _, seed := range []string{
		`{"input": "x"}`, `{"input": "x", "voice": {"id": "alloy"}, "response_format": "flac", "stream_format": "sse"}`,
		`{"input": "x", "voice": {"id": null}, "speed": 4e0, "rate": 60}`,
		`{"voice": [], "input": 1, "instructions": "y"}`, `{"input": "\ud800"}`, `[`,
		`{"input": "x", "voice": "\u0000", "response_format": "mp3"}`,
	} {
		f.Add(seed)
	}
	r := webtest.NewRig(f, func(c *site.Config) { c.OpenAI.FFmpeg = "/nonexistent/ffmpeg" })
	f.Fuzz(func(t *testing.T, body string) {
		w := r.Do(t, "POST", "/v1/audio/speech", body, "Client", "127.0.0.1:40000")
		switch w.StatusCode {
		case 200:
		case 400, 413, 422:
			check.Contains(t, w.Text, `"error":{"message":"`, "the error of %q", body)
		default:
			t.Errorf("%q: status %d", body, w.StatusCode)
		}
	})
}
