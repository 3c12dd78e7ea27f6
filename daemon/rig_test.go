package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/client"
)

// A process is a server in a child process.
type process struct {
	cmd   *exec.Cmd
	url   string        // where it listens
	ended chan struct{} // closed when it has ended
	err   error         // of its end; read after ended was closed

	mu     sync.Mutex // guards what follows
	grown  sync.Cond  // waits with mu for more of the log, or its end
	log    strings.Builder
	closed bool // the log is complete
}

var listening = regexp.MustCompile(`msg=listening .*url=(\S+)`)

// environment returns the environment of a server on a free port, with the settings given.
func environment(tb testing.TB, values ...string) []string {
	tb.Helper()
	return append(append(os.Environ(), commonSettings(tb)...), values...)
}

// silent is the setting of a server without a sound server.
const silent = "PULSE_SERVER=unix:/nonexistent"

// commonSettings returns the settings of every server. It skips the test in a short run and
// fails it if a part is missing.
func commonSettings(tb testing.TB) []string {
	tb.Helper()
	if testing.Short() {
		tb.Skip("starts a server process")
	}
	for _, program := range []string{"espeak-ng", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			tb.Fatalf("%s is missing: apt install %s", program, program)
		}
	}
	models, err := filepath.Abs("../models")
	if err != nil {
		tb.Fatal(err)
	}
	runtime := os.Getenv("ONNXRUNTIME_LIB")
	if runtime == "" {
		runtime, err = filepath.Abs("../bin/libonnxruntime.so")
	}
	if err == nil {
		_, err = os.Stat(runtime)
	}
	if err != nil {
		tb.Fatalf("ONNX Runtime is missing: run \"make build\": %v", err)
	}
	return []string{"HOST=127.0.0.1", "PORT=0", "MODEL_DIR=" + models, "ONNXRUNTIME_LIB=" + runtime}
}

// startProcess runs "pressbox serve" in a directory and waits until it listens.
func startProcess(dir string, env []string, args ...string) (*process, error) {
	cmd := exec.Command("pressbox", append([]string{"serve"}, args...)...)
	cmd.Dir, cmd.Env = dir, env
	return startCommand(cmd)
}

// runProcess starts a server in a new directory. It is killed at the end of the test.
func runProcess(tb testing.TB, values ...string) *process {
	tb.Helper()
	return runProcessIn(tb, tb.TempDir(), environment(tb, values...))
}

// runProcessIn starts a server in a directory. It is killed at the end of the test.
func runProcessIn(tb testing.TB, dir string, env []string) *process {
	tb.Helper()
	p, err := startProcess(dir, env)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = p.end(syscall.SIGKILL) }) // it may have ended
	return p
}

