package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// tokens implements Tokens: one token is valid, and another one, "panel", may control.
type tokens struct{ good string }

func (k tokens) NotifyToken(_ context.Context, token string, _ netip.Addr) (auth.APIToken, error) {
	switch token {
	case k.good:
		return auth.APIToken{ID: "1", Name: "kitchen"}, nil
	case "panel":
		return auth.APIToken{ID: "2", Name: "panel", Control: true}, nil
	}
	return auth.APIToken{}, errors.New("no such token")
}

// sessions implements Sessions: any cookie is a session, "admin" an administrator's.
type sessions struct{}

func (sessions) SignedIn(r *http.Request) (auth.Caller, error) {
	cookie, err := r.Cookie("pressbox_access")
	if err == nil && cookie.Value == "admin" && r.Header.Get("Authorization") == "" {
		return auth.Caller{Account: auth.Account{ID: "1", Name: "Anna", Admin: true}}, nil
	}
	if err == nil && r.Header.Get("Authorization") == "" || r.Header.Get("Authorization") == "Bearer signed-in" {
		return auth.Caller{}, nil
	}
	return auth.Caller{}, auth.ErrInvalidToken
}

func TestNotifyAccess_modes(t *testing.T) {
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
		{webtest.LANClient, bad, "/notify", 401, 401, 401, 403}, // the token alone counts
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
		for mode, want := range map[web.Access]int{
			web.LAN: tt.lan, web.Token: tt.token, web.Open: tt.open, web.Off: tt.off,
		} {
			if got := all[mode].Do(t, "GET", tt.path, "", headers...); got.StatusCode != want {
				t.Errorf("NOTIFY_ACCESS=%s, GET %s from %s with %q: status %d, want %d",
					mode, tt.path, tt.client, tt.header, got.StatusCode, want)
			}
		}
	}
}

// Every route under NOTIFY_ACCESS refuses clients outside the local network.
func TestNotifyAccess_everyRoute(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	routes := 0
	r.Check.Each(func(op webtest.Operation, method, template string) {
		if !slices.ContainsFunc(op.Security, func(scheme map[string][]string) bool { return scheme["token"] != nil }) {
			return
		}
		routes++
		methods := []string{method}
		if method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
		for _, method := range methods {
			path := webtest.PathParameter.ReplaceAllString(template, "x")
			want := 401
			if method == http.MethodHead && strings.HasSuffix(path, "/publish") {
				want = 405 // a GET that speaks
			}
			if w := r.Do(t, method, path, "", "Client", webtest.ForeignClient); w.StatusCode != want {
				t.Errorf("%s %s from outside: status %d, want %d", method, path, w.StatusCode, want)
			}
		}
	})
	check.Equal(t, routes, 81, "routes")
}

func TestControlAccess_modes(t *testing.T) {
	t.Parallel()
	const (
		cookie, admin            = "Cookie: pressbox_access=x", "Cookie: pressbox_access=admin"
		token, controlToken, bad = "Authorization: Bearer good",
			"Authorization: Bearer panel", "Authorization: Bearer bad"
	)
	rig := func(control web.Control, notify web.Access) *webtest.Rig {
		return webtest.NewRig(t, func(c *site.Config) {
			c.ControlAccess, c.Access, c.Tokens, c.Sessions = control, notify, tokens{"good"}, sessions{}
		})
	}
	byAdmin, byLAN, off := rig("", web.LAN), rig(web.ControlLAN, web.LAN), rig(web.ControlLAN, web.Off)
	for _, tt := range []struct {
		client, header, path string
		admin, lan, off      int
	}{
		{webtest.LANClient, "", "/volume", 401, 200, 403},
		{"127.0.0.1:1", "", "/volume", 401, 200, 403},
		{webtest.LANClient, "", "/api/volume", 401, 200, 403},
		{webtest.LANClient, cookie, "/api/volume", 403, 200, 403},
		{webtest.LANClient, admin, "/api/volume", 200, 200, 403},
		{webtest.LANClient, admin, "/volume", 401, 200, 403}, // sessions count under /api only
		{webtest.LANClient, token, "/volume", 403, 200, 403},
		{webtest.LANClient, token, "/api/volume", 403, 200, 403},
		{webtest.LANClient, controlToken, "/volume", 200, 200, 403},
		{webtest.LANClient, controlToken, "/api/volume", 200, 200, 403},
		{webtest.LANClient, bad, "/volume", 401, 401, 403},
		{webtest.ForeignClient, "", "/volume", 401, 401, 403},
		{webtest.ForeignClient, controlToken, "/volume", 200, 200, 403},
		{webtest.ForeignClient, token, "/volume", 403, 200, 403},
		{webtest.ForeignClient, admin, "/api/volume", 200, 200, 403},
	} {
		headers := []string{"Client", tt.client, "Content-Type", webtest.AsJSON}
		if name, value, ok := strings.Cut(tt.header, ": "); ok {
			headers = append(headers, name, value)
		}
		for mode, want := range map[*webtest.Rig]int{byAdmin: tt.admin, byLAN: tt.lan, off: tt.off} {
			if got := mode.Do(t, "PUT", tt.path, `{"volume": 50}`, headers...); got.StatusCode != want {
				t.Errorf("%s, PUT %s from %s with %q: status %d, want %d",
					mode.Config.ControlAccess, tt.path, tt.client, tt.header, got.StatusCode, want)
			}
		}
	}
	socket := webtest.NewRequest("PUT", "/volume", `{"volume": 40}`, "Content-Type", webtest.AsJSON)
	off.Send(t, off.AdminHandler(), socket).Want(200)
	byAdmin.Do(t, "GET", "/volume", "").Want(200)
}

// Every route that changes something refuses clients that may only announce.
func TestControlAccess_everyRoute(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	routes := 0
	r.Check.Each(func(op webtest.Operation, method, template string) {
		if !slices.Contains(op.Tags, "control") || method == http.MethodGet {
			return
		}
		routes++
		r.Do(t, method, webtest.PathParameter.ReplaceAllString(template, "x"), "").Want(401, "unauthenticated")
	})
	check.Equal(t, routes, 14, "routes")
}

func TestAuthorize_challenge(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) { c.Tokens = tokens{"good"} })
	for _, tt := range []struct{ path, header, code, want string }{
		{"/notify", "", "unauthenticated", `Bearer realm="pressbox"`},
		// not read from the query
		{"/notify?access_token=good&token=good", "", "unauthenticated", `Bearer realm="pressbox"`},
		{"/notify", "Bearer bad", "invalid_token", `Bearer realm="pressbox", error="invalid_token"`},
	} {
		headers := []string{"Client", webtest.ForeignClient}
		if tt.header != "" {
			headers = append(headers, "Authorization", tt.header)
		}
		if got := r.Do(t, "GET", tt.path, "", headers...).Want(401,
			tt.code).Header.Get("WWW-Authenticate"); got != tt.want {
			t.Errorf("GET %s, Authorization %q: WWW-Authenticate %s, want %s", tt.path, tt.header, got, tt.want)
		}
	}
	if strings.Contains(r.Log.String(), "good") {
		t.Error("the query is in the log")
	}
}
