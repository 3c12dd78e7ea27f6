package site_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
	"pressbox/voice/announce/webhook"
)

// A routeClient sends requests to every route, signed in as an administrator, and to the administrator's socket.
type routeClient struct {
	*webtest.Player
	game     string // id of a game of the player
	schedule string // id of one
	league   string // id of one with an open seat
	series   string // as league
}

func newRouteClient(t *testing.T) *routeClient {
	t.Helper()
	configure := func(c *site.Config) {
		c.ControlAccess = web.ControlLAN
		quickAdministration(c)
		c.Admin.Level = new(slog.LevelVar)
		c.Admin.Backup = func(w io.Writer) error { _, err := io.WriteString(w, "store"); return err }
		c.Admin.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
		})
	}
	p := webtest.NewGamesRig(t, webtest.WithTeams,
		webtest.WithLocalAccounts(auth.SignUpOpen, authtest.NewHost()), configure)
	anna := p.LocalPlayer(t, "Anna")
	promote(t, anna)
	created := anna.Send("POST", "/api/schedules", `{"name": "x", "cron": "0 8 * * *", "message": "x"}`).Want(201)
	const openSeat = `{"name": "x", "seats": [{"team": "BWH", "manager": "bot"}, {"team": "CPR", "manager": "open"}]}`
	league, series := anna.Ask("POST", "/api/leagues", openSeat, 201, nil),
		anna.Ask("POST", "/api/series", openSeat, 201, nil)
	return &routeClient{anna, anna.CreateGame(`{}`).ID, created.Field("id"), league.Field("id"), series.Field("id")}
}

// favorite saves a favorite and returns its id.
func (v *routeClient) favorite() string {
	v.T.Helper()
	var saved struct{ Favorites []struct{ ID string } }
	w := v.Send("PUT", "/api/favorites", `{"favorites": [{"message": "x"}]}`).Want(200)
	check.NoError(v.T, json.Unmarshal([]byte(w.Text), &saved))
	return saved.Favorites[0].ID
}

// request sends a request to a path of the document, and checks the response.
func (v *routeClient) request(op webtest.Operation, method, template, body string, headers ...string) int {
	v.T.Helper()
	path := strings.NewReplacer("/games/{id}", "/games/"+v.game, "/schedules/{id}", "/schedules/"+v.schedule,
		"/leagues/{id}", "/leagues/"+v.league, "/series/{id}",
		"/series/"+v.series, "{side}", "home", "{version}", "x", "{file}", "x",
		"/teams/{id}", "/teams/"+webtest.HomeTeam(),
		"{asset}", "swagger-ui.css", "{rev}", "1", "{id}", "x", "{name}", "apprise").Replace(template)
	if rest, ok := strings.CutSuffix(path, "/favorites/x/announce"); ok {
		path = rest + "/favorites/" + v.favorite() + "/announce"
	}
	if len(op.Servers) == 0 {
		return v.Send(method, path, body, headers...).StatusCode
	}
	return v.Rig.Send(v.T, v.AdminHandler(), webtest.NewRequest(method, path, body, headers...)).StatusCode
}

// Every route with a JSON body refuses other bodies, bodies above the limit and other media types.
func TestRoutes_invalidBody(t *testing.T) {
	t.Parallel()
	v := newRouteClient(t)
	bodies := 0
	v.Check.Each(func(op webtest.Operation, method, template string) {
		if _, ok := op.Body.Content["application/json"]; !ok {
			return
		}
		bodies++
		limit := web.MaxBody
		if op.RequestSchema() == "WebhookBody" {
			limit = webhook.MaxBody
		}
		for _, tt := range []struct {
			body, media string
			want        int
		}{
			{`{`, webtest.AsJSON, 400},
			{`[]`, webtest.AsJSON, 400},
			{`{"x": "` + strings.Repeat("x", limit) + `"}`, webtest.AsJSON, 413},
			{`{}`, "text/plain", 415},
			{`{}`, "application/x-www-form-urlencoded", 415}, // a browser's form
		} {
			if got := v.request(op, method, template,
				tt.body, "Content-Type", tt.media, "Sec-Fetch-Site", "same-origin"); got != tt.want {
				t.Errorf("%s %s with %.20s as %s: status %d, want %d",
					method, template, tt.body, tt.media, got, tt.want)
			}
		}
	})
	check.That(t, bodies >= 12, "%d routes with a body", bodies)
}

