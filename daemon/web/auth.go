package web

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"pressbox/auth"
	"pressbox/auth/session"
)

// A SignIn is what signing in needs.
type SignIn struct {
	Book *session.Sessions
	Door *session.SignIn
	// Local is the page of the appliance's own accounts, and Passphrases how
	// they are changed; nil when accounts are kept elsewhere.
	Local       LocalAccounts
	Passphrases Passphrases

	// Redirect is the redirect URI (OAUTH_SERVER_REDIRECT_URI); "" means the
	// one of the origin that the browser used.
	Redirect string
	// Frontend is the origin of the web client (FRONTEND_URL); "" means that
	// the client is the daemon's own page.
	Frontend string
	// Secure says that cookies are for https only, and so are named.
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
	loginPath = "/api/auth/idp/login"
	errorPath = "/auth/callback" // of the client
)

// startRate is how many sign-ins a minute, and at once, one address may begin.
const startRate = 60

// openDoor prepares what signing in needs.
func (s *Server) openDoor() (err error) {
	frontend := ""
	if in := s.cfg.SignIn; in != nil {
		s.jar, frontend = jar{in.Secure}, in.Frontend
		s.cfg.Tokens, s.cfg.Sessions = doorkeeper{s}, doorkeeper{s}
	}
	s.pages, err = newPages(frontend)
	return err
}

// authenticate says who sends a request: the one answer for every door. object
// is the token in a websocket's first message; "" means that there is none.
func (s *Server) authenticate(r *http.Request, object string) (auth.Caller, error) {
	if s.cfg.SignIn == nil {
		return auth.Caller{}, auth.ErrNoCredentials
	}
	return s.cfg.SignIn.Book.Authenticate(r.Context(), auth.RequestCredentials{
		Cookies:       s.jar.values(r, accessCookie),
		Authorization: r.Header.Values("Authorization"),
		FrameToken:    object,
		From:          visitOf(r.Context()).client,
	})
}

// knowPerson returns nil when somebody who is signed in sends the request, and
// notes who.
func (s *Server) knowPerson(r *http.Request) error {
	caller, err := s.authenticate(r, "")
	if errors.Is(err, auth.ErrNoCredentials) {
		return errNobody
	}
	if err != nil {
		return err
	}
	if !caller.SignedIn() {
		return auth.ErrInvalidToken // a machine's token opens no account
	}
	visitOf(r.Context()).caller = caller
	return nil
}

// callerOf returns who sends a request to a route of class people.
func callerOf(r *http.Request) auth.Caller { return visitOf(r.Context()).caller }

// doorkeeper is the book as the guard of announcements asks it.
type doorkeeper struct{ *Server }

// NotifyToken returns nil when the token is a machine's and good from there.
func (d doorkeeper) NotifyToken(ctx context.Context, token string, from netip.Addr) error {
	caller, err := d.cfg.SignIn.Book.Authenticate(ctx, auth.RequestCredentials{Authorization: []string{"Bearer " + token}, From: from})
	if err == nil && caller.SignedIn() {
		err = auth.ErrInvalidToken // a person's token is for the routes below /api
	}
	return err
}

// SignedIn says whether somebody who is signed in sends the request.
func (d doorkeeper) SignedIn(r *http.Request) bool { return d.knowPerson(r) == nil }

func (s *Server) authRoutes() []route {
	return s.withSignIn(slices.Concat(s.flowRoutes(), s.sessionRoutes(), s.localRoutes()))
}

// withSignIn hides routes while nobody can sign in.
func (s *Server) withSignIn(routes []route) []route {
	for i, rt := range routes {
		routes[i].handle = func(w http.ResponseWriter, r *http.Request) error {
			if s.cfg.SignIn == nil {
				return errNoSuchPage
			}
			h := w.Header()
			h.Set("Vary", "Cookie, Authorization, Origin")
			return rt.handle(w, r)
		}
	}
	return routes
}

// overTLS says whether the browser reached us by https: by what a trusted
// proxy says, as TLS ends there.
func (s *Server) overTLS(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	said := r.Header.Values("X-Forwarded-Proto")
	return s.proxies.trust(addrOf(r.RemoteAddr)) && len(said) > 0 && strings.EqualFold(said[len(said)-1], "https")
}

// origin is the origin that the browser used. Its host has passed the guard.
func (s *Server) origin(r *http.Request) string {
	if s.overTLS(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// redirectURI is the redirect URI of a sign-in that this request begins.
func (s *Server) redirectURI(r *http.Request) string {
	if s.cfg.SignIn.Redirect != "" {
		return s.cfg.SignIn.Redirect
	}
	return s.origin(r) + CallbackPath
}

// shareWithFrontend lets the client's page of another origin read answers and
// send cookies (CORS), and nobody else's.
func (s *Server) shareWithFrontend(w http.ResponseWriter, r *http.Request) {
	if s.cfg.SignIn == nil || s.cfg.SignIn.Frontend == "" {
		return
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	if r.Header.Get("Origin") != s.cfg.SignIn.Frontend {
		return
	}
	h.Set("Access-Control-Allow-Origin", s.cfg.SignIn.Frontend)
	h.Set("Access-Control-Allow-Credentials", "true")
	h.Set("Access-Control-Expose-Headers", "Location, Retry-After, X-Request-Id")
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, Last-Event-ID")
		h.Set("Access-Control-Max-Age", "600")
	}
}
