package web_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"testing"

	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// A probe shows whether the proxy before the server sends the client's address.
func TestProbe_arrival(t *testing.T) {
	t.Parallel()
	loopback := netip.MustParseAddr("127.0.0.1")
	r := webtest.NewRig(t, func(c *site.Config) { c.TrustedProxies = []netip.Prefix{netip.PrefixFrom(loopback, 32)} })
	base := r.ListenTCP(t)
	target := check.Must(url.Parse(base))(t)
	proxy := func(forward bool) string {
		s := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			if forward {
				p.SetXForwarded()
			}
		}})
		t.Cleanup(s.Close)
		return s.URL
	}
	for name, tt := range map[string]struct {
		origin string
		want   web.Arrival
	}{
		"direct":         {base, web.Arrival{Peer: loopback, Direct: true, Trusted: true}},
		"silent proxy":   {proxy(false), web.Arrival{Peer: loopback, Trusted: true}},
		"complete proxy": {proxy(true), web.Arrival{Peer: loopback, Forwarded: true, Trusted: true}},
	} {
		transport := &http.Transport{}
		if got, err := r.Probe(t.Context(), &http.Client{Transport: transport}, tt.origin); err != nil ||
			got != tt.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, tt.want)
		}
		transport.CloseIdleConnections()
	}
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	if _, err := r.Probe(t.Context(), other.Client(), other.URL); !errors.Is(err, web.ErrNotThisServer) {
		t.Errorf("another server: %v, want %v", err, web.ErrNotThisServer)
	}
}
