package main

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A process is a daemon that a test has started.
type process struct {
	cmd   *exec.Cmd
	url   string        // where it listens
	ended chan struct{} // closed when it has
	err   error         // how it ended; read after ended was closed

	mu    sync.Mutex // guards what follows
	grown sync.Cond  // waits with mu for more of the log, or its end
	log   strings.Builder
	over  bool // there will be no more
}

var listening = regexp.MustCompile(`msg=listening .*url=(\S+)`)

// startProcess runs "pressbox serve" in a folder until it listens.
func startProcess(dir string, env []string, args ...string) (*process, error) {
	cmd := exec.Command("pressbox", append([]string{"serve"}, args...)...)
	cmd.Dir, cmd.Env = dir, env
	return startCommand(cmd)
}

// runProcess is startProcess for a daemon that has to start, and ends with the test.
func runProcess(tb testing.TB, dir string, env []string) *process {
	tb.Helper()
	p, err := startProcess(dir, env)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = p.end(syscall.SIGKILL) }) // it may have ended
	return p
}

// startCommand is startProcess for one that is started in another way.
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

// read keeps what the daemon logs, and tells where it listens.
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
	p.over = true
	p.mu.Unlock()
	p.grown.Broadcast()
}

// awaitLog waits until the log has a text, and says whether it ever had.
func (p *process) awaitLog(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !strings.Contains(p.log.String(), text) {
		if p.over {
			return false
		}
		p.grown.Wait()
	}
	return true
}

// logged is all that the daemon has logged so far.
func (p *process) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// end sends a signal and waits until the daemon has ended; one that already
// has is no error.
func (p *process) end(signal syscall.Signal) error {
	_ = p.cmd.Process.Signal(signal) // it may have ended
	<-p.ended
	return p.err
}

// signal sends a signal to a daemon that runs.
func (p *process) signal(tb testing.TB, signal syscall.Signal) {
	tb.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		tb.Fatal(err)
	}
}
