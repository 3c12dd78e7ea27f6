//go:build installed

package installed

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A power is what keeps a machine running.
type power struct {
	work   string   // folder in which everything is that the machine has written
	script []string // that boots it, with its arguments

	// While it is on.
	leader string        // process id of its systemd
	net    int           // descriptor of its network namespace
	root   string        // folder in which its files lie, as this machine sees them: /proc/LEADER/root
	ended  chan struct{} // closed when it is off
}

// boot boots a fresh copy of a suite of Debian's, with further arguments for the script
// of that name, and returns when it is up.
func boot(t *testing.T, suite string, how ...string) *machine {
	t.Helper()
	tree, err := filepath.Abs("../../.build/trees/" + suite)
	if err != nil {
		t.Fatal(err)
	}
	run(t, buildTime, "./tree", suite, tree)
	work := t.TempDir()
	m := &machine{t, &power{work: work, script: append([]string{"./boot", tree, work}, how...)}}
	t.Cleanup(m.powerOff)
	m.powerOn()
	return m
}

// powerOn returns when the machine is up.
func (m *machine) powerOn() {
	m.t.Helper()
	told, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(m.work, "notify"), Net: "unixgram"})
	if err != nil {
		m.t.Fatal(err)
	}
	defer told.Close()
	var console bytes.Buffer
	cmd := exec.Command(m.script[0], m.script[1:]...)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+told.LocalAddr().String())
	cmd.Stdout, cmd.Stderr = &console, &console
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.ended = make(chan struct{})
	go func() {
		defer close(m.ended)
		_ = cmd.Wait() // how a machine is ended says nothing of what is tested
	}()
	if m.leader, err = untilReady(told); err != nil {
		_ = cmd.Process.Kill() // its first process dies with it
		<-m.ended
		m.t.Fatalf("boot: %v\n%s", err, &console)
	}
	m.root = "/proc/" + m.leader + "/root"
	if m.net, err = unix.Open("/proc/"+m.leader+"/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		m.t.Fatal(err)
	}
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
func (m *machine) powerOff() {
	if m.leader != "" {
		if m.t.Failed() {
			m.t.Logf("the journal of the machine:\n%s", m.try("journalctl", "--no-pager", "--boot", "--lines=200", "--unit=pressbox.service"))
		}
		m.try("systemctl", "--no-block", "poweroff")
		select {
		case <-m.ended:
		case <-time.After(bootTime):
			m.t.Error("the machine does not power off")
			m.cutPower()
		}
	}
	m.clear()
}

// cutPower ends the machine between two instructions.
func (m *machine) cutPower() {
	m.t.Helper()
	run(m.t, commandTime, "kill", "-KILL", m.leader) // and with it everything in its namespaces
	<-m.ended
	m.clear()
}

// clear removes what a machine that is off leaves on this one: its files stay.
func (m *machine) clear() {
	m.t.Helper()
	if m.leader != "" {
		_ = unix.Close(m.net)
		m.leader = ""
	}
	list := filepath.Join(m.work, "groups")
	groups, err := os.ReadFile(list)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil {
		m.t.Fatal(err)
	}
	for group := range strings.FieldsSeq(string(groups)) {
		run(m.t, commandTime, "find", group, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";")
	}
	if err := errors.Join(os.Remove(list), os.Remove(filepath.Join(m.work, "notify"))); err != nil && !errors.Is(err, os.ErrNotExist) {
		m.t.Fatal(err)
	}
}
