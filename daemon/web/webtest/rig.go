// Package webtest provides the server's tests with a server on a real store, with fakes of the voices, the audio
// output, the sign-in provider and the clubs, and with clients that check every response against the OpenAPI document.
package webtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/audio"
	"pressbox/audio/decode"
	"pressbox/auth/authtest"
	"pressbox/auth/session"
	"pressbox/daemon/limits"
	"pressbox/daemon/web"
	"pressbox/daemon/web/admin"
	"pressbox/daemon/web/announcements"
	"pressbox/daemon/web/control"
	"pressbox/daemon/web/hooks"
	"pressbox/daemon/web/openai"
	"pressbox/daemon/web/push"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/sounds"
	"pressbox/game/leagues"
	"pressbox/game/live"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/store/clock"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
	"pressbox/voice/announce/policy"
	voicecontrol "pressbox/voice/control"
	"pressbox/voice/rooms"
	voicesounds "pressbox/voice/sounds"
)

// Client addresses on the local network and outside of it.
const (
	LANClient     = "192.168.1.20:40000"
	ForeignClient = "203.0.113.5:40000"
)

// AsJSON is the media type of JSON.
const AsJSON = "application/json"

// LogLine returns the first line of the log that contains id; "" if there is none.
func (r *Rig) LogLine(id string) string {
	for line := range strings.Lines(r.Log.String()) {
		if strings.Contains(line, id) {
			return line
		}
	}
	return ""
}

// ServeWire serves the rig on a wire until stop is called, which returns the result of Serve.
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

// InBubble runs a test in a synctest bubble, parallel to others, with a rig that is
// served on a wire until the test stops it or ends.
func InBubble(t *testing.T, newRig func(testing.TB, ...func(*site.Config)) *Rig, test func(r *Rig, l *Wire)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		r := newRig(t)
		l, stop := r.ServeWire()
		l.Stop = sync.OnceValue(stop)
		defer func() { check.NoError(t, l.Stop()) }()
		test(r, l)
	})
}

// Announce creates an announcement and returns its id.
func (r *Rig) Announce(tb testing.TB, message string) (id string) {
	tb.Helper()
	return r.Do(tb, "POST", "/notify", fmt.Sprintf(`{"message": %q}`, message)).Want(202, "").Field("id")
}

// A Speaker is a fake of the voices: it speaks each word of a message as a clip of 100 ms.
type Speaker struct {
	Slow      int           // factor of the length of a clip; 0 means 1
	Gate      chan struct{} // if not nil, each clip waits for a receive
	VoiceErr  error         // if not nil, returned instead of the default voice
	FirstErr  error         // if not nil, returned instead of the first clip
	SecondErr error         // if not nil, returned instead of the second clip
	Canceled  chan struct{} // if not nil, closed when a speech is canceled
	Busy      time.Duration // that it takes to estimate a duration, as a slow disk would
}

// Voice is the only installed voice.
const Voice = "en_US-ballpark-medium"

// Voice returns the installed voice for its name and for "".
func (s *Speaker) Voice(name string) (string, error) {
	if name == "" && s.VoiceErr != nil {
		return "", s.VoiceErr
	}
	if name == "" || name == Voice {
		return Voice, nil
	}
	return "", &announce.UnknownVoiceError{Name: name, Installed: []string{Voice}}
}

// Preview describes a second of speech per word of message.
func (s *Speaker) Preview(_ context.Context, _, message string) (announcements.Preview, error) {
	n := len(strings.Fields(message))
	return announcements.Preview{
		Text: message + ".", Words: n, Seconds: float64(n), Phonemes: strings.ToLower(message),
	}, s.FirstErr
}

// Estimate returns the duration that Preview describes.
func (s *Speaker) Estimate(_, message string, _ int) time.Duration {
	time.Sleep(s.Busy)
	return time.Duration(len(strings.Fields(message))) * time.Second
}

// Speak returns a clip per word of message.
func (s *Speaker) Speak(ctx context.Context, u announce.Utterance) iter.Seq2[announce.Clip, error] {
	return func(yield func(announce.Clip, error) bool) {
		for i := range strings.Fields(u.Message) {
			err := s.wait(ctx)
			if err == nil {
				err = []error{s.FirstErr, s.SecondErr}[min(i, 1)]
			}
			if err != nil {
				yield(announce.Clip{}, err)
				return
			}
			samples := slices.Repeat([]float32{0.25}, 2205*max(1, s.Slow))
			if !yield(announce.Clip{Clip: audio.Clip{Rate: 22050, Samples: samples}, Voice: Voice}, nil) {
				return
			}
		}
	}
}

