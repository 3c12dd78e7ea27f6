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

	"pressbox/packaging/check"
)

// A powerSupply starts and stops a host.
type powerSupply struct {
	work   string   // folder with everything that the host has written
	script []string // command that boots it

	// While it runs.
	leader string        // process id of its systemd
	net    int           // descriptor of its network namespace
	root   string        // its root folder: /proc/LEADER/root
	ended  chan struct{} // closed when it has stopped
}

// boot boots a fresh copy of a Debian suite, with further arguments for the script boot.
func boot(t *testing.T, suite string, how ...string) *host {
	t.Helper()
	tree := check.Must(filepath.Abs("../../.build/trees/" + suite))(t)
	run(t, buildTime, "./tree", suite, tree)
	work := t.TempDir()
	h := &host{t, &powerSupply{work: work, script: append([]string{"./boot", tree, work}, how...)}}
	t.Cleanup(h.powerOff)
	h.powerOn()
	return h
}

// powerOn returns when the host has booted.
func (h *host) powerOn() {
	h.t.Helper()
	notify := check.Must(net.ListenUnixgram("unixgram",
		&net.UnixAddr{Name: filepath.Join(h.work, "notify"), Net: "unixgram"}))(h.t)
	defer notify.Close()
	var console bytes.Buffer
	cmd := exec.Command(h.script[0], h.script[1:]...)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+notify.LocalAddr().String())
	cmd.Stdout, cmd.Stderr = &console, &console
	check.NoError(h.t, cmd.Start())
	h.ended = make(chan struct{})
	go func() {
		defer close(h.ended)
		_ = cmd.Wait() // the exit status depends on how the host was stopped
	}()
	var err error
	if h.leader, err = untilReady(notify); err != nil {
		_ = cmd.Process.Kill() // the host's first process ends with it
		<-h.ended
		h.t.Fatalf("boot: %v\n%s", err, &console)
	}
	h.root = "/proc/" + h.leader + "/root"
	h.net = check.Must(unix.Open("/proc/"+h.leader+"/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0))(h.t)
}

// untilReady returns the process ID of the host's first process once all its units have
// started (sd_notify(3); systemd-nspawn(1), --notify-ready).
func untilReady(notify *net.UnixConn) (leader string, err error) {
	if err := notify.SetReadDeadline(time.Now().Add(waitTime)); err != nil {
		return "", err
	}
	message := make([]byte, 4096)
	for {
		n, err := notify.Read(message)
		if err != nil {
			return "", fmt.Errorf("no READY=1: %w", err)
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

// powerOff shuts the host down, or kills it if it does not stop.
func (h *host) powerOff() {
	if h.leader != "" {
		if h.t.Failed() {
			h.t.Logf("the journal of the host:\n%s",
				h.try("journalctl", "--no-pager", "--boot", "--lines=200", "--unit=pressbox.service"))
		}
		h.try("systemctl", "--no-block", "poweroff")
		select {
		case <-h.ended:
		case <-time.After(waitTime):
			h.t.Error("the host does not power off")
			h.cutPower()
		}
	}
	h.clear()
}

// cutPower kills the host.
func (h *host) cutPower() {
	h.t.Helper()
	run(h.t, commandTime, "kill", "-KILL", h.leader) // ends everything in its namespaces
	<-h.ended
	h.clear()
}

// clear removes the control groups of a stopped host; its files stay.
func (h *host) clear() {
	h.t.Helper()
	if h.leader != "" {
		_ = unix.Close(h.net)
		h.leader = ""
	}
	list := filepath.Join(h.work, "groups")
	groups, err := os.ReadFile(list)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	check.NoError(h.t, err)
	for group := range strings.FieldsSeq(string(groups)) {
		run(h.t, commandTime, "find", group, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";")
	}
	err = errors.Join(os.Remove(list), os.Remove(filepath.Join(h.work, "notify")))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		h.t.Fatal(err)
	}
}
