package web_test

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
)

func TestAnnouncementIsAcceptedAndFollowed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := r.do(t, "POST", "/notify", `{"message": "  Dinner is ready. ", "rate": 200, "urgent": true, "ttl": 60}`).want(202, "")
	id := w.field("id")
	if got := w.Header().Get("Location"); got != "/notify/"+id || id == "" {
		t.Errorf("Location %q of announcement %q", got, id)
	}
	for name, want := range map[string]string{
		"status": "queued", "position": "0", "message": "Dinner is ready.", "voice": ballpark, "rate": "200", "urgent": "true",
	} {
		if got := w.field(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	created, expires := moment(t, w.field("created_at")), moment(t, w.field("expires_at"))
	if left := expires.Sub(created); left != time.Minute {
		t.Errorf("it expires after %v, want 1m0s", left)
	}
	r.let <- struct{}{}
	done := r.until(t, id, "done")
	if done.field("position") != "" || done.field("started_at") == "" || done.field("ended_at") == "" {
		t.Errorf("the ended announcement is %s", done.Body)
	}
	r.do(t, "DELETE", "/notify/"+id, "").want(409, "already_ended")
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
func (r *rig) until(t *testing.T, id, status string) reply {
	t.Helper()
	changes, stop := r.announcer.Watch()
	defer stop()
	for {
		if w := r.do(t, "GET", "/notify/"+id, "").want(200, ""); w.field("status") == status {
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
	r := newRig(t)
	w := r.do(t, "POST", "/notify", `{"message": "x"}`).want(202, "")
	if w.field("rate") != "170" || w.field("voice") != ballpark || w.field("urgent") != "false" {
		t.Errorf("defaults: %s", w.Body)
	}
}

func TestQueueIsListedInSpeakingOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ids := map[string]string{}
	for _, tt := range []struct{ name, urgent string }{{"head", "false"}, {"plain", "false"}, {"urgent", "true"}} {
		w := r.do(t, "POST", "/notify", fmt.Sprintf(`{"message": %q, "urgent": %s}`, tt.name, tt.urgent)).want(202, "")
		ids[tt.name] = w.field("id")
		if tt.name == "head" {
			r.until(t, ids["head"], "playing")
		}
	}
	if got := r.order(t); got != "0 head, 1 urgent, 2 plain" {
		t.Errorf("the queue is %s", got)
	}
	r.do(t, "DELETE", "/notify/"+ids["plain"], "").want(200, "")
	if w := r.do(t, "GET", "/notify/"+ids["plain"], "").want(200, ""); w.field("status") != "cancelled" {
		t.Errorf("the cancelled announcement is %s", w.Body)
	}
	if w := r.do(t, "DELETE", "/notify", "").want(200, ""); w.field("cancelled") != "1" {
		t.Errorf("cancelled %s, want 1", w.Body)
	}
	if w := r.do(t, "DELETE", "/notify/"+ids["head"], "").want(200, ""); w.field("status") != "cancelled" {
		t.Errorf("cut off in mid-sentence: %s", w.Body)
	}
	if got := r.order(t); got != "" {
		t.Errorf("the queue is %s, want it empty", got)
	}
	if got := r.do(t, "GET", "/notify", "").field("recent"); strings.Count(got, `"cancelled"`) != 3 {
		t.Errorf("recent ones: %s", got)
	}
}

// However much has been said in a day, what is listed of it has an end; the rest
// is found by its id.
func TestNotAllThatWasIsListed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var first string
	for i := range 201 {
		id := r.do(t, "POST", "/notify", fmt.Sprintf(`{"message": "%d"}`, i), "Client", "127.0.0.1:1").want(202, "").field("id")
		r.do(t, "DELETE", "/notify/"+id, "").want(200, "")
		if i == 0 {
			first = id
		}
	}
	var list struct {
		Recent []struct{ ID, Message string }
	}
	if err := json.Unmarshal(r.do(t, "GET", "/notify", "").want(200, "").Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	if n := len(list.Recent); n != 200 || list.Recent[0].Message != "200" || list.Recent[n-1].ID == first {
		t.Errorf("%d are listed, from %+v to %+v", n, list.Recent[0], list.Recent[n-1])
	}
	r.do(t, "GET", "/notify/"+first, "").want(200, "")
}

// order returns position and message of the queue.
func (r *rig) order(t *testing.T) string {
	t.Helper()
	var list struct {
		Queue []struct {
			Position int
			Message  string
		}
	}
	w := r.do(t, "GET", "/notify", "").want(200, "")
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
	r := newRig(t)
	r.do(t, "GET", "/notify/nothing", "").want(404, "not_found")
	r.do(t, "DELETE", "/notify/nothing", "").want(404, "not_found")
	r.do(t, "GET", "/notify/%2e%2e%2fhealth", "").want(404, "not_found")
}

func TestFullQueueSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	first := r.do(t, "POST", "/notify", `{"message": "head"}`, "Idempotency-Key", "k").want(202, "")
	r.until(t, first.field("id"), "playing")
	for range 3 {
		r.do(t, "POST", "/notify", `{"message": "x"}`).want(202, "")
	}
	w := r.do(t, "POST", "/notify", `{"message": "x"}`).want(503, "queue_full")
	if w.Header().Get("Retry-After") != "5" {
		t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
	}
	// What was accepted is answered again, however full the queue is.
	again := r.do(t, "POST", "/notify", `{"message": "head"}`, "Idempotency-Key", "k").want(202, "")
	if again.Body.String() != first.Body.String() {
		t.Errorf("the first answer was %s, the second %s", first.Body, again.Body)
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	first := r.do(t, "POST", "/notify", `{"message": "x", "rate": 170}`, "Idempotency-Key", "k").want(202, "")
	again := r.do(t, "POST", "/notify", ` {"rate":1.7e2,"message":"x"}`, "Idempotency-Key", "k").want(202, "")
	if again.field("id") != first.field("id") || again.Header().Get("Location") != first.Header().Get("Location") {
		t.Errorf("the same request gave %s and %s", first.Body, again.Body)
	}
	r.do(t, "POST", "/notify", `{"message": "y"}`, "Idempotency-Key", "k").want(422, "idempotency_key_reused")
	for _, bad := range []string{"", "two words", "grün", strings.Repeat("k", 256), "tab\t"} {
		r.do(t, "POST", "/notify", `{"message": "x"}`, "Idempotency-Key", bad).want(400, "bad_idempotency_key")
	}
	r.do(t, "POST", "/notify", `{"message": "x"}`, "Idempotency-Key", "a", "Idempotency-Key", "b").want(400, "bad_idempotency_key")
	r.do(t, "POST", "/notify", `{"message": "x"}`, "Idempotency-Key", strings.Repeat("k", 255)).want(202, "")
}

func TestBodiesThatAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
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
		w := r.do(t, "POST", "/notify", tt.body)
		got := w.field("code")
		if w.Code == 422 {
			all := strings.Split(w.violations(), ", ")
			slices.Sort(all)
			got = strings.Join(all, ", ")
		}
		if w.Code != tt.status || got != tt.said {
			t.Errorf("POST /notify %s: status %d, %s; want %d, %s", tt.body, w.Code, got, tt.status, tt.said)
		}
	}
	if got := r.order(t); got != "" {
		t.Errorf("something was accepted: %s", got)
	}
}

func TestBodiesThatAreTaken(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, body := range []string{
		`{"message": "x", "rate": 60}`,
		`{"message": "x", "rate": 400}`,
		`{"message": "x", "rate": 170.0}`,
		`{"message": "x", "rate": 1.7e2}`,
		`{"message": "x", "ttl": 5}`,
		`{"message": "x", "ttl": 86400}`,
		`{"message": "x", "voice": "` + ballpark + `"}`,
		`{"message": "x", "voice": ""}`,
		"\r\n\t {\"message\": \"x\"}\n",
		fmt.Sprintf(`{"message": %q}`, " "+strings.Repeat("ä", 5000)+" "),
	} {
		r.do(t, "POST", "/notify", body).want(202, "")
		r.let <- struct{}{}
	}
}

func TestMessageLength(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := r.do(t, "POST", "/notify", fmt.Sprintf(`{"message": %q}`, strings.Repeat("ä", 5001))).want(422, "too_long")
	if w.violations() != "/message too_long" {
		t.Error(w.violations())
	}
}

func TestUnknownVoiceSaysWhichThereAre(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := r.do(t, "POST", "/notify", `{"message": "x", "voice": "nobody"}`).want(422, "unknown_voice")
	if !strings.Contains(w.field("detail"), ballpark) {
		t.Errorf("detail: %s", w.field("detail"))
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	body := func(size int) string {
		const frame = `{"message": "x"}`
		return frame + strings.Repeat(" ", size-len(frame))
	}
	r.do(t, "POST", "/notify", body(64<<10)).want(202, "")
	r.do(t, "POST", "/notify", body(64<<10+1)).want(413, "body_too_large")
	r.do(t, "POST", "/v1/audio/speech", body(64<<10+1)).want(413, "body_too_large")
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *web.Config) { c.NotifyRate = 10 })
		post := func(client string) reply {
			return r.do(t, "POST", "/notify", `{"message": "…"}`, "Client", client) // refused: nothing is queued
		}
		for range 5 {
			post(lanClient).want(422, "")
		}
		w := post(lanClient).want(429, "too_many_requests")
		if w.Header().Get("Retry-After") != "6" {
			t.Errorf("Retry-After %q, want 6", w.Header().Get("Retry-After"))
		}
		post("192.168.1.20:9").want(429, "") // another port of the same
		post("192.168.1.21:9").want(422, "") // another address
		r.do(t, "POST", "/api/notify", `{"message": "…"}`).want(429, "")
		r.do(t, "GET", "/notify", "").want(200, "") // asking is free
		for range 20 {
			post("127.0.0.1:1").want(422, "")
		}
		time.Sleep(6*time.Second - time.Nanosecond)
		post(lanClient).want(429, "")
		time.Sleep(time.Nanosecond)
		post(lanClient).want(422, "")
		post(lanClient).want(429, "")
	})
}

