// Package servertest runs the server in a child process. It is for tests only.
//
// One law: a server does not outlive its test.
package servertest

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/client"
	"pressbox/daemon/replica"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
)

// Silent is the setting of a server without a sound server.
const Silent = "PULSE_SERVER=unix:/nonexistent"

// MaxWait is the time for which a test waits for a log message or a notification.
const MaxWait = 2 * time.Minute

// Main builds the program like the tests, with the race detector or with the flag of "make build", puts it first in
// PATH, runs a package's tests and returns their exit code. A short run builds nothing.
func Main(m *testing.M) (code int) {
	if flag.Parse(); testing.Short() {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "servertest")
	if err == nil {
		defer os.RemoveAll(dir)
		err = errors.Join(Build(dir, detector()), os.Setenv("PATH", dir+":"+os.Getenv("PATH")))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// detector returns the flag of the build: "-race" if the tests have the race detector.
func detector() string {
	info, ok := debug.ReadBuildInfo()
	if ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		return "-race"
	}
	return "-trimpath"
}

// Build builds the program in a directory.
func Build(dir string, flags ...string) error {
	args := slices.Concat([]string{"build", "-buildvcs=false"},
		flags, []string{"-o", filepath.Join(dir, "pressbox"), "pressbox/daemon"})
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return nil
}

// repository returns the root of the repository, in which the test's working directory is.
var repository = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	return filepath.Dir(strings.TrimSpace(string(out))), err
})

// Environment returns the environment of a server on a free port, with the settings given.
func Environment(tb testing.TB, values ...string) []string {
	tb.Helper()
	return append(append(os.Environ(), Settings(tb)...), values...)
}

// Settings returns the settings of every server, which plays no chimes unless they are
// requested. It skips the test in a short run and fails
// it if a part is missing.
func Settings(tb testing.TB) []string {
	tb.Helper()
	if testing.Short() {
		tb.Skip("starts a server process")
	}
	for _, program := range []string{"espeak-ng", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			tb.Fatalf("%s is missing: apt install %s", program, program)
		}
	}
	root := check.Must(repository())(tb)
	runtime := os.Getenv("ONNXRUNTIME_LIB")
	if runtime == "" {
		runtime = filepath.Join(root, "bin/libonnxruntime.so")
	}
	if _, err := os.Stat(runtime); err != nil {
		tb.Fatalf("ONNX Runtime is missing: run \"make build\": %v", err)
	}
	return []string{
		"CHIME=none", "CHIME_URGENT=none", "HOST=127.0.0.1", "PORT=0", "WYOMING_PORT=0", "ESPHOME_PORT=0",
		"MODEL_DIR=" + filepath.Join(root, "models"), "ONNXRUNTIME_LIB=" + runtime,
	}
}

// A Process is a server in a child process.
type Process struct {
	Cmd   *exec.Cmd
	URL   string        // where it listens
	Ended chan struct{} // closed when it has ended
	Err   error         // of its end; read after Ended was closed

	mu     sync.Mutex // guards what follows
	grown  sync.Cond  // waits with mu for more of the log, or its end
	log    strings.Builder
	closed bool // the log is complete
}

// listening matches the log message with the server's address.
var listening = regexp.MustCompile(`msg=listening .*url=(\S+)`)

// Start runs "pressbox serve" in a directory and waits until it listens.
func Start(dir string, env []string, args ...string) (*Process, error) {
	cmd := exec.Command("pressbox", append([]string{"serve"}, args...)...)
	cmd.Dir, cmd.Env = dir, env
	return StartCommand(cmd)
}

// Run starts a server in a new directory, with calibrated voices. It is killed at the end of the test.
func Run(tb testing.TB, values ...string) *Process {
	tb.Helper()
	env := Environment(tb, values...)
	return RunIn(tb, CalibratedDir(tb), env)
}

// RunIn starts a server in a directory. It is killed at the end of the test.
func RunIn(tb testing.TB, dir string, env []string) *Process {
	tb.Helper()
	p := check.Must(Start(dir, env))(tb)
	tb.Cleanup(func() { _ = p.End(syscall.SIGKILL) }) // it may have ended
	return p
}

// StartCommand starts a command and waits until it listens.
func StartCommand(cmd *exec.Cmd) (*Process, error) {
	p := &Process{Cmd: cmd, Ended: make(chan struct{})}
	p.grown.L = &p.mu
	stderr, err := p.Cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.Cmd.Start(); err != nil {
		return nil, err
	}
	url := make(chan string, 1)
	go func() {
		defer close(p.Ended)
		p.read(stderr, url)
		p.Err = p.Cmd.Wait()
	}()
	select {
	case p.URL = <-url:
		return p, nil
	case <-p.Ended:
		return nil, fmt.Errorf("pressbox serve: %w\n%s", p.Err, p.Logged())
	}
}

