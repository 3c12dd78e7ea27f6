package systemd_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressbox/daemon/systemd"
)

// TestMain plays the daemon where a test started this program as one.
func TestMain(m *testing.M) {
	if os.Getenv("PLAY_DAEMON") == "" {
		os.Exit(m.Run())
	}
	if err := playDaemon(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// playDaemon answers one connection on each inherited socket with its name.
func playDaemon() error {
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
		return fmt.Errorf("the second call gave %v, %w", again, err)
	}
	return nil
}

// activate starts this program as a service manager would, with files as its
// inherited descriptors.
func activate(t *testing.T, names string, files ...*os.File) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `LISTEN_PID=$$ exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), "PLAY_DAEMON=1", fmt.Sprint("LISTEN_FDS=", len(files)), "LISTEN_FDNAMES="+names)
	cmd.ExtraFiles = files
	return cmd
}

func TestInheritedSocketsAreKnownByName(t *testing.T) {
	t.Parallel()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	unix, err := net.Listen("unix", filepath.Join(t.TempDir(), "admin.sock"))
	if err != nil {
		t.Fatal(err)
	}
	tcpFile, _ := tcp.(*net.TCPListener).File()
	unixFile, _ := unix.(*net.UnixListener).File()
	var said strings.Builder
	cmd := activate(t, "http:admin", tcpFile, unixFile)
	cmd.Stdout = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, l := range []struct {
		net.Listener
		name string
	}{{tcp, "http"}, {unix, "admin"}} {
		conn, err := net.Dial(l.Addr().Network(), l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if name, err := io.ReadAll(conn); string(name) != l.name || err != nil {
			t.Errorf("the socket at %v was inherited as %q, %v; want %q", l.Addr(), name, err, l.name)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the daemon: %v: %s", err, said.String())
	}
}

func TestWhatDoesNotListenIsRefused(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "plain"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := activate(t, "http", file).Output()
	if err == nil || !strings.Contains(string(out), "take over the inherited socket http") {
		t.Errorf("an ordinary file as a socket: %v, %q", err, out)
	}
}

func TestNothingIsInheritedFromAShell(t *testing.T) {
	named, err := systemd.Listeners()
	if len(named) > 0 || err != nil {
		t.Errorf("Listeners() = %v, %v", named, err)
	}
}

func TestTheServiceManagerIsTold(t *testing.T) {
	addr := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"}
	manager, err := net.ListenUnixgram("unixgram", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	t.Setenv("NOTIFY_SOCKET", addr.Name)
	for _, tt := range []struct {
		tell func() error
		want string
	}{
		{func() error { return systemd.Ready("listening on :8888") }, "READY=1\nSTATUS=listening on :8888"},
		{func() error { return systemd.Status("two lines\nWATCHDOG=1") }, "STATUS=two lines WATCHDOG=1"},
		{systemd.Stopping, "STOPPING=1"},
		{systemd.Alive, "WATCHDOG=1"},
	} {
		if err := tt.tell(); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 100)
		n, err := manager.Read(got)
		if string(got[:n]) != tt.want || err != nil {
			t.Errorf("the service manager was told %q, %v; want %q", got[:n], err, tt.want)
		}
	}
}

// systemd refuses a reload whose time lies before its request (sd_notify(3)).
func TestAReloadIsToldWithItsTime(t *testing.T) {
	addr := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"}
	manager, err := net.ListenUnixgram("unixgram", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	t.Setenv("NOTIFY_SOCKET", addr.Name)
	if err := systemd.Reloading(); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 100)
	n, err := manager.Read(got)
	var usec int64
	if _, scanErr := fmt.Sscanf(string(got[:n]), "RELOADING=1\nMONOTONIC_USEC=%d", &usec); scanErr != nil || usec <= 0 || err != nil {
		t.Errorf("the service manager was told %q, %v, %v", got[:n], err, scanErr)
	}
}

func TestTheWatchdogsTimeIsTheServiceManagers(t *testing.T) {
	for _, tt := range []struct {
		usec, pid string
		want      time.Duration
		bad       bool
	}{
		{"", "", 0, false},
		{"30000000", "", 30 * time.Second, false},
		{"30000000", fmt.Sprint(os.Getpid()), 30 * time.Second, false},
		{"30000000", "1", 0, false},
		{"soon", "", 0, true},
	} {
		t.Setenv("WATCHDOG_USEC", tt.usec)
		t.Setenv("WATCHDOG_PID", tt.pid)
		if got, err := systemd.Watchdog(); got != tt.want || (err != nil) != tt.bad {
			t.Errorf("WATCHDOG_USEC=%s WATCHDOG_PID=%s: %v, %v; want %v", tt.usec, tt.pid, got, err, tt.want)
		}
	}
}

func TestWithoutServiceManagerTellingIsNoError(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	if err := systemd.Ready("ready"); err != nil {
		t.Error(err)
	}
}

func TestALostServiceManagerIsAnError(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "nobody"))
	if err := systemd.Ready("ready"); err == nil {
		t.Error("telling a service manager that is not there succeeded")
	}
}
