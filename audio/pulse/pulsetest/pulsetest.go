// Package pulsetest starts a sound server for a test: a real PulseAudio or PipeWire with a null sink, which
// plays in real time and can be recorded. It is for tests only.
//
// One law: a server and its files do not outlive the test.
package pulsetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/packaging/check"
)

// startTime limits the start of a server on a busy host.
const startTime = 5 * time.Minute

// A Config configures a server. The zero value is valid.
type Config struct {
	Rate    int      // of the sink "speaker", in samples per second; 0 means 22,050
	Format  string   // of its samples; "" means float32le
	Extra   string   // further arguments of module-null-sink
	Modules []string // further modules, each with its arguments

	// Files returns further files of PipeWire and WirePlumber, by their paths below XDG_CONFIG_HOME; dir is
	// the server's directory. It may be nil.
	Files func(dir string) map[string]string
}

// A Server is a sound server with one sink, "speaker". A null sink without a listener renders two seconds of
// silence ahead, and the first samples come after them; a recorded one does not.
type Server struct {
	Address string // a server string, for PULSE_SERVER

	tb     testing.TB
	cfg    Config
	dir    string
	launch func(log *os.File) error // starts the programs and returns when they serve

	programs []*program // running
}

// A program is a running part of a server.
type program struct {
	process *os.Process
	exited  chan struct{} // closed when it has ended
}

// Start returns a running server, which ends with the test.
func Start(tb testing.TB, cfg Config) *Server {
	tb.Helper()
	s := New(tb, cfg)
	s.Start()
	return s
}

// New returns a server that is not running; its address is known already. It skips the test in short mode.
func New(tb testing.TB, cfg Config) *Server {
	tb.Helper()
	if testing.Short() {
		tb.Skip("plays sound in real time")
	}
	if cfg.Rate == 0 {
		cfg.Rate = 22050
	}
	if cfg.Format == "" {
		cfg.Format = "float32le"
	}
	dir, err := os.MkdirTemp("", "pulse") //nolint:usetesting // its path may be too long for a socket
	check.NoError(tb, err)
	s := &Server{Address: "unix:" + filepath.Join(dir, "native"), tb: tb, cfg: cfg, dir: dir}
	s.launch = s.launchPulseAudio
	tb.Cleanup(func() {
		s.Kill()
		check.NoError(tb, os.RemoveAll(dir))
	})
	return s
}

// Start starts the server, also after Kill, and returns when it listens.
func (s *Server) Start() {
	s.tb.Helper()
	log := check.Must(os.Create(filepath.Join(s.dir, "log")))(s.tb)
	defer func() { _ = log.Close() }() // the programs have it
	if err := s.launch(log); err != nil {
		s.Kill()
		text, _ := os.ReadFile(log.Name())
		s.tb.Fatalf("start a sound server (\"make parts\" installs it): %v\n%s", err, text)
	}
}

func (s *Server) launchPulseAudio(log *os.File) error {
	notify := &net.UnixAddr{Net: "unixgram", Name: filepath.Join(s.dir, "notify")}
	ready, err := net.ListenUnixgram("unixgram", notify)
	if err != nil {
		return err
	}
	defer func() {
		_ = ready.Close()
		_ = os.Remove(notify.Name) // the next start makes it again
	}()
	args := []string{
		"-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--log-level=warn",
		"-L", fmt.Sprintf("module-null-sink sink_name=speaker channels=1 rate=%d format=%s %s",
			s.cfg.Rate, s.cfg.Format, s.cfg.Extra),
	}
	for _, m := range s.cfg.Modules {
		args = append(args, "-L", m)
	}
	args = append(args, "-L", "module-native-protocol-unix auth-anonymous=1 socket="+s.socket())
	cmd := s.command("pulseaudio", args...)
	cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+ready.LocalAddr().String())
	if err := s.spawn(cmd, log); err != nil {
		return err
	}
	go func(exited <-chan struct{}) {
		<-exited
		_ = ready.Close() // ends awaitReady
	}(s.programs[0].exited)
	return awaitReady(ready)
}

// spawn starts a part of the server.
func (s *Server) spawn(cmd *exec.Cmd, log *os.File) error {
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // killed, so an error is normal
		close(exited)
	}()
	s.programs = append(s.programs, &program{process: cmd.Process, exited: exited})
	return nil
}

// await waits for a condition while the programs run.
func (s *Server) await(condition func() bool) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(startTime); !condition(); {
		select {
		case <-tick.C:
		case <-s.programs[len(s.programs)-1].exited:
			return errors.New("a program of the server has ended")
		case <-late:
			return errors.New("timed out")
		}
	}
	return nil
}

// awaitReady waits for the readiness message of sd_notify(3).
func awaitReady(socket *net.UnixConn) error {
	if err := socket.SetReadDeadline(time.Now().Add(startTime)); err != nil {
		return err
	}
	message := make([]byte, 4096)
	for {
		n, err := socket.Read(message)
		if err != nil {
			return err
		}
		if bytes.Contains(message[:n], []byte("READY=1")) {
			return nil
		}
	}
}

// Kill kills the server (SIGKILL) and waits for its end. It does nothing if the server is not running.
func (s *Server) Kill() {
	for _, p := range s.programs {
		_ = p.process.Kill() // it may be gone already
	}
	for _, p := range s.programs {
		<-p.exited
	}
	s.programs = nil
}

