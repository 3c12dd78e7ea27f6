package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

// From its start to its end the server notifies the service manager of its state, and the watchdog of its progress.
func TestServe_notifications(t *testing.T) {
	t.Parallel()
	env := servertest.Environment(t, servertest.Silent, "WATCHDOG_USEC=300000", "VOLUME=40")
	m := newServiceManager(t)
	p := servertest.RunIn(t, t.TempDir(), append(env, "NOTIFY_SOCKET="+m.path))
	m.await(`^READY=1\nSTATUS=Silent, 0 of 50 waiting; \d+ voices; on ` + regexp.QuoteMeta(p.URL))
	m.await(`^STATUS=.*audio degraded: no sound server`)
	m.await(`^WATCHDOG=1$`)
	m.await(`^WATCHDOG=1$`)
	p.Signal(t, syscall.SIGHUP)
	m.await(`^RELOADING=1\nMONOTONIC_USEC=\d+\s*$`)
	m.await(`^READY=1\nSTATUS=Silent`)
	p.Signal(t, syscall.SIGTERM)
	m.await(`^STOPPING=1$`)
	if <-p.Ended; p.Err != nil {
		t.Error(p.Err)
	}
}

// The service manager is asked to wait while a store is checked and a backup copied.
func TestServe_extendsTimeoutForCheck(t *testing.T) {
	t.Parallel()
	env := servertest.Environment(t, servertest.Silent)
	m := newServiceManager(t)
	dir := t.TempDir()
	servertest.WriteState(t, dir, "pressbox.db", strings.Repeat("This is no store. ", 2000))
	servertest.WriteState(t, dir, "pressbox.db.open", "")
	servertest.WriteState(t, dir, "backups/pressbox-000001-20261121.db", "nor is this")
	servertest.RunIn(t, dir, append(env, "NOTIFY_SOCKET="+m.path))
	m.await(`^EXTEND_TIMEOUT_USEC=300000000$`) // the check
	m.await(`^EXTEND_TIMEOUT_USEC=300000000$`) // the backup
	m.await(`^READY=1\n`)
}

// SIGQUIT, which systemd's watchdog sends, writes the stacks of all goroutines.
func TestServe_dumpOnSIGQUIT(t *testing.T) {
	t.Parallel()
	p := servertest.Run(t, servertest.Silent)
	resp, err := http.Get(p.URL + "/events") // the response comes when the announcer runs
	check.NoError(t, err)
	defer resp.Body.Close()
	check.That(t, p.AwaitLog("audio output unavailable"), "the sink does not run:\n%s", p.Logged())
	if err := p.End(syscall.SIGQUIT); err == nil {
		t.Error("the server exited with 0")
	}
	for _, want := range []string{"goroutine ", "announcer.(*Announcer).Run", "pulse.(*Sink).Run"} {
		check.Contains(t, p.Logged(), want, "the dump of goroutines")
	}
}

// A SIGHUP as soon as the server listens reloads it; unhandled, it would end the process.
func TestServe_earlySIGHUP(t *testing.T) {
	t.Parallel()
	for range 4 {
		p := servertest.Run(t, servertest.Silent)
		p.Signal(t, syscall.SIGHUP)
		if !p.AwaitLog("msg=reloaded") {
			<-p.Ended
			t.Fatalf("it ended with %v:\n%s", p.Err, p.Logged())
		}
	}
}

// The server uses the sockets from systemd: it serves a client that connected before its
// start, and ignores HOST and PORT.
func TestServe_socketActivation(t *testing.T) {
	t.Parallel()
	env := servertest.Environment(t, "PORT=1", servertest.Silent)
	dir, m := t.TempDir(), newServiceManager(t)
	open, openFile := openSocket(t, "tcp", "127.0.0.1:0")
	admin, adminFile := openSocket(t, "unix", filepath.Join(dir, "inherited.sock"))
	get := func(conn net.Conn, path string) {
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path)
	}
	early := check.Must(net.Dial("tcp", open))(t)
	defer early.Close()
	get(early, "/health")
	p := check.Must(activate(dir, append(env, "NOTIFY_SOCKET="+m.path), "http:admin", openFile, adminFile))(t)
	check.Equal(t, p.URL, "http://"+open, "it listens at")
	if answer, err := io.ReadAll(early); !strings.HasPrefix(string(answer), "HTTP/1.1 200 OK") {
		t.Errorf("the early client: %q, %v", answer, err)
	}
	conn := check.Must(net.Dial("unix", admin))(t)
	get(conn, "/admin/status")
	if answer, err := io.ReadAll(conn); !strings.HasPrefix(string(answer), "HTTP/1.1 200 OK") {
		t.Errorf("the administrator: %q, %v", answer, err)
	}
	check.NoError(t, p.End(syscall.SIGTERM))
	m.await(`^READY=1\nSTATUS=Silent.* on ` + regexp.QuoteMeta(p.URL))
	m.await(`^STOPPING=1$`)
}

