package site_test

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/daemon/web/webtest"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// Every response to any request, signed in or not, is valid by the OpenAPI document and no internal error.
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
		"OPTIONS /notify HTTP/1.1\r\nHost: localhost\r\nOrigin: http://x\r\n" +
			"Access-Control-Request-Method: POST\r\n\r\n",
		"POST /notify/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 15\r\n\r\n{\"message\":\"x\"}",
		"POST /api/notify HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: k\r\nContent-Length: 39\r\n\r\n" +
			"{\"message\":\"x\",\"rate\":1e2,\"urgent\":true}",
		"POST /hooks/alertmanager?volume=1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 53\r\n\r\n" +
			"{\"alerts\":[{\"annotations\":{\"summary\":\"x\"}}],\"more\":1}",
		"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length: 37\r\n\r\n" +
			"{\"input\":\"x\",\"response_format\":\"pcm\"}",
		"POST /api/games HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n25\r\n" +
			"{\"home_team\":\"BWH\",\"away_team\":\"CPR\"\r\n1\r\n}\r\n0\r\n\r\n",
		"PUT /api/games/x/lineups/home HTTP/1.1\r\nHost: localhost\r\nContent-Length: 37\r\n\r\n" +
			"{\"batting_order\":[],\"pitcher_id\":\"x\"}",
		"POST /api/auth/refresh HTTP/1.1\r\nHost: localhost\r\nCookie: pressbox_refresh=x\r\n" +
			"Content-Length: 2\r\n\r\n{}",
		"DELETE /api/auth/sessions/x HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\n\r\n",
		"POST /api/auth/local/authorize?state=x HTTP/1.1\r\nHost: localhost\r\n" +
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 6\r\n\r\nname=x",
		"CONNECT x:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	p := webtest.NewGamesRig(f, webtest.WithTeams, webtest.WithLocalAccounts(auth.SignUpOpen, authtest.NewHost()))
	anna := p.LocalPlayer(f, "Anna")
	cookie, id := "pressbox_access="+anna.AccessToken(), anna.Get("/api/auth/me").Field("id")
	f.Fuzz(func(t *testing.T, text []byte, signedIn bool) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(text)))
		if err != nil || r.URL.Path == "/api/auth/me" && r.Method == http.MethodDelete ||
			strings.HasPrefix(r.URL.Path, "/api/auth/logout") {
			return // keeps the account and its session
		}
		r.RemoteAddr = "127.0.0.1:40000"
		if signedIn {
			r.Header.Add("Cookie", cookie)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		switch r.URL.Path {
		case "/events", "/api/events", "/api/kiosk":
			cancel() // ends the stream
		}
		w := httptest.NewRecorder()
		p.Handler().ServeHTTP(w, r.WithContext(ctx))
		p.Check.CheckResponse(t, r, w.Result())
		check.Require(t, w.Code < 500, "%s %s: status %d: %s", r.Method, r.URL, w.Code, w.Body)
		undo(t, p, id, w)
	})
}

// Every query and every Last-Event-ID gets a response that is valid by the OpenAPI document and no internal error.
func FuzzQuery(f *testing.F) {
	paths := []string{
		"/api/games", "/api/games/x/events", "/api/teams",
		"/api/teams/BWH/roster", "/api/stats/players", "/api/stats/standings",
		"/api/auth/idp/login", "/api/auth/idp/callback/server",
		"/auth/callback", "/api/auth/local/authorize", "/events", "/notify",
	}
	for i, query := range []string{
		"status=finished&before=2026-01-01T00:00:00Z",
		"since=-1", "season=1e9", "season=2&season=3", "season=3&team=%zz", "season=%00",
		"return=//evil&invite=xi_x", "state=a&code=b&iss=c&state=d",
		"error=%0d%0aX:1", "client_id=pressbox&response_type=code", ";", "message=x",
	} {
		f.Add(uint8(i), query, "x")
	}
	p := webtest.NewGamesRig(f, webtest.WithTeams, webtest.WithLocalAccounts(auth.SignUpOpen, authtest.NewHost()))
	cookie := "pressbox_access=" + p.LocalPlayer(f, "Anna").AccessToken()
	f.Fuzz(func(t *testing.T, path uint8, query, lastEvent string) {
		r := webtest.NewRequest(http.MethodGet, paths[int(path)%len(paths)],
			"", "Client", "127.0.0.1:40000", "Cookie", cookie)
		r.URL.RawQuery = query
		r.Header.Set("Last-Event-ID", lastEvent)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if r.URL.Path == "/events" {
			cancel() // ends the stream
		}
		w := httptest.NewRecorder()
		p.Handler().ServeHTTP(w, r.WithContext(ctx))
		p.Check.CheckResponse(t, r, w.Result())
		check.Require(t, w.Code < 500, "GET %s: status %d: %s", r.URL, w.Code, w.Body)
	})
}

// undo cancels the game or the announcements that a request created.
func undo(t *testing.T, p *webtest.Rig, id string, w *httptest.ResponseRecorder) {
	t.Helper()
	var err error
	if game, ok := strings.CutPrefix(w.Header().Get("Location"), "/api/games/"); ok && w.Code == http.StatusCreated {
		err = p.Games.Cancel(t.Context(), protocol.Person{ID: id}, game)
	}
	if w.Code == http.StatusAccepted {
		_, err = p.Announcer.CancelWaiting(t.Context())
	}
	check.NoError(t, err)
}
