package announcements_test

import (
	"testing"

	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
)

func TestRooms_announce(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	w := r.Do(t, "POST", "/notify", `{"message": "Dinner.", "room": "kitchen"}`).Want(503, "room_unreachable")
	if w.Header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
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
		if got := w.Field("rooms"); got != `{"kitchen":"waiting"}` || w.Field("position") != "" {
			t.Errorf("POST /notify %s: %s", body, w.Text)
		}
	}
	id := r.Do(t, "POST", "/notify?message=Dinner&room=hall,kitchen", "").Want(202, "").Field("id")
	check.NoError(t, r.Announcer.SetRoom(t.Context(), id, "kitchen", announce.RoomState(announce.Done)))
	if w := r.Do(t, "GET", "/notify/"+id, "").Want(200, ""); w.Field("rooms") != `{"kitchen":"done"}` {
		t.Errorf("GET /notify/%s: %s", id, w.Text)
	}
}

func wantText(p webtest.Page, want string) {
	p.T.Helper()
	if p.Text != want+"\n" {
		p.T.Errorf("%s %s: %s, want %s", p.Request.Method, p.Request.URL.Path, p.Text, want)
	}
}
