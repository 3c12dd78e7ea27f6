package signin

import (
	"net"
	"net/netip"
	"strconv"

	"pressbox/daemon/settings"
)

// origin returns the URL at which other hosts reach the server: PUBLIC_URL, or HOST and PORT.
// outbound returns the address that stands for all addresses. "" means unknown.
func origin(cfg settings.Config, outbound func() netip.Addr) string {
	if cfg.PublicURL != "" {
		return cfg.PublicURL
	}
	host, err := netip.ParseAddr(cfg.Host)
	if err == nil && host.IsUnspecified() {
		host = outbound()
	}
	if !host.IsValid() || host.IsLoopback() || cfg.Port == 0 {
		return ""
	}
	return "http://" + net.JoinHostPort(host.String(), strconv.Itoa(cfg.Port))
}

// outboundAddr returns the address from which this host sends to others, the zero address if
// it has none. Nothing is sent: 192.0.2.1 (RFC 5737) is a destination for the route only.
func outboundAddr() netip.Addr {
	conn, err := net.Dial("udp4", "192.0.2.1:9") //nolint:noctx // it does not wait
	if err != nil {
		return netip.Addr{}
	}
	defer func() { _ = conn.Close() }() // nothing was sent
	from, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return from.Addr()
}
