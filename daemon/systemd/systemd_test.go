package systemd_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pressbox/daemon/systemd"
	"pressbox/packaging/check"
)

// TestMain is the program that [activate] starts.
func TestMain(m *testing.M) {
	if os.Getenv("ANSWER_SOCKETS") == "" {
		os.Exit(m.Run())
	}
	if err := answerSockets(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// answerSockets answers one connection on each inherited socket with the socket's name.
func answerSockets() error {
	named, err := systemd.Listeners()
	if err != nil {
		return err
	}
	for name, listeners := range named {
		for _, l := range listeners {
			conn, err := l.Accept()
			if err != nil {
				return err
			}
			fmt.Fprint(conn, name)
			conn.Close()
		}
	}
	again, err := systemd.Listeners()
	if len(again) > 0 || err != nil {
		return fmt.Errorf("the second call returned %v, %w", again, err)
	}
	return nil
}

// activate returns a command that starts this program with files as sockets from systemd.
func activate(t *testing.T, names string, files ...*os.File) *exec.Cmd {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a child process")
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `LISTEN_PID=$$ exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), "ANSWER_SOCKETS=1", fmt.Sprint("LISTEN_FDS=", len(files)), "LISTEN_FDNAMES="+names)
	cmd.ExtraFiles = files
	return cmd
}

func TestListeners_byName(t *testing.T) {
	t.Parallel()
	tcp := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	unix := check.Must(net.Listen("unix", filepath.Join(t.TempDir(), "admin.sock")))(t)
	tcpFile, _ := tcp.(*net.TCPListener).File()
	unixFile, _ := unix.(*net.UnixListener).File()
	var out strings.Builder
	cmd := activate(t, "http:admin", tcpFile, unixFile)
	cmd.Stdout = &out
	check.NoError(t, cmd.Start())
	for _, l := range []struct {
		net.Listener
		name string
	}{{tcp, "http"}, {unix, "admin"}} {
		conn := check.Must(net.Dial(l.Addr().Network(), l.Addr().String()))(t)
		if name, err := io.ReadAll(conn); string(name) != l.name || err != nil {
			t.Errorf("the socket at %v is named %q, %v; want %q", l.Addr(), name, err, l.name)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the child: %v: %s", err, out.String())
	}
}

func TestListeners_notASocket(t *testing.T) {
	t.Parallel()
	file := check.Must(os.Create(filepath.Join(t.TempDir(), "plain")))(t)
	out, err := activate(t, "http", file).Output()
	if err == nil || !strings.Contains(string(out), "use the socket http from systemd") {
		t.Errorf("a regular file: %v, %q", err, out)
	}
}

func TestListeners_none(t *testing.T) {
	named, err := systemd.Listeners()
	if len(named) > 0 || err != nil {
		t.Errorf("Listeners() = %v, %v", named, err)
	}
}

func TestNotify(t *testing.T) {
	addr := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"}
	manager := check.Must(net.ListenUnixgram("unixgram", addr))(t)
	defer manager.Close()
	t.Setenv("NOTIFY_SOCKET", addr.Name)
	for _, tt := range []struct {
		notify func() error
		want   string // a regular expression
	}{
		{func() error { return systemd.Ready("listening on :8888") }, "READY=1\nSTATUS=listening on :8888"},
		{func() error { return systemd.Status("two lines\nWATCHDOG=1") }, "STATUS=two lines WATCHDOG=1"},
		{func() error { return systemd.Starting(time.Minute) }, "EXTEND_TIMEOUT_USEC=60000000"},
		{systemd.Reloading, `RELOADING=1\nMONOTONIC_USEC=[1-9]\d*\s*`}, // without the time, systemd refuses the reload
		{systemd.Stopping, "STOPPING=1"},
		{systemd.Alive, "WATCHDOG=1"},
	} {
		check.NoError(t, tt.notify())
		got := make([]byte, 100)
		n, err := manager.Read(got)
		if err != nil || !regexp.MustCompile("^"+tt.want+"$").Match(got[:n]) {
			t.Errorf("notified %q, %v; want %q", got[:n], err, tt.want)
		}
	}
}

// Without systemd a notification succeeds; a socket that does not exist is an error.
func TestNotify_noSocket(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	check.NoError(t, systemd.Ready("ready"))
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "missing"))
	if err := systemd.Ready("ready"); err == nil {
		t.Error("a notification to a missing socket succeeded")
	}
}

func TestWatchdog(t *testing.T) {
	for _, tt := range []struct {
		usec, pid string
		want      time.Duration
		invalid   bool
	}{
		{"", "", 0, false},
		{"30000000", "", 30 * time.Second, false},
		{"30000000", fmt.Sprint(os.Getpid()), 30 * time.Second, false},
		{"30000000", "1", 0, false},
		{"soon", "", 0, true},
	} {
		t.Setenv("WATCHDOG_USEC", tt.usec)
		t.Setenv("WATCHDOG_PID", tt.pid)
		if got, err := systemd.Watchdog(); got != tt.want || (err != nil) != tt.invalid {
			t.Errorf("WATCHDOG_USEC=%s WATCHDOG_PID=%s: %v, %v; want %v", tt.usec, tt.pid, got, err, tt.want)
		}
	}
}
