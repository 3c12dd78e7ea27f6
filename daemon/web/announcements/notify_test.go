package announcements_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
)

// Of a body that is no JSON, the answer says where and why, and no more of it
// than that.
func TestWhyABodyIsNoJSON(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	const one = "request body must be exactly one JSON object"
	for body, want := range map[string]string{
		``:                                      one,
		`[]`:                                    one,
		`{"message": "x"`:                       one + "; at byte 15: unexpected EOF",
		`{"message": "x", "message": "y"}`:      one + "; at byte 17: duplicate object member name",
		`{"message": "x"} x`:                    one + "; at byte 17: invalid character 'x' after top-level value",
		"{\"message\": \"\xff\"}":               one + "; at byte 13: invalid UTF-8",
		`{"x": "` + strings.Repeat("y", 50_000): one + "; at byte 50007: unexpected EOF",
	} {
		w := r.Do(t, "POST", "/notify", body).Want(400, "not_json")
		if got := w.Field("detail"); got != want {
			t.Errorf("POST /notify %.40s: %s, want %s", body, got, want)
		}
	}
}

func TestAnnouncementIsAcceptedAndFollowed(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	w := r.Do(t, "POST", "/notify", `{"message": "  Dinner is ready. ", "rate": 200, "urgent": true, "ttl": 60}`).Want(202, "")
	id := w.Field("id")
	if got := w.Header().Get("Location"); got != "/notify/"+id || id == "" {
		t.Errorf("Location %q of announcement %q", got, id)
	}
	for name, want := range map[string]string{
		"status": "queued", "position": "0", "message": "Dinner is ready.", "voice": webtest.Voice, "rate": "200", "urgent": "true",
	} {
		if got := w.Field(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	created, expires := moment(t, w.Field("created_at")), moment(t, w.Field("expires_at"))
	if left := expires.Sub(created); left != time.Minute {
		t.Errorf("it expires after %v, want 1m0s", left)
	}
	r.Let <- struct{}{}
	done := until(r, t, id, "done")
	if done.Field("position") != "" || done.Field("started_at") == "" || done.Field("ended_at") == "" {
		t.Errorf("the ended announcement is %s", done.Body)
	}
	r.Do(t, "DELETE", "/notify/"+id, "").Want(409, "already_ended")
}

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04:05.000Z", text)
	if err != nil {
		t.Fatalf("%q is not a moment in UTC with milliseconds: %v", text, err)
	}
	return at
}

// until waits until an announcement has that status, and returns it.
func until(r *webtest.Rig, t *testing.T, id, status string) webtest.Reply {
	t.Helper()
	changes, stop := r.Announcer.Watch()
	defer stop()
	for {
		if w := r.Do(t, "GET", "/notify/"+id, "").Want(200, ""); w.Field("status") == status {
			return w
		}
		select {
		case <-changes:
		case <-time.After(5 * time.Minute):
			t.Fatalf("%s is not %s", id, status)
		}
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	w := r.Do(t, "POST", "/notify", `{"message": "x"}`).Want(202, "")
	if w.Field("rate") != "170" || w.Field("voice") != webtest.Voice || w.Field("urgent") != "false" {
		t.Errorf("defaults: %s", w.Body)
	}
}

func TestQueueIsListedInSpeakingOrder(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	ids := map[string]string{}
	for _, tt := range []struct{ name, urgent string }{{"head", "false"}, {"plain", "false"}, {"urgent", "true"}} {
		w := r.Do(t, "POST", "/notify", fmt.Sprintf(`{"message": %q, "urgent": %s}`, tt.name, tt.urgent)).Want(202, "")
		ids[tt.name] = w.Field("id")
		if tt.name == "head" {
			until(r, t, ids["head"], "playing")
		}
	}
	if got := order(r, t); got != "0 head, 1 urgent, 2 plain" {
		t.Errorf("the queue is %s", got)
	}
	r.Do(t, "DELETE", "/notify/"+ids["plain"], "").Want(200, "")
	if w := r.Do(t, "GET", "/notify/"+ids["plain"], "").Want(200, ""); w.Field("status") != "cancelled" {
		t.Errorf("the cancelled announcement is %s", w.Body)
	}
	if w := r.Do(t, "DELETE", "/notify", "").Want(200, ""); w.Field("cancelled") != "1" {
		t.Errorf("cancelled %s, want 1", w.Body)
	}
	if w := r.Do(t, "DELETE", "/notify/"+ids["head"], "").Want(200, ""); w.Field("status") != "cancelled" {
		t.Errorf("cut off in mid-sentence: %s", w.Body)
	}
	if got := order(r, t); got != "" {
		t.Errorf("the queue is %s, want it empty", got)
	}
	if got := r.Do(t, "GET", "/notify", "").Field("recent"); strings.Count(got, `"cancelled"`) != 3 {
		t.Errorf("recent ones: %s", got)
	}
}

// However much has been said in a day, what is listed of it has an end; the rest
// is found by its id.
func TestNotAllThatWasIsListed(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	var first string
	for i := range 201 {
		id := r.Do(t, "POST", "/notify", fmt.Sprintf(`{"message": "%d"}`, i), "Client", "127.0.0.1:1").Want(202, "").Field("id")
		r.Do(t, "DELETE", "/notify/"+id, "").Want(200, "")
		if i == 0 {
			first = id
		}
	}
	var list struct {
		Recent []struct{ ID, Message string }
	}
	if err := json.Unmarshal(r.Do(t, "GET", "/notify", "").Want(200, "").Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	if n := len(list.Recent); n != 200 || list.Recent[0].Message != "200" || list.Recent[n-1].ID == first {
		t.Errorf("%d are listed, from %+v to %+v", n, list.Recent[0], list.Recent[n-1])
	}
	r.Do(t, "GET", "/notify/"+first, "").Want(200, "")
}

// order returns position and message of the queue.
func order(r *webtest.Rig, t *testing.T) string {
	t.Helper()
	var list struct {
		Queue []struct {
			Position int
			Message  string
		}
	}
	w := r.Do(t, "GET", "/notify", "").Want(200, "")
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, a := range list.Queue {
		said = append(said, fmt.Sprint(a.Position, " ", a.Message))
	}
	return strings.Join(said, ", ")
}

func TestUnknownAnnouncement(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	r.Do(t, "GET", "/notify/nothing", "").Want(404, "not_found")
	r.Do(t, "DELETE", "/notify/nothing", "").Want(404, "not_found")
	r.Do(t, "GET", "/notify/%2e%2e%2fhealth", "").Want(404, "not_found")
}

func TestFullQueueSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	first := r.Do(t, "POST", "/notify", `{"message": "head"}`, "Idempotency-Key", "k").Want(202, "")
	until(r, t, first.Field("id"), "playing")
	for range 3 {
		r.Do(t, "POST", "/notify", `{"message": "x"}`).Want(202, "")
	}
	w := r.Do(t, "POST", "/notify", `{"message": "x"}`).Want(503, "queue_full")
	if w.Header().Get("Retry-After") != "5" {
		t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
	}
	// What was accepted is answered again, however full the queue is.
	again := r.Do(t, "POST", "/notify", `{"message": "head"}`, "Idempotency-Key", "k").Want(202, "")
	if again.Body.String() != first.Body.String() {
		t.Errorf("the first answer was %s, the second %s", first.Body, again.Body)
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	first := r.Do(t, "POST", "/notify", `{"message": "x", "rate": 170}`, "Idempotency-Key", "k").Want(202, "")
	again := r.Do(t, "POST", "/notify", ` {"rate":1.7e2,"message":"x"}`, "Idempotency-Key", "k").Want(202, "")
	if again.Field("id") != first.Field("id") || again.Header().Get("Location") != first.Header().Get("Location") {
		t.Errorf("the same request gave %s and %s", first.Body, again.Body)
	}
	r.Do(t, "POST", "/notify", `{"message": "y"}`, "Idempotency-Key", "k").Want(422, "idempotency_key_reused")
	for _, bad := range []string{"", "two words", "grün", strings.Repeat("k", 256), "tab\t"} {
		r.Do(t, "POST", "/notify", `{"message": "x"}`, "Idempotency-Key", bad).Want(400, "bad_idempotency_key")
	}
	r.Do(t, "POST", "/notify", `{"message": "x"}`, "Idempotency-Key", "a", "Idempotency-Key", "b").Want(400, "bad_idempotency_key")
	r.Do(t, "POST", "/notify", `{"message": "x"}`, "Idempotency-Key", strings.Repeat("k", 255)).Want(202, "")
}

func TestBodiesThatAreRefused(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, tt := range []struct {
		body   string
		status int
		said   string // code of a 400; otherwise path and code of every violation
	}{
		{``, 400, "not_json"},
		{`null`, 400, "not_json"},
		{`[]`, 400, "not_json"},
		{`"x"`, 400, "not_json"},
		{`{`, 400, "not_json"},
		{`{"message": "x"`, 400, "not_json"},
		{`{"message": "x"}}`, 400, "not_json"},
		{`{"message": "x"} {"message": "y"}`, 400, "not_json"},
		{`{"message": "x"} x`, 400, "not_json"},
		{`{"message": "x",}`, 400, "not_json"},
		{`{'message': 'x'}`, 400, "not_json"},
		{`{"message": "x", "message": "y"}`, 400, "not_json"},
		{`{"message": "x", "m\u0065ssage": "y"}`, 400, "not_json"},
		{`{"message": "x", "more": {"a": 1, "a": 2}}`, 400, "not_json"},
		{"{\"message\": \"\xff\"}", 400, "not_json"},
		{`{"message": "\ud800"}`, 400, "not_json"},
		{"\ufeff" + `{"message": "x"}`, 400, "not_json"},
		{`{"message": "x", "rate": 0170}`, 400, "not_json"},

		{`{}`, 422, "/message required"},
		{`{"message": null}`, 422, "/message wrong_type"},
		{`{"message": 7}`, 422, "/message wrong_type"},
		{`{"message": ["x"]}`, 422, "/message wrong_type"},
		{`{"message": ""}`, 422, "/message required"},
		{`{"message": " \n\t "}`, 422, "/message required"},
		{`{"message": "…"}`, 422, "/message not_speakable"},
		{`{"Message": "x"}`, 422, "/Message unknown_field, /message required"},
		{`{"message": "x", "speed": 2}`, 422, "/speed unknown_field"},
		{`{"message": "x", "a/b~c": 2}`, 422, "/a~1b~0c unknown_field"},
		{`{"message": "x", "rate": "170"}`, 422, "/rate wrong_type"},
		{`{"message": "x", "rate": 170.5}`, 422, "/rate wrong_type"},
		{`{"message": "x", "rate": null}`, 422, "/rate wrong_type"},
		{`{"message": "x", "rate": true}`, 422, "/rate wrong_type"},
		{`{"message": "x", "rate": 59}`, 422, "/rate out_of_range"},
		{`{"message": "x", "rate": 401}`, 422, "/rate out_of_range"},
		{`{"message": "x", "rate": 0}`, 422, "/rate out_of_range"},
		{`{"message": "x", "rate": -0}`, 422, "/rate out_of_range"},
		{`{"message": "x", "rate": 1e300}`, 422, "/rate out_of_range"},
		{`{"message": "x", "rate": -1e999}`, 422, "/rate out_of_range"},
		{`{"message": "x", "urgent": "true"}`, 422, "/urgent wrong_type"},
		{`{"message": "x", "urgent": 1}`, 422, "/urgent wrong_type"},
		{`{"message": "x", "ttl": 4}`, 422, "/ttl out_of_range"},
		{`{"message": "x", "ttl": 86401}`, 422, "/ttl out_of_range"},
		{`{"message": "x", "voice": 1}`, 422, "/voice wrong_type"},
		{`{"message": "x", "voice": "nobody"}`, 422, "/voice unknown_voice"},

		// Everything at once, whichever of us finds it.
		{
			`{"message": "…", "voice": "nobody", "rate": 1, "ttl": "soon", "loud": true}`, 422,
			"/loud unknown_field, /message not_speakable, /rate out_of_range, /ttl wrong_type, /voice unknown_voice",
		},
	} {
		w := r.Do(t, "POST", "/notify", tt.body)
		got := w.Field("code")
		if w.Code == 422 {
			all := strings.Split(w.Violations(), ", ")
			slices.Sort(all)
			got = strings.Join(all, ", ")
		}
		if w.Code != tt.status || got != tt.said {
			t.Errorf("POST /notify %s: status %d, %s; want %d, %s", tt.body, w.Code, got, tt.status, tt.said)
		}
	}
	if got := order(r, t); got != "" {
		t.Errorf("something was accepted: %s", got)
	}
}

func TestBodiesThatAreTaken(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, body := range []string{
		`{"message": "x", "rate": 60}`,
		`{"message": "x", "rate": 400}`,
		`{"message": "x", "rate": 170.0}`,
		`{"message": "x", "rate": 1.7e2}`,
		`{"message": "x", "ttl": 5}`,
		`{"message": "x", "ttl": 86400}`,
		`{"message": "x", "voice": "` + webtest.Voice + `"}`,
		`{"message": "x", "voice": ""}`,
		"\r\n\t {\"message\": \"x\"}\n",
		fmt.Sprintf(`{"message": %q}`, " "+strings.Repeat("ä", 5000)+" "),
	} {
		r.Do(t, "POST", "/notify", body).Want(202, "")
		r.Let <- struct{}{}
	}
}

func TestMessageLength(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	w := r.Do(t, "POST", "/notify", fmt.Sprintf(`{"message": %q}`, strings.Repeat("ä", 5001))).Want(422, "too_long")
	if w.Violations() != "/message too_long" {
		t.Error(w.Violations())
	}
}

func TestUnknownVoiceSaysWhichThereAre(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	w := r.Do(t, "POST", "/notify", `{"message": "x", "voice": "nobody"}`).Want(422, "unknown_voice")
	if !strings.Contains(w.Field("detail"), webtest.Voice) {
		t.Errorf("detail: %s", w.Field("detail"))
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	body := func(size int) string {
		const frame = `{"message": "x"}`
		return frame + strings.Repeat(" ", size-len(frame))
	}
	r.Do(t, "POST", "/notify", body(64<<10)).Want(202, "")
	r.Do(t, "POST", "/notify", body(64<<10+1)).Want(413, "body_too_large")
	r.Do(t, "POST", "/v1/audio/speech", body(64<<10+1)).Want(413, "body_too_large")
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t, func(c *site.Config) { c.NotifyRate = 10 })
		post := func(client string) webtest.Reply {
			return r.Do(t, "POST", "/notify", `{"message": "…"}`, "Client", client) // refused: nothing is queued
		}
		for range 5 {
			post(webtest.LANClient).Want(422, "")
		}
		w := post(webtest.LANClient).Want(429, "too_many_requests")
		if w.Header().Get("Retry-After") != "6" {
			t.Errorf("Retry-After %q, want 6", w.Header().Get("Retry-After"))
		}
		post("192.168.1.20:9").Want(429, "") // another port of the same
		post("192.168.1.21:9").Want(422, "") // another address
		r.Do(t, "POST", "/api/notify", `{"message": "…"}`).Want(429, "")
		r.Do(t, "GET", "/notify", "").Want(200, "") // asking is free
		for range 20 {
			post("127.0.0.1:1").Want(422, "")
		}
		time.Sleep(6*time.Second - time.Nanosecond)
		post(webtest.LANClient).Want(429, "")
		time.Sleep(time.Nanosecond)
		post(webtest.LANClient).Want(422, "")
		post(webtest.LANClient).Want(429, "")
	})
}

// Addresses of one IPv6 network are one; those that cannot be known are the
// peer's; and this machine is limited when that is configured.
func TestWhoSharesALimit(t *testing.T) {
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
			{"203.0.113.5:1", "198.51.100.3", 422}, // a claim of its own
			{"203.0.113.5:1", "198.51.100.4", 429},
		} {
			headers := []string{"Client", tt.client}
			if tt.forwarded != "" {
				headers = append(headers, "X-Forwarded-For", tt.forwarded)
			}
			if w := r.Do(t, "POST", "/notify", `{"message": "…"}`, headers...); w.Code != tt.status {
				t.Errorf("from %s for %q: status %d, want %d", tt.client, tt.forwarded, w.Code, tt.status)
			}
		}
	})
}

