package web

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"

	"pressbox/auth"
)

// Access is who may announce, and watch announcements (NOTIFY_ACCESS).
type Access string

// The values of NOTIFY_ACCESS. A valid token is accepted in each but Off.
const (
	LAN   Access = "lan"   // clients with a private, link-local or loopback address
	Token Access = "token" // only clients with a token
	Open  Access = "open"  // every client
	Off   Access = "off"   // no client
)

// Tokens checks the API tokens that clients send as Authorization: Bearer.
type Tokens interface {
	// NotifyToken returns nil when the token permits announcing from that
	// address. from is not valid when the client's address is not known.
	NotifyToken(ctx context.Context, token string, from netip.Addr) error
}

// Sessions identifies signed-in clients.
type Sessions interface {
	// SignedIn returns the account and session of a request: by its
	// Authorization header or, without one, by its cookie. The error is
	// [auth.ErrNoCredentials] when it has neither.
	SignedIn(r *http.Request) (auth.Caller, error)
}

// A Class says who may use a route.
type Class int

// The classes of routes.
const (
	Public          Class = iota // every client
	NotifyAccess                 // by NOTIFY_ACCESS
	NotifyOrSession              // by NOTIFY_ACCESS, or with a session
	SessionRequired              // with a session
	AdminSocket                  // clients of the administrator's socket; see [Server.administrators]
	MetricsAccess                // clients of the administrator's socket, and every client with METRICS=on
)

// Authorize returns nil as long as the request may use its route. Streams call
// it again while they last.
func (s *Server) Authorize(r *http.Request) error {
	return s.authorize(r, infoOf(r.Context()).class)
}

func (s *Server) authorize(r *http.Request, c Class) error {
	switch c {
	case Public, AdminSocket, MetricsAccess:
		return nil
	case SessionRequired:
		return s.requireSession(r)
	}
	if s.cfg.Access == Off {
		return errAnnouncementsOff
	}
	signedIn := func() bool { return c == NotifyOrSession && s.requireSession(r) == nil }
	client := infoOf(r.Context()).client
	if token, sent := bearer(r.Header); sent { // it alone counts
		if s.validToken(r.Context(), token, client) || signedIn() {
			return nil
		}
		return errToken
	}
	if s.cfg.Access == Open || s.cfg.Access == LAN && isLocal(client) || signedIn() {
		return nil
	}
	if s.cfg.Access == Token {
		return errTokenOnly
	}
	return errAccess
}

// requireSession returns nil when the request has a session, and notes its
// caller.
func (s *Server) requireSession(r *http.Request) error {
	if s.cfg.Sessions == nil {
		return errNoSession
	}
	caller, err := s.cfg.Sessions.SignedIn(r)
	if errors.Is(err, auth.ErrNoCredentials) {
		return errNoSession
	}
	if err == nil {
		infoOf(r.Context()).caller = caller
	}
	return err
}

func (s *Server) validToken(ctx context.Context, token string, client netip.Addr) bool {
	return token != "" && s.cfg.Tokens != nil && s.cfg.Tokens.NotifyToken(ctx, token, client) == nil
}

// bearer returns the token of an Authorization header (RFC 6750 §2.1), "" for a
// malformed or repeated one, and whether a header of the Bearer scheme was sent.
func bearer(h http.Header) (token string, sent bool) {
	for _, value := range h.Values("Authorization") {
		scheme, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
		if !strings.EqualFold(scheme, "Bearer") {
			continue
		}
		if sent {
			return "", true
		}
		token, sent = strings.TrimSpace(rest), true
		if strings.ContainsAny(token, " \t,") {
			token = ""
		}
	}
	return token, sent
}

// challenge is the WWW-Authenticate header of a refusal (RFC 6750 §3).
func challenge(err error) string {
	if errors.Is(err, errToken) || errors.Is(err, auth.ErrInvalidToken) {
		return `Bearer realm="pressbox", error="invalid_token"`
	}
	return `Bearer realm="pressbox"`
}

// isLocal reports whether an address belongs to this host or its local network:
// loopback, RFC 1918, RFC 4193 or link-local.
func isLocal(a netip.Addr) bool {
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast()
}
