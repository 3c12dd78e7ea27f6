package web_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
)

// The kernel says who is at the other end, and in which groups.
func TestAPeerIsWhatTheKernelSays(t *testing.T) {
	t.Parallel()
	l, path := webtest.ListenUnix(t)
	dialed, err := new(net.Dialer).DialContext(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer dialed.Close()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	uid, groups, err := web.PeerOf(conn.(*net.UnixConn))
	if err != nil || uid != os.Getuid() {
		t.Errorf("the peer is user %d (%v), want %d", uid, err, os.Getuid())
	}
	want, err := os.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range append(want, os.Getgid()) {
		if !slices.Contains(groups, uint32(group)) {
			t.Errorf("the peer's groups are %v, and %d is not among them", groups, group)
		}
	}
}

func TestWhoMayAdminister(t *testing.T) {
	t.Parallel()
	_, path := webtest.ListenUnix(t)
	own, group := os.Geteuid(), uint32(os.Getegid())
	for _, tt := range []struct {
		who    string
		uid    int
		groups []uint32
		socket string
		may    bool
	}{
		{"root", 0, []uint32{0}, path, true},
		{"the daemon's own user", own, []uint32{group + 1}, path, true},
		{"a member of the socket's group", own + 1000, []uint32{group}, path, true},
		{"one of whose further groups it is", own + 1000, []uint32{group + 1, group + 2, group}, path, true},
		{"a stranger", own + 1000, []uint32{group + 1, group + 2}, path, false},
		{"a stranger at a socket that is gone", own + 1000, []uint32{group}, path + "-gone", false},
		{"root at a socket that is gone", 0, []uint32{0}, path + "-gone", true},
	} {
		if may := web.Administers(tt.uid, tt.groups, tt.socket); may != tt.may {
			t.Errorf("%s may administer: %v, want %v", tt.who, may, tt.may)
		}
	}
}

// A socket of the network, which a drop-in could hand to the daemon as the
// administrator's, knows no users: nobody administers there.
func TestNobodyAdministersWithoutBeingKnown(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) { c.Admin.Level = new(slog.LevelVar) })
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.ServeAdmin(ctx, l) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+"/admin/log-level", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	r.Check.CheckResponse(t, req, resp)
	if resp.StatusCode != http.StatusForbidden || !strings.Contains(string(body), "not_administrator") {
		t.Errorf("status %d: %s", resp.StatusCode, body)
	}
}
