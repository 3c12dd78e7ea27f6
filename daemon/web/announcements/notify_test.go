package announcements_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/daemon/web/announcements"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
)

func TestNotify_lifecycle(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	w := r.Do(t, "POST", "/notify", `{"message": "  Dinner is ready. ", "rate": 200, "urgent": true, "ttl": 60}`).
		Want(202)
	id := w.Field("id")
	got := w.Header.Get("Location")
	check.That(t, got == "/notify/"+id && id != "", "Location %q of announcement %q", got, id)
	for name, want := range map[string]string{
		"status": "queued", "position": "0", "message": "Dinner is ready.", "voice": webtest.Voice, "rate": "200",
		"urgent": "true",
	} {
		check.Equal(t, w.Field(name), want, "%s", name)
	}
	created, expires := parseTime(t, w.Field("created_at")), parseTime(t, w.Field("expires_at"))
	left := expires.Sub(created)
	check.That(t, left == time.Minute, "it expires after %v, want 1m0s", left)
	r.Release <- struct{}{}
	done := waitStatus(t, r, id, "done")
	check.That(t, done.Field("position") == "" && done.Field("started_at") != "" && done.Field("ended_at") != "",
		"the ended announcement is %s", done.Text)
	r.Do(t, "DELETE", "/notify/"+id, "").Want(409, "already_ended")
}

func parseTime(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04:05.000Z", text)
	if err != nil {
		t.Fatalf("%q is not a time in UTC with milliseconds: %v", text, err)
	}
	return at
}

// waitStatus waits until an announcement has the status, and returns it.
func waitStatus(t *testing.T, r *webtest.Rig, id, status string) webtest.Page {
	t.Helper()
	changes, stop := r.Announcer.Watch()
	defer stop()
	for {
		if w := r.Do(t, "GET", "/notify/"+id, "").Want(200); w.Field("status") == status {
			return w
		}
		select {
		case <-changes:
		case <-time.After(5 * time.Minute):
			t.Fatalf("%s is not %s", id, status)
		}
	}
}

func TestNotify_queueOrder(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	ids := map[string]string{}
	for _, tt := range []struct{ name, urgent string }{{"head", "true"}, {"plain", "false"}, {"urgent", "true"}} {
		w := r.Do(t, "POST", "/notify", fmt.Sprintf(`{"message": %q, "urgent": %s}`, tt.name, tt.urgent)).Want(202)
		ids[tt.name] = w.Field("id")
		if tt.name == "head" {
			waitStatus(t, r, ids["head"], "playing")
		}
	}
	if got := queued(t, r); got != "0 head, 1 urgent, 2 plain" {
		t.Errorf("the queue is %s", got)
	}
	r.Do(t, "DELETE", "/notify/"+ids["plain"], "").Want(200)
	if w := r.Do(t, "GET", "/notify/"+ids["plain"], "").Want(200); w.Field("status") != "cancelled" {
		t.Errorf("the cancelled announcement is %s", w.Text)
	}
	if w := r.Do(t, "DELETE", "/notify", "").Want(200); w.Field("cancelled") != "1" {
		t.Errorf("cancelled %s, want 1", w.Text)
	}
	if w := r.Do(t, "DELETE", "/notify/"+ids["head"], "").Want(200); w.Field("status") != "cancelled" {
		t.Errorf("cancelled while it is spoken: %s", w.Text)
	}
	if got := queued(t, r); got != "" {
		t.Errorf("the queue is %s, want it empty", got)
	}
	if got := r.Do(t, "GET", "/notify", "").Field("recent"); strings.Count(got, `"cancelled"`) != 3 {
		t.Errorf("recent ones: %s", got)
	}
}

// queued returns position and message of every announcement in the queue.
func queued(t *testing.T, r *webtest.Rig) string {
	t.Helper()
	var list struct {
		Queue []struct {
			Position int
			Message  string
		}
	}
	w := r.Do(t, "GET", "/notify", "").Want(200)
	w.Decode(&list)
	var all []string
	for _, a := range list.Queue {
		all = append(all, fmt.Sprint(a.Position, " ", a.Message))
	}
	return strings.Join(all, ", ")
}

