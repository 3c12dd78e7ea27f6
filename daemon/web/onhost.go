package web

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"pressbox/daemon/limits"
)

// OnHost reports whether a request was certainly sent by a program on this host, such as the
// browser of its wall display: on a connection from this host, without a header that proxies add, trusted or not, and
// to a name that no other host has, so that a page of another host cannot read the response.
func (*Server) OnHost(r *http.Request) bool {
	for name := range r.Header {
		if name == "Forwarded" || name == "Via" || name == "X-Real-Ip" || strings.HasPrefix(name, "X-Forwarded-") {
			return false
		}
	}
	conn, ok := r.Context().Value(pendingConnKey{}).(net.Conn)
	return ok && limits.OnHost(conn) && NamesLoopback(r.Host)
}

// NamesLoopback reports whether a Host header is localhost or a loopback address.
func NamesLoopback(header string) bool {
	host, ok := hostOf(header)
	a, err := netip.ParseAddr(host)
	return ok && (host == "localhost" || err == nil && a.IsLoopback())
}