// activate starts a server with sockets from systemd, whose names are separated by colons.
func activate(dir string, env []string, names string, sockets ...*os.File) (*process, error) {
	cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ exec pressbox serve`)
	cmd.Dir = dir
	cmd.Env = append(env, fmt.Sprint("LISTEN_FDS=", len(sockets)), "LISTEN_FDNAMES="+names)
	cmd.ExtraFiles = sockets
	return startCommand(cmd)
}

// openSocket opens a listener and returns its address and a file for a child process.
func openSocket(t *testing.T, network, address string) (string, *os.File) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	file, err := l.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return l.Addr().String(), file
}

// startCommand starts a command and waits until it listens.
func startCommand(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, ended: make(chan struct{})}
	p.grown.L = &p.mu
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	url := make(chan string, 1)
	go func() {
		defer close(p.ended)
		p.read(stderr, url)
		p.err = p.cmd.Wait()
	}()
	select {
	case p.url = <-url:
		return p, nil
	case <-p.ended:
		return nil, fmt.Errorf("pressbox serve: %w\n%s", p.err, p.logged())
	}
}

// read collects the log, and sends the address at which the server listens.
func (p *process) read(stderr io.Reader, url chan<- string) {
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

// maxWait is the time for which a test waits for a log message or a notification.
const maxWait = 2 * time.Minute

// awaitLog waits until the log contains text; it reports false if the server ends before, or
// after [maxWait].
func (p *process) awaitLog(text string) bool {
	deadline := time.Now().Add(maxWait)
	defer time.AfterFunc(maxWait, p.grown.Broadcast).Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !strings.Contains(p.log.String(), text) {
		if p.closed || time.Now().After(deadline) {
			return false
		}
		p.grown.Wait()
	}
	return true
}

// logged returns the log so far.
func (p *process) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// end sends a signal and waits until the server has ended.
func (p *process) end(signal syscall.Signal) error {
	_ = p.cmd.Process.Signal(signal) // it may have ended
	<-p.ended
	return p.err
}

// signal sends a signal to a running server.
func (p *process) signal(tb testing.TB, signal syscall.Signal) {
	tb.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		tb.Fatal(err)
	}
}

// A server is a process with a sound server and a client.
type server struct {
	*client.Client
	*process

	tb    testing.TB
	dir   string // its working directory
	env   []string
	sound *pulsetest.Server
}

// newServer starts a server whose voices are calibrated. It is killed at the end of the test.
func newServer(tb testing.TB) *server {
	tb.Helper()
	s := &server{tb: tb, dir: calibratedDir(tb), sound: pulsetest.Start(tb, pulsetest.Config{})}
	s.env = environment(tb, "PULSE_SERVER="+s.sound.Address)
	s.start()
	return s
}

// start starts the server, also after its end.
func (s *server) start() {
	s.tb.Helper()
	s.process = runProcessIn(s.tb, s.dir, s.env)
	s.Client = client.New(s.url, "")
}

// calibrated holds a store with the calibrations of the bundled voices, which take seconds
// and do not differ between servers.
var calibrated struct {
	sync.Once
	store []byte
}

// calibratedDir returns a new working directory whose store has the calibrations.
func calibratedDir(tb testing.TB) string {
	tb.Helper()
	calibrated.Do(func() { calibrated.store = calibrate(tb) })
	dir := tb.TempDir()
	writeState(tb, dir, "pressbox.db", string(calibrated.store))
	return dir
}

// writeState writes a file in STATE_DIR of a working directory.
func writeState(tb testing.TB, dir, name, content string) {
	tb.Helper()
	path := filepath.Join(dir, "state", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func calibrate(tb testing.TB) []byte {
	tb.Helper()
	s := &server{tb: tb, dir: tb.TempDir(), env: environment(tb, silent)}
	s.start()
	for remaining := 1; remaining > 0; {
		s.speech("One.") // takes a while
		var list struct {
			Voices []struct {
				WordsPerMinute *float64 `json:"words_per_minute"`
			} `json:"voices"`
		}
		if err := s.Call(tb.Context(), http.MethodGet, "/voices", nil, &list); err != nil {
			tb.Fatal(err)
		}
		remaining = 0
		for _, v := range list.Voices {
			if v.WordsPerMinute == nil {
				remaining++
			}
		}
	}
	if err := s.end(syscall.SIGTERM); err != nil {
		tb.Fatal(err)
	}
	store, err := os.ReadFile(filepath.Join(s.dir, "state", "pressbox.db"))
	if err != nil {
		tb.Fatal(err)
	}
	return store
}

// post creates an announcement.
func (s *server) post(request client.Announcement) client.Report {
	s.tb.Helper()
	r, err := s.Announce(s.tb.Context(), request)
	if err != nil {
		s.tb.Fatalf("POST /notify %.40q: %v", request.Message, err)
	}
	return r
}

// awaitPlayed waits until an announcement has been played.
func (s *server) awaitPlayed(id string) {
	s.tb.Helper()
	if r, err := s.Follow(s.tb.Context(), id); err != nil || r.Status != "done" {
		s.tb.Fatalf("the announcement %s ended as %+v, %v\n%s", id, r, err, s.logged())
	}
}

// awaitStatus waits until an announcement has a status.
func (s *server) awaitStatus(id, status string) {
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

// speech returns the samples of a text's speech.
func (s *server) speech(text string) []float32 {
	s.tb.Helper()
	clip, err := s.Speech(s.tb.Context(), client.Announcement{Message: text})
	if err != nil {
		s.tb.Fatal(err)
	}
	return clip.Samples
}

// awaitHealth polls the server's health until done reports true.
func (s *server) awaitHealth(ctx context.Context, done func(client.Health) bool) {
	s.tb.Helper()
	for {
		h, err := client.HealthAt(ctx, s.url)
		if err != nil {
			s.tb.Fatal(err)
		}
		if done(h) {
			return
		}
	}
}

// A serviceManager receives the notifications of a server (sd_notify(3)), at all times, so
// that no sender waits.
type serviceManager struct {
	t    *testing.T
	path string

	mu       sync.Mutex // guards what follows
	grown    sync.Cond  // waits with mu for more
	received []string
	next     int // of received, for await
	err      error
}

func newServiceManager(t *testing.T) *serviceManager {
	t.Helper()
	dir, err := os.MkdirTemp("", "notify") //nolint:usetesting // t.TempDir may exceed the length of a socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	m := &serviceManager{t: t, path: filepath.Join(dir, "s")}
	m.grown.L = &m.mu
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: m.path})
	if err != nil {
		t.Fatal(err)
	}
	var receiver sync.WaitGroup
	receiver.Go(func() { m.receive(conn) })
	t.Cleanup(func() {
		_ = conn.Close()
		receiver.Wait()
	})
	return m
}

func (m *serviceManager) receive(conn *net.UnixConn) {
	message := make([]byte, 4096)
	for {
		n, err := conn.Read(message)
		m.mu.Lock()
		m.received, m.err = append(m.received, string(message[:n])), err
		m.mu.Unlock()
		m.grown.Broadcast()
		if err != nil {
			return
		}
	}
}

// await waits for a notification that matches, after those awaited before.
func (m *serviceManager) await(pattern string) {
	m.t.Helper()
	want := regexp.MustCompile(pattern)
	deadline := time.Now().Add(maxWait)
	defer time.AfterFunc(maxWait, m.grown.Broadcast).Stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	for from := m.next; ; m.next++ {
		for m.next == len(m.received) {
			if m.err != nil || time.Now().After(deadline) {
				m.t.Fatalf("no notification matches %q: %.2000q", pattern, m.received[from:])
			}
			m.grown.Wait()
		}
		if want.MatchString(m.received[m.next]) {
			m.next++
			return
		}
	}
}
