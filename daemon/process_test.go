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

	mu  sync.Mutex // guards what follows
	log strings.Builder
}

var listening = regexp.MustCompile(`msg=listening .*url=(\S+)`)

// startProcess runs "pressbox serve" in a folder until it listens.
func startProcess(dir string, env []string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command("pressbox", append([]string{"serve"}, args...)...), ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = dir, env
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
		if found := listening.FindStringSubmatch(lines.Text()); found != nil {
			url <- found[1]
		}
	}
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
