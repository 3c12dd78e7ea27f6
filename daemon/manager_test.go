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
	"sync"
	"syscall"
	"testing"
)

// A manager is a service manager that only listens (sd_notify(3)): always, so that
// nobody who tells it something has to wait.
type manager struct {
	t    *testing.T
	path string

	mu    sync.Mutex // guards what follows
	grown sync.Cond  // waits with mu for more
	told  []string
	seen  int // how much of it was awaited
	err   error
}

func newManager(t *testing.T) *manager {
	t.Helper()
	dir, err := os.MkdirTemp("", "notify") //nolint:usetesting // whose directory may be too long a path for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	m := &manager{t: t, path: filepath.Join(dir, "s")}
	m.grown.L = &m.mu
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: m.path})
	if err != nil {
		t.Fatal(err)
	}
	var listening sync.WaitGroup
	listening.Go(func() { m.listen(conn) })
	t.Cleanup(func() {
		_ = conn.Close()
		listening.Wait()
	})
	return m
}

// listen writes down what the daemon tells.
func (m *manager) listen(conn *net.UnixConn) {
	message := make([]byte, 4096)
	for {
		n, err := conn.Read(message)
		m.mu.Lock()
		m.told, m.err = append(m.told, string(message[:n])), err
		m.mu.Unlock()
		m.grown.Broadcast()
		if err != nil {
			return
		}
	}
}

// await waits until the daemon tells something that matches, after what was
// awaited before.
func (m *manager) await(pattern string) {
	m.t.Helper()
	want := regexp.MustCompile(pattern)
	m.mu.Lock()
	defer m.mu.Unlock()
	for from := m.seen; ; m.seen++ {
		for m.seen == len(m.told) {
			if m.err != nil {
				m.t.Fatalf("the service manager was never told %q, but %.2000q", pattern, m.told[from:])
			}
			m.grown.Wait()
		}
		if want.MatchString(m.told[m.seen]) {
			m.seen++
			return
		}
	}
}

// From its start to its end the daemon tells the service manager how it is, and
// that it lives.
func TestTheServiceManagerIsToldEverything(t *testing.T) {
	t.Parallel()
	m := newManager(t)
	env := append(environment(t), "PULSE_SERVER=unix:/nowhere", "NOTIFY_SOCKET="+m.path, "WATCHDOG_USEC=300000", "VOLUME=40")
	p := runProcess(t, t.TempDir(), env)
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
	p := runProcess(t, t.TempDir(), append(environment(t), "PULSE_SERVER=unix:/nowhere"))
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

// Who knows that the daemon listens may have it reload: the signal would end a
// program that does not expect it.
func TestAReloadIsTakenAsSoonAsItListens(t *testing.T) {
	t.Parallel()
	for range 10 {
		p := runProcess(t, t.TempDir(), append(environment(t), "PULSE_SERVER=unix:/nowhere"))
		p.signal(t, syscall.SIGHUP)
		if !p.awaitLog("msg=reloaded") {
			<-p.ended
			t.Fatalf("it ended with %v:\n%s", p.err, p.logged())
		}
	}
}
