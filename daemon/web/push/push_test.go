package push_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
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

// A delay is when it is spoken; see TestParseDelay. Home Assistant sends "15.0s".
func TestNtfy_delay(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	w := r.Do(t, "POST", "/", `{"message": "x", "delay": "15.0s"}`, "Client", "127.0.0.1:1").Want(200)
	a := received(t, r, w)
	at, err := time.Parse(time.RFC3339Nano, a.Field("at"))
	created, errCreated := time.Parse(time.RFC3339Nano, a.Field("created_at"))
	check.That(t, err == nil && errCreated == nil && at.Sub(created) == 15*time.Second &&
		a.Field("status") == "scheduled", "15.0s: %s", a.Text)
	moment := time.Now().Add(time.Hour).Truncate(time.Second)
	w = r.Do(t, "POST", "/ntfy/x", "x", "X-Delay", strconv.FormatInt(moment.Unix(), 10)).Want(200)
	if at := received(t, r, w).Field("at"); !strings.HasPrefix(at, moment.UTC().Format("2006-01-02T15:04:05")) {
		t.Errorf("at %s, want %s", at, moment)
	}
	r.Do(t, "POST", "/ntfy/x", "x", "X-Delay", "tomorrow banana").Want(422)
}

// An error has the members of ntfy's and no others, which its clients do not accept.
func TestNtfy_refused(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, tt := range []struct {
		path, body string
		code       int
		want       string
	}{
		{"/ntfy/a.b", "x", 42201, "topic: must be 1 to 64 letters, digits, - and _"},
		{"/ntfy/" + strings.Repeat("x", 65), "x", 42201, "topic: must be 1 to 64 letters, digits, - and _"},
		{"/ntfy/" + strings.Repeat("x", 64), "…", 42201, "message: has nothing that can be spoken"},
		{
			"/ntfy/a?p=loud&rate=1", "x", 42201,
			"priority: must be 1 to 5, min, low, default, high or max; rate: must be 60 to 400 words per minute",
		},
		{
			"/ntfy/a?template=yes", `{"a": 1}`, 42201,
			"template: templates are not filled in here: use POST /hooks/NAME, or send the text",
		},
		{"/", `{"topic": "a", "sequence_id": "a b"}`, 42201, "sequence_id: must be 1 to 64 letters, digits, - and _"},
		{"/", `x`, 40001, "request body must be exactly one JSON object; at byte 0"},
		{"/ntfy", ``, 40001, "request body must be exactly one JSON object; at byte 0"},
		{"/ntfy/x", "\xff", 40001, "request body must be UTF-8; at byte 0"},
		{"/ntfy/x", strings.Repeat("x", 64<<10+1), 41301, "request body exceeds 64 KiB"},
	} {
		w := r.Do(t, "POST", tt.path, tt.body).Want(tt.code / 100)
		var got struct {
			Code  int    `json:"code"`
			HTTP  int    `json:"http"`
			Error string `json:"error"`
		}
		check.NoError(t, web.DecodeJSON([]byte(w.Text), &got)) // refuses other members
		check.That(t, got.Code == tt.code && got.HTTP == tt.code/100 && got.Error == tt.want,
			"POST %s %.40s: %s, want %q", tt.path, tt.body, w.Text, tt.want)
	}
}

// Of a message with a file, its message is spoken, and the file is not kept. Without a text, the title is spoken.
func TestNtfy_files(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	photo := "\xff\xd8" + strings.Repeat("photo", 200_000)
	for _, tt := range []struct {
		body    string
		headers []string
		want    string
	}{
		{photo, []string{"Message", "Someone rings.", "Content-Type", "image/jpeg"}, "Someone rings."},
		{photo, []string{"Filename", "door.jpg"}, "You received a file: door.jpg"},
		{"text", []string{"Filename", "door.txt", "Message", "A note."}, "A note."},
		{"", []string{"Title", "Only a title"}, "Only a title"},
		{"", []string{"Title", "Washer", "Message", "Done."}, "Done."},
	} {
		w := r.Do(t, "PUT", "/ntfy/x", tt.body, append(tt.headers, "Client", "127.0.0.1:1")...).Want(200)
		check.Equal(t, received(t, r, w).Field("message"), tt.want, "%q: message", tt.headers)
	}
	large := "\xff" + strings.Repeat("x", 15<<20)
	r.Do(t, "PUT", "/ntfy/x", large[1:], "Message", "x", "Client", "127.0.0.1:1").Want(200)
	r.Do(t, "PUT", "/ntfy/x", large, "Message", "x", "Client", "127.0.0.1:1").Want(413)
}