func TestMethodsAndAddressesThatAreNot(t *testing.T) {
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
		if got := w.Header().Get("Allow"); got != tt.allow {
			t.Errorf("%s %s: Allow: %s, want %s", tt.method, tt.path, got, tt.allow)
		}
	}
	for _, path := range []string{"/nothing", "/notify/a/b", "/Health", "/notify//x", "/docs/../health", "/docs/nothing.js"} {
		r.Do(t, "GET", path, "").Want(404, "not_found")
	}
	if w := r.Do(t, "HEAD", "/health", "").Want(200, ""); w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("HEAD /health: %v", w.Header())
	}
	for _, tt := range []struct {
		method, path string
		status       int
		to           string
	}{
		{"POST", "/notify/", 307, "/notify"},
		{"GET", "/docs/", 301, "/docs"},
		{"GET", "/health/?x=//evil.example", 301, "/health?x=//evil.example"},
		{"GET", "//evil.example/", 404, ""},
		{"GET", "//evil.example/health/", 404, ""},
	} {
		w := r.Do(t, tt.method, tt.path, "")
		if w.Code != tt.status || w.Header().Get("Location") != tt.to {
			t.Errorf("%s %s: status %d to %q, want %d to %q", tt.method, tt.path, w.Code, w.Header().Get("Location"), tt.status, tt.to)
		}
	}
}

// When the client goes before it was answered, that is nobody's fault.
func TestClientThatGoes(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	r.Send(t, r.Handler(), webtest.NewRequest("POST", "/notify", `{"message": "x"}`).WithContext(gone)).Want(503, "interrupted")
	if strings.Contains(r.Log.String(), "level=ERROR") {
		t.Errorf("the log: %s", r.Log)
	}
}