// wait waits for the gate, if there is one, and closes Canceled if ctx ends.
func (s *Speaker) wait(ctx context.Context) error {
	if s.Gate == nil {
		return nil
	}
	select {
	case <-s.Gate:
		return nil
	case <-ctx.Done():
		if s.Canceled != nil {
			close(s.Canceled)
		}
		return ctx.Err()
	}
}

// A Sink is a fake of the audio output. It plays the first clip of each
// announcement at once and the others after a receive from release.
type Sink struct{ release chan struct{} }

// Play consumes clips.
func (s *Sink) Play(ctx context.Context, clips <-chan audio.Clip, _ *audio.Fader) (played time.Duration, err error) {
	let := s.release
	for next := clips; ; {
		select {
		case clip, more := <-next:
			if !more {
				return played, nil
			}
			played += clip.Duration()
			if let != nil { // hold the rest back
				next = nil
			}
		case <-let:
			next, let = clips, nil
		case <-ctx.Done():
			return played, ctx.Err()
		}
	}
}

// A Broker is a fake of one of MQTT, to which nothing is published. Its zero value is away.
type Broker struct{ Here atomic.Bool }

// Connected reports whether it is there.
func (b *Broker) Connected() bool { return b.Here.Load() }

// Publish fails.
func (b *Broker) Publish(context.Context, rooms.Message) error {
	return errors.New("nothing is published")
}

// A Rig is a server on real stores. The fields of sign-in and games are nil if its constructor does not set them up.
type Rig struct {
	*web.Server
	T         testing.TB
	Announcer *announcer.Announcer
	Controls  *voicecontrol.Controls
	Store     *store.Store // of announcements
	Rooms     *rooms.Rooms // of the room hall; it is not running
	Broker    *Broker      // of Rooms
	Speaker   *Speaker
	Sounds    *voicesounds.Sounds
	Release   chan struct{} // each send lets one announcement play to its end
	Log       *check.Log
	Check     *Checker
	Config    site.Config
	// SoundUsers is what names sounds.
	SoundUsers map[string][]string
	Closing    bool // clients close once the server has read the body, which net/http tells by the context

	// Set by NewSignInRig and NewGamesRig.
	SignInStore *store.Store
	Provider    *authtest.Provider
	Sessions    *session.Sessions
	Accounts    *session.LocalAccounts
	Clock       *authtest.Host
	mu          sync.Mutex        // guards secrets
	secrets     map[string]string // secret → its kind

	// Set by NewGamesRig.
	Games     *live.Games
	Leagues   *leagues.Leagues
	GameStore *store.Store // of games
	players   atomic.Int64
}

// NewRig returns a rig without sign-in; each change may alter the configuration.
func NewRig(tb testing.TB, change ...func(*site.Config)) *Rig {
	tb.Helper()
	r := newRig(tb)
	r.start(change)
	return r
}

func newRig(tb testing.TB) *Rig {
	tb.Helper()
	return &Rig{
		T: tb, Speaker: &Speaker{}, Release: make(chan struct{}),
		Log: &check.Log{}, Clock: authtest.NewHost(), Check: NewChecker(tb),
		Store: openStore(tb), secrets: map[string]string{},
	}
}

// openStore opens a store that is closed when the test ends.
func openStore(tb testing.TB) *store.Store {
	tb.Helper()
	s := check.Must(store.Open(filepath.Join(tb.TempDir(), "pressbox.db"), store.Options{}))(tb)
	check.Close(tb, s)
	return s
}