func TestNotify_queueFull(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	first := r.Do(t, "POST", "/notify", `{"message": "head"}`, "Idempotency-Key", "k").Want(202)
	waitStatus(t, r, first.Field("id"), "playing")
	w := fill(t, r, "", 3, "queue_full", "/sender queue_full", "POST", "/hooks/apprise", "POST", "/message")
	check.That(t, w.Header.Get("Retry-After") == "5", "Retry-After %q", w.Header.Get("Retry-After"))
	r.Do(t, "POST", "/notify", `{"message": "x"}`, "Client", "192.168.1.21:1").Want(202)
	fill(t, r, "127.0.0.1:1", 2, "queue_full", "")
	// A repeated key gets the announcement as it is, even while the queue is full.
	again := r.Do(t, "POST", "/notify", `{"message": "head"}`, "Idempotency-Key", "k").Want(202)
	if again.Field("id") != first.Field("id") || again.Field("status") != "playing" ||
		again.Field("message") != "head" {
		t.Errorf("the first response is %s, the second %s", first.Text, again.Text)
	}
}

// fill posts from a client, "" for that of the rig, to /notify and further routes (method, path, …) until n are
// accepted, and returns the refusal that follows, by each route, with its code and violations.
//
//nolint:revive // what differs
func fill(
	t *testing.T, r *webtest.Rig, client string, n int, code, violations string, more ...string,
) (w webtest.Page) {
	t.Helper()
	routes := append([]string{"POST", "/notify"}, more...)
	headers := []string{"Client", cmp.Or(client, webtest.LANClient)}
	query := map[bool]string{true: "?in=3600"}[code == "schedule_full"]
	post := func(i int) webtest.Page {
		return r.Do(t, routes[2*i], routes[2*i+1]+query, `{"message": "x"}`, headers...)
	}
	for i := range n {
		w = post(i % (len(routes) / 2))
		check.Require(t, w.StatusCode < 300, "announcement %d of %s: %s", i, headers[1], w.Text)
	}
	for i := range len(routes) / 2 {
		w = post(i).Want(503, code)
		check.Equal(t, w.Violations(), violations, "%s %s", routes[2*i], routes[2*i+1])
	}
	return w
}

func TestNotify_idempotencyKey(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	first := r.Do(t, "POST", "/notify", `{"message": "x", "rate": 170}`, "Idempotency-Key", "k").Want(202)
	again := r.Do(t, "POST", "/notify", ` {"rate":1.7e2,"message":"x"}`, "Idempotency-Key", "k").Want(202)
	if again.Field("id") != first.Field("id") || again.Header.Get("Location") != first.Header.Get("Location") {
		t.Errorf("the same request gave %s and %s", first.Text, again.Text)
	}
	r.Do(t, "POST", "/notify", `{"message": "y"}`, "Idempotency-Key", "k").Want(422, "idempotency_key_reused")
	for _, bad := range []string{"", "two words", "grün", strings.Repeat("k", 256), "tab\t"} {
		r.Do(t, "POST", "/notify", `{"message": "x"}`, "Idempotency-Key", bad).Want(400, "bad_idempotency_key")
	}
	r.Do(t, "POST", "/notify", `{"message": "x"}`, "Idempotency-Key", "a", "Idempotency-Key", "b").
		Want(400, "bad_idempotency_key")
	r.Do(t, "POST", "/notify", `{"message": "x"}`, "Idempotency-Key", strings.Repeat("k", 255)).Want(202)
}

