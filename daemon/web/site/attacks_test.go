package site_test

import (
	"net/http"
	"regexp"
	"testing"

	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// What a page of another site has the browser of an administrator send changes nothing, on any route, and a name
// that leads to the host by another's DNS opens none.
func TestRoutes_otherSites(t *testing.T) {
	t.Parallel()
	v := newRouteClient(t)
	parameter, changing := regexp.MustCompile(`\{\w+\}`), 0
	v.Check.Each(func(op webtest.Operation, method, template string) {
		if len(op.Servers) > 0 { // the administrator's socket, which no page reaches
			return
		}
		path := parameter.ReplaceAllString(template, "x")
		code := func(headers ...string) string {
			headers = append(headers, "Content-Type", webtest.AsJSON, "Cookie", "pressbox_access="+v.AccessToken())
			return v.Do(t, method, path, "{}", headers...).Field("code")
		}
		check.Equal(t, code("Host", "evil.example"), "wrong_host", "%s %s at another name", method, template)
		if method == http.MethodGet {
			return
		}
		changing++
		for _, header := range [][2]string{
			{"Sec-Fetch-Site", "cross-site"},
			{"Sec-Fetch-Site", "same-site"},
			{"Origin", "https://evil.example"},
			{"Origin", "null"},
			{"Origin", "http://pressbox.local:3000"},
		} {
			check.Equal(t, code(header[0], header[1]), "cross_origin", "%s %s with %s", method, template, header)
		}
	})
	check.That(t, changing > 60, "%d routes change something", changing)
}
