package web_test

import (
	"context"
	"encoding/base64"
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

// sessions implements Sessions: any cookie is a session, "admin" an administrator's, "open" one of an account of open
// sign-up.
type sessions struct{}

func (sessions) SignedIn(r *http.Request) (auth.Caller, error) {
	cookie, err := r.Cookie("pressbox_access")
	if err == nil && r.Header.Get("Authorization") == "" {
		admin, open := strings.Contains(cookie.Value, "admin"), strings.Contains(cookie.Value, "open")
		return auth.Caller{Account: auth.Account{ID: "1", Name: "Anna", Admin: admin, Open: open}}, nil
	}
	if header := r.Header.Get("Authorization"); header == "Bearer signed-in" || header == "Bearer open" {
		return auth.Caller{Account: auth.Account{Open: header == "Bearer open"}}, nil
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
		{webtest.LANClient, bad, "/v1/models", 200, 401, 200, 403}, // but for made-up keys of OpenAI's clients
		{webtest.ForeignClient, bad, "/v1/models", 401, 401, 200, 403},
		{webtest.LANClient, bad, "/api/v1/models", 401, 401, 401, 403},
		{webtest.LANClient, "Authorization: Bearer good bad", "/notify", 401, 401, 401, 403},
		{webtest.LANClient, "Authorization: Basic Z29vZA==", "/notify", 200, 401, 200, 403},
		{webtest.ForeignClient, "Authorization: BEARER   good", "/notify", 200, 200, 200, 403},

		{webtest.ForeignClient, cookie, "/notify", 401, 401, 200, 403}, // sessions count under /api only
		{webtest.ForeignClient, cookie, "/api/notify", 200, 200, 200, 403},
		{webtest.ForeignClient, "Authorization: Bearer signed-in", "/api/notify", 200, 200, 200, 403},
		{webtest.ForeignClient, "Authorization: Bearer signed-in", "/notify", 401, 401, 401, 403},
		{webtest.ForeignClient, good, "/api/notify", 200, 200, 200, 403},
		{webtest.ForeignClient, "Cookie: pressbox_access=open", "/api/notify", 200, 403, 200, 403},
		{webtest.LANClient, "Cookie: pressbox_access=open", "/api/schedules", 200, 403, 200, 403},
		{webtest.LANClient, "Cookie: pressbox_access=open", "/api/volume", 200, 403, 200, 403},
		{webtest.LANClient, "Authorization: Bearer open", "/api/notify", 200, 403, 200, 403},
		{webtest.LANClient, "Cookie: pressbox_access=open admin", "/api/notify", 200, 200, 200, 403},
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
			check.Equal(t, all[mode].Do(t, "GET", tt.path, "", headers...).StatusCode, want,
				"NOTIFY_ACCESS=%s, GET %s from %s with %q: status", mode, tt.path, tt.client, tt.header)
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
			speaks := strings.HasSuffix(path, "/publish") || strings.HasSuffix(path, "/send") ||
				strings.HasSuffix(path, "/trigger")
			if method == http.MethodHead && speaks {
				want = 405 // a GET that speaks
			}
			check.Equal(t, r.Do(t, method, path, "", "Client", webtest.ForeignClient).StatusCode, want,
				"%s %s from outside: status", method, path)
		}
	})
	check.Equal(t, routes, 121, "routes")
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
			check.Equal(t, mode.Do(t, "PUT", tt.path, `{"volume": 50}`, headers...).StatusCode, want,
				"%s, PUT %s from %s with %q: status", mode.Config.ControlAccess, tt.path, tt.client, tt.header)
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
	check.Equal(t, routes, 18, "routes")
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
		check.Equal(t, r.Do(t, "GET", tt.path, "", headers...).Want(401, tt.code).Header.Get("WWW-Authenticate"),
			tt.want, "GET %s, Authorization %q: WWW-Authenticate", tt.path, tt.header)
	}
	check.That(t, !strings.Contains(r.Log.String(), "good"), "the query is in the log")
}