func TestNotify_refused(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	const one = "request body must be exactly one JSON object"
	for _, tt := range []struct {
		body   string
		status int
		want   string // 400: start of the detail; otherwise path and code of every violation
	}{
		{`[]`, 400, one},
		{`{"message": "x"`, 400, one + "; at byte 15: unexpected EOF"},
		{`{"message": "x"} x`, 400, one + "; at byte 17: data after the object"},
		{`{"x": "` + strings.Repeat("y", 50_000), 400, one + "; at byte 50007: unexpected EOF"},

		{"\ufeff \n", 422, "/message required"},
		{`{"Message": "x"}`, 422, "/Message unknown_field, /message required"},
		{`{"message": "x", "a/b~c": 2}`, 422, "/a~1b~0c unknown_field"},
		{`{"message": "x", "repeat": {"times": 11, "every": 10}}`, 422, "/repeat/times out_of_range"},
		{`{"message": "` + strings.Repeat("a ", 601) + `"}`, 422, "/message too_long"}, // of ten minutes

		// The response lists the violations of the schema and of the announcer.
		{
			`{"message": "…", "voice": "unknown", "rate": 1, "ttl": "soon", "loud": true}`, 422,
			"/loud unknown_field, /message not_speakable, /rate out_of_range, /ttl wrong_type, /voice unknown_voice",
		},
	} {
		w := r.Do(t, "POST", "/notify", tt.body)
		got := w.Field("detail")
		if w.StatusCode == 422 {
			got = w.Violations()
		}
		if w.StatusCode != tt.status || !strings.HasPrefix(got, tt.want) || w.StatusCode == 422 && got != tt.want ||
			w.StatusCode == 400 && w.Field("code") != "not_json" {
			t.Errorf("POST /notify %.100s: status %d, %s; want %d, %s", tt.body, w.StatusCode, got, tt.status, tt.want)
		}
	}
	unknown := r.Do(t, "POST", "/notify", `{"message": "x", "voice": "unknown"}`).Want(422, "unknown_voice")
	if detail := unknown.Field("detail"); !strings.Contains(detail, webtest.Voice) {
		t.Errorf("detail of an unknown voice: %s, want the installed ones", detail)
	}
	if got := queued(t, r); got != "" {
		t.Errorf("accepted: %s", got)
	}
}

func TestNotify_accepted(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for body, rate := range map[string]string{
		`{"message": "x", "voice": "` + webtest.Voice + `"}`:                     "170",
		`{"message": "x", "voice": "", "chime": ""}`:                             "170",
		`{"message": "x", "rate": " 60 ", "urgent": "False", "ttl": "600"}`:      "60",
		`{"message": "x", "voice": ""}`:                                          "170",
		"\r\n\t {\"message\": \"x\"}\n":                                          "170",
		fmt.Sprintf(`{"message": %q}`, " "+strings.Repeat("ä", 5000)+" "):        "170",
		`{"message": "x"}` + strings.Repeat(" ", 64<<10-len(`{"message": "x"}`)): "170", // largest body
	} {
		w := r.Do(t, "POST", "/notify", body).Want(202)
		check.That(t, w.Field("rate") == rate && w.Field("voice") == webtest.Voice && w.Field("urgent") == "false",
			"POST /notify %.100s: %s", body, w.Text)
		r.Release <- struct{}{}
	}
	r.Do(t, "POST", "/notify", strings.Repeat(" ", 64<<10+1)).Want(413, "body_too_large")
}

func TestNotify_rateLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t, func(c *site.Config) { c.NotifyRate = 10 })
		post := func(client string) webtest.Page {
			return r.Do(t, "POST", "/notify", `{"message": "…"}`, "Client", client) // refused, so nothing is queued
		}
		for range 5 {
			post(webtest.LANClient).Want(422)
		}
		w := post(webtest.LANClient).Want(429, "too_many_requests")
		check.That(t, w.Header.Get("Retry-After") == "6", "Retry-After %q, want 6", w.Header.Get("Retry-After"))
		post("192.168.1.20:9").Want(429) // another port
		post("192.168.1.21:9").Want(422) // another address
		r.Do(t, "POST", "/api/notify", `{"message": "…"}`).Want(429)
		r.Do(t, "GET", "/notify", "").Want(200) // GET has no limit
		for range 20 {
			post("127.0.0.1:1").Want(422)
		}
		time.Sleep(6*time.Second - time.Nanosecond)
		post(webtest.LANClient).Want(429)
		time.Sleep(time.Nanosecond)
		post(webtest.LANClient).Want(422)
		post(webtest.LANClient).Want(429)
	})
}

