package web_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/game/protocol"
)

// Whatever the body is, it is taken whole or refused with a code; and what is
// taken is one JSON object as encoding/json knows it, with the same values.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"message": "x", "rate": 170, "voice": "v", "urgent": true, "ttl": 60}`,
		`{"message": "x", "message": "y"}`, `{"message": "x"} x`, `{"message": 1, "rate": "1", "a/b~": {}}`,
		`{"message": "\ud83d\ude00", "rate": 1.7e2}`, `{"message": "x", "rate": 1e999}`, `[]`, `{`, "\xff",
		`{"message":"x","rate":-0}`, `{"a":{"b":{"c":[1,2,{"d":null}]}}}`,
	} {
		f.Add([]byte(seed))
	}
	bodies, err := web.NewBodies()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		type request struct {
			Message string  `json:"message"`
			Rate    float64 `json:"rate"`
			Voice   string  `json:"voice"`
			Urgent  bool    `json:"urgent"`
			TTL     float64 `json:"ttl"`
		}
		var got, want request
		status, code := bodies.Parse(slices.Clone(text), "AnnouncementRequest", &got)
		switch status {
		case 200:
			if err := json.Unmarshal(text, &want); err != nil || got != want || !utf8.Valid(text) {
				t.Fatalf("%q was taken as %+v, it is %+v: %v", text, got, want, err)
			}
			if got.Rate != 0 && (got.Rate < 60 || got.Rate > 400) || got.TTL != 0 && (got.TTL < 5 || got.TTL > 86400) {
				t.Fatalf("%q was taken as %+v", text, got)
			}
		case 400, 422:
			if code == "" {
				t.Fatalf("%q was refused without a code", text)
			}
		default:
			t.Fatalf("%q: status %d", text, status)
		}
	})
}

// Whatever comes as a request, from somebody who is signed in or nobody, is
// answered as the document promises, and never because something is broken here.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n",
		"GET /made/up HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n",
		"HEAD /api/games?status=finished&before=2026-01-01T00:00:00Z HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /api/teams/BWH/roster?season=2 HTTP/1.1\r\nHost: [::1]:80\r\nAuthorization: Bearer x\r\n\r\n",
		"GET /api/stats/players?season=3&team=BWH&team=%zz HTTP/1.0\r\nHost: a.local\r\n\r\n",
		"GET /docs/swagger-ui.css HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip;q=1\r\nRange: bytes=1-\r\n\r\n",
		"GET /events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: x\r\n\r\n",
		"GET /api/auth/idp/callback/server?state=a&code=b&iss=c HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /api/auth/idp/login?return=/x&invite=y HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"OPTIONS /notify HTTP/1.1\r\nHost: localhost\r\nOrigin: http://x\r\nAccess-Control-Request-Method: POST\r\n\r\n",
		"POST /notify/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 15\r\n\r\n{\"message\":\"x\"}",
		"POST /api/notify HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: k\r\nContent-Length: 39\r\n\r\n{\"message\":\"x\",\"rate\":1e2,\"urgent\":true}",
		"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length: 37\r\n\r\n{\"input\":\"x\",\"response_format\":\"pcm\"}",
		"POST /api/games HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n25\r\n{\"home_team\":\"BWH\",\"away_team\":\"CPR\"\r\n1\r\n}\r\n0\r\n\r\n",
		"PUT /api/games/x/lineups/home HTTP/1.1\r\nHost: localhost\r\nContent-Length: 37\r\n\r\n{\"batting_order\":[],\"pitcher_id\":\"x\"}",
		"POST /api/auth/refresh HTTP/1.1\r\nHost: localhost\r\nCookie: pressbox_refresh=x\r\nContent-Length: 2\r\n\r\n{}",
		"DELETE /api/auth/sessions/x HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\n\r\n",
		"POST /api/auth/local/authorize?state=x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 6\r\n\r\nname=x",
		"CONNECT x:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	p := newStadium(f, withTeams, local(auth.SignUpOpen, newClock()))
	anna := p.resident(f, "Anna")
	cookie, id := "pressbox_access="+anna.access(), anna.get("/api/auth/me").field("id")
	f.Fuzz(func(t *testing.T, text []byte, signedIn bool) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(text)))
		if err != nil || r.URL.Path == "/api/auth/me" && r.Method == http.MethodDelete || strings.HasPrefix(r.URL.Path, "/api/auth/logout") {
			return // she stays
		}
		r.RemoteAddr = "127.0.0.1:40000"
		if signedIn {
			r.Header.Add("Cookie", cookie)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		switch r.URL.Path {
		case "/events", "/api/events", "/api/kiosk":
			cancel() // or they would go on
		}
		w := httptest.NewRecorder()
		p.Handler().ServeHTTP(w, r.WithContext(ctx))
		p.check.response(t, r, w.Result())
		if w.Code >= 500 {
			t.Fatalf("%s %s: status %d: %s", r.Method, r.URL, w.Code, w.Body)
		}
		p.tidy(t, id, w)
	})
}

