package control_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
	"pressbox/voice/control"
)

// byLAN permits changes to all clients on the local network.
func byLAN(c *site.Config) { c.ControlAccess = web.ControlLAN }

func TestVolume(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, byLAN)
	for _, tt := range []struct {
		body   string
		status int
		want   string // the volume, or the code of the problem
	}{
		{"", 0, "100 false false"},
		{`{"volume": 0}`, 200, "0 false true"},
		{`{"muted": "On"}`, 200, "0 true true"},
		{`{"volume": 100, "muted": false}`, 200, "100 false true"},
		{`{"volume": 101}`, 422, "out_of_range"},
		{`{"volume": -1}`, 422, "out_of_range"},
		{`{"volume": "5"}`, 422, "wrong_type"},
		{`{"loudness": 5}`, 422, "unknown_field"},
		{`{}`, 422, "required"},
		{"", 0, "100 false true"},
	} {
		show := func(w webtest.Page) string {
			return strings.Join([]string{w.Field("volume"), w.Field("muted"), w.Field("set")}, " ")
		}
		switch {
		case tt.body == "":
			check.Equal(t, show(r.Do(t, "GET", "/volume", "").Want(200)), tt.want, "GET /volume")
		case tt.status == 200:
			check.Equal(t, show(r.Do(t, "PUT", "/volume", tt.body).Want(200)), tt.want, "PUT /volume %s", tt.body)
		default:
			r.Do(t, "PUT", "/volume", tt.body).Want(tt.status, tt.want)
		}
	}
	line := r.LogLine("control=volume")
	check.That(t, strings.Contains(line, `sender="address 192.168.1.20"`), "logged %s", line)
}

// The volume and quiet apply to announcements, and are sent as events.
func TestControls_applied(t *testing.T) {
	webtest.InBubble(t, webtest.NewRig, func(r *webtest.Rig, l *webtest.Wire) {
		_, events := l.Listen(r.T, "")
		socket := func(method, path, body string, status int) {
			r.T.Helper()
			r.Send(r.T, r.AdminHandler(), webtest.NewRequest(method, path, body, "Content-Type", webtest.AsJSON)).
				Want(status)
		}
		socket("PUT", "/volume", `{"muted": true}`, 200)
		events.Want("event: volume")
		id := r.Announce(r.T, "muted")
		events.Want("event: announcement, muted queued", "id: "+id+", event: announcement, muted silenced")
		socket("PUT", "/volume", `{"muted": false}`, 200)
		socket("PUT", "/quiet", `{"for": 3600, "mode": "silence"}`, 200)
		events.Want("id: "+id+", event: volume", "id: "+id+", event: quiet")
		quiet := r.Announce(r.T, "quiet")
		events.Want(
			"id: "+id+", event: announcement, quiet queued", "id: "+quiet+", event: announcement, quiet silenced",
		)
		socket("DELETE", "/quiet", "", 204)
		socket("POST", "/schedules", `{"name": "x", "cron": "0 8 * * *", "message": "x"}`, 201)
		socket("PUT", "/favorites", `{"favorites": []}`, 200)
		events.Want("id: "+quiet+", event: quiet", "id: "+quiet+", event: schedules", "id: "+quiet+", event: favorites")
	})
}