// Addresses of one IPv6 network are one; those that cannot be known are the
// peer's; and this machine is limited when that is configured.
func TestWhoSharesALimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *web.Config) {
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
			if w := r.do(t, "POST", "/notify", `{"message": "…"}`, headers...); w.Code != tt.status {
				t.Errorf("from %s for %q: status %d, want %d", tt.client, tt.forwarded, w.Code, tt.status)
			}
		}
	})
}

func TestMethodsAndAddressesThatAreNot(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, tt := range []struct{ method, path, allow string }{
		{"PUT", "/notify", "DELETE, GET, HEAD, OPTIONS, POST"},
		{"PATCH", "/notify/x", "DELETE, GET, HEAD, OPTIONS"},
		{"POST", "/health", "GET, HEAD, OPTIONS"},
		{"GET", "/v1/audio/speech", "OPTIONS, POST"},
		{"BREW", "/health", "GET, HEAD, OPTIONS"},
	} {
		w := r.do(t, tt.method, tt.path, "").want(405, "method_not_allowed")
		if got := w.Header().Get("Allow"); got != tt.allow {
			t.Errorf("%s %s: Allow: %s, want %s", tt.method, tt.path, got, tt.allow)
		}
	}
	for _, path := range []string{"/nothing", "/notify/a/b", "/Health", "/notify//x", "/docs/../health", "/docs/nothing.js"} {
		r.do(t, "GET", path, "").want(404, "not_found")
	}
	if w := r.do(t, "HEAD", "/health", "").want(200, ""); w.Header().Get("Content-Type") != "application/json" {
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
		w := r.do(t, tt.method, tt.path, "")
		if w.Code != tt.status || w.Header().Get("Location") != tt.to {
			t.Errorf("%s %s: status %d to %q, want %d to %q", tt.method, tt.path, w.Code, w.Header().Get("Location"), tt.status, tt.to)
		}
	}
}

// When the client goes before it was answered, that is nobody's fault.
func TestClientThatGoes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	r.send(t, r.Handler(), newRequest("POST", "/notify", `{"message": "x"}`).WithContext(gone)).want(503, "interrupted")
	if strings.Contains(r.log.String(), "level=ERROR") {
		t.Errorf("the log: %s", r.log)
	}
}