// The server warns if HOST and PORT name another address than the socket from systemd.
func TestServe_socketMismatch(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		host, port string // "" means the socket's port
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
			env := servertest.Environment(t, servertest.Silent)
			address, file := openSocket(t, "tcp", "127.0.0.1:0")
			if tt.port == "" {
				_, tt.port, _ = net.SplitHostPort(address)
			}
			p := check.Must(activate(t.TempDir(), append(env, "HOST="+tt.host, "PORT="+tt.port), "http", file))(t)
			check.NoError(t, p.End(syscall.SIGTERM))
			warned := strings.Contains(p.Logged(), `level=WARN msg="HOST and PORT ignored: socket passed by systemd"`)
			check.That(t, p.URL == "http://"+address && warned == tt.warns,
				"it listens on %s, want %s; warned: %t, want %t\n%s", p.URL, address, warned, tt.warns, p.Logged())
		})
	}
}

// An idle server exits if systemd can start it again with the next request.
func TestServe_exitOnIdle(t *testing.T) {
	t.Parallel()
	env := servertest.Environment(t, servertest.Silent, "EXIT_ON_IDLE=1")
	address, file := openSocket(t, "tcp", "127.0.0.1:0")
	dir := t.TempDir()
	for range 2 {
		answered := make(chan error, 1)
		go func() {
			resp, err := http.Get("http://" + address + "/health")
			if err == nil {
				err = resp.Body.Close()
			}
			answered <- err
		}()
		for waiting := true; waiting; { // it may exit before the request comes, which starts it again
			p := check.Must(activate(dir, env, "http", file))(t)
			select {
			case err := <-answered:
				waiting = false
				check.NoError(t, err)
				<-p.Ended
			case <-p.Ended:
			}
			check.That(t, p.Err == nil && strings.Contains(p.Logged(), `msg="idle timeout, exiting"`),
				"it ended with %v:\n%s", p.Err, p.Logged())
		}
	}
	alone := servertest.Run(t, servertest.Silent, "EXIT_ON_IDLE=1")
	check.That(t, alone.AwaitLog(`msg="EXIT_ON_IDLE ignored: no socket from systemd"`), "%v", alone.Logged())
}

