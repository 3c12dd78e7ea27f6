package signin

import (
	"net/http"
	"strings"
	"time"

	"pressbox/auth"
)

// Cookie names, without the prefix __Secure-.
const (
	accessCookie  = "pressbox_access"
	refreshCookie = "pressbox_refresh"
	sessionCookie = "pressbox_session"
	flowCookie    = "xo_" // followed by the first 8 characters of the state
	securePrefix  = "__Secure-"
)

// Cookie paths.
const (
	accessPath  = "/api"
	refreshPath = "/api/auth"
	sessionPath = "/"
	flowPath    = "/api/auth/idp"
)

// maxFlows is the number of sign-ins that one browser may have in progress.
const maxFlows = 5

// cookies reads and writes the cookies. None has the attribute Domain, so that
// no other host receives it, or Expires, so that a wrong clock does not matter.
type cookies struct{ secure bool }

// name returns a cookie's full name. With secure, only the prefixed name is
// accepted, because a page without TLS on this host cannot set it.
func (c cookies) name(base string) string {
	if c.secure {
		return securePrefix + base
	}
	return base
}

// values returns all values of a cookie, in the order of the request.
func (c cookies) values(r *http.Request, base string) []string {
	var values []string
	for _, cookie := range r.CookiesNamed(c.name(base)) {
		values = append(values, cookie.Value)
	}
	return values
}

// set sets a cookie with a maximum age; 0 deletes the cookie.
func (c cookies) set(w http.ResponseWriter, base, path, value string, age time.Duration) {
	seconds := int(age.Seconds())
	if seconds == 0 {
		seconds = -1 // net/http writes Max-Age=0
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // the setting COOKIE_SECURE decides
		Name: c.name(base), Value: value, Path: path, MaxAge: seconds,
		HttpOnly: true, Secure: c.secure, SameSite: http.SameSiteLaxMode,
	})
}

// setSession sets the cookies of a session. The one with its id is for the page's document,
// which thereby has what GET /api/auth/me responds, without another request. It contains no
// token and permits nothing.
func (c cookies) setSession(w http.ResponseWriter, r auth.Result) {
	c.set(w, accessCookie, accessPath, r.Access.Reveal(), auth.AccessTTL)
	c.set(w, refreshCookie, refreshPath, r.Refresh.Reveal(), auth.RefreshTTL)
	c.set(w, sessionCookie, sessionPath, r.Session.Account+"."+r.Session.ID, auth.AccessTTL)
}

// clearSession deletes the cookies of a session.
func (c cookies) clearSession(w http.ResponseWriter) {
	c.set(w, accessCookie, accessPath, "", 0)
	c.set(w, refreshCookie, refreshPath, "", 0)
	c.set(w, sessionCookie, sessionPath, "", 0)
}

// session returns the session that a request's cookie names; zero if there is none.
func (c cookies) session(r *http.Request) auth.Session {
	values := c.values(r, sessionCookie)
	if len(values) == 0 {
		return auth.Session{}
	}
	account, id, _ := strings.Cut(values[0], ".")
	return auth.Session{Account: account, ID: id}
}

// tokens returns the access and refresh tokens in the cookies of a request.
func (c cookies) tokens(r *http.Request) []auth.Token {
	var tokens []auth.Token
	for _, base := range []string{accessCookie, refreshCookie} {
		for _, value := range c.values(r, base) {
			if t, ok := auth.ParseToken(value); ok {
				tokens = append(tokens, t)
			}
		}
	}
	return tokens
}

// flowName returns the name of the cookie that binds a flow to the browser. Each
// flow has its own, so that sign-ins in several tabs are independent.
func flowName(state string) string { return flowCookie + state[:min(len(state), 8)] }

// setFlow sets the cookie of a flow and deletes the oldest ones above maxFlows;
// browsers send older cookies first (RFC 6265 section 5.4).
func (c cookies) setFlow(w http.ResponseWriter, r *http.Request, b auth.StartedFlow) {
	var old []string
	for _, cookie := range r.Cookies() {
		if base := strings.TrimPrefix(cookie.Name, c.name("")); strings.HasPrefix(base, flowCookie) &&
			base != flowName(b.State) {
			old = append(old, base)
		}
	}
	for len(old) >= maxFlows {
		c.set(w, old[0], flowPath, "", 0)
		old = old[1:]
	}
	c.set(w, flowName(b.State), flowPath, b.Binding, auth.FlowTTL)
}

// binding returns the value of a flow's cookie; "" if there is none or more
// than one.
func (c cookies) binding(r *http.Request, state string) string {
	if values := c.values(r, flowName(state)); len(values) == 1 {
		return values[0]
	}
	return ""
}
