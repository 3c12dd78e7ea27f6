// Package pulsetest gives a test a sound server of its own: a real PulseAudio
// that plays into nothing, in real time, and whose sound can be recorded. It
// is for tests only.
//
// One law: nothing of a server outlives its test.
package pulsetest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// startTime is how long a server may take to start on a busy machine.
const startTime = 5 * time.Minute

// A Config says what kind of server a test wants. The zero value is a good
// one.
type Config struct {
	Rate    int      // of the sink "speaker", in samples per second; 0 means 22,050
	Format  string   // of its samples; "" means float32le
	Extra   string   // further arguments of its module-null-sink
	Modules []string // loaded besides, each with its arguments
}

// A Server is a PulseAudio server with one sink, called "speaker". A null
// sink that nobody listened to renders two seconds of silence ahead, and what
// is played first comes after them; one that is recorded does not.
type Server struct {
	Address string // a server string, for PULSE_SERVER

	tb      testing.TB
	cfg     Config
	dir     string
	process *exec.Cmd     // nil while it does not run
	exited  chan struct{} // closed when process has ended
}

// Start returns a running server, which ends with the test.
func Start(tb testing.TB, cfg Config) *Server {
	tb.Helper()
	s := New(tb, cfg)
	s.Start()
	return s
}

// New returns a server that does not run yet; its address is already known.
func New(tb testing.TB, cfg Config) *Server {
	tb.Helper()
	if cfg.Rate == 0 {
		cfg.Rate = 22050
	}
	if cfg.Format == "" {
		cfg.Format = "float32le"
	}
	dir, err := os.MkdirTemp("", "pulse") //nolint:usetesting // whose directory may be too long a path for a socket
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{Address: "unix:" + filepath.Join(dir, "native"), tb: tb, cfg: cfg, dir: dir}
	tb.Cleanup(func() {
		s.Kill()
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// Start starts the server, also after Kill, and returns when it listens.
func (s *Server) Start() {
	s.tb.Helper()
	notify := &net.UnixAddr{Net: "unixgram", Name: filepath.Join(s.dir, "notify")}
	ready, err := net.ListenUnixgram("unixgram", notify)
	if err != nil {
		s.tb.Fatal(err)
	}
	defer func() {
		_ = ready.Close()
		_ = os.Remove(notify.Name) // Start makes it again
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
	var log bytes.Buffer
	s.process = s.command("pulseaudio", args...)
	s.process.Env = append(s.process.Env, "NOTIFY_SOCKET="+ready.LocalAddr().String())
	s.process.Stderr = &log
	if err := s.process.Start(); err != nil {
		s.tb.Fatalf("start a sound server (run \"make test\", it installs one): %v", err)
	}
	s.exited = make(chan struct{})
	go func(process *exec.Cmd, exited chan struct{}) {
		_ = process.Wait() // it is killed
		_ = ready.Close()  // so that nobody waits for it to be ready
		close(exited)
	}(s.process, s.exited)
	if err := awaitReady(ready); err != nil {
		s.Kill()
		s.tb.Fatalf("start a sound server: %v\n%s", err, &log)
	}
}

// awaitReady waits for the message by which a service says that it is ready
// (sd_notify(3)).
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

// Kill ends the server without a farewell (SIGKILL) and returns when it is
// gone. Killing one that does not run does nothing.
func (s *Server) Kill() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill() // it may be gone already
	<-s.exited
	s.process = nil
}

// Signal sends the server a signal; SIGSTOP makes one that does not answer.
func (s *Server) Signal(sig syscall.Signal) {
	s.tb.Helper()
	if err := s.process.Process.Signal(sig); err != nil {
		s.tb.Errorf("signal the sound server: %v", err)
	}
}

// Pactl runs pactl with the arguments and returns what it prints.
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

// command returns a command that knows of this server's files only and does
// not outlive the test's process.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	// Not with the test's context: that ends before what the test has to
	// clean up, which may still want the server.
	c := exec.CommandContext(context.Background(), name, args...) //nolint:gosec // a test names it
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "XDG_RUNTIME_DIR=" + s.dir, "LC_ALL=C"}
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}
