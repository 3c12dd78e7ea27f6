package openai_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/audio"
	"pressbox/audio/ffmpeg"
	"pressbox/auth"
	"pressbox/daemon/limits"
	"pressbox/daemon/web"
	"pressbox/daemon/web/announcements"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
	"pressbox/voice"
)

// The voice speaks at 85 to 300 words a minute; beyond, its speech is stretched.
func TestSpeech_speed(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t) // the default rate is 170, and the speaker has the same clips at each
	samples := func(members string) float64 {
		w := r.Do(t, "POST", "/v1/audio/speech", `{"input": "one two", "response_format": "pcm"`+members+`}`).Want(200)
		return float64(len(w.Text) / 2)
	}
	plain := samples("")
	for members, want := range map[string]float64{
		`, "speed": 0.5`: 1, `, "speed": 0.25`: 0.5, `, "speed": 1.76`: 1, `, "speed": 4`: 680. / 300,
		`, "speed": 4, "rate": 170`: 1, `, "rate": 400`: 1,
	} {
		got := plain / samples(members)
		check.That(t, math.Abs(got/want-1) < 0.01, "%s: %.3f times as fast, want %.3f", members, got, want)
	}
}

func TestSpeech_wav(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, body := range []string{
		`{"input": "one two three"}`,
		`{"model": "tts-1", "input": " one two three ", "voice": "` + webtest.Voice +
			`", "response_format": "wav", "speed": 1.5, "instructions": "be kind", "stream_format": "audio"}`,
	} {
		for _, path := range []string{"/v1/audio/speech", "/api/v1/audio/speech"} {
			w := r.Do(t, "POST", path, body).Want(200)
			check.Equal(t, w.Header.Get("Content-Type"), "audio/wav", "Content-Type")
			clip := check.Must(audio.DecodeWAV(w.Body))(t)
			check.That(t, clip.Rate == 22050 && len(clip.Samples) == 3*2205,
				"%d samples at %d Hz, want %d at 22050 Hz", len(clip.Samples), clip.Rate, 3*2205)
		}
	}
	check.Equal(t, r.Do(t, "GET", "/notify", "").Want(200).Field("queue"), "[]", "the queue")
}

func TestSpeech_pcm(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	w := r.Do(t, "POST", "/v1/audio/speech", `{"input": "one two three", "response_format": "pcm"}`).Want(200)
	check.Equal(t, w.Header.Get("Content-Type"), "audio/pcm", "Content-Type")
	if got, want := len(w.Text), 2*24000*3/10; got != want {
		t.Errorf("%d bytes of 0.3 s, want %d: 24,000 samples a second of 16 bits", got, want)
	}
	middle := int16(binary.LittleEndian.Uint16([]byte(w.Text)[len(w.Text)/2&^1:]))
	if middle < 8100 || middle > 8300 { // 0.25 of full scale
		t.Errorf("the sample in the middle is %d, want about 8192", middle)
	}
}

func TestSpeech_validation(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, tt := range []struct {
		body   string
		status int
		want   string
	}{
		{`{}`, 422, "/input required"},
		{`{"input": 7}`, 422, "/input wrong_type"},
		{`{"input": " "}`, 422, "/input required"},
		{`{"input": "…"}`, 422, "/input not_speakable"},
		{fmt.Sprintf(`{"input": %q}`, strings.Repeat("x", 5001)), 422, "/input too_long"},
		{`{"input": "x", "voice": "alloys"}`, 422, "/voice unknown_voice"},
		{`{"input": "x", "voice": {"id": "alloys"}}`, 422, "/voice unknown_voice"},
		{`{"input": "x", "voice": {}}`, 422, "/voice/id required"},
		{`{"input": "x", "voice": {"id": {"id": "alloy"}}}`, 422, "/voice/id wrong_type"},
		{`{"input": "x", "response_format": "mp4"}`, 422, "/response_format not_offered"},
		{`{"input": "x", "stream_format": "websocket"}`, 422, "/stream_format not_offered"},
		{fmt.Sprintf(`{"input": "x", "instructions": %q}`, strings.Repeat("x", 4097)), 422, "/instructions too_long"},
		{`{"input": "x", "speed": 0.24}`, 422, "/speed out_of_range"},
		{`{"input": "x", "speed": 4.01}`, 422, "/speed out_of_range"},
		{`{"input": "x", "speed": "fast"}`, 422, "/speed wrong_type"},
		{`{"input": "x", "rate": 59}`, 422, "/rate out_of_range"},
		{`{"input": "x", "rate": 401}`, 422, "/rate out_of_range"},

		{`{"input": "x", "voice": "alloy"}`, 200, ""},
		{`{"input": "x", "voice": {"id": "verse"}}`, 200, ""},
		{`{"input": "x", "voice": {"id": "` + webtest.Voice + `", "name": "x"}}`, 200, ""},
		{fmt.Sprintf(`{"input": "x", "instructions": %q}`, strings.Repeat("x", 4096)), 200, ""},
		{`{"input": "x", "speed": 0.25}`, 200, ""},
		{`{"input": "x", "speed": 4}`, 200, ""},
		{`{"input": "x", "rate": 60}`, 200, ""},
		{`{"input": "x", "rate": 400}`, 200, ""},
		{`{"input": "x", "rate": 0, "voice": ""}`, 200, ""},
	} {
		w := r.Do(t, "POST", "/v1/audio/speech", tt.body)
		got := ""
		if w.StatusCode == 422 {
			got = w.Violations()
		}
		check.That(t, w.StatusCode == tt.status && got == tt.want,
			"POST /v1/audio/speech %s: status %d, %s; want %d, %s", tt.body, w.StatusCode, got, tt.status, tt.want)
	}
}