// activate starts a server with sockets from systemd, whose names are separated by colons.
func activate(dir string, env []string, names string, sockets ...*os.File) (*servertest.Process, error) {
	cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ exec pressbox serve`)
	cmd.Dir = dir
	cmd.Env = append(env, fmt.Sprint("LISTEN_FDS=", len(sockets)), "LISTEN_FDNAMES="+names)
	cmd.ExtraFiles = sockets
	return servertest.StartCommand(cmd)
}

// openSocket opens a listener and returns its address and a file for a child process.
func openSocket(t *testing.T, network, address string) (string, *os.File) {
	t.Helper()
	l := check.Must(net.Listen(network, address))(t)
	t.Cleanup(func() { l.Close() })
	file := check.Must(l.(interface{ File() (*os.File, error) }).File())(t)
	t.Cleanup(func() { file.Close() })
	return l.Addr().String(), file
}

// A serviceManager receives the notifications of a server (sd_notify(3)), at all times, so that no sender waits.
type serviceManager struct {
	t    *testing.T
	path string

	mu       sync.Mutex // guards what follows
	grown    sync.Cond  // waits with mu for more
	received []string
	next     int // of received, for await
	err      error
}

func newServiceManager(t *testing.T) *serviceManager {
	t.Helper()
	dir, err := os.MkdirTemp("", "notify") //nolint:usetesting // t.TempDir may exceed the length of a socket's path
	check.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	m := &serviceManager{t: t, path: filepath.Join(dir, "s")}
	m.grown.L = &m.mu
	conn := check.Must(net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: m.path}))(t)
	var receiver sync.WaitGroup
	receiver.Go(func() { m.receive(conn) })
	t.Cleanup(func() {
		_ = conn.Close()
		receiver.Wait()
	})
	return m
}

func (m *serviceManager) receive(conn *net.UnixConn) {
	message := make([]byte, 4096)
	for {
		n, err := conn.Read(message)
		m.mu.Lock()
		m.received, m.err = append(m.received, string(message[:n])), err
		m.mu.Unlock()
		m.grown.Broadcast()
		if err != nil {
			return
		}
	}
}

// await waits for a notification that matches, after those awaited before.
func (m *serviceManager) await(pattern string) {
	m.t.Helper()
	want := regexp.MustCompile(pattern)
	deadline := time.Now().Add(servertest.MaxWait)
	defer time.AfterFunc(servertest.MaxWait, m.grown.Broadcast).Stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	for from := m.next; ; m.next++ {
		for m.next == len(m.received) {
			if m.err != nil || time.Now().After(deadline) {
				m.t.Fatalf("no notification matches %q: %.2000q", pattern, m.received[from:])
			}
			m.grown.Wait()
		}
		if want.MatchString(m.received[m.next]) {
			m.next++
			return
		}
	}
}

func TestSupervise(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, tt := range []struct {
		name   string
		voices runner // nil: one that ends with its context
		want   string
		err    error
	}{
		{"stages end in reverse", nil, "web announcer voices sound", nil},
		{"an error ends all", func(context.Context) error { return broken }, "web announcer sound", broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var ended []string
				runs := func(name string, delay time.Duration) runner {
					return func(ctx context.Context) error {
						<-ctx.Done()
						<-time.After(delay)
						mu.Lock()
						defer mu.Unlock()
						ended = append(ended, name)
						return nil
					}
				}
				if tt.voices == nil {
					tt.voices = runs("voices", time.Second)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := supervise(ctx, []runner{runs("sound", 0)}, []runner{tt.voices},
					[]runner{runs("web", 2*time.Second), runs("announcer", 5*time.Second)})
				if got := strings.Join(ended, " "); got != tt.want || !errors.Is(err, tt.err) {
					t.Errorf("the order of the ends is %s, with %v; want %s, with %v", got, err, tt.want, tt.err)
				}
			})
		})
	}
}

func TestGroupMemory_lowest(t *testing.T) {
	t.Parallel()
	const service = "sys/fs/cgroup/system.slice/pressbox.service/"
	group := "0::/system.slice/pressbox.service\n"
	for name, tt := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no control groups": {nil, 0},
		"version 1":         {map[string]string{"proc/self/cgroup": "4:memory:/a\n"}, 0},
		"no limit":          {map[string]string{"proc/self/cgroup": group, service + "memory.max": "max\n"}, 0},
		"the unit": {map[string]string{
			"proc/self/cgroup": group, service + "memory.high": "536870912\n", service + "memory.max": "805306368\n",
		}, 512 << 20},
		"the slice": {map[string]string{
			"proc/self/cgroup": group, service + "memory.max": "max\n",
			"sys/fs/cgroup/system.slice/memory.max": "268435456\n",
		}, 256 << 20},
		"a container": {map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "134217728\n",
		}, 128 << 20},
	} {
		root := fstest.MapFS{}
		for path, text := range tt.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		check.Equal(t, groupMemory(root), tt.want, "%s", name)
	}
}

// GOMEMLIMIT, which the runtime has read, is not replaced. This test cannot run
// in parallel with others: it sets the environment.
func TestLimitMemory_environmentWins(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	root := fstest.MapFS{
		"proc/self/cgroup":             {Data: []byte("0::/\n")},
		"sys/fs/cgroup/memory.max":     {Data: []byte("8589934592\n")},
		"sys/fs/cgroup/sub/memory.max": {Data: []byte("1\n")},
	}
	t.Setenv("GOMEMLIMIT", "400MiB")
	limitMemory(root)
	check.Equal(t, debug.SetMemoryLimit(-1), before, "with GOMEMLIMIT")
	check.NoError(t, os.Unsetenv("GOMEMLIMIT"))
	limitMemory(root)
	if got := debug.SetMemoryLimit(-1); got != 4<<30 || before != math.MaxInt64 {
		t.Errorf("without: %d bytes, want half of 8 GiB", got)
	}
}

// The server's espeak-ng is confined and has none of the server's secrets.
func TestServe_confinesEspeak(t *testing.T) {
	t.Parallel()
	p := servertest.Run(t, servertest.Silent, "IDP_CLIENT_SECRET=hidden")
	awaitSpeech(t, p)
	dirs, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.Cmd.Process.Pid))
	check.NoError(t, err)
	var children []string
	for _, path := range dirs {
		pids, err := os.ReadFile(path)
		if err != nil {
			continue // a thread that has ended
		}
		children = append(children, strings.Fields(string(pids))...)
	}
	check.Require(t, len(children) == 1, "children %v, want espeak-ng", children)
	environment, err := os.ReadFile("/proc/" + children[0] + "/environ")
	if err != nil || strings.Contains(string(environment), "SECRET") ||
		!strings.Contains(string(environment), "LANG=C.UTF-8") {
		t.Errorf("environment of espeak-ng: %q, %v", environment, err)
	}
	status, err := os.ReadFile("/proc/" + children[0] + "/status")
	check.That(t, err == nil && strings.Contains(string(status), "Seccomp:\t2\n"),
		"espeak-ng is not confined: %v\n%s", err, status)
}

// awaitSpeech requests speech, again while the host is too slow for it.
func awaitSpeech(t *testing.T, p *servertest.Process) {
	t.Helper()
	for begun := time.Now(); ; {
		res, err := http.Post(p.URL+"/v1/audio/speech", "application/json",
			strings.NewReader(`{"input": "Hello", "model": "any", "voice": "en_US-heart-medium"}`))
		check.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		switch {
		case err != nil:
			t.Fatal(err)
		case res.StatusCode == http.StatusOK:
			return
		case res.StatusCode != http.StatusServiceUnavailable || time.Since(begun) > servertest.MaxWait:
			t.Fatalf("speech: status %d: %s; log: %s", res.StatusCode, body, p.Logged())
		}
	}
}

func TestMetrics_promlint(t *testing.T) {
	t.Parallel()
	p := servertest.Run(t, servertest.Silent, "METRICS=on")
	resp := servertest.NewBrowser(t, p.URL, nil).Request("GET", "/metrics", "")
	problems, err := promlint.New(resp.Body).Lint()
	check.That(t, err == nil && len(problems) == 0, "%v, %v", problems, err)
}