// read collects the log, and sends the address at which the server listens.
func (p *Process) read(stderr io.Reader, url chan<- string) {
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		p.mu.Lock()
		p.log.WriteString(lines.Text() + "\n")
		p.mu.Unlock()
		p.grown.Broadcast()
		if found := listening.FindStringSubmatch(lines.Text()); found != nil {
			url <- found[1]
		}
	}
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.grown.Broadcast()
}

// AwaitLog waits until the log contains text; it reports false if the server ends before, or after [MaxWait].
func (p *Process) AwaitLog(text string) bool { return p.AwaitMore(0, text) }

// AwaitMore is AwaitLog for what follows the first n bytes of the log.
func (p *Process) AwaitMore(n int, text string) bool {
	deadline := time.Now().Add(MaxWait)
	defer time.AfterFunc(MaxWait, p.grown.Broadcast).Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !strings.Contains(p.log.String()[n:], text) {
		if p.closed || time.Now().After(deadline) {
			return false
		}
		p.grown.Wait()
	}
	return true
}

// Logged returns the log so far.
func (p *Process) Logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// End sends a signal and waits until the server has ended.
func (p *Process) End(signal syscall.Signal) error {
	_ = p.Cmd.Process.Signal(signal) // it may have ended
	<-p.Ended
	return p.Err
}

// Signal sends a signal to a running server.
func (p *Process) Signal(tb testing.TB, signal syscall.Signal) {
	tb.Helper()
	check.NoError(tb, p.Cmd.Process.Signal(signal))
}

// A Server is a process with a sound server and a client.
type Server struct {
	*client.Client
	*Process
	Sound *pulsetest.Server

	tb  testing.TB
	dir string // its working directory
	env []string
}

// NewServer starts a server whose voices are calibrated, with the settings given. It is killed at the end of the test.
func NewServer(tb testing.TB, values ...string) *Server {
	tb.Helper()
	return NewServerOn(tb, pulsetest.Start(tb, pulsetest.Config{}), values...)
}

// NewServerOn is [NewServer] on a sound server.
func NewServerOn(tb testing.TB, sound *pulsetest.Server, values ...string) *Server {
	tb.Helper()
	s := &Server{tb: tb, dir: CalibratedDir(tb), Sound: sound}
	s.env = Environment(tb, append(values, "PULSE_SERVER="+sound.Address)...)
	s.Restart()
	return s
}

// Restart starts the server after its end, with further settings.
func (s *Server) Restart(values ...string) {
	s.tb.Helper()
	s.Process = RunIn(s.tb, s.dir, append(slices.Clip(s.env), values...))
	s.Client = client.New(s.URL, "")
}

// calibrated holds a store with the calibrations of the bundled voices, which take seconds
// and do not differ between servers.
var calibrated struct {
	sync.Once
	store []byte
}

// CalibratedDir returns a new working directory whose store has the calibrations.
func CalibratedDir(tb testing.TB) string {
	tb.Helper()
	calibrated.Do(func() { calibrated.store = calibrate(tb) })
	dir := tb.TempDir()
	WriteState(tb, dir, "pressbox.db", string(calibrated.store))
	return dir
}

// WriteState writes a file in STATE_DIR of a working directory.
func WriteState(tb testing.TB, dir, name, content string) {
	tb.Helper()
	path := filepath.Join(dir, "state", name)
	check.NoError(tb, os.MkdirAll(filepath.Dir(path), 0o700))
	check.NoError(tb, os.WriteFile(path, []byte(content), 0o600))
}

func calibrate(tb testing.TB) []byte {
	tb.Helper()
	s := &Server{tb: tb, dir: tb.TempDir(), env: Environment(tb, Silent, "ESPHOME=off")} // without an id
	s.Restart()
	for remaining := 1; remaining > 0; {
		s.Samples(client.Announcement{Message: "One."}) // takes a while
		var list struct {
			Voices []struct {
				WordsPerMinute *float64 `json:"words_per_minute"`
			} `json:"voices"`
		}
		check.NoError(tb, s.Call(tb.Context(), http.MethodGet, "/voices", nil, &list))
		remaining = 0
		for _, v := range list.Voices {
			if v.WordsPerMinute == nil {
				remaining++
			}
		}
	}
	check.NoError(tb, s.End(syscall.SIGTERM))
	return check.Must(os.ReadFile(filepath.Join(s.dir, "state", "pressbox.db")))(tb)
}

// Request returns the request to announce something now.
func Request(a client.Announcement) announce.AnnouncementRequest {
	return announce.AnnouncementRequest{Payload: announce.Payload{Content: a}}
}

