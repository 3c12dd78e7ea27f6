package announcements_test

import (
	"testing"

	"pressbox/daemon/web/webtest"
)

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
		if w.StatusCode != tt.status || got != tt.want {
			t.Errorf("POST /speakable %s: status %d, %s; want %d, %s", tt.body, w.StatusCode, got, tt.status, tt.want)
		}
	}
	w := r.Do(t, "POST", "/speakable", `{"message": " One TWO "}`).Want(200, "")
	if w.Text != `{"text":"One TWO.","words":2,"seconds":2,"phonemes":"one two"}`+"\n" {
		t.Errorf("%q", w.Text)
	}
	if got := r.Do(t, "GET", "/notify", "").Text; got != `{"queue":[],"recent":[],"scheduled":[]}`+"\n" {
		t.Errorf("after a preview the queue is %s", got)
	}
}
