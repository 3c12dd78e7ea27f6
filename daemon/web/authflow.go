package web

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"

	"pressbox/auth"
)

func (s *Server) flowRoutes() []route {
	return []route{
		{http.MethodGet, loginPath, everyone, s.login, operation{
			id: "beginSignIn", tag: "sign-in", summary: "Begin to sign in",
			description: "For browsers. Keeps a one-time state for ten minutes and leads to the sign-in provider. `return` is a path in the web client to go to afterwards; `invite` an invite, where one is needed.",
			answers: []success{
				{status: http.StatusFound, description: "To the provider's page.", location: true},
				{status: http.StatusForbidden, description: "A page that says why it cannot be here.", media: []string{"text/html"}},
			},
			problems: []int{http.StatusTooManyRequests},
			once:     true,
		}},
		{http.MethodGet, CallbackPath, everyone, s.callback, operation{
			id: "finishSignIn", tag: "sign-in", summary: "Come back from the sign-in provider",
			description: "For browsers. On success both cookies are set and the browser goes to the web client; otherwise to its page /auth/callback with `error`, `error_description` and `error_id`.",
			answers:     []success{{status: http.StatusSeeOther, description: "To the web client.", location: true}},
			once:        true,
		}},
		{http.MethodGet, errorPath, everyone, s.signInError, operation{
			id: "getSignInError", tag: "page", summary: "Why a sign-in did not succeed",
			answers: []success{{status: http.StatusOK, description: "A page.", media: []string{"text/html"}}},
		}},
	}
}

// login begins a sign-in, at the address to which the provider will send the
// browser back: a cookie set under another name would not be there then.
func (s *Server) login(w http.ResponseWriter, r *http.Request) error {
	if err := s.underLimit(s.starts, r); err != nil {
		return err
	}
	w.Header().Set("Referrer-Policy", "no-referrer")
	if to, other := s.canonicalLogin(r); other {
		return redirect(w, http.StatusFound, to)
	}
	if s.needsTLS(r) {
		return s.insecure(w)
	}
	q := r.URL.Query()
	begun, err := s.cfg.SignIn.Door.Begin(r.Context(), auth.FlowOptions{
		Redirect: s.redirectURI(r), Return: q.Get("return"), Invite: q.Get("invite"),
	})
	if err != nil {
		return s.signInFailed(w, r, err)
	}
	s.jar.bind(w, r, begun)
	return redirect(w, http.StatusFound, begun.URL)
}

// canonicalLogin is where to begin instead, when the browser used another host
// than the redirect URI's. It is tried once, as a proxy may hide the host that
// the browser used.
func (s *Server) canonicalLogin(r *http.Request) (to string, other bool) {
	u, err := url.Parse(s.redirectURI(r))
	q := r.URL.Query()
	if err != nil || u.Host == r.Host || q.Has("canonical") {
		return "", false
	}
	q.Set("canonical", "1")
	u.Path, u.RawQuery = loginPath, q.Encode()
	return u.String(), true
}

// needsTLS says whether the browser would drop our cookies: those for https,
// on plain http, anywhere but on this machine.
func (s *Server) needsTLS(r *http.Request) bool {
	if !s.jar.secure || s.overTLS(r) {
		return false
	}
	u, err := url.Parse(s.redirectURI(r))
	if err == nil && u.Scheme == "https" && r.Header.Get("X-Forwarded-Proto") == "" {
		return false // a proxy that does not say so ends TLS before us
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	addr, err := netip.ParseAddr(host)
	return host != "localhost" && (err != nil || !addr.IsLoopback())
}

// callback ends a sign-in.
func (s *Server) callback(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	c, err := auth.ParseCallback(r.URL.Query())
	if err != nil {
		return s.signInFailed(w, r, err)
	}
	c.Binding = s.jar.binding(r, c.State)
	c.Replaces = s.jar.tokens(r)
	c.Device = auth.Device{
		Agent: auth.Agent(r.UserAgent()), Network: auth.Network(visitOf(r.Context()).client),
	}
	if c.Binding != "" {
		s.jar.set(w, flow(c.State), flowPath, "", 0)
	}
	granted, err := s.cfg.SignIn.Door.Finish(r.Context(), c)
	if err != nil {
		return s.signInFailed(w, r, err)
	}
	s.jar.keep(w, granted.TokenPair)
	to := granted.Return
	if to == "" {
		to = "/"
	}
	return redirect(w, http.StatusSeeOther, s.cfg.SignIn.Frontend+to)
}

// signInFailed sends the browser to the client's page about it. Nothing that a
// provider or a stranger wrote goes there.
func (s *Server) signInFailed(w http.ResponseWriter, r *http.Request, err error) error {
	v := visitOf(r.Context())
	code := auth.CodeOf(err)
	if code == auth.CodeServerError {
		v.err = err
	}
	return redirect(w, http.StatusSeeOther, s.cfg.SignIn.Frontend+errorPath+"?"+url.Values{
		"error": {string(code)}, "error_description": {code.Description()}, "error_id": {v.id},
	}.Encode())
}

// signInError is the daemon's own page about it, for when it is its own client.
// It says what the code means, whatever else the address says.
func (s *Server) signInError(w http.ResponseWriter, r *http.Request) error {
	code := auth.Code(r.URL.Query().Get("error"))
	if !slices.Contains(auth.Codes(), code) {
		code = auth.CodeServerError
	}
	return s.showPage(w, r, http.StatusOK, code.Description())
}

// insecure is the page for who cannot keep our cookies.
func (s *Server) insecure(w http.ResponseWriter) error {
	return s.pages.show(w, http.StatusForbidden, "notice", notice{
		Title: "Not signed in", Text: auth.CodeInsecureTransport.Description(),
	})
}

// redirect sends the browser elsewhere.
func redirect(w http.ResponseWriter, status int, to string) error {
	if to == "" {
		return errors.New("redirect to nowhere")
	}
	w.Header().Set("Location", to)
	w.WriteHeader(status)
	return nil
}
