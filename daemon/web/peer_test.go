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
	"pressbox/packaging/check"
)

func TestPeerOf_credentials(t *testing.T) {
	t.Parallel()
	l, path := webtest.ListenUnix(t)
	dialed := check.Must(new(net.Dialer).DialContext(t.Context(), "unix", path))(t)
	defer dialed.Close()
	conn := check.Must(l.Accept())(t)
	defer conn.Close()
	uid, groups, err := web.PeerOf(conn.(*net.UnixConn))
	if err != nil || uid != os.Getuid() {
		t.Errorf("the peer is user %d (%v), want %d", uid, err, os.Getuid())
	}
	want := check.Must(os.Getgroups())(t)
	for _, group := range append(want, os.Getgid()) {
		if !slices.Contains(groups, uint32(group)) {
			t.Errorf("groups %v of the peer lack %d", groups, group)
		}
	}
}

func TestPeer_administers(t *testing.T) {
	t.Parallel()
	_, path := webtest.ListenUnix(t)
	own, group := os.Geteuid(), uint32(os.Getegid())
	for _, tt := range []struct {
		name   string
		uid    int
		groups []uint32
		socket string
		want   bool
	}{
		{"root", 0, []uint32{0}, path, true},
		{"the server's user", own, []uint32{group + 1}, path, true},
		{"a member of the socket's group", own + 1000, []uint32{group}, path, true},
		{"a member by a supplementary group", own + 1000, []uint32{group + 1, group + 2, group}, path, true},
		{"another user", own + 1000, []uint32{group + 1, group + 2}, path, false},
		{"another user at a deleted socket", own + 1000, []uint32{group}, path + "-deleted", false},
		{"root at a deleted socket", 0, []uint32{0}, path + "-deleted", true},
	} {
		check.Equal(t, web.Administers(tt.uid, tt.groups, tt.socket), tt.want, "%s administers", tt.name)
	}
}

// A TCP socket has no peer credentials, so no client can administer through it.
func TestServeAdmin_tcp(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) { c.Admin.Level = new(slog.LevelVar) })
	l := webtest.NewWire()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.ServeAdmin(ctx, l) }()
	conn, resp := l.Ask(t, "GET /admin/log-level HTTP/1.1\r\nHost: localhost\r\n\r\n")
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusForbidden || !strings.Contains(string(body), "not_administrator") {
		t.Errorf("status %d, %v: %s", resp.StatusCode, err, body)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	r.Check.CheckResponse(t, webtest.NewRequest("GET", "/admin/log-level", ""), resp)
	conn.Close()
	cancel()
	check.NoError(t, <-served)
}
