package web

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"

	"pressbox/auth"
)

// Access says who may announce, and hear about announcements
// (NOTIFY_ACCESS).
type Access string

// The ways of NOTIFY_ACCESS. In each but Off, whoever has a token may.
const (
	LAN   Access = "lan"   // whoever asks from a private, link-local or loopback address
	Token Access = "token" // no one else
	Open  Access = "open"  // everyone
	Off   Access = "off"   // no one at all
)

// Tokens judges the API tokens that clients send as Authorization: Bearer.
type Tokens interface {
	// NotifyToken returns nil when the token is good for announcing from that
	// address. from is not valid when the client's address is not known.
	NotifyToken(ctx context.Context, token string, from netip.Addr) error
}

// Sessions knows who is signed in.
type Sessions interface {
	// SignedIn says whether the request carries a session that is alive, in
	// its Authorization header or, when it has none, in its cookie.
	SignedIn(r *http.Request) bool
}

// A class says who may use a route.
type class int

const (
	everyone  class = iota
	notifiers       // as NOTIFY_ACCESS says
	members         // the same, and whoever is signed in
	people          // whoever is signed in, and no one else
	admins          // whoever may use the administrator's socket; see [Server.administrators]
	scrapers        // the same, and with METRICS=on everyone
)

// admit returns nil when the request may use a route of that class.
func (s *Server) admit(r *http.Request, c class) error {
	if c == everyone || c == admins || c == scrapers {
		return nil
	}
	if c == people {
		return s.knowPerson(r)
	}
	if s.cfg.Access == Off {
		return errOff
	}
	signedIn := func() bool { return c == members && s.cfg.Sessions != nil && s.cfg.Sessions.SignedIn(r) }
	client := visitOf(r.Context()).client
	if token, sent := bearer(r.Header); sent { // judged by it alone
		if s.tokenHolds(r.Context(), token, client) || signedIn() {
			return nil
		}
		return errToken
	}
	if s.cfg.Access == Open || s.cfg.Access == LAN && local(client) || signedIn() {
		return nil
	}
	if s.cfg.Access == Token {
		return errTokenOnly
	}
	return errAccess
}

func (s *Server) tokenHolds(ctx context.Context, token string, client netip.Addr) bool {
	return token != "" && s.cfg.Tokens != nil && s.cfg.Tokens.NotifyToken(ctx, token, client) == nil
}

// bearer returns the token of an Authorization header (RFC 6750 §2.1), and
// whether one of the Bearer scheme was sent at all; a malformed or repeated
// one gives "".
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

// local says whether an address belongs to this machine or its local network:
// loopback, RFC 1918, RFC 4193 or link-local.
func local(a netip.Addr) bool {
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast()
}
