// Package servertest runs the server in a child process. It is for tests only.
//
// One law: a server does not outlive its test.
package servertest

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pressbox/packaging/check"
)

// Silent is the setting of a server without a sound server.
const Silent = "PULSE_SERVER=unix:/nonexistent"

// MaxWait is the time for which a test waits for a log message or a notification.
const MaxWait = 2 * time.Minute

// Main builds the program like the tests, with the race detector or with the flag of "make
// build", puts it first in PATH, runs a package's tests and returns their exit code. A short
// run builds nothing.
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
		"CHIME=none", "CHIME_URGENT=none", "HOST=127.0.0.1", "PORT=0", "WYOMING_PORT=0",
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

// Run starts a server in a new directory, with calibrated voices. It is killed at the end of
// the test.
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

// AwaitLog waits until the log contains text; it reports false if the server ends before, or
// after [MaxWait].
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
