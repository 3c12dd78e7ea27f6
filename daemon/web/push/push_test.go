package push_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// received returns the last announcement, as GET /notify/{id} has it.
func received(t *testing.T, r *webtest.Rig, w webtest.Page) webtest.Page {
	t.Helper()
	a := r.Do(t, "GET", w.Header.Get("Location"), "").Want(200)
	r.Do(t, "DELETE", "/notify/"+a.Field("id"), "", "Client", "127.0.0.1:1") // 409 if it ended as silenced
	return a
}

// Each way in which ntfy's clients send a message leads to the same announcement.
func TestNtfy_forms(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, tt := range []struct {
		method, path, body string
		headers            []string
		// title, message, priority, urgent of the announcement; priority, topic and warnings of the response
		want string
	}{
		{"POST", "/ntfy/alerts", "Backup done.", nil, "|Backup done.|3|false|||alerts|"},
		{"PUT", "/ntfy/alerts", "Backup done.", []string{
			"Content-Type", "text/plain", "Title", "NAS", "Priority", "high", "Tags", "warning",
		}, "NAS|Backup done.|4|false||4|alerts|"},
		{
			"POST", "/ntfy/alerts?t=NAS&p=urgent&voice=&color=red&click=x", "{\"a\": 1}", nil,
			`NAS|{"a": 1}|5|true||5|alerts|["color"]`,
		},
		{
			"POST", "/ntfy/a", "",
			[]string{"X-Message", "one\\ntwo", "X-Title", "=?UTF-8?B?R3LDvMOf?=", "Prio", "2"},
			"Grüß|one\ntwo|2|false||2|a|",
		},
		{"POST", "/ntfy/a?message=parameter", "body", []string{"m", "header"}, "|body|3|false|||a|"},
		{"POST", "/ntfy/a?message=parameter", "", []string{"m", "header"}, "|header|3|false|||a|"},
		{"POST", "/ntfy/a", "", []string{"Priority", "u=1, i"}, "|triggered|3|false|||a|"},
		{"POST", "/", `{"topic": "alerts", "title": "NAS", "message": "Disk full", "priority": 5, "tags": ["a"], ` +
			`"click": "x", "markdown": true, "attach": null}`, nil, "NAS|Disk full|5|true||5|alerts|"},
		{
			"POST", "/", `{"message": "x", "priority": "min", "rate": "200", "color": 1}`,
			[]string{"X-Title", "NAS"},
			`NAS|x|1|false||1||["color"]`,
		},
		{"POST", "/", `{"message": "x", "priority": 0}`, []string{"X-Priority", "4"}, "|x|4|false||4||"},
	} {
		w := r.Do(t, tt.method, tt.path, tt.body, append(tt.headers, "Client", "127.0.0.1:1")...).Want(200)
		a := received(t, r, w)
		got := strings.Join([]string{
			a.Field("title"), a.Field("message"), a.Field("priority"),
			a.Field("urgent"), "", w.Field("priority"), w.Field("topic"), w.Field("warnings"),
		}, "|")
		if got != tt.want || w.Field("event") != "message" || w.Field("id") != a.Field("id") ||
			w.Field("message") != a.Field("message") {
			t.Errorf("%s %s %s %v: %s, want %s; %s", tt.method, tt.path, tt.body, tt.headers, got, tt.want, w.Text)
		}
	}
}

// A topic is a room if one has its name, unless the request has another.
func TestNtfy_room(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	r.Broker.Here.Store(true)
	for _, m := range [][2]string{
		{"rooms/kitchen/status", `{"host":"2"}`}, {"2/status", "online"}, {"rooms/hall/status", `{"host":"1"}`},
	} {
		check.NoError(t, r.Rooms.Receive(t.Context(), m[0], []byte(m[1]), 0))
	}
	for path, want := range map[string]string{
		"/ntfy/kitchen": `{"kitchen":"waiting"}`, "/ntfy/hall": "", "/ntfy/cellar": "", "/ntfy/kitchen?room=hall": "",
		"/ntfy/all": `{"kitchen":"waiting"}`,
	} {
		w := r.Do(t, "POST", path, "x").Want(200)
		check.Equal(t, received(t, r, w).Field("rooms"), want, "POST %s: rooms", path)
	}
}

