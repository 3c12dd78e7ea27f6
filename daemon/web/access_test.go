package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"pressbox/daemon/web"
)

const (
	lanClient     = "192.168.1.20:40000"
	foreignClient = "203.0.113.5:40000"
)

// tokens stands in for the store of API tokens: one is good.
type tokens struct{ good string }

func (k tokens) NotifyToken(_ context.Context, token string, _ netip.Addr) error {
	if token == k.good {
		return nil
	}
	return errors.New("no such token")
}

// sessions stands in for sign-in: a cookie is enough.
type sessions struct{}

func (sessions) SignedIn(r *http.Request) bool {
	_, err := r.Cookie("pressbox_access")
	return err == nil && r.Header.Get("Authorization") == "" || r.Header.Get("Authorization") == "Bearer signed-in"
}

func TestNotifyAccess(t *testing.T) {
	t.Parallel()
	const cookie, good, bad = "Cookie: pressbox_access=x", "Authorization: Bearer good", "Authorization: Bearer bad"
	all := map[web.Access]*rig{}
	for _, mode := range []web.Access{web.LAN, web.Token, web.Open, web.Off} {
		all[mode] = newRig(t, func(c *web.Config) {
			c.Access, c.Tokens, c.Sessions = mode, tokens{"good"}, sessions{}
		})
	}
	for _, tt := range []struct {
		client, header        string
		path                  string
		lan, token, open, off int
	}{
		{lanClient, "", "/notify", 200, 401, 200, 403},
		{"127.0.0.1:1", "", "/notify", 200, 401, 200, 403},
		{"[::1]:1", "", "/notify", 200, 401, 200, 403},
		{"[fe80::1%eth0]:1", "", "/notify", 200, 401, 200, 403},
		{"[::ffff:192.168.1.20]:1", "", "/notify", 200, 401, 200, 403},
		{foreignClient, "", "/notify", 401, 401, 200, 403},
		{"[2001:db8::1]:1", "", "/notify", 401, 401, 200, 403},
		{lanClient, "X-Forwarded-For: 192.168.1.21", "/notify", 401, 401, 200, 403},
		{"@", "", "/notify", 401, 401, 200, 403}, // not an address

		{foreignClient, good, "/notify", 200, 200, 200, 403},
		{lanClient, good, "/notify", 200, 200, 200, 403},
		{lanClient, bad, "/notify", 401, 401, 401, 403}, // judged by it alone
		{lanClient, "Authorization: Bearer", "/notify", 401, 401, 401, 403},
		{lanClient, "Authorization: Bearer good bad", "/notify", 401, 401, 401, 403},
		{lanClient, "Authorization: Basic Z29vZA==", "/notify", 200, 401, 200, 403},
		{foreignClient, "Authorization: BEARER   good", "/notify", 200, 200, 200, 403},

		{foreignClient, cookie, "/notify", 401, 401, 200, 403}, // sessions count under /api only
		{foreignClient, cookie, "/api/notify", 200, 200, 200, 403},
		{foreignClient, "Authorization: Bearer signed-in", "/api/notify", 200, 200, 200, 403},
		{foreignClient, "Authorization: Bearer signed-in", "/notify", 401, 401, 401, 403},
		{foreignClient, good, "/api/notify", 200, 200, 200, 403},
		{foreignClient, "", "/api/notify", 401, 401, 200, 403},

		{foreignClient, "", "/health", 200, 200, 200, 200},
		{foreignClient, "", "/voices", 200, 200, 200, 200},
		{foreignClient, "", "/docs", 200, 200, 200, 200},
		{foreignClient, "", "/openapi.json", 200, 200, 200, 200},
	} {
		headers := []string{"Client", tt.client}
		if name, value, ok := strings.Cut(tt.header, ": "); ok {
			headers = append(headers, name, value)
		}
		for mode, want := range map[web.Access]int{web.LAN: tt.lan, web.Token: tt.token, web.Open: tt.open, web.Off: tt.off} {
			if got := all[mode].do(t, "GET", tt.path, "", headers...); got.Code != want {
				t.Errorf("NOTIFY_ACCESS=%s, GET %s from %s with %q: status %d, want %d", mode, tt.path, tt.client, tt.header, got.Code, want)
			}
		}
	}
}

func TestEveryGuardedRouteIsGuarded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, prefix := range []string{"", "/api"} {
		for _, tt := range []struct{ method, path string }{
			{"POST", "/notify"},
			{"GET", "/notify"},
			{"DELETE", "/notify"},
			{"GET", "/notify/x"},
			{"DELETE", "/notify/x"},
			{"GET", "/events"},
			{"HEAD", "/events"},
			{"POST", "/v1/audio/speech"},
		} {
			r.do(t, tt.method, prefix+tt.path, "", "Client", foreignClient)
			if w := r.do(t, tt.method, prefix+tt.path, "", "Client", foreignClient); w.Code != 401 {
				t.Errorf("%s %s from outside: status %d, want 401", tt.method, prefix+tt.path, w.Code)
			}
		}
	}
}

func TestChallenge(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	plain := r.do(t, "GET", "/notify", "", "Client", foreignClient).want(401, "unauthenticated")
	if got := plain.Header().Get("WWW-Authenticate"); strings.Contains(got, "error=") {
		t.Errorf("without a token: WWW-Authenticate: %s", got)
	}
	wrong := r.do(t, "GET", "/notify", "", "Authorization", "Bearer nonsense").want(401, "invalid_token")
	if got := wrong.Header().Get("WWW-Authenticate"); !strings.Contains(got, `error="invalid_token"`) {
		t.Errorf("with a bad token: WWW-Authenticate: %s", got)
	}
}

func TestTokenInTheQueryIsNotRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *web.Config) { c.Tokens = tokens{"good"} })
	r.do(t, "GET", "/notify?access_token=good&token=good", "", "Client", foreignClient).want(401, "unauthenticated")
	if strings.Contains(r.log.String(), "good") {
		t.Error("the query was logged")
	}
}

// revocable stands in for tokens: every one is good until all are revoked.
type revocable struct{ revoked atomic.Bool }

func (k *revocable) NotifyToken(context.Context, string, netip.Addr) error {
	if k.revoked.Load() {
		return errors.New("revoked")
	}
	return nil
}
