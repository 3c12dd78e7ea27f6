package web

import (
	"net/http"
	"slices"
	"strings"
)

// HTTPS reports whether the browser reached us by https. TLS usually ends at a
// trusted proxy, whose X-Forwarded-Proto decides then.
func (s *Server) HTTPS(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	forwarded := r.Header.Values("X-Forwarded-Proto")
	return s.proxies.trust(remoteAddr(r.RemoteAddr)) && len(forwarded) > 0 && strings.EqualFold(forwarded[len(forwarded)-1], "https")
}

// Origin returns the origin that the browser used. Its host has passed the
// guard.
func (s *Server) Origin(r *http.Request) string {
	if s.HTTPS(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// OwnOrigin reports whether a page that opens a websocket is ours or one of a
// trusted origin. The guard of other requests does not see websockets: they
// begin as a GET, and the browser sends our cookies for a page of another port
// on this host. A program that is no browser sends no Origin.
func (s *Server) OwnOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	return len(origins) == 1 && (origins[0] == s.Origin(r) || slices.Contains(s.cfg.TrustedOrigins, origins[0]))
}

// allowFrontend lets pages of the Frontend's origin, and of no other, read
// answers and send cookies (CORS).
func (s *Server) allowFrontend(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Frontend == "" {
		return
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	if r.Header.Get("Origin") != s.cfg.Frontend {
		return
	}
	h.Set("Access-Control-Allow-Origin", s.cfg.Frontend)
	h.Set("Access-Control-Allow-Credentials", "true")
	h.Set("Access-Control-Expose-Headers", "Location, Retry-After, X-Request-Id")
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, Last-Event-ID")
		h.Set("Access-Control-Max-Age", "600")
	}
}