// Signal sends a signal to the server; after SIGSTOP it does not answer.
func (s *Server) Signal(sig syscall.Signal) {
	s.tb.Helper()
	for _, p := range s.programs {
		check.NoError(s.tb, p.process.Signal(sig))
	}
}

// Rate returns the rate of the sink "speaker".
func (s *Server) Rate() int { return s.cfg.Rate }

// Pactl runs pactl with the arguments and returns its output.
func (s *Server) Pactl(args ...string) string {
	s.tb.Helper()
	var failure bytes.Buffer
	pactl := s.command("pactl", append([]string{"--server=" + s.Address}, args...)...)
	pactl.Stderr = &failure
	out, err := pactl.Output()
	if err != nil {
		s.tb.Fatalf("pactl %v: %v: %s", args, err, &failure)
	}
	return string(out)
}

func (s *Server) socket() string { return filepath.Join(s.dir, "native") }

// command returns a command that uses only this server's files and does not outlive the test process.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	// Not the test's context, which ends before the cleanup functions that may still use the server.
	c := exec.CommandContext(context.Background(), name, args...) //nolint:gosec // a test names it
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "XDG_RUNTIME_DIR=" + s.dir, "LC_ALL=C"}
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}

// maxAttempts limits the attempts of Retry.
const maxAttempts = 6

// An Attempt is one run of a test in real time. It collects errors; Fatal still ends the test.
type Attempt struct {
	*testing.T
	failures []string
}

// Errorf records an error of this attempt.
func (a *Attempt) Errorf(format string, args ...any) {
	a.failures = append(a.failures, fmt.Sprintf(format, args...))
}

// Error records an error of this attempt.
func (a *Attempt) Error(args ...any) {
	a.failures = append(a.failures, fmt.Sprint(args...))
}

// Retry fails the test unless one of a few attempts succeeds. A busy host that stalls in mid-word or starts a
// program too late spoils what is recorded, which is no fault of the code under test; a real fault shows
// every time.
func Retry(t *testing.T, attempt func(a *Attempt)) {
	t.Helper()
	var failures []string
	for n := range maxAttempts {
		a := &Attempt{T: t}
		attempt(a)
		if len(a.failures) == 0 {
			return
		}
		failures = append(failures, fmt.Sprintf("attempt %d: %s", n+1, strings.Join(a.failures, "\n")))
	}
	t.Error(strings.Join(failures, "\n"))
}

// FreePort returns a TCP port without a listener. It is outside the ephemeral range, so the kernel does not
// assign it to others.
func FreePort(tb testing.TB) int {
	tb.Helper()
	const first, last = 20_000, 29_999
	for range last - first {
		port := first + rand.N(last-first) //nolint:gosec // not a secret
		l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		check.NoError(tb, l.Close())
		return port
	}
	tb.Fatal("no free port")
	return 0
}

// pipeWireFiles are the files of PipeWire and WirePlumber below the home of a server: a sink "speaker", and
// no devices of the host. WirePlumber 0.4 ends if it needs D-Bus or a login session, as its portal and its
// monitor of Bluetooth do.
func pipeWireFiles(rate int) map[string]string {
	return map[string]string{
		"pipewire/pipewire.conf.d/speaker.conf": fmt.Sprintf(`context.properties = { default.clock.rate = %d }
context.objects = [ { factory = adapter args = {
	factory.name = support.null-audio-sink
	node.name = speaker
	media.class = Audio/Sink
	audio.position = [ MONO ]
} } ]
`, rate),
		"wireplumber/bluetooth.lua.d/51-test.lua": "bluez_monitor.enabled = false\n",
		"wireplumber/main.lua.d/51-test.lua": `default_access.properties["enable-flatpak-portal"] = false
alsa_monitor.enabled = false
v4l2_monitor.enabled = false
libcamera_monitor.enabled = false
`,
	}
}

// StartPipeWire returns a running PipeWire with WirePlumber and its PulseAudio server, which end with the
// test. Of cfg it uses the rate and the files.
func StartPipeWire(tb testing.TB, cfg Config) *Server {
	tb.Helper()
	s := New(tb, cfg)
	s.Address = "unix:" + filepath.Join(s.dir, "pulse", "native")
	files := pipeWireFiles(s.cfg.Rate)
	if s.cfg.Files != nil {
		maps.Copy(files, s.cfg.Files(s.dir))
	}
	for name, content := range files {
		path := filepath.Join(s.dir, ".config", name)
		check.NoError(tb, os.MkdirAll(filepath.Dir(path), 0o700))
		check.NoError(tb, os.WriteFile(path, []byte(content), 0o600))
	}
	s.launch = s.launchPipeWire
	s.Start()
	return s
}

// launchPipeWire starts the three programs, each when the one before it serves.
func (s *Server) launchPipeWire(log *os.File) error {
	if err := s.spawn(s.command("pipewire"), log); err != nil {
		return err
	}
	if err := s.await(func() bool {
		conn, err := net.Dial("unix", filepath.Join(s.dir, "pipewire-0")) //nolint:noctx // local
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}); err != nil {
		return err
	}
	for _, program := range []string{"wireplumber", "pipewire-pulse"} {
		if err := s.spawn(s.command(program), log); err != nil {
			return err
		}
	}
	return s.await(func() bool {
		out, _ := s.command("pactl", "--server="+s.Address, "get-default-sink").Output() // until it listens
		return strings.TrimSpace(string(out)) == "speaker"
	})
}
