package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
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

func (sessions) SignedIn(r *http.Request) (auth.Caller, error) {
	_, err := r.Cookie("pressbox_access")
	if err == nil && r.Header.Get("Authorization") == "" || r.Header.Get("Authorization") == "Bearer signed-in" {
		return auth.Caller{}, nil
	}
	return auth.Caller{}, auth.ErrInvalidToken
}

func TestNotifyAccess(t *testing.T) {
	t.Parallel()
	const cookie, good, bad = "Cookie: pressbox_access=x", "Authorization: Bearer good", "Authorization: Bearer bad"
	all := map[web.Access]*webtest.Rig{}
	for _, mode := range []web.Access{web.LAN, web.Token, web.Open, web.Off} {
		all[mode] = webtest.NewRig(t, func(c *site.Config) {
			c.Access, c.Tokens, c.Sessions = mode, tokens{"good"}, sessions{}
		})
	}
	for _, tt := range []struct {
		client, header        string
		path                  string
		lan, token, open, off int
	}{
		{webtest.LANClient, "", "/notify", 200, 401, 200, 403},
		{"127.0.0.1:1", "", "/notify", 200, 401, 200, 403},
		{"[::1]:1", "", "/notify", 200, 401, 200, 403},
		{"[fe80::1%eth0]:1", "", "/notify", 200, 401, 200, 403},
		{"[::ffff:192.168.1.20]:1", "", "/notify", 200, 401, 200, 403},
		{webtest.ForeignClient, "", "/notify", 401, 401, 200, 403},
		{"[2001:db8::1]:1", "", "/notify", 401, 401, 200, 403},
		{webtest.LANClient, "X-Forwarded-For: 192.168.1.21", "/notify", 401, 401, 200, 403},
		{"@", "", "/notify", 401, 401, 200, 403}, // not an address

		{webtest.ForeignClient, good, "/notify", 200, 200, 200, 403},
		{webtest.LANClient, good, "/notify", 200, 200, 200, 403},
		{webtest.LANClient, bad, "/notify", 401, 401, 401, 403}, // judged by it alone
		{webtest.LANClient, "Authorization: Bearer", "/notify", 401, 401, 401, 403},
		{webtest.LANClient, "Authorization: Bearer good bad", "/notify", 401, 401, 401, 403},
		{webtest.LANClient, "Authorization: Basic Z29vZA==", "/notify", 200, 401, 200, 403},
		{webtest.ForeignClient, "Authorization: BEARER   good", "/notify", 200, 200, 200, 403},

		{webtest.ForeignClient, cookie, "/notify", 401, 401, 200, 403}, // sessions count under /api only
		{webtest.ForeignClient, cookie, "/api/notify", 200, 200, 200, 403},
		{webtest.ForeignClient, "Authorization: Bearer signed-in", "/api/notify", 200, 200, 200, 403},
		{webtest.ForeignClient, "Authorization: Bearer signed-in", "/notify", 401, 401, 401, 403},
		{webtest.ForeignClient, good, "/api/notify", 200, 200, 200, 403},
		{webtest.ForeignClient, "", "/api/notify", 401, 401, 200, 403},

		{webtest.ForeignClient, "", "/health", 200, 200, 200, 200},
		{webtest.ForeignClient, "", "/voices", 200, 200, 200, 200},
		{webtest.ForeignClient, "", "/docs", 200, 200, 200, 200},
		{webtest.ForeignClient, "", "/openapi.json", 200, 200, 200, 200},
	} {
		headers := []string{"Client", tt.client}
		if name, value, ok := strings.Cut(tt.header, ": "); ok {
			headers = append(headers, name, value)
		}
		for mode, want := range map[web.Access]int{web.LAN: tt.lan, web.Token: tt.token, web.Open: tt.open, web.Off: tt.off} {
			if got := all[mode].Do(t, "GET", tt.path, "", headers...); got.Code != want {
				t.Errorf("NOTIFY_ACCESS=%s, GET %s from %s with %q: status %d, want %d", mode, tt.path, tt.client, tt.header, got.Code, want)
			}
		}
	}
}

func TestEveryGuardedRouteIsGuarded(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
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
			r.Do(t, tt.method, prefix+tt.path, "", "Client", webtest.ForeignClient)
			if w := r.Do(t, tt.method, prefix+tt.path, "", "Client", webtest.ForeignClient); w.Code != 401 {
				t.Errorf("%s %s from outside: status %d, want 401", tt.method, prefix+tt.path, w.Code)
			}
		}
	}
}

func TestChallenge(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	plain := r.Do(t, "GET", "/notify", "", "Client", webtest.ForeignClient).Want(401, "unauthenticated")
	if got := plain.Header().Get("WWW-Authenticate"); strings.Contains(got, "error=") {
		t.Errorf("without a token: WWW-Authenticate: %s", got)
	}
	wrong := r.Do(t, "GET", "/notify", "", "Authorization", "Bearer nonsense").Want(401, "invalid_token")
	if got := wrong.Header().Get("WWW-Authenticate"); !strings.Contains(got, `error="invalid_token"`) {
		t.Errorf("with a bad token: WWW-Authenticate: %s", got)
	}
}

func TestTokenInTheQueryIsNotRead(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) { c.Tokens = tokens{"good"} })
	r.Do(t, "GET", "/notify?access_token=good&token=good", "", "Client", webtest.ForeignClient).Want(401, "unauthenticated")
	if strings.Contains(r.Log.String(), "good") {
		t.Error("the query was logged")
	}
}
