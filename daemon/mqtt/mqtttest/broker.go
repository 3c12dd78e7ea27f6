// Package mqtttest runs Debian's mosquitto for tests, behind a proxy that can cut connections.
package mqtttest

import (
	"bufio"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pressbox/packaging/check"
)

// A Broker is a mosquitto on a socket of its own. Clients connect to the proxy, which keeps
// its port when the broker is restarted.
type Broker struct {
	tb      testing.TB
	program string
	dir     string
	proxy   net.Listener
	command *exec.Cmd

	mu    sync.Mutex // guards the fields below
	conns map[net.Conn]struct{}
	away  bool // connections are refused
}

// Start starts a broker that saves its sessions, with further lines of configuration.
func Start(tb testing.TB, lines ...string) *Broker {
	tb.Helper()
	return StartOn(tb, "127.0.0.1:0", lines...)
}

// StartOn is [Start] at an address of the host.
func StartOn(tb testing.TB, address string, lines ...string) *Broker {
	tb.Helper()
	program := check.Part(tb, ".build/mosquitto")
	dir, err := os.MkdirTemp("", "mqtt") //nolint:usetesting // short: the path of a socket has at most 107 characters
	check.NoError(tb, err)
	proxy, err := net.Listen("tcp", address) //nolint:noctx // it returns at once
	check.NoError(tb, err)
	b := &Broker{tb: tb, program: program, dir: dir, proxy: proxy, conns: map[net.Conn]struct{}{}}
	config := append([]string{
		"listener 0 " + b.socket(), "user root", "persistence true",
		"persistence_location " + dir + "/", "log_dest stderr", "max_queued_messages 0",
		"allow_anonymous true",
	}, lines...)
	check.NoError(tb, os.WriteFile(filepath.Join(dir, "config"), []byte(strings.Join(config, "\n")+"\n"), 0o600))
	var serving sync.WaitGroup
	serving.Go(func() { b.serve(&serving) })
	b.Restart()
	tb.Cleanup(func() {
		b.signal(syscall.SIGKILL)
		_ = proxy.Close()
		b.Cut()
		serving.Wait()
		_ = os.RemoveAll(dir)
	})
	return b
}

func (b *Broker) socket() string { return filepath.Join(b.dir, "socket") }

// URL returns the address of the broker.
func (b *Broker) URL(scheme string) *url.URL {
	return &url.URL{Scheme: scheme, Host: b.proxy.Addr().String()}
}

// Restart starts the broker, which must not run.
func (b *Broker) Restart() {
	b.tb.Helper()
	_ = os.Remove(b.socket())
	//nolint:noctx,gosec // signal ends it; Debian's program
	b.command = exec.Command(b.program, "-c", filepath.Join(b.dir, "config"))
	log, err := b.command.StderrPipe()
	check.NoError(b.tb, err)
	check.NoError(b.tb, b.command.Start())
	var read strings.Builder
	for lines := bufio.NewScanner(log); ; {
		if !lines.Scan() {
			b.tb.Fatalf("mosquitto ended:\n%s", read.String())
		}
		read.WriteString(lines.Text() + "\n")
		if strings.HasSuffix(lines.Text(), " running") {
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, log) }() // until the broker ends
}

// Stop ends the broker, which saves its sessions.
func (b *Broker) Stop() { b.signal(syscall.SIGTERM) }

// Kill ends the broker, which forgets what it has not saved.
func (b *Broker) Kill() { b.signal(syscall.SIGKILL) }

// Save makes the broker save its sessions.
func (b *Broker) Save() { _ = b.command.Process.Signal(syscall.SIGUSR1) }

func (b *Broker) signal(s syscall.Signal) {
	if b.command != nil && b.command.Process != nil && b.command.ProcessState == nil {
		_ = b.command.Process.Signal(s)
		_ = b.command.Wait()
	}
}

// Cut cuts all connections.
func (b *Broker) Cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.conns {
		_ = c.Close()
	}
}

// SetAway cuts all connections and refuses further ones, until it is false.
func (b *Broker) SetAway(away bool) {
	b.mu.Lock()
	b.away = away
	b.mu.Unlock()
	if away {
		b.Cut()
	}
}

// serve passes connections on to the broker until the proxy is closed.
func (b *Broker) serve(serving *sync.WaitGroup) {
	for {
		client, err := b.proxy.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", b.socket()) //nolint:noctx // it returns at once
		if err != nil {
			_ = client.Close()
			continue
		}
		b.mu.Lock()
		if b.away {
			_, _ = client.Close(), server.Close()
		} else {
			b.conns[client], b.conns[server] = struct{}{}, struct{}{}
		}
		b.mu.Unlock()
		for from, to := range map[net.Conn]net.Conn{client: server, server: client} {
			serving.Go(func() {
				_, _ = io.Copy(to, from)
				_, _ = from.Close(), to.Close()
				b.mu.Lock()
				defer b.mu.Unlock()
				delete(b.conns, from)
			})
		}
	}
}