// Addresses of one IPv6 /64 share a limit, unknown ones have that of the peer, and LimitLoopback includes
// loopback addresses.
func TestNotify_sharedRateLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t, func(c *site.Config) {
			c.NotifyRate, c.LimitLoopback, c.Access = 2, true, web.Open
			c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}
		})
		for _, tt := range []struct {
			client, forwarded string
			status            int
		}{
			{"127.0.0.1:1", "", 422},
			{"127.0.0.1:2", "", 429},
			{"[2001:db8:0:1::1]:1", "", 422},
			{"[2001:db8:0:1:ffff::2]:1", "", 429},
			{"[2001:db8:0:2::1]:1", "", 422},
			{"10.0.0.1:1", "198.51.100.1", 422},
			{"10.0.0.1:1", "198.51.100.1", 429},
			{"10.0.0.1:1", "198.51.100.2", 422},
			{"203.0.113.5:1", "198.51.100.3", 422}, // forwarding header of an untrusted peer
			{"203.0.113.5:1", "198.51.100.4", 429},
		} {
			headers := []string{"Client", tt.client}
			if tt.forwarded != "" {
				headers = append(headers, "X-Forwarded-For", tt.forwarded)
			}
			if w := r.Do(t, "POST", "/notify", `{"message": "…"}`, headers...); w.StatusCode != tt.status {
				t.Errorf("from %s for %q: status %d, want %d", tt.client, tt.forwarded, w.StatusCode, tt.status)
			}
		}
	})
}

func TestRouter_unknownPathsAndMethods(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, tt := range []struct{ method, path, allow string }{
		{"PUT", "/notify", "DELETE, GET, HEAD, OPTIONS, POST"},
		{"PATCH", "/notify/x", "DELETE, GET, HEAD, OPTIONS"},
		{"POST", "/health", "GET, HEAD, OPTIONS"},
		{"GET", "/v1/audio/speech", "OPTIONS, POST"},
		{"BREW", "/health", "GET, HEAD, OPTIONS"},
	} {
		w := r.Do(t, tt.method, tt.path, "").Want(405, "method_not_allowed")
		check.Equal(t, w.Header.Get("Allow"), tt.allow, "%s %s: Allow", tt.method, tt.path)
	}
	for _, path := range []string{
		"/nothing", "/notify/nothing", "/notify/%2e%2e%2fhealth", "/notify/a/b", "/Health", "/notify//x",
		"/docs/../health", "/docs/nothing.js",
	} {
		r.Do(t, "GET", path, "").Want(404, "not_found")
	}
	r.Do(t, "DELETE", "/notify/nothing", "").Want(404, "not_found")
	if w := r.Do(t, "HEAD", "/health", "").Want(200); w.Header.Get("Content-Type") != "application/json" {
		t.Errorf("HEAD /health: %v", w.Header)
	}
	for _, tt := range []struct {
		method, path string
		status       int
		to           string
	}{
		{"POST", "/notify/", 422, ""}, // small clients do not follow a redirection
		{"GET", "/docs/", 200, ""},
		{"GET", "/health/?x=//evil.example", 200, ""},
		{"GET", "//evil.example/", 404, ""},
		{"GET", "//evil.example/health/", 404, ""},
	} {
		w := r.Do(t, tt.method, tt.path, "")
		if w.StatusCode != tt.status || w.Header.Get("Location") != tt.to {
			t.Errorf(
				"%s %s: status %d to %q, want %d to %q", tt.method, tt.path, w.StatusCode, w.Header.Get("Location"),
				tt.status, tt.to,
			)
		}
	}
}

// A client that disconnects before the response of a request that only reads is not an internal error.
func TestNotify_clientDisconnects(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.Speaker.FirstErr = ctx.Err()
	r.Send(t, r.Handler(), webtest.NewRequest("POST", "/speakable", `{"message": "x"}`).WithContext(ctx)).
		Want(503, "interrupted")
	check.That(t, !strings.Contains(r.Log.String(), "level=ERROR"), "the log: %s", r.Log)
}

