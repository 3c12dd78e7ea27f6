//go:build installed

package installed

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Limits only end what hangs: another machine may be ten times slower than ours.
const (
	bootTime    = 15 * time.Minute // to power on, and to power off
	commandTime = 15 * time.Minute
	buildTime   = time.Hour // for a package, or a Debian to be fetched
)

// A machine is a Debian that was booted with systemd as its first process, in
// namespaces of its own. The test that booted it powers it off at its end.
type machine struct {
	t *testing.T
	*power
}

// on is the machine for a part of its test.
func (m *machine) on(t *testing.T) *machine {
	t.Helper()
	part := *m
	part.t = t
	return &part
}

// command is a command in the machine, as its root. It ends itself when it takes
// too long.
func (m *machine) command(args ...string) *exec.Cmd {
	inside := []string{
		"--target", m.leader, "--all",
		"env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive",
		"timeout", "--kill-after=5", strconv.Itoa(int(commandTime.Seconds())),
	}
	return exec.Command("nsenter", append(inside, args...)...)
}

// run runs a command in the machine and returns what it printed; the test ends
// when the command fails.
func (m *machine) run(args ...string) string {
	m.t.Helper()
	out, err := m.command(args...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("in the machine, %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// try is run for a command that may fail.
func (m *machine) try(args ...string) string {
	out, err := m.command(args...).CombinedOutput()
	if err != nil && len(out) == 0 {
		return err.Error()
	}
	return strings.TrimSpace(string(out))
}

// copyIn puts a file of this machine into the other's /root.
func (m *machine) copyIn(file string) (path string) {
	m.t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		m.t.Fatal(err)
	}
	path = filepath.Join("/root", filepath.Base(file))
	m.write(path, content)
	return path
}

// write writes a file in the machine, and the folders above it.
func (m *machine) write(path string, content []byte) {
	m.t.Helper()
	outside := filepath.Join(m.root, path)
	if err := os.MkdirAll(filepath.Dir(outside), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(outside, content, 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// exists says whether the machine has a file or folder.
func (m *machine) exists(path string) bool {
	_, err := os.Lstat(filepath.Join(m.root, path))
	return err == nil
}

// journal is what the machine's journal says to "journalctl ARG…": of everything that
// was logged before, as journald may be behind.
func (m *machine) journal(args ...string) string {
	m.t.Helper()
	m.run("journalctl", "--sync")
	return m.run(append([]string{"journalctl", "--no-pager"}, args...)...)
}

// now is a place in the machine's journal: what is logged later comes behind it.
func (m *machine) now() (cursor string) {
	m.t.Helper()
	_, cursor, found := strings.Cut(m.journal("--lines=0", "--show-cursor"), "-- cursor: ")
	if !found {
		m.t.Fatal("the journal has no cursor")
	}
	return cursor
}

// logged waits until the daemon's unit has logged a line that contains text, by
// itself or through systemd.
func (m *machine) logged(since, text string) {
	m.t.Helper()
	cmd := m.command("journalctl", "--follow", "--after-cursor="+since, "--all", "--output=cat", "--unit=pressbox.service")
	out, err := cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	defer func() {
		_ = out.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was ended
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return
		}
	}
	m.t.Fatalf("the journal does not say %q", text)
}

// dial connects to an address in the machine's own network.
func (m *machine) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return inNetwork(m, func() (net.Conn, error) { return new(net.Dialer).DialContext(ctx, network, address) })
}

// listen listens there.
func (m *machine) listen(network, address string) (net.Listener, error) {
	return inNetwork(m, func() (net.Listener, error) { return net.Listen(network, address) })
}

// inNetwork opens a socket that belongs to the machine's own network.
func inNetwork[S any](m *machine, open func() (S, error)) (socket S, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends, with the namespace that it is in
		if err = unix.Setns(m.net, unix.CLONE_NEWNET); err == nil {
			socket, err = open()
		}
	}()
	<-done
	return socket, err
}

// run runs a command of this machine and returns what it printed.
func run(t *testing.T, limit time.Duration, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}
