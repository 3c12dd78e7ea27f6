package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// From its start to its end the server notifies the service manager of its state, and the
// watchdog of its progress.
func TestServe_notifications(t *testing.T) {
	t.Parallel()
	env := environment(t, silent, "WATCHDOG_USEC=300000", "VOLUME=40")
	m := newServiceManager(t)
	p := runProcessIn(t, t.TempDir(), append(env, "NOTIFY_SOCKET="+m.path))
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

// The service manager is asked to wait while a store is checked and a backup copied.
func TestServe_extendsTimeoutForCheck(t *testing.T) {
	t.Parallel()
	env := environment(t, silent)
	m := newServiceManager(t)
	dir := t.TempDir()
	writeState(t, dir, "pressbox.db", strings.Repeat("This is no store. ", 2000))
	writeState(t, dir, "pressbox.db.open", "")
	writeState(t, dir, "backups/pressbox-000001-20261121.db", "nor is this")
	runProcessIn(t, dir, append(env, "NOTIFY_SOCKET="+m.path))
	m.await(`^EXTEND_TIMEOUT_USEC=300000000$`) // the check
	m.await(`^EXTEND_TIMEOUT_USEC=300000000$`) // the backup
	m.await(`^READY=1\n`)
}

// SIGQUIT, which systemd's watchdog sends, writes the stacks of all goroutines.
func TestServe_dumpOnSIGQUIT(t *testing.T) {
	t.Parallel()
	p := runProcess(t, silent)
	resp, err := http.Get(p.url + "/events") // the response comes when all parts run
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := p.end(syscall.SIGQUIT); err == nil {
		t.Error("the server exited with 0")
	}
	for _, want := range []string{"goroutine ", "announce.(*Announcer).Run", "pulse.(*Sink).Run"} {
		if !strings.Contains(p.logged(), want) {
			t.Errorf("the dump does not name %s:\n%.2000s", want, p.logged())
		}
	}
}

// A SIGHUP as soon as the server listens reloads it; unhandled, it would end the process.
func TestServe_earlySIGHUP(t *testing.T) {
	t.Parallel()
	for range 10 {
		p := runProcess(t, silent)
		p.signal(t, syscall.SIGHUP)
		if !p.awaitLog("msg=reloaded") {
			<-p.ended
			t.Fatalf("it ended with %v:\n%s", p.err, p.logged())
		}
	}
}

// The server uses the sockets from systemd: it serves a client that connected before its
// start, and ignores HOST and PORT.
func TestServe_socketActivation(t *testing.T) {
	t.Parallel()
	env := environment(t, "PORT=1", silent)
	dir, m := t.TempDir(), newServiceManager(t)
	open, openFile := openSocket(t, "tcp", "127.0.0.1:0")
	admin, adminFile := openSocket(t, "unix", filepath.Join(dir, "inherited.sock"))
	get := func(conn net.Conn, path string) {
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path)
	}
	early, err := net.Dial("tcp", open)
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	get(early, "/health")
	p, err := activate(dir, append(env, "NOTIFY_SOCKET="+m.path), "http:admin", openFile, adminFile)
	if err != nil {
		t.Fatal(err)
	}
	if p.url != "http://"+open {
		t.Errorf("it listens at %s, want %s", p.url, open)
	}
	if answer, err := io.ReadAll(early); !strings.HasPrefix(string(answer), "HTTP/1.1 200 OK") {
		t.Errorf("the early client: %q, %v", answer, err)
	}
	conn, err := net.Dial("unix", admin)
	if err != nil {
		t.Fatal(err)
	}
	get(conn, "/admin/status")
	if answer, err := io.ReadAll(conn); !strings.HasPrefix(string(answer), "HTTP/1.1 200 OK") {
		t.Errorf("the administrator: %q, %v", answer, err)
	}
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	m.await(`^READY=1\nSTATUS=Silent.* on ` + regexp.QuoteMeta(p.url))
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
			env := environment(t, silent)
			address, file := openSocket(t, "tcp", "127.0.0.1:0")
			if tt.port == "" {
				_, tt.port, _ = net.SplitHostPort(address)
			}
			p, err := activate(t.TempDir(), append(env, "HOST="+tt.host, "PORT="+tt.port), "http", file)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.end(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			warned := strings.Contains(p.logged(), `level=WARN msg="HOST and PORT ignored: socket passed by systemd"`)
			if p.url != "http://"+address || warned != tt.warns {
				t.Errorf("it listens on %s, want %s; warned: %t, want %t\n%s", p.url, address, warned, tt.warns, p.logged())
			}
		})
	}
}

// An idle server exits if systemd can start it again with the next request.
func TestServe_exitOnIdle(t *testing.T) {
	t.Parallel()
	env := environment(t, silent, "EXIT_ON_IDLE=1")
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
			p, err := activate(dir, env, "http", file)
			if err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-answered:
				if waiting = false; err != nil {
					t.Fatal(err)
				}
				<-p.ended
			case <-p.ended:
			}
			if p.err != nil || !strings.Contains(p.logged(), `msg="idle timeout, exiting"`) {
				t.Errorf("it ended with %v:\n%s", p.err, p.logged())
			}
		}
	}
	alone := runProcess(t, silent, "EXIT_ON_IDLE=1")
	if !alone.awaitLog(`msg="EXIT_ON_IDLE ignored: no socket from systemd"`) {
		t.Error(alone.logged())
	}
}
