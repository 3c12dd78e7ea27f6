package signin_test

import (
	"fmt"
	"strings"
	"testing"

	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// A token is valid from its network in any notation; invalid networks and names are
// refused.
func TestCreateToken_network(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t, func(c *site.Config) { c.Access = web.Token })
	for network, want := range map[string]string{
		"192.168.1.7/24":         "192.168.1.0/24",
		"192.168.1.20":           "192.168.1.20/32",
		"::ffff:192.168.1.0/120": "192.168.1.0/24",
		"::ffff:192.168.1.20":    "192.168.1.20/32",
		"fd00::1/64":             "fd00::/64",
		"fd00::1":                "fd00::1/128",
	} {
		body := fmt.Sprintf(`{"name": "x", "network": %q}`, network)
		created := h.Administer(t, "POST", "/admin/tokens", body).Want(201)
		check.Equal(t, created.Field("network"), want, "network %s", network)
		status := map[bool]int{true: 200, false: 401}[strings.HasPrefix(want, "192")]
		h.Do(t, "GET", "/notify", "", webtest.Bearer(created.Field("token"))...).Want(status)
	}
	for body, want := range map[string]string{
		`{}`:                            "/name required",
		`{"name": "x", "scope": "all"}`: "/scope unknown_field",
		`{"name": ""}`:                  "/name too_short",
		`{"name": "` + strings.Repeat("ä", 101) + `"}`: "/name too_long",
		`{"name": "x", "network": "here"}`:             "/network invalid",
		`{"name": "x", "network": "10.0.0.0/33"}`:      "/network invalid",
		`{"name": "x", "network": "::ffff:0:0/95"}`:    "/network invalid",
		`{"name": "x", "ttl": -1}`:                     "/ttl out_of_range",
	} {
		w := h.Administer(t, "POST", "/admin/tokens", body).Want(422)
		check.Equal(t, w.Violations(), want, "%.60s", body)
	}
}