func TestSpeakable(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, tt := range []struct {
		body   string
		status int
		want   string
	}{
		{`{"message": " One TWO "}`, 200, ""},
		{`{"message": "x", "voice": "` + webtest.Voice + `"}`, 200, ""},
		{`{"message": "x", "voice": "unknown"}`, 422, "/voice unknown_voice"},
		{`{"message": "..."}`, 422, "/message not_speakable"},
		{`{"message": ""}`, 422, "/message required"},
		{`{}`, 422, "/message required"},
		{`{"message": "x", "rate": 170}`, 422, "/rate unknown_field"},
		{`[]`, 400, ""},
	} {
		w := r.Do(t, "POST", "/speakable", tt.body)
		got := ""
		if w.StatusCode == 422 {
			got = w.Violations()
		}
		check.That(t, w.StatusCode == tt.status && got == tt.want,
			"POST /speakable %s: status %d, %s; want %d, %s", tt.body, w.StatusCode, got, tt.status, tt.want)
	}
	w := r.Do(t, "POST", "/speakable", `{"message": " One TWO "}`).Want(200, "")
	check.That(t, w.Text == `{"text":"One TWO.","words":2,"seconds":2,"phonemes":"one two"}`+"\n", "%q", w.Text)
	if got := r.Do(t, "GET", "/notify", "").Text; got != `{"queue":[],"recent":[],"scheduled":[]}`+"\n" {
		t.Errorf("after a preview the queue is %s", got)
	}
}

func TestVoices_list(t *testing.T) {
	t.Parallel()
	rate := 168.5
	list := announcements.VoiceList{Default: webtest.Voice}
	all := func() announcements.VoiceList { return list }
	r := webtest.NewRig(t, func(c *site.Config) { c.Announcements.Voices = all })
	if w := r.Do(t, "GET", "/voices", "").Want(200); w.Field("voices") != "[]" || w.Field("default") != webtest.Voice {
		t.Errorf("without voices: %s", w.Text)
	}
	list.Voices = []announcements.Voice{
		{
			Name: webtest.Voice, Language: "en", Country: "US", Speaker: "ballpark", Quality: "medium",
			SampleRate: 22050,
			Speakers:   []string{"alice", "bob"}, SizeBytes: 7 << 20, Default: true, Loaded: true,
			WordsPerMinute: &rate, License: "MIT",
		},
		{Name: "broken", Error: "the model file is truncated"},
	}
	w := r.Do(t, "GET", "/voices", "").Want(200)
	for _, want := range []string{
		`"words_per_minute":168.5`, `"words_per_minute":null`, `"speakers":[]`, `"speakers":["alice","bob"]`,
		`"error":"the model file is truncated"`,
	} {
		check.That(t, strings.Contains(w.Text, want), "no %s in %s", want, w.Text)
	}
}

func TestRooms_announce(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	w := r.Do(t, "POST", "/notify", `{"message": "Dinner.", "room": "kitchen"}`).Want(503, "room_unreachable")
	check.That(t, w.Header.Get("Retry-After") != "", "503 without Retry-After")
	wantText(r.Do(t, "GET", "/notify", "").Want(200), `{"queue":[],"recent":[],"scheduled":[]}`)
	wantText(r.Do(t, "GET", "/rooms", "").Want(200), `{"rooms":[{"name":"hall","here":true,"online":false}]}`)

	r.Broker.Here.Store(true)
	for topic, payload := range map[string]string{
		"rooms/kitchen/status": `{"host":"2"}`, "2/status": "online", "rooms/hall/status": `{"host":"1"}`,
	} {
		check.NoError(t, r.Rooms.Receive(t.Context(), topic, []byte(payload), 0))
	}
	wantText(
		r.Do(t, "GET", "/rooms", "").Want(200),
		`{"rooms":[{"name":"hall","here":true,"online":true},{"name":"kitchen","here":false,"online":true}]}`,
	)
	for _, body := range []string{
		`{"message": "Dinner.", "room": "cellar"}`, `{"message": "Dinner.", "room": ["kitchen", "cellar"]}`,
	} {
		r.Do(t, "POST", "/notify", body).Want(422, announce.CodeUnknownRoom)
	}
	for _, body := range []string{
		`{"message": "Dinner.", "room": "kitchen"}`, `{"message": "Dinner.", "room": ["Kitchen"]}`,
	} {
		w := r.Do(t, "POST", "/notify", body).Want(202, "")
		got := w.Field("rooms")
		check.That(t, got == `{"kitchen":"waiting"}` && w.Field("position") == "", "POST /notify %s: %s", body, w.Text)
	}
	id := r.Do(t, "POST", "/notify?message=Dinner&room=hall,kitchen", "").Want(202, "").Field("id")
	check.NoError(t, r.Announcer.SetRoom(t.Context(), id, "kitchen", announce.RoomState(announce.Done)))
	if w := r.Do(t, "GET", "/notify/"+id, "").Want(200, ""); w.Field("rooms") != `{"kitchen":"done"}` {
		t.Errorf("GET /notify/%s: %s", id, w.Text)
	}
}

