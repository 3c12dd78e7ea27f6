package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// A manager is a service manager that only listens (sd_notify(3)).
type manager struct {
	t    *testing.T
	path string
	conn *net.UnixConn
}

func newManager(t *testing.T) *manager {
	t.Helper()
	dir, err := os.MkdirTemp("", "notify") //nolint:usetesting // whose directory may be too long a path for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	m := &manager{t: t, path: filepath.Join(dir, "s")}
	if m.conn, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: m.path}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.conn.Close() })
	return m
}

// await reads what the daemon tells until it matches.
func (m *manager) await(pattern string) {
	m.t.Helper()
	want := regexp.MustCompile(pattern)
	var told []string
	for range 300 {
		message := make([]byte, 4096)
		n, err := m.conn.Read(message)
		if err != nil {
			m.t.Fatal(err)
		}
		told = append(told, string(message[:n]))
		if want.Match(message[:n]) {
			return
		}
	}
	m.t.Fatalf("the service manager was never told %q, but %.2000q", pattern, told)
}

// From its start to its end the daemon tells the service manager how it is, and
// that it lives.
func TestTheServiceManagerIsToldEverything(t *testing.T) {
	t.Parallel()
	m := newManager(t)
	env := append(environment(t), "PULSE_SERVER=unix:/nowhere", "NOTIFY_SOCKET="+m.path, "WATCHDOG_USEC=300000", "VOLUME=40")
	p, err := startProcess(t.TempDir(), env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.end(syscall.SIGKILL) })
	m.await(`^READY=1\nSTATUS=Silent, 0 of 50 waiting; \d+ voices; on ` + regexp.QuoteMeta(p.url))
	m.await(`^STATUS=.*audio degraded: no sound server`)
	m.await(`^WATCHDOG=1$`)
	m.await(`^WATCHDOG=1$`)
	p.signal(t, syscall.SIGHUP)
	m.await(`^RELOADING=1\nMONOTONIC_USEC=\d+\s*$`)
	m.await(`^READY=1\nSTATUS=Silent`)
	p.signal(t, syscall.SIGTERM)
	m.await(`^STOPPING=1$`)
	if <-p.ended; p.err != nil {
		t.Error(p.err)
	}
}

// The dump of all goroutines is what the watchdog's signal is for.
func TestTheWatchdogsSignalTellsWhatEveryPartDid(t *testing.T) {
	t.Parallel()
	p, err := startProcess(t.TempDir(), append(environment(t), "PULSE_SERVER=unix:/nowhere"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(p.url + "/events") // whose answer comes when all parts run
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := p.end(syscall.SIGQUIT); err == nil {
		t.Error("the daemon ended well")
	}
	for _, want := range []string{"goroutine ", "announce.(*Announcer).Run", "pulse.(*Sink).Run"} {
		if !strings.Contains(p.logged(), want) {
			t.Errorf("the dump does not name %s:\n%.2000s", want, p.logged())
		}
	}
}

// Settings that name another place than the inherited socket are told apart.
func TestAnInheritedSocketGoesBeforeTheSettings(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		host, port string
		warns      bool
	}{
		"another port": {"127.0.0.1", "1", true},
		"another host": {"192.0.2.1", "", true},
		"any port":     {"127.0.0.1", "0", false},
		"the same":     {"127.0.0.1", "", false},
		"a name":       {"localhost", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if tt.port == "" {
				tt.port = fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
			}
			file, err := l.(*net.TCPListener).File()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ exec pressbox serve`)
			cmd.Dir = t.TempDir()
			cmd.Env = append(environment(t), "PULSE_SERVER=unix:/nowhere", "LISTEN_FDS=1", "LISTEN_FDNAMES=http", "HOST="+tt.host, "PORT="+tt.port)
			cmd.ExtraFiles = []*os.File{file}
			p, err := startCommand(cmd)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.end(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			warned := strings.Contains(p.logged(), `level=WARN msg="HOST and PORT are not where systemd listens"`)
			if p.url != "http://"+l.Addr().String() || warned != tt.warns {
				t.Errorf("it listens on %s, want %s; warned: %t, want %t\n%s", p.url, l.Addr(), warned, tt.warns, p.logged())
			}
		})
	}
}