// A stream that asks for the controls begins with them, as GET returns them.
func TestEvents_beginWithControls(t *testing.T) {
	webtest.InBubble(t, func(tb testing.TB, configure ...func(*site.Config)) *webtest.Rig {
		tb.Helper()
		return webtest.NewRig(tb, append(configure, byLAN)...)
	}, func(r *webtest.Rig, l *webtest.Wire) {
		r.Do(r.T, "PUT", "/volume", `{"volume": 40}`).Want(200)
		r.Do(r.T, "PUT", "/favorites", `{"favorites": [{"message": "Dinner"}]}`).Want(200)
		want := map[string]string{}
		for _, name := range []string{"volume", "quiet", "schedules", "favorites"} {
			want["event: "+name] = "data: " + strings.TrimSpace(r.Do(r.T, "GET", "/"+name, "").Want(200).Text)
		}
		r.Do(r.T, "GET", "/events?controls=maybe", "").Want(422, "not_offered")
		_, resp := l.Ask(r.T, "GET /events?controls=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
		lines := bufio.NewScanner(resp.Body)
		for event := ""; len(want) > 0 && lines.Scan(); {
			switch line := lines.Text(); {
			case strings.HasPrefix(line, "event: "):
				event = line
			case strings.HasPrefix(line, "data: "):
				check.Equal(r.T, line, want[event], "%s", event)
				delete(want, event)
			}
		}
		check.That(r.T, len(want) == 0, "the stream has no %v", want)
	})
}

func TestQuiet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the time is 2000-01-01 00:00 UTC
		r := webtest.NewRig(t, byLAN)
		for _, tt := range []struct {
			body   string
			status int
			want   string
		}{
			{`{"for": 1}`, 200, "true silence switch 2000-01-01T00:00:01.000Z"},
			{`{"for": 86400, "mode": "hold"}`, 200, "true hold switch 2000-01-02T00:00:00.000Z"},
			{
				`{"until": "2000-01-02T01:00:00+01:00", "mode": "soft"}`, 200,
				"true soft switch 2000-01-02T00:00:00.000Z",
			},
			{`{"for": 0}`, 422, "/for out_of_range"},
			{`{"for": 86401}`, 422, "/for out_of_range"},
			{`{"until": "2000-01-02T00:00:01Z"}`, 422, "/until out_of_range"},
			{`{"until": "2000-01-01T00:00:00Z"}`, 422, "/until out_of_range"},
			{`{"until": "07:00"}`, 422, "/until invalid"},
			{`{"for": 60, "until": "2000-01-01T07:00:00Z"}`, 422, "/for required"},
			{`{"mode": "soft"}`, 422, "/for required"},
			{`{"for": 60, "mode": "whisper"}`, 422, "/mode not_offered"},
		} {
			w := r.Do(t, "PUT", "/quiet", tt.body).Want(tt.status)
			got := w.Violations()
			if tt.status == 200 {
				got = strings.Join(
					[]string{w.Field("active"), w.Field("mode"), w.Field("reason"), w.Field("until")}, " ",
				)
			}
			check.Equal(t, got, tt.want, "PUT /quiet %s", tt.body)
		}
		r.Do(t, "DELETE", "/quiet", "").Want(204)
		if w := r.Do(t, "GET", "/quiet", "").Want(200); w.Text != `{"active":false,"mode":"silence"}`+"\n" {
			t.Errorf("GET /quiet after its end: %s", w.Text)
		}
		time.Sleep(time.Minute)
	})
}

func TestSchedules(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, byLAN)
	const body = `{"name": "Wake up", "cron": "30 6 * * mon-fri", "time_zone": "Europe/Berlin",
		"message": "Good morning.", "title": "Time", "volume": 30,
		"repeat": {"times": 2, "every": 60}}`
	created := r.Do(t, "POST", "/schedules", body).Want(201)
	path := created.Header.Get("Location")
	if path != "/schedules/"+created.Field("id") || created.Field("enabled") != "true" ||
		!strings.HasSuffix(created.Field("next_at"), ":30:00.000Z") {
		t.Errorf("created at %s: %s", path, created.Text)
	}
	found := r.Do(t, "GET", path, "").Want(200)
	check.That(t, found.Text == created.Text, "GET %s: %s, want %s", path, found.Text, created.Text)
	skipped := r.Do(t, "POST", path+"/skip", "").Want(200)
	at := skipped.Field("skip_at")
	check.That(t, at == created.Field("next_at") && skipped.Field("next_at") > at, "skipped: %s", skipped.Text)
	restored := r.Do(t, "DELETE", path+"/skip", "").Want(200)
	check.Equal(t, restored.Text, created.Text, "restored")
	replaced := r.Do(t, "PUT", path, `{"name": "Off", "cron": "0 7 * * *", "enabled": false, "message": "x"}`).Want(200)
	if replaced.Field("next_at") != "" || replaced.Field("title") != "" || replaced.Field("id") != created.Field("id") {
		t.Errorf("replaced by %s", replaced.Text)
	}
	r.Do(t, "POST", path+"/skip", "").Want(409, "nothing_to_skip")
	want := `{"schedules":[` + strings.TrimSpace(replaced.Text) + "]}\n"
	list := r.Do(t, "GET", "/schedules", "").Want(200)
	check.That(t, list.Text == want, "GET /schedules: %s", list.Text)
	for body, want := range map[string]string{
		`"name": "", "cron": "60 6 * * *", "time_zone": "x", "message": ""`: "/cron invalid, /message required, " +
			"/name out_of_range, /time_zone invalid",
		`"name": "x", "cron": "0 6 * * *", "message": "x", "voice": "zoe"`: "/voice unknown_voice",
		`"name": "x", "cron": "0 6 * * *", "message": "x", "at": "x", "rate": 59`: "/at unknown_field, " +
			"/rate out_of_range",
		`"cron": "0 6 * * *"`:              "/name required",
		`"cron": "0 6 * * *", "name": "x"`: "/message required",
	} {
		check.Equal(t, r.Do(t, "POST", "/schedules", "{"+body+"}").Want(422).Violations(), want,
			"POST /schedules %s", body)
	}
	r.Do(t, "DELETE", path, "").Want(204)
	for _, method := range []string{"GET", "DELETE"} {
		r.Do(t, method, path, "").Want(404, "not_found")
	}
	r.Do(t, "PUT", path, body).Want(404, "not_found")
	for range 20 {
		r.Do(t, "POST", "/schedules", body).Want(201)
	}
	r.Do(t, "POST", "/schedules", body).Want(409, "too_many_schedules")
	r.Do(t, "POST", "/schedules", body, "Client", "192.168.1.21:1").Want(201)
}