// tidy takes back what an answer says was made for somebody.
func (p *stadium) tidy(t *testing.T, id string, w *httptest.ResponseRecorder) {
	t.Helper()
	var err error
	if game, ok := strings.CutPrefix(w.Header().Get("Location"), "/api/games/"); ok && w.Code == http.StatusCreated {
		err = p.hall.Cancel(t.Context(), protocol.Person{ID: id}, game)
	}
	if w.Code == http.StatusAccepted {
		_, err = p.announcer.CancelWaiting(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A Host that is answered to is an address or a name that no one on the
// internet can own.
func FuzzHost(f *testing.F) {
	for _, seed := range []string{"localhost", "[::1]:80", "10.0.0.1:8888", "a.local.", "evil.example", "0.0.0.0", "1.2.3", "[::", "a:b:c", "x.HOME.arpa:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if !web.AllowHost(header) {
			return
		}
		host := strings.ToLower(header)
		if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
			host = host[:i]
		}
		host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
		if a, err := netip.ParseAddr(host); err == nil {
			if a.IsUnspecified() {
				t.Fatalf("Host: %q was answered to", header)
			}
			return
		}
		if strings.Contains(host, ".") && !strings.HasSuffix(host, ".local") && !strings.HasSuffix(host, ".localhost") && !strings.HasSuffix(host, ".home.arpa") {
			t.Fatalf("Host: %q was answered to", header)
		}
		if strings.ContainsAny(host, "/@\\%?# ") {
			t.Fatalf("Host: %q was answered to", header)
		}
	})
}

// What a stranger writes into forwarding headers never makes it anyone else;
// what it sends through a trusted proxy that appends never hides it.
func FuzzForwarded(f *testing.F) {
	for _, seed := range []string{"127.0.0.1", `for="[::1]:1"`, "unknown", `for=10.0.0.1;for=10.0.0.2`, `"`, ",", "10.0.0.1, 127.0.0.1", `for="a,b";x`, `for=127.0.0.1;by="`} {
		f.Add(seed, seed)
	}
	proxy, stranger := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("203.0.113.5")
	trusted := []netip.Prefix{netip.PrefixFrom(proxy, 32)}
	f.Fuzz(func(t *testing.T, forwardedFor, forwarded string) {
		headers := http.Header{"X-Forwarded-For": {forwardedFor}, "Forwarded": {forwarded}}
		if got := web.ClientOf(trusted, stranger, headers); got.IsValid() {
			t.Fatalf("the stranger became %v", got)
		}
		appended := http.Header{"X-Forwarded-For": {forwardedFor + ", " + stranger.String()}}
		if got := web.ClientOf(trusted, proxy, appended); got != stranger {
			t.Fatalf("the stranger became %v", got)
		}
		passed := http.Header{"X-Forwarded-For": {stranger.String()}, "Forwarded": {forwarded}}
		if got := web.ClientOf(trusted, proxy, passed); got.IsValid() && got != stranger {
			t.Fatalf("the stranger became %v", got)
		}
		own := http.Header{"Forwarded": {forwarded, "for=" + stranger.String()}}
		if got := web.ClientOf(trusted, proxy, own); got.IsValid() && got != stranger {
			t.Fatalf("the stranger became %v", got)
		}
		one := http.Header{"Forwarded": {forwarded + `, for="` + stranger.String() + `:80"`}}
		if got := web.ClientOf(trusted, proxy, one); got.IsValid() && got != stranger {
			t.Fatalf("the stranger became %v", got)
		}
	})
}