// At the root only what is certainly meant for ntfy is spoken; other paths are as if there were no topics.
func TestNtfy_atRoot(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) { c.Tokens = tokens{} })
	const form, token = "application/x-www-form-urlencoded", "Bearer good"
	for _, tt := range []struct {
		method, path, body string
		headers            []string
		want               int
	}{
		{"POST", "/house", "Dinner.", nil, 200},
		{"PUT", "/house", "Dinner.", []string{"Content-Type", "text/plain; charset=utf-8"}, 200},
		{"POST", "/house/", "Dinner.", nil, 200},
		{"POST", "/house", "", nil, 404},
		{"POST", "/house", "", []string{"Title", "Kitchen"}, 200},
		{"POST", "/house", "Dinner.", []string{"Content-Type", form}, 200}, // curl -d
		{"POST", "/house", "message=Dinner.", []string{"Content-Type", form}, 404},
		{"POST", "/house", `{"message": "Dinner."}`, []string{"Content-Type", form}, 404},
		{"POST", "/house", "message=Dinner.", []string{"Content-Type", form, "Title", "Kitchen"}, 200},
		{"POST", "/house?p=4", "message=Dinner.", []string{"Content-Type", form}, 200},
		{"POST", "/house", `{"message": "Dinner."}`, []string{"Content-Type", "application/json"}, 404},
		{"POST", "/house", `{"message": "Dinner."}`, []string{"Content-Type", "application/json", "Title", "x"}, 404},
		{"POST", "/house", "\xff", []string{"Content-Type", "image/jpeg"}, 400},
		{"POST", "/house", "Dinner.", []string{"Origin", "http://evil.example"}, 403},
		{"POST", "/a.b", "Dinner.", nil, 422},
		{"GET", "/house/publish?message=Dinner.", "", nil, 401},
		{"GET", "/house/publish?message=Dinner.", "", []string{"Authorization", token}, 200},
		{"GET", "/house/send?message=Dinner.", "", []string{"Authorization", token}, 200},
		{"GET", "/house/trigger", "", []string{"Authorization", token}, 200},
		{"GET", "/house/auth", "", nil, 200},
		{"GET", "/ntfy/house/auth", "", nil, 200},

		{"POST", "/notify/x/y", "Dinner.", nil, 404},
		{"POST", "/voices", "Dinner.", nil, 405},
		{"POST", "/api", "Dinner.", nil, 404},
		{"POST", "/v1", "Dinner.", nil, 404},
		{"POST", "/join", "Dinner.", nil, 404},
		{"POST", "/static", "Dinner.", nil, 404},
		{"POST", "/page", "Dinner.", nil, 404},
		{"GET", "/notify/x/json", "", nil, 404},
		{"GET", "/house", "", nil, 404},
	} {
		w := r.Do(t, tt.method, tt.path, tt.body, append(tt.headers, "Client", "127.0.0.1:1")...)
		check.Equal(t, w.StatusCode, tt.want, "%s %s %s %q: status; %s", tt.method, tt.path, tt.body, tt.headers,
			w.Text)
		if tt.want == 200 && w.Header.Get("Location") != "" {
			received(t, r, w)
		}
	}
	off := webtest.NewRig(t, func(c *site.Config) { c.Push.Ntfy = func() bool { return false } })
	off.Do(t, "POST", "/house", "Dinner.").Want(404)
	off.Do(t, "GET", "/v1/account", "").Want(404)
}

// What clients of ntfy ask before they publish.
func TestNtfy_account(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "/ntfy"} {
		r := webtest.NewRig(t, func(c *site.Config) { c.Access, c.Tokens = web.Token, tokens{} })
		check.Equal(t, r.Do(t, "GET", prefix+"/v1/health", "").Want(200).Text, `{"healthy":true}`+"\n", "health")
		r.Do(t, "GET", prefix+"/v1/version", "").Want(404)
		r.Do(t, "GET", prefix+"/v1/account", "").Want(401)
		account := r.Do(t, "GET", prefix+"/v1/account", "", "Authorization", "Bearer good").Want(200)
		check.Equal(t, account.Field("username"), "apprise", "the account's name")
		const basic = "Basic YW5uYTpnb29k" // anna:good
		token := r.Do(t, "POST", prefix+"/v1/account/token", `{"label": "x"}`, "Authorization", basic).Want(200)
		check.Equal(t, token.Text, `{"token":"good"}`+"\n", "the token")
		r.Do(t, "POST", prefix+"/v1/account/token", `{"label": "x"}`, "Authorization", "Basic YW5uYTpiYWQ=").Want(401)
		anyone := webtest.NewRig(t).Do(t, "GET", prefix+"/v1/account", "").Want(200)
		check.Equal(t, anyone.Field("username"), "*", "the account of an address")
		check.Equal(t, strings.Count(anyone.Field("stats"), ":0"), 10, "counts of zero")
	}
}