func TestFavorites(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, byLAN)
	if w := r.Do(t, "GET", "/favorites", "").Want(200); w.Text != `{"favorites":[]}`+"\n" {
		t.Errorf("GET /favorites: %s", w.Text)
	}
	list := func(n int) string {
		all := strings.Repeat(`{"message":"Dinner is ready.","urgent":true},`, n)
		return `{"favorites":[` + strings.TrimSuffix(all, ",") + `]}`
	}
	r.Do(t, "PUT", "/favorites", list(50)).Want(200)
	r.Do(t, "PUT", "/favorites", list(51)).Want(422, "too_many")
	type favorite struct{ ID, Name, Message string }
	read := func(w webtest.Page) []favorite {
		t.Helper()
		var all struct{ Favorites []favorite }
		check.NoError(t, json.Unmarshal([]byte(w.Want(200).Text), &all))
		return all.Favorites
	}
	all := read(r.Do(t, "GET", "/favorites", ""))
	ids := map[string]bool{}
	for _, f := range all {
		ids[f.ID] = true
		check.Equal(t, f.Name, "Dinner is ready.", "name")
	}
	check.That(t, len(all) == 50 && len(ids) == 50 && !ids[""], "ids %v", ids)
	// Sent back in another order, with a changed text and a name, it is the same one; an id that is sent twice, or that
	// is not known, is not taken.
	all = read(r.Do(t, "PUT", "/favorites", `{"favorites": [{"message": "New."}, {"id": "`+all[7].ID+`",
		"name": "Lunch", "message": "Lunch is ready."}, {"id": "`+all[7].ID+`", "message": "a"},
		{"id": "mine", "message": "b"}]}`))
	check.That(t, ids[all[1].ID] && all[1].Name == "Lunch" && !ids[all[2].ID] && all[3].ID != "mine",
		"favorites %+v", all)
	refused := func(body, want string) {
		t.Helper()
		check.Equal(t, r.Do(t, "PUT", "/favorites", body).Want(422).Violations(), want, "violations")
	}
	refused(
		`{"favorites": [{"message": "a"}, {"message": "…", "voice": "zoe"}]}`,
		"/favorites/1/message not_speakable, /favorites/1/voice unknown_voice",
	)
	// The voice of a favorite was removed: it stays, and others can be saved.
	old := announce.Payload{Content: announce.Content{Message: "Old.", Voice: "zoe"}}
	check.Must(r.Controls.SetFavorites(t.Context(), []control.Favorite{{Payload: old}}))(t)
	r.Do(t, "PUT", "/favorites", `{"favorites": [{"message": "Old.", "voice": "zoe"}, {"message": "New."}]}`).Want(200)
	refused(`{"favorites": [{"message": "Other.", "voice": "zoe"}]}`, "/favorites/0/voice unknown_voice")
	refused(`{"favorites": [{"name": "`+strings.Repeat("x", 65)+`", "message": "x"}]}`, "/favorites/0/name too_long")
	refused(`{"favorites": [{"name": "a\u001bb", "message": "x"}]}`, "/favorites/0/name control_character")
}

// A favorite is announced by its id, with what the request changes of it.
func TestFavorites_announce(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, byLAN)
	stored := announce.Payload{Content: announce.Content{Message: "Dinner.", Title: "Kitchen", Urgent: true}}
	saved := check.Must(r.Controls.SetFavorites(t.Context(), []control.Favorite{{Payload: stored}}))(t)
	path := "/favorites/" + saved[0].ID + "/announce"
	for _, tt := range []struct{ path, body, want string }{
		{path, "", "Kitchen Dinner. true"},
		{path, "{}", "Kitchen Dinner. true"},
		{path, `{"message": "Lunch.", "urgent": false}`, "Kitchen Lunch. false"},
		{path + "?title=Garden", "{}", "Garden Dinner. true"},
	} {
		w := r.Do(t, "POST", tt.path, tt.body).Want(202)
		got := strings.Join([]string{w.Field("title"), w.Field("message"), w.Field("urgent")}, " ")
		check.Equal(t, got, tt.want, "POST %s %s", tt.path, tt.body)
		check.Equal(t, w.Header.Get("Location"), "/notify/"+w.Field("id"), "Location")
	}
	r.Do(t, "POST", path, `{"voice": "otto"}`).Want(422, "unknown_voice")
	r.Do(t, "POST", path, `{"massage": "x"}`).Want(422, "unknown_field")
	r.Do(t, "POST", "/favorites/x/announce", "{}").Want(404, "not_found")
}

func TestChanges_limited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t, byLAN)
		for i := range 61 {
			want := 200
			if i == 60 {
				want = 429
			}
			r.Do(t, "PUT", "/volume", fmt.Sprintf(`{"volume": %d}`, i)).Want(want)
		}
		r.Do(t, "GET", "/volume", "").Want(200)
	})
}