func TestNtfy_delay(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for text, want := range map[string]time.Duration{
		"30m": 30 * time.Minute, "2 hours": 2 * time.Hour,
		"1d": 24 * time.Hour, "90": 90 * time.Second, " 10 sec ": 10 * time.Second, "366days": 366 * 24 * time.Hour,
	} {
		w := r.Do(t, "POST", "/ntfy/x", "x", "Client", "127.0.0.1:1", "X-Delay", text).Want(200)
		a := received(t, r, w)
		at, err := time.Parse(time.RFC3339Nano, a.Field("at"))
		created, errCreated := time.Parse(time.RFC3339Nano, a.Field("created_at"))
		check.That(t, err == nil && errCreated == nil && at.Sub(created) == want && a.Field("status") == "scheduled",
			"X-Delay: %s: %s", text, a.Text)
	}
	for _, bad := range []string{
		"tomorrow, 10am", "0", "-5m", "5 fortnights", "m", "367d", "99999999999999999999", "9000000000000000000",
		"40000000",
	} {
		r.Do(t, "POST", "/ntfy/x", "x", "Client", "127.0.0.1:1", "X-Delay", bad).Want(422)
	}
	moment := time.Now().Add(time.Hour).Truncate(time.Second)
	w := r.Do(t, "POST", "/", `{"message": "x", "delay": `+strconv.FormatInt(moment.Unix(), 10)+`}`).Want(200)
	if at := received(t, r, w).Field("at"); !strings.HasPrefix(at, moment.UTC().Format("2006-01-02T15:04:05")) {
		t.Errorf("at %s, want %s", at, moment)
	}
}

func TestNtfy_refused(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, tt := range []struct{ path, body, want string }{
		{"/ntfy/a.b", "x", "/topic invalid"},
		{"/ntfy/" + strings.Repeat("x", 65), "x", "/topic invalid"},
		{"/ntfy/" + strings.Repeat("x", 64), "…", "/message not_speakable"},
		{"/ntfy/a?p=6", "x", "/priority out_of_range"},
		{"/ntfy/a?p=loud&rate=1", "x", "/priority out_of_range, /rate out_of_range"},
		{"/", `{"topic": "a b", "priority": -1}`, "/priority out_of_range, /topic invalid"},
	} {
		if w := r.Do(t, "POST", tt.path, tt.body).Want(422); w.Violations() != tt.want || w.Field("example") == "" {
			t.Errorf("POST %s %s: %s, want %s", tt.path, tt.body, w.Text, tt.want)
		}
	}
	r.Do(t, "POST", "/", `x`).Want(400, "not_json")
	r.Do(t, "POST", "/", ``).Want(400, "not_json")
	r.Do(t, "POST", "/ntfy/x", "\xff").Want(400, "not_text")
	r.Do(t, "POST", "/ntfy/x", strings.Repeat("x", 64<<10+1)).Want(413, "body_too_large")
}

func TestGotify_forms(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	const form = "application/x-www-form-urlencoded"
	for _, tt := range []struct{ media, path, body, want string }{
		{webtest.AsJSON, "/message", `{"title": "NAS", "message": "Disk full", "priority": 8, ` +
			`"extras": {"client::display": {"contentType": "text/markdown"}}}`, "NAS|Disk full|5|true|8|"},
		{webtest.AsJSON, "/message", `{"message": "x", "priority": "7", "color": "red"}`, `|x|4|false|7|["color"]`},
		{webtest.AsJSON, "/message?token=t", `{"message": "x", "priority": 0}`, "|x|2|false|0|"},
		{form, "/message", "title=NAS&message=Disk+full&priority=5", "NAS|Disk full|3|false|5|"},
		{form, "/message?title=NAS", "message=x", "NAS|x|3|false|5|"},
		{
			"multipart/form-data; boundary=b", "/message",
			"--b\r\nContent-Disposition: form-data; name=\"message\"\r\n\r\nx\r\n--b\r\n" +
				"Content-Disposition: form-data; name=\"priority\"\r\n\r\n10\r\n--b--", "|x|5|true|10|",
		},
	} {
		w := r.Do(t, "POST", tt.path, tt.body, "Content-Type", tt.media).Want(200)
		a := received(t, r, w)
		got := strings.Join([]string{
			a.Field("title"), a.Field("message"), a.Field("priority"), a.Field("urgent"), w.Field("priority"),
			w.Field("warnings"),
		}, "|")
		check.That(t, got == tt.want && w.Field("appid") == "1" && w.Field("id") != "" && w.Field("date") != "",
			"POST %s %s: %s, want %s; %s", tt.path, tt.body, got, tt.want, w.Text)
	}
	for body, want := range map[string]string{
		`{"message": "x", "priority": 11}`:   "/priority out_of_range",
		`{"message": "x", "priority": -1}`:   "/priority out_of_range",
		`{"message": "x", "priority": null}`: "/priority out_of_range",
		`{"title": "x"}`:                     "/message required",
		``:                                   "/message required",
	} {
		if w := r.Do(t, "POST", "/message", body).Want(422); w.Violations() != want {
			t.Errorf("POST /message %s: %s, want %s", body, w.Text, want)
		}
	}
}

