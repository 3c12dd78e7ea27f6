package announcements_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
)

// On the administrator's socket, NOTIFY_ACCESS and NOTIFY_RATE, which are for the network, do not apply. The
// page and its API are not served there.
func TestAdminSocket_announces(t *testing.T) {
	t.Parallel()
	for access, network := range map[web.Access]int{web.LAN: 202, web.Token: 401, web.Off: 403} {
		r := webtest.NewRig(t, func(c *site.Config) { c.Access, c.NotifyRate = access, 2 })
		status := func(h http.Handler, path, client string) int {
			w := httptest.NewRecorder()
			const body = `{"message": "hello"}`
			h.ServeHTTP(w, webtest.NewRequest("POST", path, body, "Content-Type", webtest.AsJSON, "Client", client))
			return w.Code
		}
		for _, want := range []int{network, 429} { // the rate permits one
			if got := status(r.Handler(), "/notify", "192.168.1.20:40000"); got != want {
				t.Errorf("NOTIFY_ACCESS=%s: on the network %d, want %d", access, got, want)
			}
			if got := status(r.AdminHandler(), "/notify", "@"); got != 202 {
				t.Errorf("NOTIFY_ACCESS=%s: on the socket %d, want 202", access, got)
			}
		}
		if got := status(r.AdminHandler(), "/api/notify", "@"); got != 404 {
			t.Errorf("the page's API on the socket: %d, want 404", got)
		}
	}
}