func TestSpeech_firstClipFails(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	r.Speaker.FirstErr = webtest.ErrVoice
	w := r.Do(t, "POST", "/v1/audio/speech", `{"input": "one two"}`).Want(500, "internal")
	check.That(t, !strings.Contains(w.Text, webtest.ErrVoice.Error()), "the cause is in the response: %s", w.Text)
	if log := r.Log.String(); !strings.Contains(log, webtest.ErrVoice.Error()) ||
		!strings.Contains(log, w.Field("request_id")) {
		t.Errorf("the cause is not in the log: %s", log)
	}
}

// Text for which a voice has no sound is the client's fault; a missing espeak-ng is not.
func TestSpeech_voiceCannotSpeak(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]struct {
		status int
		code   string
	}{
		voice.ErrNoSpeech:    {422, "not_speakable"},
		voice.ErrUnreadable:  {422, "not_speakable"},
		voice.ErrUnavailable: {503, "speech_unavailable"},
	} {
		r := webtest.NewRig(t)
		r.Speaker.FirstErr = fmt.Errorf("speak: %w", cause)
		r.Do(t, "POST", "/v1/audio/speech", `{"input": "x"}`).Want(want.status, want.code)
		r.Do(t, "POST", "/speakable", `{"message": "x"}`).Want(want.status, want.code)
	}
}

// Without a usable voice, a request that names none is not the client's fault.
func TestSpeech_noVoice(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	r.Speaker.VoiceErr = fmt.Errorf("%w: default voice: it is not installed", voice.ErrUnavailable)
	for path, field := range map[string]string{"/notify": "message", "/v1/audio/speech": "input"} {
		r.Do(t, "POST", path, fmt.Sprintf(`{%q: "x"}`, field)).Want(503, "speech_unavailable")
		r.Do(t, "POST", path, fmt.Sprintf(`{%q: "x", "voice": "unknown"}`, field)).Want(422, "")
	}
}

// The server closes the connection after an error in the middle of a response.
func TestSpeech_laterClipFails(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	r.Speaker.SecondErr = webtest.ErrVoice
	resp := check.Must(http.Post(r.ListenTCP(t)+"/v1/audio/speech",
		"application/json", strings.NewReader(`{"input": "one two"}`)))(t)
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("the response of %d bytes has no error", len(got))
	}
}

func TestSpeech_streamsClips(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	r.Speaker.Gate = make(chan struct{}, 1)
	r.Speaker.Gate <- struct{}{}
	resp := check.Must(http.Post(r.ListenTCP(t)+"/v1/audio/speech",
		"application/json", strings.NewReader(`{"input": "one two"}`)))(t)
	defer resp.Body.Close()
	first := make([]byte, 44+2*2205)
	check.Must(io.ReadFull(resp.Body, first))(t)
	r.Speaker.Gate <- struct{}{} // synthesizes the second clip
	rest, err := io.ReadAll(resp.Body)
	if err != nil || len(rest) != 2*2205 {
		t.Errorf("the rest is %d bytes and %v, want %d", len(rest), err, 2*2205)
	}
}

