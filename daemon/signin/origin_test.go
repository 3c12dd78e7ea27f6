package signin

import (
	"net/netip"
	"testing"

	"pressbox/daemon/settings"
)

// An invite's link has PUBLIC_URL or an address that other hosts reach.
func TestOrigin_settings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		public, host string
		port         int
		outbound     string // "" means that the host has no route
		want         string
	}{
		{"https://pressbox.example", "127.0.0.1", 8888, "", "https://pressbox.example"},
		{"", "0.0.0.0", 8888, "192.168.1.20", "http://192.168.1.20:8888"},
		{"", "::", 8888, "192.168.1.20", "http://192.168.1.20:8888"},
		{"", "0.0.0.0", 8888, "", ""},
		{"", "192.168.1.30", 80, "192.168.1.20", "http://192.168.1.30:80"},
		{"", "fd00::1", 8888, "", "http://[fd00::1]:8888"},
		{"", "127.0.0.1", 8888, "192.168.1.20", ""},
		{"", "0.0.0.0", 0, "192.168.1.20", ""},
		{"", "localhost", 8888, "192.168.1.20", ""},
	} {
		outbound := func() (a netip.Addr) { a, _ = netip.ParseAddr(tt.outbound); return a }
		got := origin(settings.Config{PublicURL: tt.public, Host: tt.host, Port: tt.port}, outbound)
		if got != tt.want {
			t.Errorf("PUBLIC_URL=%s HOST=%s PORT=%d, address %q: %q, want %q",
				tt.public, tt.host, tt.port, tt.outbound, got, tt.want)
		}
	}
}