// Every GET but a stream's has a documented response, HEAD has the same status, and
// routes that need a session refuse clients without one, by any method.
func TestRoutes_get(t *testing.T) {
	t.Parallel()
	v := newRouteClient(t)
	anonymous := &routeClient{
		&webtest.Player{Browser: v.Rig.Browser(t), T: t, Name: "anonymous"}, v.game, v.schedule, v.league, v.series,
	}
	sessions := 0
	v.Check.Each(func(op webtest.Operation, method, template string) {
		if len(op.Security) > 0 && op.Security[0]["session"] != nil {
			sessions++
			check.Equal(t, anonymous.request(op, method, template, ""),
				http.StatusUnauthorized, "%s %s without a session: status", method, template)
		}
		_, stream := op.Responses["200"].Content["text/event-stream"]
		if method != http.MethodGet || stream {
			return
		}
		got := v.request(op, http.MethodGet, template, "")
		check.That(t, got < 500, "GET %s: status %d", template, got)
		if head := v.request(op, http.MethodHead, template, ""); head != got && head != http.StatusMethodNotAllowed {
			t.Errorf("HEAD %s: status %d, GET %d", template, head, got)
		}
	})
	check.That(t, sessions >= 18, "%d routes need a session", sessions)
}

// Streams have the type of events, and no cache or proxy stores or delays them.
func TestRoutes_streams(t *testing.T) {
	t.Parallel()
	v := newRouteClient(t)
	server := httptest.NewServer(v.Handler())
	t.Cleanup(server.Close)
	for _, path := range []string{"/events", "/api/events", "/api/kiosk"} {
		req := check.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil))(t)
		resp, err := server.Client().Do(req)
		check.NoError(t, err)
		first := make([]byte, len("retry: 2000\n\n"))
		_, err = io.ReadFull(resp.Body, first)
		_ = resp.Body.Close()
		got := fmt.Sprint(resp.StatusCode, resp.Header["Content-Type"],
			resp.Header["Cache-Control"], resp.Header["X-Accel-Buffering"])
		if want := "200 [text/event-stream] [no-store] [no]"; got != want || err != nil ||
			string(first) != "retry: 2000\n\n" {
			t.Errorf("GET %s: %s, %q, %v; want %s", path, got, first, err, want)
		}
	}
}

// withEscapes returns a value of JSON whose texts end with ESC.
func withEscapes(value any) any {
	switch v := value.(type) {
	case map[string]any:
		all := map[string]any{}
		for name, member := range v {
			all[name] = withEscapes(member)
		}
		return all
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = withEscapes(v[i])
		}
		return all
	case string:
		return v + "\x1b"
	}
	return value
}

// Every example of the document is valid by its schema, and routes accept it as a
// body, also if the client closes before the answer. Those that write refuse control characters in texts.
func TestRoutes_examples(t *testing.T) {
	t.Parallel()
	v := newRouteClient(t)
	schemas, seen := v.Check.Components.Schemas, 0
	for name, of := range schemas {
		for _, example := range of.Examples {
			seen++
			if err := v.Check.Schema(t, "#/components/schemas/"+name).Validate(example); err != nil {
				t.Errorf("an example of %s: %v", name, err)
			}
		}
	}
	check.That(t, seen >= 5, "%d examples", seen)
	v.Closing = true
	writes := map[string]bool{}
	for _, rt := range site.Routes() {
		writes[rt.Method+" "+rt.Template()] = rt.Writes()
	}
	v.Check.Each(func(op webtest.Operation, method, template string) {
		for _, example := range schemas[op.RequestSchema()].Examples {
			text := check.Must(json.Marshal(example))(t)
			escaped := check.Must(json.Marshal(withEscapes(example)))(t)
			if writes[method+" "+template] && string(escaped) != string(text) { // it has texts, which are stored
				got := v.request(op, method, template, string(escaped), "Content-Type", webtest.AsJSON)
				check.Equal(t, got, 422, "%s %s %s: status", method, template, escaped)
			}
			if got := v.request(op, method, template, string(text), "Content-Type", webtest.AsJSON); got >= 300 {
				t.Errorf("%s %s %s: status %d", method, template, text, got)
			}
			check.Must(v.Announcer.CancelWaiting(t.Context(), nil))(t) // the queue is short
		}
	})
}