// NTFY_URGENT is the priority from which messages are urgent.
func TestPush_urgentFrom(t *testing.T) {
	t.Parallel()
	for from, want := range map[int]string{
		5: "false true false true", 4: "true true true true", 0: "false false false false",
	} {
		r := webtest.NewRig(t, func(c *site.Config) { c.Push.UrgentFrom = func() int { return from } })
		var got []string
		for _, path := range []string{"/ntfy/x?p=4", "/ntfy/x?p=5", "/message?priority=7", "/message?priority=8"} {
			w := r.Do(t, "POST", path, "x").Want(200)
			got = append(got, received(t, r, w).Field("urgent"))
		}
		check.Equal(t, strings.Join(got, " "), want, "urgent from %d", from)
	}
}

// A repeated key returns the first announcement.
func TestPush_idempotencyKey(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, path := range []string{"/ntfy/x", "/message"} {
		first := r.Do(t, "POST", path, "x", "Idempotency-Key", path).Want(200)
		again := r.Do(t, "POST", path, "x", "Idempotency-Key", path).Want(200)
		check.Equal(t, again.Header.Get("Location"),
			first.Header.Get("Location"), "%s: %s and %s", path, first.Text, again.Text)
		r.Do(t, "POST", path, "y", "Idempotency-Key", path).Want(422, "idempotency_key_reused")
	}
}

// tokens accepts the token "good".
type tokens struct{}

func (tokens) NotifyToken(_ context.Context, token string, _ netip.Addr) (auth.APIToken, error) {
	if token != "good" {
		return auth.APIToken{}, errors.New("no such token")
	}
	return auth.APIToken{ID: "1", Name: "apprise"}, nil
}

// Apprise itself, by its plug-ins for ntfy, Gotify and forms, each with a token in the place where it sends one.
func TestAll_apprise(t *testing.T) {
	t.Parallel()
	program := check.Part(t, "apprise")
	r := webtest.NewRig(t, func(c *site.Config) { c.Access, c.Tokens = web.Token, tokens{} })
	server := httptest.NewServer(r.Handler())
	t.Cleanup(server.Close)
	address := strings.TrimPrefix(server.URL, "http://")
	apprise := func(url string) (string, error) {
		cmd := exec.CommandContext(t.Context(), program, "--title", "Kitchen", "--body", "Dinner & wine.", url)
		cmd.Env = append(os.Environ(), "NO_PROXY=*", "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	token := []string{"Authorization", "Bearer good", "Client", "127.0.0.1:1"}
	for _, tt := range []struct{ url, priority string }{
		{"ntfy://user:good@" + address + "/alerts?mode=private", "3"},
		{"ntfy://user:good@" + address + "/alerts?mode=private&priority=high&tags=bell&click=http://x", "4"},
		{"ntfy://user:good@" + address + "/alerts?mode=private&priority=max", "5"},
		{"gotify://" + address + "/good?priority=low", "2"},
		{"gotify://" + address + "/good", "3"},
		{"gotify://" + address + "/good?priority=emergency", "5"},
		{"form://user:good@" + address + "/notify", "3"},
	} {
		if out, err := apprise(tt.url); err != nil {
			t.Errorf("%s: %v: %s", tt.url, err, out)
			continue
		}
		var list struct {
			Queue []struct {
				ID, Title, Message string
				Priority           int
			}
		}
		r.Do(t, "GET", "/notify", "", token...).Want(200).Decode(&list)
		if len(list.Queue) != 1 || list.Queue[0].Title != "Kitchen" || list.Queue[0].Message != "Dinner & wine." ||
			string(rune('0'+list.Queue[0].Priority)) != tt.priority {
			t.Errorf("%s: %+v, want priority %s", tt.url, list, tt.priority)
		}
		for _, a := range list.Queue {
			r.Do(t, "DELETE", "/notify/"+a.ID, "", token...).Want(200)
		}
	}
	for _, url := range []string{
		"ntfy://user:bad@" + address + "/alerts?mode=private", "gotify://" + address + "/bad",
		"json://" + address + "/notify",
	} {
		if out, err := apprise(url); err == nil {
			t.Errorf("%s without a valid token: %s", url, out)
		}
	}
}
