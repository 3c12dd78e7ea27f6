package web

import (
	"net/http"
	"slices"
	"strings"

	"pressbox/auth/netblock"
)

// HTTPS reports whether the browser used https: by TLS on this connection, or
// by X-Forwarded-Proto of a trusted proxy.
func (s *Server) HTTPS(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	forwarded := r.Header.Values("X-Forwarded-Proto")
	return s.requests.proxies.trust(netblock.RemoteAddr(r.RemoteAddr)) && len(forwarded) > 0 &&
		strings.EqualFold(forwarded[len(forwarded)-1], "https")
}

// Origin returns the origin that the browser used. Its host has passed the
// guard.
func (s *Server) Origin(r *http.Request) string {
	if s.HTTPS(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// OwnOrigin reports whether a websocket handshake comes from a page of this
// server or of a trusted origin. [http.CrossOriginProtection] does not check
// handshakes, as they are GETs, and browsers send this host's cookies for pages
// of its other ports too. Clients other than browsers send no Origin.
func (s *Server) OwnOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	return len(origins) == 1 && (origins[0] == s.Origin(r) || s.TrustsOrigin(origins[0]))
}

// TrustsOrigin reports whether origin is one of the configured TrustedOrigins.
func (s *Server) TrustsOrigin(origin string) bool {
	return slices.Contains(s.cfg.TrustedOrigins, origin)
}

// setCORS sets the headers that let pages of the origin frontend, and no other,
// read responses and send cookies.
func setCORS(h http.Header, r *http.Request, frontend string) {
	h.Add("Vary", "Origin")
	if r.Header.Get("Origin") != frontend {
		return
	}
	h.Set("Access-Control-Allow-Origin", frontend)
	h.Set("Access-Control-Allow-Credentials", "true")
	h.Set("Access-Control-Expose-Headers", "Location, Retry-After, X-Request-Id")
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, Last-Event-ID")
		h.Set("Access-Control-Max-Age", "600")
	}
}