// A message is cancelled, and its repetitions end, by its sequence id or its id, in its topic only.
func TestNtfy_sequence(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	local := []string{"Client", "127.0.0.1:1"}
	post := func(body string) string { return r.Do(t, "POST", "/", body, local...).Want(200).Field("id") }
	status := func(id string) string { return r.Do(t, "GET", "/notify/"+id, "", local...).Want(200).Field("status") }
	first := post(`{"topic": "house", "message": "One.", "in": "1h", "sequence_id": "s1"}`)
	second := post(`{"topic": "house", "message": "Two.", "in": "1h"}`)
	other := post(`{"topic": "garden", "message": "Three.", "in": "1h", "sequence_id": "s1"}`)
	e := r.Do(t, "DELETE", "/house/s1", "", local...).Want(200)
	check.Equal(t, e.Field("event")+" "+e.Field("sequence_id"), "message_delete s1", "the answer")
	r.Do(t, "DELETE", "/ntfy/house/"+second, "", local...).Want(200)
	r.Do(t, "PUT", "/garden/s1/clear", "", local...).Want(200) // it is not repeated
	check.Equal(t, status(first)+" "+status(second)+" "+status(other), "cancelled cancelled scheduled", "statuses")
	repeated := post(`{"topic": "garden", "message": "Four.", "in": "1h", "sequence_id": "s2", ` +
		`"repeat": "{\"times\": 3, \"every\": 60}"}`)
	e = r.Do(t, "PUT", "/garden/s2/clear", "", local...).Want(200)
	check.Equal(t, e.Field("event")+" "+status(repeated), "message_clear cancelled", "the answer and the status")
	r.Do(t, "DELETE", "/house/s3", "", local...).Want(404)
	r.Do(t, "PUT", "/house/s2/clear", "", local...).Want(404)
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
		r.Do(t, "POST", path, "y", "Idempotency-Key", path).Want(422)
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

// npm's client of ntfy, and pip's two, as they are.
func TestAll_ntfyClients(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	server := r.ListenTCP(t)
	const npm = `import {publish, MessagePriority} from "ntfy";
		const said = await publish({server: process.argv[1], topic: "kitchen", title: "Door", message: "From npm.",
			priority: MessagePriority.HIGH, delay: "30min", tags: ["door"]});
		if (!said.id || said.topic !== "kitchen") throw new Error(JSON.stringify(said));`
	const pip = `import sys, datetime
from python_ntfy import NtfyClient
c = NtfyClient(topic="kitchen", server=sys.argv[1])
c.send("From pip.", title="Door", schedule=datetime.datetime.now() + datetime.timedelta(hours=1))
assert c.send("At once.", priority=c.MessagePriority.HIGH)["message"] == "At once."
assert [m["message"] for m in c.get_cached_messages()] == ["At once."]`
	program := func(path string) string { return filepath.Join(check.Root(t), ".build", path) }
	for name, args := range map[string][]string{
		"npm": {"node", "--input-type=module", "-e", npm, server},
		"pip": {program("ntfy-pip/bin/python"), "-c", pip, server},
		"ntfy": {
			program("ntfy-pip/bin/ntfy"),
			"-b", "ntfy_sh", "-o", "topic", "kitchen", "-o", "host", server, "-t", "Door", "send", "From ntfy.",
		},
	} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Env = program("ntfy"), append(os.Environ(), "NO_PROXY=*", "NTFY_SERVER=")
		out, err := cmd.CombinedOutput()
		check.That(t, err == nil, "%s: %v: %s", name, err, out)
	}
	var list struct {
		Queue, Scheduled []struct{ Title, Message string }
	}
	r.Do(t, "GET", "/notify", "", "Client", "127.0.0.1:1").Want(200).Decode(&list)
	got := fmt.Sprint(list)
	for _, want := range []string{"{Door From npm.}", "{Door From pip.}", "{ At once.}", "{Door From ntfy.}"} {
		check.Contains(t, got, want, "the announcements")
	}
}