func wantText(p webtest.Page, want string) {
	p.T.Helper()
	check.That(p.T, p.Text == want+"\n", "%s %s: %s, want %s", p.Request.Method, p.Request.URL.Path, p.Text, want)
}

// On the administrator's socket, NOTIFY_ACCESS and NOTIFY_RATE, which are for the network, do not apply. The
// page and its API are not served there.
func TestAdminSocket_announces(t *testing.T) {
	t.Parallel()
	for access, network := range map[web.Access]int{web.LAN: 202, web.Token: 401, web.Off: 403} {
		r := webtest.NewRig(t, func(c *site.Config) { c.Access, c.NotifyRate = access, 2 })
		status := func(h http.Handler, path, client string) int {
			w := httptest.NewRecorder()
			const body = `{"message": "hello"}`
			h.ServeHTTP(w, webtest.NewRequest("POST", path, body, "Content-Type", webtest.AsJSON, "Client", client))
			return w.Code
		}
		for _, want := range []int{network, 429} { // the rate permits one
			check.Equal(t, status(r.Handler(), "/notify", "192.168.1.20:40000"), want,
				"NOTIFY_ACCESS=%s: on the network", access)
			if got := status(r.AdminHandler(), "/notify", "@"); got != 202 {
				t.Errorf("NOTIFY_ACCESS=%s: on the socket %d, want 202", access, got)
			}
		}
		if got := status(r.AdminHandler(), "/api/notify", "@"); got != 404 {
			t.Errorf("the page's API on the socket: %d, want 404", got)
		}
	}
}

func TestEvents_everyChange(t *testing.T) {
	webtest.InBubble(t, webtest.NewRig, func(r *webtest.Rig, l *webtest.Wire) {
		first := r.Announce(r.T, "one")
		synctest.Wait()
		_, events := l.Listen(r.T, "")
		events.Want("event: announcement, one playing")
		second := r.Announce(r.T, "two")
		events.Want("event: announcement, two queued")
		r.Release <- struct{}{}
		events.Want(
			"id: "+first+", event: announcement, one done",
			"id: "+first+", event: announcement, two synthesizing",
			"id: "+first+", event: announcement, two playing",
		)
		r.Do(r.T, "DELETE", "/notify/"+second, "").Want(200)
		events.Want("id: " + second + ", event: announcement, two cancelled")
		began := time.Now()
		stopped := make(chan error)
		go func() { stopped <- l.Stop() }()
		events.Want("")
		check.NoError(r.T, <-stopped)
		took := time.Since(began)
		check.That(r.T, took <= time.Second, "shutdown with a client took %v", took)
	})
}

