package web

import (
	"net/http"
	"strings"

	"pressbox/auth/netblock"
)

// OnHost reports whether a request was certainly sent by a program on this host, such as the
// browser of its wall display: from a loopback address or [netblock.Display], and without a
// header that proxies add, trusted or not.
func (*Server) OnHost(r *http.Request) bool {
	for name := range r.Header {
		if name == "Forwarded" || name == "Via" || name == "X-Real-Ip" || strings.HasPrefix(name, "X-Forwarded-") {
			return false
		}
	}
	peer := netblock.RemoteAddr(r.RemoteAddr)
	return peer.IsLoopback() || peer == netblock.Display()
}