// Post creates an announcement.
func (s *Server) Post(request client.Announcement) client.Report {
	s.tb.Helper()
	r, err := s.Announce(s.tb.Context(), Request(request))
	if err != nil {
		s.tb.Fatalf("POST /notify %.40q: %v", request.Message, err)
	}
	return r
}

// AwaitPlayed waits until an announcement has been played.
func (s *Server) AwaitPlayed(id string) {
	s.tb.Helper()
	if r, err := s.Follow(s.tb.Context(), id); err != nil || r.Status != "done" {
		s.tb.Fatalf("the announcement %s ended as %+v, %v\n%s", id, r, err, s.Logged())
	}
}

// AwaitIdle waits until the queue is empty.
func (s *Server) AwaitIdle() {
	s.tb.Helper()
	for {
		var list struct{ Queue []client.Report }
		if err := s.Call(s.tb.Context(), http.MethodGet, "/notify", nil, &list); err != nil {
			s.tb.Fatalf("GET /notify: %v", err)
		}
		if len(list.Queue) == 0 {
			return
		}
		<-time.After(50 * time.Millisecond)
	}
}

// AwaitStatus waits until an announcement has a status.
func (s *Server) AwaitStatus(id, status string) {
	s.tb.Helper()
	for {
		var r client.Report
		if err := s.Call(s.tb.Context(), http.MethodGet, "/notify/"+id, nil, &r); err != nil || r.Ended() {
			s.tb.Fatalf("the announcement %s is %+v, %v; want %s", id, r, err, status)
		}
		if r.Status == status {
			return
		}
	}
}

// Samples returns the samples of an announcement's speech.
func (s *Server) Samples(request client.Announcement) []float32 {
	s.tb.Helper()
	return check.Must(s.Speech(s.tb.Context(), request))(s.tb).Samples
}

// Never is longer than any wait of a test takes on the slowest host.
const Never = 5 * time.Minute

// A Browser is the HTTP client of an account, with its cookies.
type Browser struct {
	http.Client
	tb     testing.TB
	Base   string // of its requests
	dialer websocket.Dialer
}

// NewBrowser returns a browser without an account; nil is the default transport.
func NewBrowser(tb testing.TB, base string, transport *http.Transport) *Browser {
	tb.Helper()
	cookies := check.Must(cookiejar.New(nil))(tb)
	b := &Browser{tb: tb, Base: base, Client: http.Client{Jar: cookies}}
	b.dialer = websocket.Dialer{Subprotocols: []string{"pressbox.v1"}, Jar: cookies, HandshakeTimeout: Never}
	if transport != nil {
		b.Transport = transport
		b.dialer.NetDialContext, b.dialer.TLSClientConfig = transport.DialContext, transport.TLSClientConfig
	}
	return b
}

// SignUp creates an account and returns its browser.
func SignUp(tb testing.TB, base string) *Browser {
	tb.Helper()
	b := NewBrowser(tb, base, nil)
	b.SignUp()
	return b
}

// SignUp creates an account and returns its form.
func (b *Browser) SignUp() (form *http.Response) {
	b.tb.Helper()
	form = b.Request("GET", "/api/auth/idp/login", "")
	end := check.Must(b.PostForm(form.Request.URL.String(),
		url.Values{"form": {"create"}, "name": {"Anna"}, "passphrase": {"a dog in a boat"}}))(b.tb)
	_ = end.Body.Close()
	return form
}

// Request sends a request with a JSON body, "" for none. headers alternates names and values.
func (b *Browser) Request(method, path, body string, headers ...string) *http.Response {
	b.tb.Helper()
	req := check.Must(http.NewRequestWithContext(b.tb.Context(), method, b.Base+path, strings.NewReader(body)))(b.tb)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp := check.Must(b.Do(req))(b.tb)
	b.tb.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// Ask sends a request and returns the response's body; it fails the test unless the response has the status want.
func (b *Browser) Ask(method, path, body string, want int) []byte {
	b.tb.Helper()
	resp := b.Request(method, path, body)
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		b.tb.Fatalf("%s %s: %s, %v, want %d: %s", method, path, resp.Status, err, want, text)
	}
	return text
}

// Read decodes the response to a GET request.
func (b *Browser) Read(path string, v any) {
	b.tb.Helper()
	check.NoError(b.tb, json.Unmarshal(b.Ask("GET", path, "", 200), v))
}

// Dial opens a websocket from a page of an origin.
func (b *Browser) Dial(origin string) (*websocket.Conn, *http.Response, error) {
	conn, resp, err := b.dialer.Dial("ws"+strings.TrimPrefix(b.Base, "http")+"/api/ws", http.Header{"Origin": {origin}})
	if resp != nil {
		_ = resp.Body.Close()
	}
	return conn, resp, err
}

