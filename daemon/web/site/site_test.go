package site_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

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
