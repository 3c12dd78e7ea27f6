package web

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"pressbox/auth"
	"pressbox/auth/netblock"
)

// Access selects the clients that may create and watch announcements
// (NOTIFY_ACCESS).
type Access string

// The values of NOTIFY_ACCESS. A valid token is accepted in each but Off.
const (
	LAN   Access = "lan"   // clients with a private, link-local or loopback address
	Token Access = "token" // only clients with a token, or the session of an account that is not of open sign-up
	Open  Access = "open"  // every client
	Off   Access = "off"   // no client
)

// Control selects the clients that may change the volume, quiet, schedules and
// favorites (CONTROL_ACCESS), of those that may announce.
type Control string

// The values of CONTROL_ACCESS.
const (
	ControlAdmin Control = "admin" // administrators: accounts with [auth.Account.Admin], API tokens with Control
	ControlLAN   Control = "lan"   // every client that may announce
)

// Tokens checks the API tokens that clients send as Authorization: Bearer.
type Tokens interface {
	// NotifyToken returns the record of a token that permits announcements from
	// that address, otherwise an error. from is invalid if the client's address is
	// unknown.
	NotifyToken(ctx context.Context, token string, from netip.Addr) (auth.APIToken, error)
}

// Sessions identifies signed-in clients.
type Sessions interface {
	// SignedIn returns the account and session of a request, from its
	// Authorization header or, without one, its cookie. The error is
	// [auth.ErrNoCredentials] if it has neither.
	SignedIn(r *http.Request) (auth.Caller, error)
}

// A Class is the rule by which clients may use a route.
type Class int

// The classes of routes.
const (
	Public              Class = iota // every client
	NotifyAccess                     // clients that NOTIFY_ACCESS permits, and those of the administrator's socket
	NotifyOrSession                  // also, unless NOTIFY_ACCESS is off, clients with a session
	ControlAccess                    // as NotifyAccess, if CONTROL_ACCESS permits them
	ControlOrSession                 // as NotifyOrSession, if CONTROL_ACCESS permits them
	SessionRequired                  // clients with a session
	SessionOrVisitor                 // clients with a session, and those without one that NOTIFY_ACCESS permits
	Administrator                    // sessions of administrators' accounts, from local addresses or over https
	RecentAdministrator              // as Administrator, if the user was authenticated within [auth.ReauthAge]
	AdminSocket                      // clients of the administrator's socket; see [requireAdministrator]
	MetricsAccess                    // clients of the administrator's socket, and every client with METRICS=on
	TokenRequired                    // clients with an API token, unless NOTIFY_ACCESS is off: a GET that speaks
)

// Authorize returns nil while the request may use its route. Streams call it
// again while they last.
func (s *Server) Authorize(r *http.Request) error {
	return s.access.authorize(r, infoOf(r.Context()).class)
}

// AuthorizeVisitor returns nil while NOTIFY_ACCESS permits the client of a request without
// a session.
func (s *Server) AuthorizeVisitor(r *http.Request) error { return s.access.authorizeNotify(r, false) }

// MayControl reports whether CONTROL_ACCESS permits the client of an authorized request to change what everybody
// hears.
func (s *Server) MayControl(r *http.Request) bool {
	class := ControlAccess
	if infoOf(r.Context()).class == NotifyOrSession {
		class = ControlOrSession
	}
	return s.access.authorize(r, class) == nil
}

// accessRules decides which requests may use a route.
type accessRules struct {
	notify   Access
	control  Control
	tokens   Tokens   // nil: every API token is invalid
	sessions Sessions // nil: every request is without a session
}

// authorize returns nil if the request may use a route of class c.
func (a accessRules) authorize(r *http.Request, c Class) error {
	if infoOf(r.Context()).local {
		return nil
	}
	switch c {
	case Public, AdminSocket, MetricsAccess:
		return nil
	case SessionRequired:
		return a.requireSession(r)
	case SessionOrVisitor:
		return a.authorizeVisitor(r)
	case Administrator, RecentAdministrator:
		return a.authorizeAdministrator(r, c == RecentAdministrator)
	case ControlAccess, ControlOrSession:
		return a.authorizeControl(r, c == ControlOrSession)
	case TokenRequired:
		return a.requireToken(r)
	default:
		return a.authorizeNotify(r, c == NotifyOrSession)
	}
}

// authorizeVisitor returns nil if the request has a session, or if it has none and
// NOTIFY_ACCESS permits it. A client that sends the header Pressbox-Session: required has
// signed in, and is refused without a session instead of taken for a visitor; a guest is one wherever the session does
// not count.
func (a accessRules) authorizeVisitor(r *http.Request) error {
	err := a.requireSession(r)
	if err == nil || !errors.Is(err, errGuest) && r.Header.Get("Pressbox-Session") == "required" {
		return err
	}
	return a.authorizeNotify(r, false)
}