// A Player plays a game against the bot, over one connection or several.
type Player struct {
	*Browser
	game    string
	Replica *replica.Replica
	cids    int
	pending string            // the command without a response; "" means none
	cid     string            // its id
	acked   map[string]uint64 // the revisions of this game's commands
	Acks    int               // commands acknowledged in all games
}

// Play starts a game against the bot with these options.
func (p *Player) Play(options string) {
	p.tb.Helper()
	var teams struct{ Teams []struct{ ID string } }
	p.Read("/api/teams", &teams)
	var g struct{ ID string }
	created := p.Ask("POST", "/api/games",
		fmt.Sprintf(`{"home_team": %q, "away_team": %q, "options": {"opponent": "bot", %s}}`,
			teams.Teams[0].ID, teams.Teams[1].ID, options), 201)
	check.NoError(p.tb, json.Unmarshal(created, &g))
	lineup := p.Ask("POST", "/api/games/"+g.ID+"/lineups/home/suggest", "", 200)
	known := check.Must(replica.New(p.Ask("PUT", "/api/games/"+g.ID+"/lineups/home", string(lineup), 200)))(p.tb)
	p.game, p.Replica, p.acked, p.pending = g.ID, known, map[string]uint64{}, ""
}

// ErrDiverged is the error of a replica that is not what the server sent.
var ErrDiverged = errors.New("the replica and the server differ")

// Connect plays over one connection until it breaks, the game is over, or stop, called with
// each applied frame, returns true.
func (p *Player) Connect(stop func(replica.Frame) bool) error {
	conn, _, err := p.Dial(p.Base)
	if err != nil {
		return err
	}
	defer conn.Close()
	send := func(text string) error { return conn.WriteMessage(websocket.TextMessage, []byte(text)) }
	if err := send(fmt.Sprintf(`{"t":"join","g":%q,"d":{"since":%d}}`, p.game, p.Replica.Rev)); err != nil {
		return err
	}
	for !p.Replica.Over {
		_ = conn.SetReadDeadline(time.Now().Add(Never))
		var f replica.Frame
		if err := conn.ReadJSON(&f); err != nil {
			return err
		}
		if err := p.apply(f); err != nil {
			return fmt.Errorf("%w: %w", ErrDiverged, err)
		}
		if stop != nil && stop(f) {
			return nil
		}
		resend := f.T == "state" && p.pending != ""
		if !resend && (p.pending != "" || len(p.Replica.Legal) == 0) {
			continue
		}
		if !resend {
			p.decide()
		}
		if err := send(p.pending); err != nil {
			return err
		}
	}
	return nil
}

// apply applies a frame to the replica and records the revision of an acknowledged command.
func (p *Player) apply(f replica.Frame) error {
	if err := p.Replica.Apply(f); err != nil {
		return err
	}
	if before, ok := p.acked[f.CID]; f.T == "ack" && ok && before != f.Rev {
		return fmt.Errorf("%s was revision %d and is %d", f.CID, before, f.Rev)
	}
	if f.T == "ack" {
		p.acked[f.CID] = f.Rev
		p.Acks++
	}
	if (f.T == "ack" || f.T == "nak") && f.CID == p.cid {
		p.pending = ""
	}
	return nil
}

// decide makes the first legal choice the pending command.
func (p *Player) decide() {
	p.cids++
	p.cid = "c" + strconv.Itoa(p.cids)
	p.pending = fmt.Sprintf(`{"t":"cmd","g":%q,"cid":%q,"rev":%d,"d":{"action":%s}}`,
		p.game, p.cid, p.Replica.Rev, p.Replica.Legal[0].Action)
	p.Replica.Legal = nil
}

// Check fails the test unless every acknowledged command has its revision: the server answers
// a repeated command by its id.
func (p *Player) Check() {
	p.tb.Helper()
	conn, _, err := p.Dial(p.Base)
	check.NoError(p.tb, err)
	defer conn.Close()
	asked := 0
	for cid, rev := range p.acked {
		if asked++; asked > 30 { // the rate limit of a socket
			break
		}
		if asked == 1 {
			_ = conn.WriteMessage(websocket.TextMessage,
				fmt.Appendf(nil, `{"t":"join","g":%q,"d":{"since":%d}}`, p.game, p.Replica.Rev))
		}
		_ = conn.WriteMessage(websocket.TextMessage,
			fmt.Appendf(nil, `{"t":"cmd","g":%q,"cid":%q,"rev":1,"d":{"action":{"a":"offense","call":"swing"}}}`,
				p.game, cid))
		var f replica.Frame
		for f.T != "ack" && f.T != "nak" {
			check.NoError(p.tb, conn.ReadJSON(&f))
		}
		if f.T != "ack" || f.Rev != rev || string(f.D) != `{"dup":true}` {
			p.tb.Errorf("%s was acknowledged as revision %d, and is now answered %s %d %s", cid, rev, f.T, f.Rev, f.D)
		}
	}
}
