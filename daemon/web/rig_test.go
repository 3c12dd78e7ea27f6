package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/daemon/web"
	"pressbox/store"
	"pressbox/voice/announce"
)

// A speaker stands in for the voices: each word of a message is a clip of a
// tenth of a second.
type speaker struct {
	slow   int           // how many times as long each clip is; 0 means once
	gate   chan struct{} // when not nil, each clip waits for an element
	silent error         // when not nil, what it says instead of the first clip
	broken error         // when not nil, what it says instead of the second clip
	ended  chan struct{} // when not nil, told when a speech was given up
}

const ballpark = "en_US-ballpark-medium"

func (s *speaker) Voice(name string) (string, error) {
	if name == "" || name == ballpark {
		return ballpark, nil
	}
	return "", &announce.UnknownVoiceError{Name: name, Installed: []string{ballpark}}
}

func (s *speaker) Speak(ctx context.Context, _, message string, _ int) iter.Seq2[audio.Clip, error] {
	return func(yield func(audio.Clip, error) bool) {
		for i := range strings.Fields(message) {
			if s.gate != nil {
				select {
				case <-s.gate:
				case <-ctx.Done():
					if s.ended != nil {
						close(s.ended)
					}
					yield(audio.Clip{}, ctx.Err())
					return
				}
			}
			if err := []error{s.silent, s.broken}[min(i, 1)]; err != nil {
				yield(audio.Clip{}, err)
				return
			}
			samples := make([]float32, 2205*max(1, s.slow))
			for j := range samples {
				samples[j] = 0.25
			}
			if !yield(audio.Clip{Rate: 22050, Samples: samples}, nil) {
				return
			}
		}
	}
}

// A sink stands in for the loudspeaker: of each announcement it plays the
// first clip, and the others when it is let, in no time.
type sink struct{ let chan struct{} }

func (s *sink) Play(ctx context.Context, clips <-chan audio.Clip) error {
	let := s.let
	for next := clips; ; {
		select {
		case _, more := <-next:
			if !more {
				return nil
			}
			if let != nil { // hold the rest back
				next = nil
			}
		case <-let:
			next, let = clips, nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A rig is a server on a real store and a real queue.
type rig struct {
	*web.Server
	announcer *announce.Announcer
	kept      *store.Store // of announcements
	speaker   *speaker
	let       chan struct{} // an element lets one announcement be played
	log       *safeBuffer
	check     *checker
	cfg       web.Config
}

// newRig makes a rig; change may alter its configuration.
func newRig(tb testing.TB, change ...func(*web.Config)) *rig {
	tb.Helper()
	log := &safeBuffer{}
	r := &rig{speaker: &speaker{}, let: make(chan struct{}), log: log, check: newChecker(tb)}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	kept, err := store.Open(filepath.Join(tb.TempDir(), "pressbox.db"), store.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	r.kept = kept
	quiet := slog.New(slog.DiscardHandler)
	queue := announce.Config{Max: 3, TTL: 10 * time.Minute, Rate: 170, Volume: 100}
	r.announcer, err = announce.New(queue, kept, r.speaker, &sink{r.let}, quiet)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := r.announcer.Run(ctx); err != nil {
			tb.Error(err)
		}
	})
	tb.Cleanup(func() {
		close(r.let) // otherwise the announcer would wait for its sentence to end
		cancel()
		running.Wait()
		if err := kept.Close(); err != nil {
			tb.Error(err)
		}
	})
	cfg := web.Config{
		Log:         logger,
		Version:     "1.2.3",
		Versions:    map[string]string{"go": "go1.26"},
		Announcer:   r.announcer,
		Speaker:     r.speaker,
		DefaultRate: 170,
		Voices:      func() web.VoiceList { return web.VoiceList{Default: ballpark} },
	}
	for _, c := range change {
		c(&cfg)
	}
	r.cfg = cfg
	if r.Server, err = web.New(cfg); err != nil {
		tb.Fatal(err)
	}
	return r
}

// A reply is an answer that was held against the OpenAPI document.
type reply struct {
	*httptest.ResponseRecorder
	t testing.TB
}

// do sends a request from the LAN; the headers are name and value in turn. A
// "Host" and a "Client" (address and port) may be among them.
func (r *rig) do(tb testing.TB, method, path, body string, headers ...string) reply {
	tb.Helper()
	return r.send(tb, r.Handler(), newRequest(method, path, body, headers...))
}

func newRequest(method, path, body string, headers ...string) *http.Request {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	if body == "" {
		req.Body = http.NoBody
	}
	req.Host, req.RemoteAddr = "pressbox.local:8888", "192.168.1.20:40000"
	for i := 0; i < len(headers); i += 2 {
		switch headers[i] {
		case "Host":
			req.Host = headers[i+1]
		case "Client":
			req.RemoteAddr = headers[i+1]
		default:
			req.Header.Add(headers[i], headers[i+1])
		}
	}
	return req
}

func (r *rig) send(tb testing.TB, h http.Handler, req *http.Request) reply {
	tb.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	r.check.response(tb, req, w.Result())
	return reply{w, tb}
}

// want fails the test unless the answer has that status and, when it is a
// problem, that code.
func (w reply) want(status int, code string) reply {
	w.t.Helper()
	if w.Code != status {
		w.t.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	if code != "" && w.field("code") != code {
		w.t.Fatalf("code %q, want %q: %s", w.field("code"), code, w.Body)
	}
	return w
}

// field returns a member of the answer's JSON object, as text.
func (w reply) field(name string) string {
	w.t.Helper()
	var all map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil {
		w.t.Fatalf("%v in %s", err, w.Body)
	}
	switch v := all[name].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		text, err := json.Marshal(v)
		if err != nil {
			w.t.Fatal(err)
		}
		return string(text)
	}
}

// violations returns path and code of all that is wrong, in order.
func (w reply) violations() string {
	w.t.Helper()
	var p struct {
		Errors []struct{ Path, Code string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		w.t.Fatal(err)
	}
	var said []string
	for _, e := range p.Errors {
		said = append(said, e.Path+" "+e.Code)
	}
	return strings.Join(said, ", ")
}

// safeBuffer is a buffer that may be written and read concurrently.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

var errNoVoice = errors.New("the model is broken")