// A waiting asks for speech that waits for the gate of the voices.
type waiting struct {
	t        *testing.T
	rig      *webtest.Rig
	answered chan int // statuses
}

func newWaiting(t *testing.T) waiting {
	t.Helper()
	r := webtest.NewRig(t)
	r.Speaker.Gate = make(chan struct{})
	return waiting{t, r, make(chan int)}
}

// ask sends requests from addresses.
func (w waiting) ask(clients ...string) {
	for _, client := range clients {
		go func() {
			w.answered <- w.rig.Do(w.t, "POST", "/v1/audio/speech", `{"input": "x"}`, "Client", client).StatusCode
		}()
		synctest.Wait()
	}
}

// speak lets n requests go on.
func (w waiting) speak(n int) {
	w.t.Helper()
	for range n {
		w.rig.Speaker.Gate <- struct{}{}
		check.Equal(w.t, <-w.answered, http.StatusOK, "status")
	}
}

// There are two speech slots. One address has one of them, so that it leaves one for others; loopback addresses have
// any number.
func TestSpeech_slots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWaiting(t)
		w.ask("192.168.1.20:1", "192.168.1.20:2")
		check.Equal(t, <-w.answered, http.StatusTooManyRequests, "second request of an address: status")
		w.ask("[fe80::1]:1")
		busy := w.rig.Do(t, "POST", "/v1/audio/speech", `{"input": "x"}`, "Client", "192.168.1.22:1").Want(503, "busy")
		check.Equal(t, busy.Header.Get("Retry-After"), "2", "Retry-After")
		w.speak(2)
		w.ask("127.0.0.1:1", "127.0.0.1:1")
		w.speak(2)
	})
}

// Clients that do not read what was synthesized hold no slot that others need, and lose their place to new ones.
func TestSpeech_slowReaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t)
		l, stop := r.ServeWire()
		const body = `{"input": "one two three"}`
		for i := range 2 * limits.Readers {
			conn := l.DialFrom(fmt.Sprintf("192.168.1.%d:40000", 100+i))
			defer conn.Close()
			check.Must(fmt.Fprintf(conn, "POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\n"+
				"Content-Length: %d\r\n\r\n%s", len(body), body))(t)
			synctest.Wait()
			r.Do(t, "POST", "/v1/audio/speech", `{"input": "x"}`).Want(200, "")
		}
		check.NoError(t, stop())
	})
}

// The synthesis stops when the client disconnects.
func TestSpeech_clientDisconnects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t)
		r.Speaker.Gate, r.Speaker.Canceled = make(chan struct{}), make(chan struct{})
		l, stop := r.ServeWire()
		conn := l.Dial()
		const body = `{"input": "one two"}`
		check.Must(fmt.Fprintf(conn, "POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\n"+
			"Content-Length: %d\r\n\r\n%s", len(body), body))(t)
		synctest.Wait()
		conn.Close()
		<-r.Speaker.Canceled
		check.NoError(t, stop())
	})
}

// Speech counts in NOTIFY_RATE.
func TestSpeech_notifyRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t, func(c *site.Config) { c.NotifyRate = 4 }) // in bursts of 2
		r.Do(t, "POST", "/v1/audio/speech", `{"input": "x"}`).Want(200, "")
		r.Do(t, "POST", "/notify", `{"message": "x"}`).Want(202, "")
		r.Do(t, "POST", "/v1/audio/speech", `{"input": "x"}`).Want(429, "too_many_requests")
		r.Do(t, "POST", "/v1/audio/speech", `{"input": "x"}`, "Client", "192.168.1.21:1").Want(200, "")
	})
}