// A token counts as the password of Basic, as X-Gotify-Key, and as a parameter where the
// route has one. One that is unknown changes nothing where the address permits the
// request, and is named in the refusal elsewhere. Bearer is judged alone.
func TestCredentials_places(t *testing.T) {
	t.Parallel()
	all := map[web.Access]*webtest.Rig{}
	for _, mode := range []web.Access{web.LAN, web.Token, web.Off} {
		all[mode] = webtest.NewRig(t, func(c *site.Config) { c.Access, c.Tokens = mode, tokens{"good"} })
	}
	basic := func(user, password string) string {
		return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	auth := func(header string) string {
		return "?auth=" + base64.RawStdEncoding.EncodeToString([]byte(strings.TrimPrefix(header, "Authorization: ")))
	}
	const lan, foreign = webtest.LANClient, webtest.ForeignClient
	const bearerGood, bearerBad = "Authorization: Bearer good", "Authorization: Bearer bad"
	for _, tt := range []struct {
		client, header, path string
		lan, token           int
	}{
		{foreign, "", "/ntfy/x", 401, 401},
		{foreign, basic("", "good"), "/ntfy/x", 200, 200},
		{foreign, basic("user", "good"), "/notify", 202, 202},
		{foreign, basic("good", ""), "/notify", 401, 401}, // only the password counts
		{foreign, basic("user", "bad"), "/notify", 401, 401},
		{lan, basic("user", "bad"), "/notify", 202, 401},
		{lan, "Authorization: Basic !", "/notify", 202, 401},
		{foreign, "X-Gotify-Key: good", "/message", 200, 200},
		{foreign, "X-Gotify-Key: bad", "/message", 401, 401},
		{lan, "X-Gotify-Key: bad", "/message", 200, 401},
		{foreign, "", "/message?token=good", 200, 200},
		{foreign, "", "/message?token=bad", 401, 401},
		{lan, "", "/message?token=bad", 200, 401},
		{foreign, "", "/ntfy/x" + auth(basic("u", "good")), 200, 200},
		{foreign, "", "/ntfy/x" + auth(bearerGood), 200, 200},
		{foreign, "", "/ntfy/x" + auth(bearerBad), 401, 401},
		{foreign, "", "/ntfy/x?auth=!", 401, 401},
		{foreign, "", "/notify?token=good", 401, 401}, // not on this route
		{foreign, "", "/?token=good", 401, 401},
		{foreign, bearerBad, "/message?token=good", 401, 401},
		{lan, bearerBad, "/message?token=good", 401, 401},
		{foreign, basic("", "good"), "/api/notify", 401, 401}, // none below /api
		{foreign, "X-Gotify-Key: good", "/api/notify", 401, 401},
		{foreign, "", "/api/notify?token=good", 401, 401},
		{foreign, bearerGood, "/api/notify", 202, 202},
	} {
		headers := []string{"Client", tt.client}
		if name, value, ok := strings.Cut(tt.header, ": "); ok {
			headers = append(headers, name, value)
		}
		for mode, want := range map[web.Access]int{web.LAN: tt.lan, web.Token: tt.token, web.Off: 403} {
			r := all[mode]
			w := r.Do(t, "POST", tt.path, `{"message": "x"}`, headers...)
			check.Equal(t, w.StatusCode, want,
				"NOTIFY_ACCESS=%s, POST %s from %s with %q: status", mode, tt.path, tt.client, tt.header)
			challenge := w.Header.Get("WWW-Authenticate")
			check.That(t, want != 401 || strings.HasPrefix(challenge, "Bearer "), "the challenge is %s", challenge)
			r.Do(t, "DELETE", "/notify", "", "Authorization", "Bearer good", "Client", "127.0.0.1:1")
		}
	}
}

// A GET speaks only with a token, whatever NOTIFY_ACCESS is, and HEAD never does.
func TestCredentials_getThatSpeaks(t *testing.T) {
	t.Parallel()
	for _, mode := range []web.Access{web.LAN, web.Open, web.Token, web.Off} {
		r := webtest.NewRig(t, func(c *site.Config) {
			c.Access, c.Tokens, c.Sessions = mode, tokens{"good"}, sessions{}
		})
		do := func(method, path, client string, headers ...string) webtest.Page {
			t.Helper()
			w := r.Do(t, method, path, "", append(headers, "Client", client)...)
			want, spoken := 202, w.StatusCode == http.StatusAccepted || w.StatusCode == http.StatusOK
			if strings.HasPrefix(path, "/ntfy") {
				want = 200
			}
			check.That(t, !spoken || w.StatusCode == want, "%s %s: status %d", method, path, w.StatusCode)
			return w
		}
		for _, path := range []string{"/notify/publish?message=x", "/ntfy/x/publish?message=x"} {
			for _, client := range []string{webtest.LANClient, webtest.ForeignClient, "127.0.0.1:1"} {
				refused := http.StatusUnauthorized
				if mode == web.Off {
					refused = http.StatusForbidden
				}
				do("GET", path, client).Want(refused)
				do("GET", path+"&token=bad", client).Want(refused)
				do("GET", path, client, "Cookie", "pressbox_access=admin").Want(refused)
				do("HEAD", path+"&token=good", client).Want(405)
				if mode == web.Off {
					continue
				}
				for _, header := range []string{
					"Authorization: Bearer good", "Authorization: Basic Omdvb2Q=", "X-Gotify-Key: good",
				} {
					name, value, _ := strings.Cut(header, ": ")
					w := do("GET", path, client, name, value)
					check.That(t, w.Field("message") == "x", "%s: %s", header, w.Text)
					r.Do(t, "DELETE", "/notify", "", "Authorization", "Bearer good", "Client", "127.0.0.1:1")
				}
				w := do("GET", path+"&token=good", client)
				check.That(t, w.Field("message") == "x" && w.Field("warnings") == "", "token=good: %s", w.Text)
				r.Do(t, "DELETE", "/notify", "", "Authorization", "Bearer good", "Client", "127.0.0.1:1")
			}
		}
		r.Do(t, "GET", "/api/notify/publish?message=x&token=good",
			"", "Cookie", "pressbox_access=admin").Want(map[bool]int{true: 403, false: 404}[mode == web.Off])
		check.That(t, !strings.Contains(r.Log.String(), "good") && !strings.Contains(r.Log.String(), "message="),
			"a query is in the log: %s", r.Log)
	}
}

// Requests that a page of another site can make a browser send are refused by every route that speaks, and so are
// bodies from our own page that are not JSON. Programs other than browsers send neither header.
func TestGuards_everyRouteThatSpeaks(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, path := range []string{"/notify", "/api/notify", "/ntfy/x", "/message", "/"} {
		for _, tt := range []struct {
			media, body string
			program     int // status for a program
			own         int // status for our own page
		}{
			{"application/json", `{"message": "x"}`, 202, 202},
			{"text/plain", `{"message": "x"}`, 202, 415},
			{"text/plain", "x", 202, 415},
			{"application/x-www-form-urlencoded", "message=x", 202, 415},
			{
				"multipart/form-data; boundary=b",
				"--b\r\nContent-Disposition: form-data; name=\"message\"\r\n\r\nx\r\n--b--", 202, 415,
			},
		} {
			program, own := tt.program, tt.own
			if path != "/notify" && path != "/api/notify" {
				program = min(program, 200)
				own = map[int]int{202: 200, 415: 415}[own]
			}
			if path == "/" && tt.media != "application/json" { // only JSON
				program = 415
				if strings.Contains(tt.media, "urlencoded") {
					program = 400
				}
			}
			for _, origin := range []struct {
				header, value string
				want          int
			}{
				{"Accept", "*/*", program},
				{"Origin", "http://pressbox.local:8888", own},
				{"Sec-Fetch-Site", "same-origin", own},
				{"Origin", "http://evil.example", 403},
				{"Origin", "null", 403},
				{"Sec-Fetch-Site", "cross-site", 403},
				{"Sec-Fetch-Site", "same-site", 403},
			} {
				w := r.Do(t, "POST", path, tt.body,
					"Client", "127.0.0.1:1", "Content-Type", tt.media, origin.header, origin.value)
				check.Equal(t, w.StatusCode, origin.want,
					"POST %s %s with %s: %s: status", path, tt.media, origin.header, origin.value)
				r.Do(t, "DELETE", "/notify", "", "Client", "127.0.0.1:1")
			}
		}
	}
	r.Do(t, "PUT", "/ntfy/x", "x", "Sec-Fetch-Site", "cross-site").Want(403, "cross_origin")
	r.Do(t, "PUT", "/ntfy/x", "x").Want(200)
	r.Do(t, "PUT", "/notify", "x").Want(405)
}
