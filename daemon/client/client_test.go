package client

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/daemon/exitcode"
	"pressbox/daemon/settings"
	"pressbox/packaging/check"
)

// A server that hangs and an interrupted command have different errors.
func TestClient_noResponse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path) // it accepts no connection
	check.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	late, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	err = ForSocket(path).Call(late, http.MethodGet, "/admin/status", nil, new(any))
	code, _ := exitcode.Of(err)
	check.That(t, code == exitcode.Unreachable && strings.Contains(err.Error(), path+" does not answer: timeout"),
		"a server that hangs: %v", err)
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ForSocket(path).Call(interrupted, http.MethodGet,
		"/admin/status", nil, new(any)); !errors.Is(err, exitcode.ErrInterrupted) {
		t.Errorf("interrupted: %v", err)
	}
}

// Root administers the service, unless STATE_DIR was chosen; another user first a server of the working directory.
func TestSockets_order(t *testing.T) {
	t.Parallel()
	const shared, own = settings.SharedAdmin, "state/admin.sock"
	for _, tt := range []struct {
		root, chosen bool
		want         []string
	}{
		{true, false, []string{shared, own}},
		{true, true, []string{own, shared}},
		{false, false, []string{own, shared}},
		{false, true, []string{own, shared}},
	} {
		h := settings.Host{Config: settings.Config{StateDir: "state"}, Chosen: tt.chosen}
		got := sockets(h, tt.root)
		check.That(t, slices.Equal(got, tt.want), "root: %v, chosen: %v: %q, want %q", tt.root, tt.chosen, got, tt.want)
	}
}

// The group adm may use the shared socket, but not enter STATE_DIR.
func TestFirstListening_unreachable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hidden := filepath.Join(dir, "hidden")
	check.NoError(t, os.Mkdir(hidden, 0o700))
	for _, path := range []string{filepath.Join(hidden, "s"), filepath.Join(dir, "s")} {
		l := check.Must(net.Listen("unix", path))(t)
		t.Cleanup(func() { _ = l.Close() })
		check.NoError(t, os.Chmod(path, 0o666))
	}
	check.NoError(t, os.Chmod(hidden, 0))
	t.Cleanup(func() { _ = os.Chmod(hidden, 0o700) })
	if os.Geteuid() == 0 {
		dropPrivileges(t, dir)
	}
	if path, err := firstListening(t.Context(), filepath.Join(hidden, "s"), filepath.Join(dir, "s")); err != nil ||
		path != filepath.Join(dir, "s") {
		t.Errorf("found %q, %v", path, err)
	}
	if path, err := firstListening(t.Context(), filepath.Join(hidden, "s"), filepath.Join(dir, "none")); path != "" ||
		!errors.Is(err, fs.ErrPermission) {
		t.Errorf("found %q, %v; want a permission error", path, err)
	}
}

// dropPrivileges removes root's access to other users' files from the test's thread, and makes dir accessible.
func dropPrivileges(t *testing.T, dir string) {
	t.Helper()
	check.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	runtime.LockOSThread() // until this goroutine ends, and the thread with it
	const unprivileged = 65534
	check.NoError(t, syscall.Setfsuid(unprivileged))
	t.Cleanup(func() { _ = syscall.Setfsuid(0) }) // for the other cleanups
}

// A response's body may have maxReply bytes.
func TestCall_maxReply(t *testing.T) {
	t.Parallel()
	for size, ok := range map[int]bool{maxReply: true, maxReply + 1: false} {
		large := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`"` + strings.Repeat("x", size-2) + `"`))
		})
		c := &Client{HTTP: http.Client{Transport: InProcess{large}}, Base: "http://localhost"}
		var text string
		err := c.Call(t.Context(), http.MethodGet, "/x", nil, &text)
		check.That(t, (err == nil) == ok, "a response of %d bytes: %v", size, err)
	}
}
