package web

import (
	"context"
	"net/http"
	"net/netip"

	"pressbox/auth"
)

// contentPolicy is the Content-Security-Policy of every response: only the
// server's own files, no inline script or style, no frames. That of the page
// has its one inline script.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// A requestInfo holds what the guards know of a request.
type requestInfo struct {
	id     string      // also the header X-Request-Id of the response
	client netip.Addr  // the zero Addr if unknown
	class  Class       // of the route
	route  string      // its path in the table; "" until the router has found it
	caller auth.Caller // account and session, on routes that require a session
	token  string      // the API token of the caller, if there is one

	queryToken bool   // the route has QueryToken
	ntfy       bool   // the route has Ntfy
	local      bool   // sent on the administrator's socket
	https      bool   // see [Server.HTTPS]
	code       string // of the problem in the response; "" without one
	err        error  // internal error, or why the response is incomplete; nil otherwise
}

type requestInfoKey struct{}

// infoOf returns the info of the request that ctx belongs to.
func infoOf(ctx context.Context) *requestInfo {
	info, ok := ctx.Value(requestInfoKey{}).(*requestInfo)
	if !ok {
		panic("web: the request passed no guard")
	}
	return info
}

// ClientAddr returns the address of a request's client; the zero Addr if it is
// unknown.
func ClientAddr(r *http.Request) netip.Addr { return infoOf(r.Context()).client }

// RequestID returns the id of a request in the log and in its response.
func RequestID(r *http.Request) string { return infoOf(r.Context()).id }

// Caller returns the account and session of a request to a route of class
// [SessionRequired], [Administrator] or [RecentAdministrator]; otherwise a zero one.
func Caller(r *http.Request) auth.Caller { return infoOf(r.Context()).caller }

// APIToken returns the API token of an authorized request; "" if it has none.
func APIToken(r *http.Request) string { return infoOf(r.Context()).token }

// LogError adds err to the log entry of the request: an internal error, or the
// reason why the response is incomplete.
func LogError(r *http.Request, err error) { infoOf(r.Context()).err = err }

// guarded returns a handler that logs every request from the network, sets the
// security headers, and refuses unknown Host names and cross-origin requests
// before routes handles the request.
func (s *Server) guarded(routes http.Handler) http.Handler {
	return s.requests.log(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers send Origin: null with our own forms
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		https := s.HTTPS(r)
		infoOf(r.Context()).https = https
		if https {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if https || NamesLoopback(r.Host) { // elsewhere browsers ignore it, and say so on each page
			h.Set("Cross-Origin-Opener-Policy", "same-origin")
		}
		if s.cfg.Frontend != "" {
			setCORS(h, r, s.cfg.Frontend)
		}
		s.probes.record(r) // before the guards: they depend on the settings that it checks
		if !s.hosts.allowRequest(r) {
			writeProblem(w, r, errHost)
			return
		}
		if err := s.origins.Check(r); err != nil {
			writeProblem(w, r, ErrCrossOrigin)
			return
		}
		routes.ServeHTTP(w, r)
	}))
}
