// Package signin serves signing in: the redirects to a provider and back, the
// forms of the server's own accounts, sessions and their cookies, and the
// administration of accounts and API tokens.
package signin

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"slices"

	"pressbox/auth"
	"pressbox/auth/session"
	"pressbox/daemon/web"
)

// A Config holds what signing in needs.
type Config struct {
	Sessions *session.Sessions
	SignIn   *session.SignIn
	// Local serves the forms of the server's own accounts, and Passphrases
	// changes these; nil when an external provider has the accounts.
	Local       LocalAccounts
	Passphrases Passphrases

	// Redirect is the redirect URI (OAUTH_SERVER_REDIRECT_URI); "" means the
	// one of the origin that the browser used.
	Redirect string
	// Frontend is the origin of the web client (FRONTEND_URL); "" means that
	// the client is the server's own page.
	Frontend string
	// Secure marks cookies for https only, and gives them the prefix __Secure-.
	Secure bool
}

// LocalAccounts is the appliance's own sign-in provider, as its page needs it.
type LocalAccounts interface {
	ParseRequest(q url.Values, redirect string) (auth.LocalRequest, error)
	SignIn(ctx context.Context, r auth.LocalRequest, c auth.Credentials) (to string, err error)
	Create(ctx context.Context, r auth.LocalRequest, c auth.Credentials) (to string, err error)
	Deny(r auth.LocalRequest) (to string)
	SignUp() auth.SignUpPolicy
}

// Passphrases are those of the appliance's own accounts.
type Passphrases interface {
	ChangePassphrase(ctx context.Context, c auth.Credentials, passphrase string) error
	ResetPassphrase(ctx context.Context, name string) (passphrase string, err error)
}

// CallbackPath is where a sign-in provider sends browsers back to.
const CallbackPath = "/api/auth/idp/callback/server"

const (
	errorPath = "/auth/callback" // of the client
)

// startRate is the number of sign-ins that one address may begin each minute,
// and at once.
const startRate = 60

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

// Authenticate returns the caller of a request. frameToken is the token in a
// websocket's first message; "" means none.
func (a *Authenticator) Authenticate(r *http.Request, frameToken string) (auth.Caller, error) {
	return a.Sessions.Authenticate(r.Context(), auth.RequestCredentials{
		Cookies:       a.cookies.values(r, accessCookie),
		Authorization: r.Header.Values("Authorization"),
		FrameToken:    frameToken,
		From:          web.ClientAddr(r),
	})
}

// SignedIn returns the caller of a request, who has a session: an API token
// is refused.
func (a *Authenticator) SignedIn(r *http.Request) (auth.Caller, error) {
	caller, err := a.Authenticate(r, "")
	if err == nil && !caller.SignedIn() {
		err = auth.ErrInvalidToken
	}
	return caller, err
}

// NotifyToken returns nil when the token is an API token that is valid from
// that address.
func (a *Authenticator) NotifyToken(ctx context.Context, token string, from netip.Addr) error {
	caller, err := a.Sessions.Authenticate(ctx, auth.RequestCredentials{Authorization: []string{"Bearer " + token}, From: from})
	if err == nil && caller.SignedIn() {
		err = auth.ErrInvalidToken // sessions are for the routes below /api
	}
	return err
}

// handlers answer the routes of this package.
type handlers struct {
	*web.Server
	*Authenticator
	starts *web.Limiter // sign-ins begun, by address
	pages  *pages
}

// newHandlers returns the handlers; a is nil when signing in is not
// configured.
func newHandlers(s *web.Server, a *Authenticator) *handlers {
	frontend := ""
	if a != nil {
		frontend = a.Frontend
	}
	return &handlers{s, a, web.NewLimiter(startRate, startRate), newPages(frontend)}
}

// Routes returns the routes of signing in and of sessions. They answer 404
// when a is nil.
func Routes(s *web.Server, a *Authenticator) []web.Route {
	h := newHandlers(s, a)
	return h.whenConfigured(slices.Concat(h.flowRoutes(), h.sessionRoutes(), h.localRoutes()))
}

// AdminRoutes returns the administrator's routes of accounts and API tokens.
// They answer 404 when a is nil.
func AdminRoutes(s *web.Server, a *Authenticator) []web.Route {
	h := newHandlers(s, a)
	return h.whenConfigured(h.accountRoutes())
}

func (h *handlers) whenConfigured(routes []web.Route) []web.Route {
	for i, rt := range routes {
		routes[i].Handle = func(w http.ResponseWriter, r *http.Request) error {
			w.Header().Set("Vary", "Cookie, Authorization, Origin")
			return rt.Handle(w, r)
		}
	}
	return web.When(routes, func() bool { return h.Authenticator != nil })
}

// redirectURI is the redirect URI of a sign-in that this request begins.
func (h *handlers) redirectURI(r *http.Request) string {
	if h.Redirect != "" {
		return h.Redirect
	}
	return h.Origin(r) + CallbackPath
}