// The router serves exactly the documented methods of each path (and HEAD with
// GET), on the documented listener; announcements on both.
func TestRoutes_documented(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	shared := map[string]bool{
		"/speakable": true, "/notify": true, "/notify/{id}": true, "/notify/{id}/ack": true, "/notify/{id}/again": true,
		"/events": true, "/v1/audio/speech": true,
		"/v1/audio/voices": true, "/v1/models": true, "/v1/models/{id}": true,
		"/volume": true, "/rooms": true, "/quiet": true,
		"/schedules": true, "/schedules/{id}": true, "/schedules/{id}/skip": true, "/favorites/{id}/announce": true,
		"/favorites": true, "/sounds": true, "/sounds/{name}": true, "/hooks/{name}": true,
		"/": true, "/notify/publish": true, "/message": true, "/ntfy": true, "/v1/account": true,
		"/v1/account/token": true,
	}
	once := regexp.MustCompile(`^(beginSignIn|finishSignIn|publishAnnouncement|(publish|send|trigger)Ntfy.*)$`)
	for path, methods := range r.Check.Paths {
		want := []string{http.MethodOptions}
		public := true
		for method, op := range methods {
			want = append(want, strings.ToUpper(method))
			if method == "get" && !once.MatchString(op.ID) {
				want = append(want, http.MethodHead)
			}
			public = len(op.Servers) == 0
		}
		if strings.Contains(path, "{topic}/") && strings.Count(path, "/") == strings.Count(path, "ntfy/")+2 &&
			!strings.Contains(path, "sequence") { // the name of a form is also a sequence id
			want = append(want, http.MethodDelete)
		}
		slices.Sort(want)
		handler, other := r.Handler(), r.AdminHandler()
		if !public {
			handler, other = other, handler
		}
		url := webtest.PathParameter.ReplaceAllString(path, "x")
		resp := r.Send(t, handler, webtest.NewRequest(http.MethodOptions, url, ""))
		if got := resp.Header.Get("Allow"); resp.StatusCode != http.StatusNoContent || got != strings.Join(want, ", ") {
			t.Errorf("OPTIONS %s: status %d, Allow %q, want 204, %q",
				path, resp.StatusCode, got, strings.Join(want, ", "))
		}
		otherReply := httptest.NewRecorder()
		other.ServeHTTP(otherReply, webtest.NewRequest(http.MethodOptions, url, ""))
		elsewhere := http.StatusNotFound
		if shared[path] || strings.Contains(path, "{topic}") || strings.HasPrefix(path, "/ntfy/") {
			elsewhere = http.StatusNoContent
		}
		check.Equal(t, otherReply.Code, elsewhere, "OPTIONS %s on the other socket: status", path)
	}
	for _, rt := range site.Routes() {
		if _, ok := r.Check.Paths[regexp.MustCompile(`:([a-z]+)`).ReplaceAllString(rt.Path,
			"{$1}")][strings.ToLower(rt.Method)]; !ok {
			t.Errorf("%s %s is not documented", rt.Method, rt.Path)
		}
	}
}

func TestOpenAPI_served(t *testing.T) {
	t.Parallel()
	want := check.Must(site.OpenAPI("1.2.3"))(t)
	r := webtest.NewRig(t)
	if got := r.Do(t, "GET", "/openapi.json", "").Want(200); got.Text != string(want) {
		t.Error("GET /openapi.json differs from OpenAPI(version)")
	}
}

// Every response to any request, signed in or not, is valid by the OpenAPI document and no internal error.
func FuzzRequest(f *testing.F) {
	get := func(path string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: x\r\n\r\n"
	}
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
		get("/api/games/x/events?since=-1"), get("/api/teams?season=1e9"),
		get("/api/teams/BWH/roster?season=2&season=3"),
		get("/api/stats/standings?season=%00"), get("/api/auth/idp/login?return=//evil&invite=xi_x"),
		get("/api/auth/idp/callback/server?state=a&code=b&iss=c&state=d"), get("/auth/callback?error=%0d%0aX:1"),
		get("/api/auth/local/authorize?client_id=pressbox&response_type=code"), get("/events?;"),
		get("/notify?message=x"),
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

// undo cancels the game or the announcements that a request has created.
func undo(t *testing.T, p *webtest.Rig, id string, w *httptest.ResponseRecorder) {
	t.Helper()
	var err error
	if game, ok := strings.CutPrefix(w.Header().Get("Location"), "/api/games/"); ok && w.Code == http.StatusCreated {
		err = p.Games.Cancel(t.Context(), protocol.Person{ID: id}, game)
	}
	if have := p.Announcer.Stats(); have.Waiting+have.Scheduled > 0 { // by one of many routes
		_, err = p.Announcer.CancelWaiting(t.Context(), func(announce.Sender) bool { return true })
	}
	check.NoError(t, err)
}

// clientKey is the key of the context that net/http ends when it sees that the client has closed.
type clientKey struct{}

// A request to each route of the table that writes is carried out whatever becomes of its client; one to each other
// route ends with its client. A new route is in one of both.
func TestRoutes_clientCloses(t *testing.T) {
	t.Parallel()
	ended, read := make(chan error, 1), make(chan struct{}, 1)
	table := site.Routes()
	for i := range table {
		table[i].Class = web.Public
		table[i].Operation.Exact = false
		table[i].Path = fmt.Sprintf("/%d", i)
		table[i].Operation.Request, table[i].Operation.AnyMedia = nil, true
		table[i].Handle = func(_ http.ResponseWriter, r *http.Request) error {
			_, err := io.Copy(io.Discard, r.Body)
			read <- struct{}{}
			client, _ := r.Context().Value(clientKey{}).(context.Context)
			<-client.Done()
			ended <- r.Context().Err()
			return err
		}
	}
	s := check.Must(web.New(webtest.NewRig(t).Config.Config))(t)
	s.Mount(table, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Handler().ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), clientKey{}, r.Context())))
	}))
	t.Cleanup(server.Close)
	address := check.Must(net.ResolveTCPAddr("tcp", server.Listener.Addr().String()))(t)
	writes := 0
	for i, rt := range table {
		var want error // what becomes of the request's context
		if rt.Writes() {
			writes++
		} else {
			want = context.Canceled
		}
		for _, reset := range []bool{false, true} {
			conn := check.Must(net.DialTCP("tcp", nil, address))(t)
			const request = "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
			check.Must(fmt.Fprintf(conn, request, rt.Method, rt.Path))(t)
			if reset {
				<-read
				check.NoError(t, conn.SetLinger(0))
			}
			check.NoError(t, conn.Close())
			if !reset {
				<-read
			}
			name := site.Routes()[i].Template()
			check.ErrorIs(t, <-ended, want, "%s %s after its client has closed, by reset: %t", rt.Method, name, reset)
		}
	}
	check.That(t, writes > 60 && writes < len(table)-60, "%d of %d routes write", writes, len(table))
}