// A client that reconnects receives the ends that it missed, oldest first, and the queue.
func TestEvents_lastEventID(t *testing.T) {
	webtest.InBubble(t, webtest.NewRig, func(r *webtest.Rig, l *webtest.Wire) {
		var ids []string
		for _, message := range []string{"one", "two", "three"} {
			ids = append(ids, r.Announce(r.T, message))
			r.Release <- struct{}{}
			synctest.Wait()
		}
		r.Announce(r.T, "four")
		synctest.Wait()
		for _, tt := range []struct {
			lastSeen string
			want     []string
		}{
			{"", []string{"id: " + ids[2] + ", event: announcement, four playing"}},
			{ids[2], []string{"id: " + ids[2] + ", event: announcement, four playing"}},
			{ids[0], []string{
				"id: " + ids[1] + ", event: announcement, two done",
				"id: " + ids[2] + ", event: announcement, three done",
				"id: " + ids[2] + ", event: announcement, four playing",
			}},
			{"deleted", []string{
				"id: " + ids[0] + ", event: announcement, one done",
				"id: " + ids[1] + ", event: announcement, two done",
				"id: " + ids[2] + ", event: announcement, three done",
				"id: " + ids[2] + ", event: announcement, four playing",
			}},
		} {
			conn, events := l.Listen(r.T, tt.lastSeen)
			events.Want(tt.want...)
			conn.Close()
		}
	})
}

func TestEvents_heartbeat(t *testing.T) {
	webtest.InBubble(t, webtest.NewRig, func(r *webtest.Rig, l *webtest.Wire) {
		began := time.Now()
		_, events := l.Listen(r.T, "")
		for i := 1; i <= 20; i++ { // beyond the timeouts of other requests
			events.Want(": heartbeat")
			since := time.Since(began)
			check.Require(r.T, since == time.Duration(i)*15*time.Second, "heartbeat %d after %v", i, since)
		}
	})
}

func TestEvents_slowClient(t *testing.T) {
	webtest.InBubble(t, webtest.NewRig, func(r *webtest.Rig, l *webtest.Wire) {
		conn, events := l.Listen(r.T, "")
		began := time.Now()
		events.Want(": heartbeat")
		time.Sleep(15*time.Second + 10*time.Second - time.Nanosecond)
		synctest.Wait()
		check.That(r.T, !strings.Contains(r.Log.String(), "path=/events"), "disconnected before the timeout")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		check.That(r.T, strings.Contains(r.Log.String(), "path=/events"),
			"not disconnected after %v", time.Since(began))
		conn.Close()
	})
}

// A stream ends at the next heartbeat after its client has lost its permission.
func TestEvents_permissionLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := &revocable{}
		r := webtest.NewRig(t, func(c *site.Config) { c.Access, c.Tokens = web.Token, k })
		l, stop := r.ServeWire()
		defer stop()
		_, resp := l.Ask(t, "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n\r\n")
		events := webtest.EventReader{T: t, Lines: bufio.NewScanner(resp.Body)}
		events.Want("retry: 2000", ": heartbeat")
		k.revoked.Store(true)
		events.Want("")
		err := events.Lines.Err()
		check.That(t, err == nil, "the stream ends with %v", err)
	})
}

// A snapshot includes the changes during the listing, and removes their events.
func TestSnapshot_changesDuringListing(t *testing.T) {
	t.Parallel()
	changes := make(chan announce.Event, 10)
	changes <- announce.Event{} // before the listing
	state, listings := 1, 0
	list := announcements.Snapshot(changes, func() announce.List {
		if listings++; listings <= 2 { // during the first two
			changes <- announce.Event{}
			state++
		}
		return announce.List{Queue: make([]announce.View, state)}
	})
	if len(list.Queue) != 3 || len(changes) != 0 || listings != 3 {
		t.Errorf(
			"after %d listings, %d of 3 changes are in the list and %d events are left", listings, len(list.Queue),
			len(changes),
		)
	}
}

// revocable implements Tokens: every token is valid until all are revoked.
type revocable struct{ revoked atomic.Bool }

func (k *revocable) NotifyToken(context.Context, string, netip.Addr) (auth.APIToken, error) {
	if k.revoked.Load() {
		return auth.APIToken{}, errors.New("revoked")
	}
	return auth.APIToken{ID: "1", Name: "kitchen"}, nil
}
