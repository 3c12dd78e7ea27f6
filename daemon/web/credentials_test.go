package web_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
)

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
			if w.StatusCode != want {
				t.Errorf("NOTIFY_ACCESS=%s, POST %s from %s with %q: status %d, want %d",
					mode, tt.path, tt.client, tt.header, w.StatusCode, want)
			}
			if challenge := w.Header.Get("WWW-Authenticate"); want == 401 && !strings.HasPrefix(challenge, "Bearer ") {
				t.Errorf("the challenge is %s", challenge)
			}
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
			if spoken && w.StatusCode != want {
				t.Errorf("%s %s: status %d", method, path, w.StatusCode)
			}
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
					if w := do("GET", path, client, name, value); w.Field("message") != "x" {
						t.Errorf("%s: %s", header, w.Text)
					}
					r.Do(t, "DELETE", "/notify", "", "Authorization", "Bearer good", "Client", "127.0.0.1:1")
				}
				if w := do("GET", path+"&token=good", client); w.Field("message") != "x" || w.Field("warnings") != "" {
					t.Errorf("token=good: %s", w.Text)
				}
				r.Do(t, "DELETE", "/notify", "", "Authorization", "Bearer good", "Client", "127.0.0.1:1")
			}
		}
		r.Do(t, "GET", "/api/notify/publish?message=x&token=good",
			"", "Cookie", "pressbox_access=admin").Want(map[bool]int{true: 403, false: 404}[mode == web.Off])
		if strings.Contains(r.Log.String(), "good") || strings.Contains(r.Log.String(), "message=") {
			t.Errorf("a query is in the log: %s", r.Log)
		}
	}
}

// Requests that a page of another site can make a browser send are refused by every route
// that speaks, and so are bodies from our own page that are not JSON. Programs other than
// browsers send neither header.
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
				if w.StatusCode != origin.want {
					t.Errorf("POST %s %s with %s: %s: status %d, want %d",
						path, tt.media, origin.header, origin.value, w.StatusCode, origin.want)
				}
				r.Do(t, "DELETE", "/notify", "", "Client", "127.0.0.1:1")
			}
		}
	}
	r.Do(t, "PUT", "/ntfy/x", "x", "Sec-Fetch-Site", "cross-site").Want(403, "cross_origin")
	r.Do(t, "PUT", "/ntfy/x", "x").Want(200)
	r.Do(t, "PUT", "/notify", "x").Want(405)
}