// closes has the ways in which a client that fires and forgets ends its connection.
var closes = map[string]func(*net.TCPConn) error{
	"half-closes": func(c *net.TCPConn) error {
		err := c.CloseWrite()
		_, errRead := io.Copy(io.Discard, c)
		return errors.Join(err, errRead, c.Close())
	},
	"closes after the last byte": (*net.TCPConn).Close,
	"closes without reading the answer": func(c *net.TCPConn) error {
		_, err := c.Read(make([]byte, 1))
		return errors.Join(err, c.Close())
	},
}

// With a disk that takes 30 ms, every announcement of a client that closes is saved, as are schedules and favorites.
func TestRoutes_fireAndForget(t *testing.T) {
	t.Parallel()
	for name, end := range closes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := webtest.NewRig(t, func(c *site.Config) { c.ControlAccess = web.ControlLAN })
			r.Speaker.Busy = 30 * time.Millisecond
			address := check.Must(net.ResolveTCPAddr("tcp", strings.TrimPrefix(r.ListenTCP(t), "http://")))(t)
			send := func(n int, method, path, body string) {
				const request = "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
				sendAndEnd(t, n, address, fmt.Sprintf(request, method, path, len(body), body), end)
			}
			for _, tt := range []struct {
				n                  int
				method, path, body string
			}{
				{200, "POST", "/notify?in=3600", `{"message": "x"}`},
				{20, "POST", "/ntfy/alerts?delay=1h", "x"},
				{20, "PUT", "/ntfy/alerts?delay=1h", "x"},
				{20, "POST", "/", `{"message": "x", "delay": "1h"}`},
				{20, "POST", "/message?in=3600", `{"message": "x"}`},
				{20, "POST", "/hooks/apprise?in=3600", `{"message": "x"}`},
			} {
				send(tt.n, tt.method, tt.path, tt.body)
				await(t, r.Announcer.Watch, func() bool { return len(r.Announcer.List().Scheduled) == tt.n })
				for _, v := range r.Announcer.List().Scheduled {
					check.Must(r.Announcer.Cancel(t.Context(), v.ID))(t)
				}
			}
			send(20, "POST", "/schedules", `{"name": "x", "cron": "0 8 * * *", "message": "x"}`)
			send(1, "PUT", "/favorites", `{"favorites": [{"message": "x"}]}`)
			await(t, r.Controls.Hub().Watch, func() bool {
				return len(r.Config.Control.Schedules.List()) == 20 && len(r.Controls.Favorites()) == 1
			})
		})
	}
}

// sendAndEnd sends a request n times, 20 at once, and ends each connection.
func sendAndEnd(t *testing.T, n int, to *net.TCPAddr, request string, end func(*net.TCPConn) error) {
	t.Helper()
	slots := make(chan struct{}, 20)
	var sending sync.WaitGroup
	for range n {
		slots <- struct{}{}
		sending.Go(func() {
			defer func() { <-slots }()
			conn, err := net.DialTCP("tcp", nil, to)
			if err == nil {
				_, err = io.WriteString(conn, request)
				err = errors.Join(err, end(conn))
			}
			check.That(t, err == nil, "%s: %v", request, err)
		})
	}
	sending.Wait()
}

// await waits until done, which it asks after each event.
func await[E any](t *testing.T, watch func() (<-chan E, func()), done func() bool) {
	t.Helper()
	events, stop := watch()
	defer stop()
	for !done() {
		select {
		case <-events: // closed if it is behind: then it asks again and again
		case <-time.After(time.Minute):
			t.Fatal("not everything is saved")
		}
	}
}
