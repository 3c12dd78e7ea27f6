package signin

import (
	"net/http"
	"strings"
	"time"

	"pressbox/auth"
)

// The cookies, without the prefix that they have with Secure on.
const (
	accessCookie  = "pressbox_access"
	refreshCookie = "pressbox_refresh"
	flowCookie    = "xo_" // and the first characters of the flow's state
	securePrefix  = "__Secure-"
)

// Where each cookie is sent.
const (
	accessPath  = "/api"
	refreshPath = "/api/auth"
	flowPath    = "/api/auth/idp"
)

// maxFlows is how many sign-ins one browser may have under way, in tabs.
const maxFlows = 5

// A cookies names and writes our cookies. None has a Domain, so that no other host
// gets it, and none an Expires, so that no clock matters.
type cookies struct{ secure bool }

// name is a cookie's full name. With Secure on, only the prefixed name is
// believed: a page without TLS on this host cannot set it.
func (j cookies) name(base string) string {
	if j.secure {
		return securePrefix + base
	}
	return base
}

// values are all values of a cookie's name, in the order in which they came.
func (j cookies) values(r *http.Request, base string) []string {
	var values []string
	for _, c := range r.CookiesNamed(j.name(base)) {
		values = append(values, c.Value)
	}
	return values
}

// set writes a cookie for a time; 0 deletes it.
func (j cookies) set(w http.ResponseWriter, base, path, value string, age time.Duration) {
	seconds := int(age.Seconds())
	if seconds == 0 {
		seconds = -1 // net/http writes this as Max-Age=0
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure is the operator's choice: COOKIE_SECURE
		Name: j.name(base), Value: value, Path: path, MaxAge: seconds,
		HttpOnly: true, Secure: j.secure, SameSite: http.SameSiteLaxMode,
	})
}

// setSession hands a session to the browser.
func (j cookies) setSession(w http.ResponseWriter, p auth.TokenPair) {
	j.set(w, accessCookie, accessPath, p.Access.Reveal(), auth.AccessTTL)
	j.set(w, refreshCookie, refreshPath, p.Refresh.Reveal(), auth.RefreshTTL)
}

// clearSession takes it back.
func (j cookies) clearSession(w http.ResponseWriter) {
	j.set(w, accessCookie, accessPath, "", 0)
	j.set(w, refreshCookie, refreshPath, "", 0)
}

// tokens are the tokens of both cookies that a request carries.
func (j cookies) tokens(r *http.Request) []auth.Token {
	var tokens []auth.Token
	for _, base := range []string{accessCookie, refreshCookie} {
		for _, value := range j.values(r, base) {
			if t, ok := auth.ParseToken(value); ok {
				tokens = append(tokens, t)
			}
		}
	}
	return tokens
}

// flow is the name of the cookie that binds a flow to the browser: one each, so
// that several tabs do not disturb one another.
func flow(state string) string { return flowCookie + state[:min(len(state), 8)] }

// setFlow writes a flow's cookie, and deletes the oldest of too many: browsers
// send the older ones first (RFC 6265 §5.4).
func (j cookies) setFlow(w http.ResponseWriter, r *http.Request, b auth.StartedFlow) {
	var old []string
	for _, c := range r.Cookies() {
		if base := strings.TrimPrefix(c.Name, j.name("")); strings.HasPrefix(base, flowCookie) && base != flow(b.State) {
			old = append(old, base)
		}
	}
	for len(old) >= maxFlows {
		j.set(w, old[0], flowPath, "", 0)
		old = old[1:]
	}
	j.set(w, flow(b.State), flowPath, b.Binding, auth.FlowTTL)
}

// binding is the cookie of a flow; "" when there is none, or more than one.
func (j cookies) binding(r *http.Request, state string) string {
	if values := j.values(r, flow(state)); len(values) == 1 {
		return values[0]
	}
	return ""
}
