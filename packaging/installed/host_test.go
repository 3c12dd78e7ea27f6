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

	"pressbox/packaging/check"
)

// Time limits. No wait for a condition is longer than waitTime.
const (
	waitTime    = 2 * time.Minute
	commandTime = 10 * time.Minute // a command, such as an installation by apt
	buildTime   = time.Hour        // a package build, or the download of a Debian tree
)

// A host is a Debian booted with systemd as its first process, in namespaces of its own.
// The test that booted it powers it off.
type host struct {
	t *testing.T
	*powerSupply
}

// on returns the host for a subtest.
func (h *host) on(t *testing.T) *host {
	t.Helper()
	part := *h
	part.t = t
	return &part
}

// command returns a command that runs as root on the host, with a time limit.
func (h *host) command(args ...string) *exec.Cmd {
	inside := []string{
		"--target", h.leader,
		"--all", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8",
		"DEBIAN_FRONTEND=noninteractive",
		"timeout", "--kill-after=5", strconv.Itoa(int(commandTime.Seconds())),
	}
	return exec.Command("nsenter", append(inside, args...)...)
}

// run runs a command on the host and returns its output. It fails the test if the command fails.
func (h *host) run(args ...string) string {
	h.t.Helper()
	out, err := h.command(args...).CombinedOutput()
	if err != nil {
		h.t.Fatalf("on the host, %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// try runs a command that may fail and returns its output or its error.
func (h *host) try(args ...string) string {
	out, err := h.command(args...).CombinedOutput()
	if err != nil && len(out) == 0 {
		return err.Error()
	}
	return strings.TrimSpace(string(out))
}

// copyIn copies a file into the host's /root.
func (h *host) copyIn(file string) (path string) {
	h.t.Helper()
	content := check.Must(os.ReadFile(file))(h.t)
	path = filepath.Join("/root", filepath.Base(file))
	h.write(path, content)
	return path
}

// write writes a file on the host and creates its parent folders.
func (h *host) write(path string, content []byte) {
	h.t.Helper()
	outside := filepath.Join(h.root, path)
	check.NoError(h.t, os.MkdirAll(filepath.Dir(outside), 0o755))
	check.NoError(h.t, os.WriteFile(outside, content, 0o644))
}

// exists reports whether the host has a file or folder.
func (h *host) exists(path string) bool {
	_, err := os.Lstat(filepath.Join(h.root, path))
	return err == nil
}

// journal returns the output of "journalctl ARG…" after everything logged so far was written.
func (h *host) journal(args ...string) string {
	h.t.Helper()
	h.run("journalctl", "--sync")
	return h.run(append([]string{"journalctl", "--no-pager"}, args...)...)
}

// now returns the current cursor of the host's journal.
func (h *host) now() (cursor string) {
	h.t.Helper()
	_, cursor, found := strings.Cut(h.journal("--lines=0", "--show-cursor"), "-- cursor: ")
	if !found {
		h.t.Fatal("the journal has no cursor")
	}
	return cursor
}

// logged waits until the unit has logged a line that contains text, itself or through systemd, after a cursor.
func (h *host) logged(since, text string) {
	h.t.Helper()
	cmd := h.command("timeout", strconv.Itoa(int(waitTime.Seconds())), "journalctl", "--follow",
		"--after-cursor="+since, "--all", "--output=cat", "--unit=pressbox.service")
	out := check.Must(cmd.StdoutPipe())(h.t)
	check.NoError(h.t, cmd.Start())
	defer func() {
		_ = out.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return
		}
	}
	h.t.Fatalf("the journal has no line with %q", text)
}

// dial connects to an address in the host's network namespace.
func (h *host) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return inNetwork(h, func() (net.Conn, error) { return new(net.Dialer).DialContext(ctx, network, address) })
}

// listen listens on an address in the host's network namespace.
func (h *host) listen(network, address string) (net.Listener, error) {
	return inNetwork(h, func() (net.Listener, error) { return net.Listen(network, address) })
}

// inNetwork opens a socket in the host's network namespace.
func inNetwork[S any](h *host, open func() (S, error)) (socket S, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with its namespace
		if err = unix.Setns(h.net, unix.CLONE_NEWNET); err == nil {
			socket, err = open()
		}
	}()
	<-done
	return socket, err
}

// run runs a local command and returns its output.
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
