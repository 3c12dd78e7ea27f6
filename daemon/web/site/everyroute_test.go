package site_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/daemon/health"
	"pressbox/daemon/web"
	"pressbox/daemon/web/admin"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
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
		c.Admin = admin.Config{
			Level:    new(slog.LevelVar),
			Settings: noSettings{},
			Backups:  noBackups{},
			Voices:   noVoices{},
			Diagnose: func(context.Context) []health.Finding { return []health.Finding{} },
			Backup:   func(w io.Writer) error { _, err := io.WriteString(w, "store"); return err },
			Metrics: http.HandlerFunc(func(w http.ResponseWriter,
				_ *http.Request,
			) {
				w.Header().Set("Content-Type", "text/plain")
			}),
		}
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

// request sends a request to a path of the document, and checks the response.
func (v *routeClient) request(op webtest.Operation, method, template, body string, headers ...string) int {
	v.T.Helper()
	path := strings.NewReplacer("/games/{id}", "/games/"+v.game, "/schedules/{id}", "/schedules/"+v.schedule,
		"/leagues/{id}", "/leagues/"+v.league, "/series/{id}",
		"/series/"+v.series, "{side}", "home", "{version}", "x", "{file}", "x",
		"/teams/{id}", "/teams/"+webtest.HomeTeam(),
		"{asset}", "swagger-ui.css", "{rev}", "1", "{id}", "x", "{name}", "apprise").Replace(template)
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

// Every example of the document is valid by its schema, and routes accept it as a body.
func TestRoutes_examples(t *testing.T) {
	t.Parallel()
	v := newRouteClient(t)
	schemas, seen := v.Check.Examples(t), 0
	for name, examples := range schemas {
		for _, example := range examples {
			seen++
			if err := v.Check.Schema(t, "#/components/schemas/"+name).Validate(example); err != nil {
				t.Errorf("an example of %s: %v", name, err)
			}
		}
	}
	check.That(t, seen >= 5, "%d examples", seen)
	v.Check.Each(func(op webtest.Operation, method, template string) {
		for _, example := range schemas[op.RequestSchema()] {
			text := check.Must(json.Marshal(example))(t)
			if got := v.request(op, method, template, string(text), "Content-Type", webtest.AsJSON); got >= 300 {
				t.Errorf("%s %s %s: status %d", method, template, text, got)
			}
			v.Send("DELETE", "/notify", "").Want(200) // the queue is short
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
		"/schedules": true, "/schedules/{id}": true, "/favorites": true, "/hooks/{name}": true,
		"/": true, "/notify/publish": true, "/ntfy/{topic}": true, "/ntfy/{topic}/publish": true, "/message": true,
	}
	for path, methods := range r.Check.Paths {
		want := []string{http.MethodOptions}
		public := true
		for method, op := range methods {
			want = append(want, strings.ToUpper(method))
			if method == "get" && !slices.Contains([]string{
				"beginSignIn", "finishSignIn", "publishAnnouncement", "publishNtfyMessage",
			}, op.ID) {
				want = append(want, http.MethodHead)
			}
			public = len(op.Servers) == 0
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
		if shared[path] {
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
