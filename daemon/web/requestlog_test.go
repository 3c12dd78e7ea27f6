package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pressbox/daemon/web/announcements"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

func TestRequestLog_panic(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) {
		c.Announcements.Voices = func() announcements.VoiceList { panic("test panic") }
	})
	w := r.Do(t, "GET", "/voices", "").Want(500, "internal")
	id := w.Field("request_id")
	if id == "" || id != w.Header.Get("X-Request-Id") || strings.Contains(w.Text, "test panic") ||
		strings.Contains(w.Text, "goroutine") {
		t.Errorf("%v %s", w.Header, w.Text)
	}
	log := r.Log.String()
	for _, want := range []string{"level=ERROR", "test panic", "request_id=" + id, "requestlog_test.go"} {
		check.Contains(t, log, want, "the log")
	}
	r.Do(t, "GET", "/health", "").Want(200)
}

// The log has one entry for a request, without query, body and credentials.
func TestRequestLog_entry(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	r.Do(t, "POST", "/notify?token=topsecret", `{"message": "The spare key is under the mat."}`,
		"Authorization", "Basic topsecret", "Cookie", "a=topsecret").Want(202)
	log := r.Log.String()
	if strings.Contains(log, "mat") || strings.Contains(log, "topsecret") {
		t.Errorf("a secret is in the log: %s", log)
	}
	check.Equal(t, strings.Count(log, "\n"), 1, "entries in the log of one request")
	for _, want := range []string{
		"level=INFO", "msg=request", "method=POST", "path=/notify", "status=202", "client=192.168.1.20",
	} {
		check.Contains(t, log, want, "the log")
	}
	r.Do(t, "GET", "/health", "")
	check.Contains(t, r.Log.String(), "level=DEBUG msg=request method=GET path=/health", "the log")
}

// Clients cannot create metrics labels, as each takes memory for ever; and a
// response without an explicit status is counted with 200.
func TestObserve_labels(t *testing.T) {
	t.Parallel()
	var seen []string
	r := webtest.NewRig(t, func(c *site.Config) {
		c.Observe = func(route, method string, status int, _ time.Duration) {
			seen = append(seen, fmt.Sprintf("%s %s %d", method, route, status))
		}
	})
	for _, tt := range []struct{ method, path, want string }{
		{"GET", "/notify/unknown", "GET /notify/:id 404"},
		{"GET", "/unknown", "GET  404"},
		{"OPTIONS", "/notify", "OPTIONS  204"},
		{"PATCH", "/notify", "PATCH  405"},
		{"UNKNOWN", "/notify", "other  405"},
		{"UNKNOWN", "/unknown", "other  404"},
		{"HEAD", "/health", "HEAD /health 200"},
		{"HEAD", "/events", "HEAD /events 200"},
	} {
		seen = nil
		r.Do(t, tt.method, tt.path, "")
		check.Equal(t, strings.Join(seen, ", "), tt.want, "%s %s is observed as", tt.method, tt.path)
	}
	if strings.Contains(r.Log.String(), "status=0") {
		t.Errorf("status 0 is in the log: %s", r.Log)
	}
}