// A client has 1.2 times the duration of the speech so far and 5 seconds to read it.
func TestSpeech_writeTimeout(t *testing.T) {
	t.Parallel()
	const (
		body    = `{"input": "one two"}`
		request = "POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n" + body
		second  = 2 * 22050 // bytes
	)
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t)
		r.Speaker.Slow = 600 // each clip lasts a minute
		l, stop := r.ServeWire()
		conn, resp := l.Ask(t, request)
		check.Must(io.CopyN(io.Discard, resp.Body, 44))(t)
		for seconds := range 120 {
			time.Sleep(time.Second)
			if _, err := io.CopyN(io.Discard, resp.Body, second); err != nil {
				t.Fatalf("after %d seconds: %v", seconds, err)
			}
		}
		if n, err := io.Copy(io.Discard, resp.Body); n != 0 || err != nil {
			t.Errorf("the rest is %d bytes and %v, want none", n, err)
		}
		conn.Close()
		synctest.Wait()

		conn, resp = l.Ask(t, request)
		time.Sleep(77*time.Second - time.Nanosecond)
		if _, err := io.CopyN(io.Discard, resp.Body, second); err != nil {
			t.Errorf("closed before the timeout: %v", err)
		}
		conn.Close()
		synctest.Wait()

		conn, resp = l.Ask(t, request)
		time.Sleep(77 * time.Second)
		synctest.Wait()
		if n, err := io.Copy(io.Discard, resp.Body); err == nil {
			t.Errorf("not closed after the timeout: read %d bytes", n)
		}
		conn.Close()
		synctest.Wait()

		conn, resp = l.Ask(t, request) // the time that is saved with one clip is left for the next
		check.Must(io.CopyN(io.Discard, resp.Body, 44+60*second+1))(t)
		time.Sleep(2*72*time.Second + 5*time.Second - time.Nanosecond)
		if _, err := io.CopyN(io.Discard, resp.Body, second); err != nil {
			t.Errorf("closed before the timeout of the second clip: %v", err)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if _, err := io.Copy(io.Discard, resp.Body); err == nil {
			t.Error("not closed after the timeout of the second clip")
		}
		conn.Close()
		check.NoError(t, stop())
	})
}

