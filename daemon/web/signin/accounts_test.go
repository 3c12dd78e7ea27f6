package signin_test

import (
	"fmt"
	"strings"
	"testing"

	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
)

// A token is good from the network that was said, however that was written; what is
// none, or no name, is refused with why.
func TestTokensOfNetworks(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t, func(c *site.Config) { c.Access = web.Token })
	for said, want := range map[string]string{
		"192.168.1.7/24":         "192.168.1.0/24",
		"192.168.1.20":           "192.168.1.20/32",
		"::ffff:192.168.1.0/120": "192.168.1.0/24",
		"::ffff:192.168.1.20":    "192.168.1.20/32",
		"fd00::1/64":             "fd00::/64",
		"fd00::1":                "fd00::1/128",
	} {
		made := h.Send(t, h.AdminHandler(), webtest.NewRequest("POST", "/admin/tokens", fmt.Sprintf(`{"name": "x", "network": %q}`, said), "Content-Type", webtest.AsJSON)).Want(201, "")
		if got := made.Field("network"); got != want {
			t.Errorf("network %s is %s, want %s", said, got, want)
		}
		status := map[bool]int{true: 200, false: 401}[strings.HasPrefix(want, "192")]
		h.Do(t, "GET", "/notify", "", webtest.Bearer(made.Field("token"))...).Want(status, "")
	}
	for body, want := range map[string]string{
		`{"name": ""}`: "/name too_short",
		`{"name": "` + strings.Repeat("ä", 101) + `"}`: "/name too_long",
		`{"name": "x", "network": "here"}`:             "/network invalid",
		`{"name": "x", "network": "10.0.0.0/33"}`:      "/network invalid",
		`{"name": "x", "network": "::ffff:0:0/95"}`:    "/network invalid",
		`{"name": "x", "ttl": -1}`:                     "/ttl out_of_range",
	} {
		w := h.Send(t, h.AdminHandler(), webtest.NewRequest("POST", "/admin/tokens", body, "Content-Type", webtest.AsJSON)).Want(422, "")
		if got := w.Violations(); got != want {
			t.Errorf("%.60s: %s, want %s", body, got, want)
		}
	}
}
