// Package webtest holds what the tests of the server's packages share: a server
// over a real store, with stand-ins for voices, loudspeaker, sign-in provider
// and clubs; clients of it; and the check of every response against the OpenAPI
// document.
package webtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/daemon/web"
	"pressbox/daemon/web/admin"
	"pressbox/daemon/web/announcements"
	"pressbox/daemon/web/site"
	"pressbox/store"
	"pressbox/voice/announce"
)

const (
	LANClient     = "192.168.1.20:40000"
	ForeignClient = "203.0.113.5:40000"
)

const AsJSON = "application/json"

// Logged is what the log says of a request.
func (r *Rig) Logged(id string) string {
	for line := range strings.Lines(r.Log.String()) {
		if strings.Contains(line, id) {
			return line
		}
	}
	return ""
}

// Serve serves the rig on a wire until stop is called, which returns what
// Serve said.
func (r *Rig) ServeWire() (l *Wire, stop func() error) {
	l = NewWire()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Serve(ctx, l) }()
	return l, func() error {
		cancel()
		return <-ended
	}
}

func (r *Rig) Announce(t *testing.T, message string) (id string) {
	t.Helper()
	return r.Do(t, "POST", "/notify", fmt.Sprintf(`{"message": %q}`, message)).Want(202, "").Field("id")
}

// A Speaker stands in for the voices: each word of a message is a clip of a
// tenth of a second.
type Speaker struct {
	Slow      int           // how many times as long each clip is; 0 means once
	Gate      chan struct{} // when not nil, each clip waits for an element
	FirstErr  error         // when not nil, what it says instead of the first clip
	SecondErr error         // when not nil, what it says instead of the second clip
	Ended     chan struct{} // when not nil, told when a speech was given up
}

const Voice = "en_US-ballpark-medium"

func (s *Speaker) Voice(name string) (string, error) {
	if name == "" || name == Voice {
		return Voice, nil
	}
	return "", &announce.UnknownVoiceError{Name: name, Installed: []string{Voice}}
}

func (s *Speaker) Speak(ctx context.Context, _, message string, _ int) iter.Seq2[audio.Clip, error] {
	return func(yield func(audio.Clip, error) bool) {
		for i := range strings.Fields(message) {
			if s.Gate != nil {
				select {
				case <-s.Gate:
				case <-ctx.Done():
					if s.Ended != nil {
						close(s.Ended)
					}
					yield(audio.Clip{}, ctx.Err())
					return
				}
			}
			if err := []error{s.FirstErr, s.SecondErr}[min(i, 1)]; err != nil {
				yield(audio.Clip{}, err)
				return
			}
			samples := make([]float32, 2205*max(1, s.Slow))
			for j := range samples {
				samples[j] = 0.25
			}
			if !yield(audio.Clip{Rate: 22050, Samples: samples}, nil) {
				return
			}
		}
	}
}

// A Sink stands in for the loudspeaker: of each announcement it plays the
// first clip, and the others when it is let, in no time.
type Sink struct{ let chan struct{} }

func (s *Sink) Play(ctx context.Context, clips <-chan audio.Clip) error {
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

// A Rig is a server on a real store and a real queue.
type Rig struct {
	*web.Server
	Announcer *announce.Announcer
	Store     *store.Store // of announcements
	Speaker   *Speaker
	Let       chan struct{} // an element lets one announcement be played
	Log       *LogBuffer
	Check     *Checker
	Config    site.Config
}

// NewRig makes a rig; change may alter its configuration.
func NewRig(tb testing.TB, change ...func(*site.Config)) *Rig {
	tb.Helper()
	log := &LogBuffer{}
	r := &Rig{Speaker: &Speaker{}, Let: make(chan struct{}), Log: log, Check: NewChecker(tb)}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	kept, err := store.Open(filepath.Join(tb.TempDir(), "pressbox.db"), store.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	r.Store = kept
	quiet := slog.New(slog.DiscardHandler)
	queue := announce.Config{Max: 3, TTL: 10 * time.Minute, Rate: 170, Volume: 100}
	r.Announcer, err = announce.New(queue, kept, r.Speaker, &Sink{r.Let}, quiet)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := r.Announcer.Run(ctx); err != nil {
			tb.Error(err)
		}
	})
	tb.Cleanup(func() {
		close(r.Let) // otherwise the announcer would wait for its sentence to end
		cancel()
		running.Wait()
		if err := kept.Close(); err != nil {
			tb.Error(err)
		}
	})
	cfg := site.Config{
		Config: web.Config{Log: logger, Version: "1.2.3"},
		Announcements: announcements.Config{
			Announcer:   r.Announcer,
			Speaker:     r.Speaker,
			DefaultRate: 170,
			Voices:      func() announcements.VoiceList { return announcements.VoiceList{Default: Voice} },
		},
		Admin: admin.Config{Versions: map[string]string{"go": "go1.26"}},
	}
	for _, c := range change {
		c(&cfg)
	}
	r.Config = cfg
	if r.Server, err = site.New(cfg); err != nil {
		tb.Fatal(err)
	}
	return r
}

// A Reply is an answer that was held against the OpenAPI document.
type Reply struct {
	*httptest.ResponseRecorder
	T testing.TB
}

// Do sends a request from the LAN; the headers are name and value in turn. A
// "Host" and a "Client" (address and port) may be among them.
func (r *Rig) Do(tb testing.TB, method, path, body string, headers ...string) Reply {
	tb.Helper()
	return r.Send(tb, r.Handler(), NewRequest(method, path, body, headers...))
}

func NewRequest(method, path, body string, headers ...string) *http.Request {
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

func (r *Rig) Send(tb testing.TB, h http.Handler, req *http.Request) Reply {
	tb.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	r.Check.CheckResponse(tb, req, w.Result())
	return Reply{w, tb}
}

// Want fails the test unless the answer has that status and, when it is a
// problem, that code.
func (w Reply) Want(status int, code string) Reply {
	w.T.Helper()
	if w.Code != status {
		w.T.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	if code != "" && w.Field("code") != code {
		w.T.Fatalf("code %q, want %q: %s", w.Field("code"), code, w.Body)
	}
	return w
}

// Field returns a member of the answer's JSON object, as text.
func (w Reply) Field(name string) string {
	w.T.Helper()
	var all map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil {
		w.T.Fatalf("%v in %s", err, w.Body)
	}
	switch v := all[name].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		text, err := json.Marshal(v)
		if err != nil {
			w.T.Fatal(err)
		}
		return string(text)
	}
}

// Violations returns path and code of all that is wrong, in order.
func (w Reply) Violations() string {
	w.T.Helper()
	var p struct {
		Errors []struct{ Path, Code string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		w.T.Fatal(err)
	}
	var said []string
	for _, e := range p.Errors {
		said = append(said, e.Path+" "+e.Code)
	}
	return strings.Join(said, ", ")
}

// LogBuffer is a buffer that may be written and read concurrently.
type LogBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *LogBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *LogBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

var ErrVoice = errors.New("the model is broken")

// ListenTCP serves the rig on a real port until the test ends, and returns its
// URL.
func (r *Rig) ListenTCP(t *testing.T) (base string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := r.Serve(ctx, ln); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		serving.Wait()
	})
	return "http://" + ln.Addr().String()
}