// The first bytes of every format leave when the first clip is synthesized.
func TestSpeech_firstBytes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs ffmpeg")
	}
	for _, format := range []string{"flac", "mp3", "opus", "aac"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			r := webtest.NewRig(t, func(c *site.Config) { c.OpenAI.FFmpeg = "" }) // the host's
			r.Speaker.Slow = 20                                                   // each clip lasts two seconds
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

// Without a format, mp3 is sent where ffmpeg is, and wav elsewhere. A voice of null, OpenAI's and Kokoro's names are
// the default voice.
func TestSpeech_defaults(t *testing.T) {
	t.Parallel()
	formats := map[ffmpeg.Program]string{"/nowhere/ffmpeg": "audio/wav"}
	if !testing.Short() {
		formats[""] = "audio/mpeg" // the host's
	}
	for program, want := range formats {
		r := webtest.NewRig(t, func(c *site.Config) { c.OpenAI.FFmpeg = program })
		for _, voice := range []string{"null", `"alloy"`, `"af_bella"`, `{"id": "bm_george"}`} {
			w := r.Do(t, "POST", "/v1/audio/speech", `{"input": "one", "voice": `+voice+`}`).Want(200)
			check.Equal(t, w.Header.Get("Content-Type"), want, "Content-Type with the voice %s", voice)
		}
		r.Do(t, "POST", "/v1/audio/speech", `{"input": "one", "voice": "xx_bella"}`).Want(422, "unknown_voice")
	}
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
		check.That(t, strings.HasPrefix(w.Field("detail"), want), "%s: %s, want %s", format, w.Field("detail"), want)
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

// Every body gets a response that is valid by the OpenAPI document, and an error one that OpenAI's clients can read.
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

//go:embed testdata/client/client.js
var clientScript string

// tokens implements web.Tokens; one is valid.
type tokens struct{}

func (tokens) NotifyToken(_ context.Context, token string, _ netip.Addr) (auth.APIToken, error) {
	if token != "good" {
		return auth.APIToken{}, errors.New("no such token")
	}
	return auth.APIToken{ID: "1"}, nil
}

// A result is what the client got.
type result struct {
	Models []string
	Model  struct{ ID string }
	Voices json.RawMessage
	Audio  map[string]struct{ Type, Data string }
	Deltas []string
	Last   json.RawMessage

	Failures []string
}

// runClient runs OpenAI's client.
func runClient(t *testing.T, urls ...string) (r result) {
	t.Helper()
	dir := check.Must(filepath.Abs("../../../.build/openai-client"))(t)
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		t.Fatalf("OpenAI's client is not installed, run \"make parts\": %v", err)
	}
	node := filepath.Join(dir, "node_modules", ".bin", "node") // installed if the host's node is too old
	if _, err := os.Stat(node); err != nil {
		node = "node"
	}
	cmd := exec.Command(node, append([]string{"--input-type=module", "-e", clientScript}, urls...)...)
	cmd.Dir, cmd.Stderr = dir, t.Output()
	check.NoError(t, json.Unmarshal(check.Must(cmd.Output())(t), &r))
	return r
}

// OpenAI's own client lists models and voices, gets speech in every format, and raises its own types of errors.
func TestClient(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs OpenAI's client and ffmpeg")
	}
	voices := announcements.VoiceList{Voices: []announcements.Voice{
		{Name: webtest.Voice, Label: "Ballpark"}, {Name: "broken", Error: "x"},
	}}
	usual := webtest.NewRig(t, func(c *site.Config) {
		c.Tokens, c.OpenAI.FFmpeg = tokens{}, "" // the host's
		c.Announcements.Voices = func() announcements.VoiceList { return voices }
	})
	// in bursts of 2
	limited := webtest.NewRig(t, func(c *site.Config) { c.Tokens, c.NotifyRate, c.LimitLoopback = tokens{}, 4, true })
	guarded := webtest.NewRig(t, func(c *site.Config) { c.Tokens, c.Access = tokens{}, web.Token })
	r := runClient(t, usual.ListenTCP(t), limited.ListenTCP(t), guarded.ListenTCP(t))

	if !slices.Equal(r.Models, []string{"gpt-4o-mini-tts", "tts-1", "tts-1-hd"}) || r.Model.ID != "tts-1" {
		t.Errorf("models %q, model %q", r.Models, r.Model.ID)
	}
	const list = `[{"id":"en_US-ballpark-medium","name":"Ballpark"}]`
	if want := `{"object":"list","data":` + list + `,"voices":` + list + `}`; string(r.Voices) != want {
		t.Errorf("voices %s, want %s", r.Voices, want)
	}
	for format, media := range map[string]string{
		"wav": "audio/wav", "pcm": "audio/pcm", "flac": "audio/flac",
		"mp3": "audio/mpeg", "opus": "audio/ogg", "aac": "audio/aac",
	} {
		data := check.Must(base64.StdEncoding.DecodeString(r.Audio[format].Data))(t)
		if got := seconds(t, format, data); got < 0.3 || got > 0.45 || r.Audio[format].Type != media {
			t.Errorf("%s: %.2f s of %s, want 0.3 s of %s", format, got, r.Audio[format].Type, media)
		}
	}
	var pcm []byte
	for _, delta := range r.Deltas {
		pcm = append(pcm, check.Must(base64.StdEncoding.DecodeString(delta))(t)...)
	}
	if got := base64.StdEncoding.EncodeToString(pcm); len(r.Deltas) < 3 || got != r.Audio["pcm"].Data {
		t.Errorf("%d events with %d bytes, want at least 3, with the bytes of the stream without events",
			len(r.Deltas), len(pcm))
	}
	const want = `{"type":"speech.audio.done","usage":{"input_tokens":0,"output_tokens":0,"total_tokens":0}}`
	check.Equal(t, string(r.Last), want, "the last event")
	for i, want := range []string{
		"AuthenticationError 401 invalid_request_error null invalid_token: 401 invalid API token",
		"NotFoundError 404 invalid_request_error null not_found: 404 not found",
		"NotFoundError 404 invalid_request_error null not_found: 404 not found",
		"BadRequestError 400 invalid_request_error null not_json: 400 ",
		"UnprocessableEntityError 422 invalid_request_error speed out_of_range: 422 must be at most 4",
		"UnprocessableEntityError 422 invalid_request_error voice unknown_voice: 422 ",
		"RateLimitError 429 rate_limit_error null too_many_requests: 429 ", // or the one before is not over yet
	} {
		if got := r.Failures[i]; !strings.HasPrefix(got, want) {
			t.Errorf("error %d: %s, want %s", i, got, want)
		}
	}
}

// seconds returns the duration of speech, as ffmpeg decodes it.
func seconds(t *testing.T, format string, data []byte) float64 {
	t.Helper()
	input := map[string]string{"pcm": "-f s16le -ar 24000 -ac 1", "opus": "-f ogg"}[format]
	if input == "" {
		input = "-f " + format
	}
	arguments := slices.Concat([]string{"-nostdin", "-loglevel", "error"},
		strings.Fields(input), strings.Fields("-i pipe:0 -f s16le -ar 24000 -ac 1 pipe:1"))
	cmd := exec.Command("ffmpeg", arguments...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(data), t.Output()
	return float64(len(check.Must(cmd.Output())(t))) / 2 / 24000
}
