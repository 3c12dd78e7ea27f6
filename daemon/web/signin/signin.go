// Package signin serves sign-in over HTTP: the redirects to a provider and back,
// the forms of local accounts, sessions and their cookies, and the
// administration of accounts and API tokens.
package signin

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"slices"

	"pressbox/auth"
	"pressbox/auth/session"
	"pressbox/daemon/web"
)

// A Config configures sign-in.
type Config struct {
	Sessions *session.Sessions
	SignIn   *session.SignIn
	// Local signs in local accounts and Passphrases changes their passphrases;
	// both are nil if an external provider is configured.
	Local       LocalAccounts
	Passphrases Passphrases
	AdminCodes  AdminCodes
	// Forget deletes what else is stored of an account that is deleted; nil: nothing is.
	Forget func(ctx context.Context, account string) error
	// Seat gives a guest the open seat of the game [auth.Account.Guest]; nil: there are no guests.
	Seat func(ctx context.Context, guest auth.Account) error

	// Redirect is the redirect URI (OAUTH_SERVER_REDIRECT_URI); "" means
	// CallbackPath at the origin of the request.
	Redirect string
	// Frontend is the origin of the web client (FRONTEND_URL); "" means the
	// server's own page.
	Frontend string
	// PublicOrigin returns the URL at which other hosts reach the server; nil, or "", means unknown.
	PublicOrigin func() string
	// Secure sets the cookies' attribute Secure and their prefix __Secure-.
	Secure bool
}

// LocalAccounts is the provider of local accounts.
type LocalAccounts interface {
	ParseRequest(q url.Values, redirect string) (auth.LocalRequest, error)
	SignIn(ctx context.Context, r auth.LocalRequest, c auth.Credentials) (to string, err error)
	Create(ctx context.Context, r auth.LocalRequest, c auth.Credentials) (to string, err error)
	Deny(r auth.LocalRequest) (to string)
	SignUp() auth.SignUpPolicy
}

// Passphrases checks and changes the passphrases of local accounts, and makes guests such ones.
type Passphrases interface {
	CheckPassphrase(ctx context.Context, c auth.Credentials) error
	ChangePassphrase(ctx context.Context, c auth.Credentials, passphrase string) error
	ResetPassphrase(ctx context.Context, name string) (passphrase string, err error)
	Keep(ctx context.Context, guest string, c auth.Credentials, device auth.Device, replaces []auth.Token) (
		auth.Result, error)
}

// AdminCodes sets and redeems the code that makes one account an administrator's.
type AdminCodes interface {
	Set(ctx context.Context, code string) error
	Redeem(ctx context.Context, account string, from netip.Addr, code string) error
}

// CallbackPath is the path of the redirect URI.
const CallbackPath = "/api/auth/idp/callback/server"

// errorPath is the web client's page for a failed sign-in.
const errorPath = "/auth/callback"

// An Authenticator identifies the senders of requests by their cookies and
// their Authorization headers. It is [web.Tokens] and [web.Sessions].
type Authenticator struct {
	Config
	cookies cookies
}

// New returns an authenticator.
func New(cfg Config) *Authenticator {
	return &Authenticator{Config: cfg, cookies: cookies{cfg.Secure}}
}

// Authenticate returns the caller of a request. frameToken is the token in the
// first frame of a websocket; "" means none.
func (a *Authenticator) Authenticate(r *http.Request, frameToken string) (auth.Caller, error) {
	return a.Sessions.Authenticate(r.Context(), auth.RequestCredentials{
		Cookies:       a.cookies.values(r, accessCookie),
		Authorization: r.Header.Values("Authorization"),
		FrameToken:    frameToken,
		From:          web.ClientAddr(r),
	})
}

// SignedIn returns the caller of a request with a session; it refuses API
// tokens.
func (a *Authenticator) SignedIn(r *http.Request) (auth.Caller, error) {
	caller, err := a.Authenticate(r, "")
	if err == nil && !caller.SignedIn() {
		err = auth.ErrInvalidToken
	}
	return caller, err
}

// PageAccount returns the account that the browser of a request to the page is signed in
// with, as GET /api/auth/me responds it; "" if it has none, or has to renew its session. The
// browser sends the page no token: what names the session proves nothing.
func (a *Authenticator) PageAccount(r *http.Request) string {
	session := a.cookies.session(r)
	if session.ID == "" {
		return ""
	}
	account, err := a.Sessions.AccountOf(r.Context(), session)
	if err != nil {
		return ""
	}
	text, _ := json.Marshal(newAccountReply(account)) // without it the page sends a request
	return string(text)
}

// NotifyToken returns the record of an API token that is valid for the address.
func (a *Authenticator) NotifyToken(ctx context.Context, token string, from netip.Addr) (auth.APIToken, error) {
	caller, err := a.Sessions.Authenticate(ctx, auth.RequestCredentials{
		Authorization: []string{"Bearer " + token}, From: from,
	})
	if err == nil && caller.SignedIn() {
		err = auth.ErrInvalidToken // sessions are valid only below /api
	}
	return caller.APIToken, err
}

// handlers answer the routes of this package.
type handlers struct {
	*web.Server
	*Authenticator
	pages *pages
}

// newHandlers returns the handlers; a is nil if sign-in is not configured.
func newHandlers(s *web.Server, a *Authenticator) *handlers {
	frontend := ""
	if a != nil {
		frontend = a.Frontend
	}
	return &handlers{s, a, newPages(s, frontend)}
}

// Routes returns the routes of sign-in and sessions. They answer 404 if a is
// nil.
func Routes(s *web.Server, a *Authenticator) []web.Route {
	h := newHandlers(s, a)
	return h.whenConfigured(slices.Concat(h.flowRoutes(), h.sessionRoutes(), h.guestRoutes(), h.localRoutes()))
}

// AdminRoutes returns the routes for accounts, invites and API tokens: on the administrator's
// socket, and for administrators' accounts. They answer 404 if a is nil.
func AdminRoutes(s *web.Server, a *Authenticator) []web.Route {
	h := newHandlers(s, a)
	routes := h.accountRoutes()
	return h.whenConfigured(slices.Concat(routes, web.UnderAPIAdmin(web.RecentAdministrator, routes),
		[]web.Route{h.adminCodeRoute()}))
}

// whenConfigured adds to the routes the header Vary and what they have in common, that the store's share may be full,
// and disables them if sign-in is not configured.
func (h *handlers) whenConfigured(routes []web.Route) []web.Route {
	for i, rt := range routes {
		if rt.Method != http.MethodGet {
			routes[i].Operation.Problems = append(slices.Clip(rt.Operation.Problems), http.StatusServiceUnavailable)
		}
		routes[i].Handle = func(w http.ResponseWriter, r *http.Request) error {
			w.Header().Set("Vary", "Cookie, Authorization, Origin")
			return rt.Handle(w, r)
		}
	}
	return web.When(routes, func() bool { return h.Authenticator != nil })
}

// redirectURI returns the redirect URI for a sign-in that r starts.
func (h *handlers) redirectURI(r *http.Request) string {
	if h.Redirect != "" {
		return h.Redirect
	}
	return h.Origin(r) + CallbackPath
}