// authorizeControl returns nil if the request may announce and CONTROL_ACCESS
// permits it.
func (a accessRules) authorizeControl(r *http.Request, orSession bool) error {
	if err := a.authorizeNotify(r, orSession); err != nil || a.control == ControlLAN {
		return err
	}
	info := infoOf(r.Context())
	identified := info.caller.APIToken.ID != "" || orSession && a.requireSession(r) == nil
	switch {
	case info.caller.APIToken.Control, info.caller.Account.Admin:
		return nil
	case identified:
		return errNotPermitted
	default:
		return errControl
	}
}

// authorizeNotify returns nil if NOTIFY_ACCESS permits the request, or, if it is
// not off and orSession is true, if the request has a session.
func (a accessRules) authorizeNotify(r *http.Request, orSession bool) error {
	if a.notify == Off {
		return errAnnouncementsOff
	}
	client, refused := infoOf(r.Context()).client, errToken
	signedIn := func() bool { //nolint:contextcheck // the request's
		if !orSession || a.requireSession(r) != nil {
			return false
		}
		account := infoOf(r.Context()).caller.Account
		if a.notify == Token && account.Open && !account.Admin {
			refused = errNotInvited
			return false
		}
		return true
	}
	byAddress := a.notify == Open || a.notify == LAN && netblock.IsLocal(client)
	if token, sent := bearer(r.Header); sent { // then the address does not count, but for OpenAI's clients
		if a.validToken(r, token) || signedIn() || byAddress && mayInventToken(r) {
			return nil
		}
		return refused
	}
	others := otherTokens(r)
	if a.anyValidToken(r, others) || byAddress || signedIn() {
		return nil
	}
	switch {
	case len(others) > 0, errors.Is(refused, errNotInvited):
		return refused
	case a.notify == Token:
		return errTokenOnly
	}
	return errAccess
}

// mayInventToken reports whether a request is to the OpenAI API, whose clients send a key also where none is needed.
func mayInventToken(r *http.Request) bool {
	return strings.HasPrefix(infoOf(r.Context()).route, "/v1/")
}

// requireToken returns nil if the request has a valid API token and NOTIFY_ACCESS is not
// off.
func (a accessRules) requireToken(r *http.Request) error {
	if a.notify == Off {
		return errAnnouncementsOff
	}
	tokens := otherTokens(r)
	if token, sent := bearer(r.Header); sent { // it is judged alone
		tokens = []string{token}
	}
	switch {
	case a.anyValidToken(r, tokens):
		return nil
	case len(tokens) > 0:
		return errToken
	}
	return errTokenOnly
}

// requireSession returns nil if the request has a session, and stores its
// caller in the request's info.
func (a accessRules) requireSession(r *http.Request) error {
	if a.sessions == nil {
		return errNoSession
	}
	caller, err := a.sessions.SignedIn(r)
	if errors.Is(err, auth.ErrNoCredentials) {
		return errNoSession
	}
	if err == nil && !mayAsGuest(r, caller.Account) {
		return errGuest
	}
	if err == nil {
		infoOf(r.Context()).caller = caller
	}
	return err
}

// mayAsGuest reports whether an account, if it is a guest's, may send a request: about the one game and about itself.
func mayAsGuest(r *http.Request, a auth.Account) bool {
	switch route := infoOf(r.Context()).route; {
	case a.Guest == "":
		return true
	case route == "/api/games/:id/rematch":
		return false // another game
	case strings.HasPrefix(route, "/api/games/:id"):
		return Param(r, "id") == a.Guest
	case route == "/api/players/:id":
		return r.URL.Query().Get("game") == a.Guest
	default:
		return route == "/api/auth/me" && r.Method == http.MethodGet
	}
}

// validToken reports whether an API token permits announcements by the request,
// and then stores its record in the request's info.
func (a accessRules) validToken(r *http.Request, token string) bool {
	if token == "" || a.tokens == nil {
		return false
	}
	info := infoOf(r.Context())
	record, err := a.tokens.NotifyToken(r.Context(), token, info.client)
	if err == nil {
		info.caller, info.token = auth.Caller{APIToken: record}, token
	}
	return err == nil
}

// anyValidToken is validToken for the first valid one of several.
func (a accessRules) anyValidToken(r *http.Request, tokens []string) bool {
	return slices.ContainsFunc(tokens, func(token string) bool { return a.validToken(r, token) })
}

// challenge returns the WWW-Authenticate header for err (RFC 6750 §3).
func challenge(err error) string {
	if errors.Is(err, errToken) || errors.Is(err, auth.ErrInvalidToken) {
		return `Bearer realm="pressbox", error="invalid_token"`
	}
	return `Bearer realm="pressbox"`
}

// OnAdminSocket reports whether a request came by the administrator's socket.
func OnAdminSocket(r *http.Request) bool { return infoOf(r.Context()).local }