// start runs the announcer and creates the server.
func (r *Rig) start(change []func(*site.Config)) {
	r.T.Helper()
	queue := announce.Config{Max: 6, TTL: 10 * time.Minute, Rate: 170, Volume: 100, History: true}
	discard := slog.New(slog.DiscardHandler)
	always := func() bool { return true }
	var err error
	r.Controls = check.Must(voicecontrol.NewControls(voicecontrol.Config{Volume: 100, QuietMode: policy.Silence},
		r.Store, r.moment, discard))(r.T)
	r.Broker = &Broker{}
	r.Rooms = rooms.New("hall", "1", r.Broker, discard)
	r.Sounds = voicesounds.New(r.T.TempDir(), decode.Decoder{FFmpeg: "/nowhere/ffmpeg"}, discard)
	r.Announcer = check.Must(announcer.New(queue, announcer.Parts{
		Outbox: r.Store, Speaker: r.Speaker, Sink: &Sink{r.Release},
		Controls: r.Controls, Estimate: r.Speaker.Estimate, Rooms: r.Rooms, Sounds: r.Sounds,
		Log: discard,
	}))(r.T)
	r.Rooms.Attach(r.Announcer)
	schedules := check.Must(voicecontrol.NewSchedules(voicecontrol.ScheduleParts{
		Repository: r.Store, Announcer: r.Announcer,
		Hub: r.Controls.Hub(), Now: time.Now, ClockSet: always, Log: discard,
	}))(r.T)
	check.Run(r.T, r.Announcer.Run)
	r.T.Cleanup(func() { close(r.Release) }) // otherwise the announcer waits for it
	r.Config = site.Config{
		Config: web.Config{
			Log: slog.New(slog.NewTextHandler(r.Log, &slog.HandlerOptions{Level: slog.LevelDebug})), Version: "1.2.3",
		},
		Announcements: announcements.Config{
			Announcer: r.Announcer,
			Preview:   r.Speaker.Preview,
			Rooms:     r.Rooms,
			Favorite:  r.Controls.Favorite,
			Voices:    func() announcements.VoiceList { return announcements.VoiceList{Default: Voice} },
		},
		OpenAI: openai.Config{
			Speaker: r.Speaker, DefaultRate: func() int { return 170 }, Speeches: limits.NewSlots(),
			FFmpeg: "/nowhere/ffmpeg",
		},
		Sounds:  sounds.Config{Sounds: r.Sounds, Users: func(name string) []string { return r.SoundUsers[name] }},
		Control: control.Config{Controls: r.Controls, Schedules: schedules, Check: r.Announcer.Check},
		Hooks: hooks.Config{Settings: func() hooks.Settings {
			return hooks.Settings{On: true, Templates: hooks.ReadTemplates(""), UrgentFrom: 5}
		}},
		Push: push.Config{
			Ntfy: always, Gotify: always, UrgentFrom: func() int { return 5 }, IsRoom: r.Rooms.Has, History: always,
		},
		Admin: admin.Config{Versions: map[string]string{"go": "go1.26"}},
	}
	for _, c := range change {
		c(&r.Config)
	}
	if r.Server, err = site.New(r.Config); err != nil {
		r.T.Fatal(err)
	}
}

// moment returns the present moment on a host whose clock is right.
func (r *Rig) moment() clock.Moment {
	return clock.Moment{Wall: time.Now(), Instant: clock.Instant{Boot: "boot"}}
}

// Do sends a request from the local network. headers alternates names and values;
// "Host" sets the host and "Client" the client's address and port.
func (r *Rig) Do(tb testing.TB, method, path, body string, headers ...string) Page {
	tb.Helper()
	return r.Send(tb, r.Handler(), NewRequest(method, path, body, headers...))
}

// NewRequest returns a request as Do sends it.
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

// Send sends a request to h and checks the response.
func (r *Rig) Send(tb testing.TB, h http.Handler, req *http.Request) Page {
	tb.Helper()
	w := httptest.NewRecorder()
	if r.Closing {
		ctx, closed := context.WithCancel(req.Context())
		defer closed()
		req = req.WithContext(ctx)
		req.Body = closingBody{req.Body, closed}
	}
	h.ServeHTTP(w, req)
	resp := w.Result()
	resp.Request = req
	text := w.Body.String()
	r.Check.CheckResponse(tb, req, resp)
	resp.Body = io.NopCloser(strings.NewReader(text))
	return Page{resp, tb, text}
}

// A closingBody calls closed at its end.
type closingBody struct {
	io.ReadCloser
	closed func()
}

func (b closingBody) Read(p []byte) (n int, err error) {
	if n, err = b.ReadCloser.Read(p); err != nil {
		b.closed()
	}
	return n, err
}

// Administer sends a request with a JSON body, "" for none, on the administrator's socket.
func (r *Rig) Administer(tb testing.TB, method, path, body string) Page {
	tb.Helper()
	return r.Send(tb, r.AdminHandler(), NewRequest(method, path, body, "Content-Type", AsJSON))
}

// ErrVoice is an error of the voices.
var ErrVoice = errors.New("the model is broken")

