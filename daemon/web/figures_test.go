package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
)

// Figures are by route, method and status. No stranger can make up one of
// them, as each is kept for ever; and an answer that nobody gave a status had
// one all the same.
func TestWhatFiguresAreBy(t *testing.T) {
	t.Parallel()
	var seen []string
	r := webtest.NewRig(t, func(c *site.Config) {
		c.Observe = func(route, method string, status int, _ time.Duration) {
			seen = append(seen, fmt.Sprintf("%s %s %d", method, route, status))
		}
	})
	for _, tt := range []struct{ method, path, want string }{
		{"GET", "/notify/made-up", "GET /notify/:id 404"},
		{"GET", "/made-up", "GET  404"},
		{"OPTIONS", "/notify", "OPTIONS  204"},
		{"PATCH", "/notify", "PATCH  405"},
		{"MADE-UP", "/notify", "other  405"},
		{"MADE-UP", "/made-up", "other  404"},
		{"HEAD", "/health", "HEAD /health 200"},
		{"HEAD", "/events", "HEAD /events 200"},
	} {
		seen = nil
		r.Do(t, tt.method, tt.path, "")
		if got := strings.Join(seen, ", "); got != tt.want {
			t.Errorf("%s %s counts as %q, want %q", tt.method, tt.path, got, tt.want)
		}
	}
	if strings.Contains(r.Log.String(), "status=0") {
		t.Errorf("an answer without a status is logged: %s", r.Log)
	}
}
