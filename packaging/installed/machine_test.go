//go:build installed

package installed

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
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
	t      *testing.T
	leader string // process id of its systemd
	net    int    // descriptor of its network namespace
	root   string // folder in which its files lie, as this machine sees them: /proc/LEADER/root
}

// boot boots a fresh copy of a suite of Debian's and returns when it is up.
func boot(t *testing.T, suite string) *machine {
	t.Helper()
	tree, err := filepath.Abs("../../.build/trees/" + suite)
	if err != nil {
		t.Fatal(err)
	}
	run(t, buildTime, "./tree", suite, tree)
	work := t.TempDir()
	t.Cleanup(func() { removeGroups(t, work) })

	told, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(work, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	var console bytes.Buffer
	cmd := exec.Command("./boot", tree, work)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+told.LocalAddr().String())
	cmd.Stdout, cmd.Stderr = &console, &console
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t}
	t.Cleanup(func() { m.powerOff(cmd) })
	if m.leader, err = untilReady(told); err != nil {
		t.Fatalf("boot %s: %v\n%s", suite, err, &console)
	}
	m.root = "/proc/" + m.leader + "/root"
	if m.net, err = unix.Open("/proc/"+m.leader+"/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		t.Fatal(err)
	}
	return m
}

// on is the machine for a part of its test.
func (m *machine) on(t *testing.T) *machine {
	t.Helper()
	part := *m
	part.t = t
	return &part
}

// untilReady returns the process that leads a machine once all its units have
// started (sd_notify(3); systemd-nspawn(1), --notify-ready).
func untilReady(told *net.UnixConn) (leader string, err error) {
	if err := told.SetReadDeadline(time.Now().Add(bootTime)); err != nil {
		return "", err
	}
	message := make([]byte, 4096)
	for {
		n, err := told.Read(message)
		if err != nil {
			return "", fmt.Errorf("it does not say that it is up: %w", err)
		}
		ready := false
		for line := range strings.Lines(string(message[:n])) {
			line = strings.TrimSpace(line)
			if pid, ok := strings.CutPrefix(line, "X_NSPAWN_LEADER_PID="); ok {
				leader = pid
			}
			ready = ready || line == "READY=1"
		}
		if ready && leader != "" {
			return leader, nil
		}
	}
}

// powerOff ends the machine, by force if it does not end by itself.
func (m *machine) powerOff(cmd *exec.Cmd) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // how a machine is ended says nothing of what is tested
	}()
	if m.leader != "" {
		if m.t.Failed() {
			m.t.Logf("the journal of the machine:\n%s", m.try("journalctl", "--no-pager", "--boot", "--lines=200", "--unit=pressbox.service"))
		}
		m.try("systemctl", "--no-block", "poweroff")
	}
	select {
	case <-ended:
	case <-time.After(bootTime):
		m.t.Error("the machine does not power off")
		_ = cmd.Process.Kill() // its first process dies with it
		<-ended
	}
	if m.net != 0 {
		_ = unix.Close(m.net)
	}
}

// removeGroups removes the control groups of a machine that has ended.
func removeGroups(t *testing.T, work string) {
	t.Helper()
	groups, err := os.ReadFile(filepath.Join(work, "groups"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	for group := range strings.FieldsSeq(string(groups)) {
		run(t, commandTime, "find", group, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";")
	}
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

// copyIn puts a file of this machine into a folder of the other.
func (m *machine) copyIn(file, folder string) (path string) {
	m.t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		m.t.Fatal(err)
	}
	path = filepath.Join(folder, filepath.Base(file))
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
	type dialed struct {
		conn net.Conn
		err  error
	}
	done := make(chan dialed, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends, with the namespace that it is in
		if err := unix.Setns(m.net, unix.CLONE_NEWNET); err != nil {
			done <- dialed{err: err}
			return
		}
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		done <- dialed{conn, err}
	}()
	d := <-done
	return d.conn, d.err
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