// ListenTCP serves the rig on a TCP port until the test ends and returns its URL.
func (r *Rig) ListenTCP(tb testing.TB) (base string) {
	tb.Helper()
	ln := check.Must(net.Listen("tcp", "127.0.0.1:0"))(tb)
	check.Run(tb, func(ctx context.Context) error { return r.Serve(ctx, ln) })
	return "http://" + ln.Addr().String()
}

// A Wire is a listener with connections in memory, for a synctest bubble.
type Wire struct {
	Conns  chan net.Conn
	Stop   func() error // of [InBubble]: stops the server and returns the result of Serve
	closed chan struct{}
	once   sync.Once
}

// NewWire returns an open wire.
func NewWire() *Wire { return &Wire{Conns: make(chan net.Conn), closed: make(chan struct{})} }

// Accept returns the server's end of the next connection.
func (l *Wire) Accept() (net.Conn, error) {
	select {
	case c := <-l.Conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (l *Wire) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns an empty address.
func (l *Wire) Addr() net.Addr { return Address("") }

// An Address is the address of an end of a Pipe.
type Address string

// String returns the address and port.
func (a Address) String() string { return string(a) }

// A Pipe is an end of a connection in memory with a client.
type Pipe struct {
	net.Conn
	client Address
}

// Dial connects to the server from the local network.
func (l *Wire) Dial() net.Conn { return l.DialFrom(LANClient) }

// DialFrom connects to the server from an address.
func (l *Wire) DialFrom(client string) net.Conn {
	here, there := net.Pipe()
	l.Conns <- Pipe{there, Address(client)}
	return here
}

// Ask sends a request on a new connection and returns the connection and the response.
func (l *Wire) Ask(tb testing.TB, request string) (net.Conn, *http.Response) {
	tb.Helper()
	conn := l.Dial()
	check.Must(io.WriteString(conn, request))(tb)
	resp := check.Must(http.ReadResponse(bufio.NewReader(conn), nil))(tb)
	return conn, resp
}

// An EventReader reads server-sent events.
type EventReader struct {
	T     testing.TB
	Lines *bufio.Scanner
}

// Listen opens the event stream after the event lastSeen; "" means none.
func (l *Wire) Listen(tb testing.TB, lastSeen string) (net.Conn, EventReader) {
	tb.Helper()
	request := "GET /events HTTP/1.1\r\nHost: localhost\r\n"
	if lastSeen != "" {
		request += "Last-Event-ID: " + lastSeen + "\r\n"
	}
	conn, resp := l.Ask(tb, request+"\r\n")
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		tb.Fatalf("GET /events: %v", resp)
	}
	events := EventReader{tb, bufio.NewScanner(resp.Body)}
	if first := events.Next(); first != "retry: 2000" {
		tb.Fatalf("the stream begins with %q", first)
	}
	return conn, events
}

// Next returns the next event in one line, with message and status of its data; "" means the end of the stream.
func (l EventReader) Next() string {
	l.T.Helper()
	var parts []string
	event := ""
	for l.Lines.Scan() {
		line := l.Lines.Text()
		data, isData := strings.CutPrefix(line, "data: ")
		switch {
		case line == "":
			return strings.Join(parts, ", ")
		case isData:
			WantDocumented(l.T, event, data)
			if event != "announcement" {
				continue
			}
			var a struct{ Message, Status string }
			check.NoError(l.T, json.Unmarshal([]byte(data), &a))
			parts = append(parts, a.Message+" "+a.Status)
		default:
			event = strings.TrimPrefix(line, "event: ")
			parts = append(parts, line)
		}
	}
	return ""
}

// Want fails the test unless these events follow.
func (l EventReader) Want(events ...string) {
	l.T.Helper()
	for _, want := range events {
		if got := l.Next(); got != want {
			l.T.Fatalf("event %q, want %q", got, want)
		}
	}
}

// Network returns "tcp".
func (Address) Network() string { return "tcp" }

// RemoteAddr returns an address on the local network.
func (p Pipe) RemoteAddr() net.Addr { return p.client }

// ListenUnix listens on a Unix socket in a private directory.
func ListenUnix(t *testing.T) (l net.Listener, path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "admin") //nolint:usetesting // the path of t.TempDir may be too long for a socket
	check.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, "s")
	l = check.Must(new(net.ListenConfig).Listen(t.Context(), "unix", path))(t)
	t.Cleanup(func() { _ = l.Close() }) // the server may have closed it
	return l, path
}
