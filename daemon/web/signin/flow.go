package signin

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"

	"pressbox/auth"
	"pressbox/daemon/web"
)

func (h *handlers) flowRoutes() []web.Route {
	return []web.Route{
		web.NewRoute(http.MethodGet, web.LoginPath, web.Public, h.login, web.Operation{
			ID: "beginSignIn", Tag: "sign-in", Summary: "Begin to sign in",
			Description: "For browsers. Keeps a one-time state for ten minutes and leads to the sign-in provider. `return` is a path in the web client to go to afterwards; `invite` an invite, where one is needed.",
			Responses: []web.Response{
				{Status: http.StatusFound, Description: "To the provider's page.", Location: true},
				{Status: http.StatusForbidden, Description: "A page that says why it cannot be here.", Media: []string{"text/html"}},
			},
			Problems: []int{http.StatusTooManyRequests},
			Once:     true,
		}),
		web.NewRoute(http.MethodGet, CallbackPath, web.Public, h.callback, web.Operation{
			ID: "finishSignIn", Tag: "sign-in", Summary: "Come back from the sign-in provider",
			Description: "For browsers. On success both cookies are set and the browser goes to the web client; otherwise to its page /auth/callback with `error`, `error_description` and `error_id`.",
			Responses:   []web.Response{{Status: http.StatusSeeOther, Description: "To the web client.", Location: true}},
			Once:        true,
		}),
		web.NewRoute(http.MethodGet, errorPath, web.Public, h.signInError, web.Operation{
			ID: "getSignInError", Tag: "page", Summary: "Why a sign-in did not succeed",
			Responses: []web.Response{{Status: http.StatusOK, Description: "A page.", Media: []string{"text/html"}}},
		}),
	}
}

// login begins a sign-in, at the address to which the provider will send the
// browser back: a cookie set under another name would not be there then.
func (h *handlers) login(w http.ResponseWriter, r *http.Request) error {
	if err := h.Allow(h.starts, r); err != nil {
		return err
	}
	w.Header().Set("Referrer-Policy", "no-referrer")
	if to, other := h.canonicalLogin(r); other {
		return redirect(w, http.StatusFound, to)
	}
	if h.needsTLS(r) {
		return h.insecure(w)
	}
	q := r.URL.Query()
	begun, err := h.Authenticator.SignIn.Begin(r.Context(), auth.FlowOptions{
		Redirect: h.redirectURI(r), Return: q.Get("return"), Invite: q.Get("invite"),
	})
	if err != nil {
		return h.signInFailed(w, r, err)
	}
	h.cookies.setFlow(w, r, begun)
	return redirect(w, http.StatusFound, begun.URL)
}

// canonicalLogin is where to begin instead, when the browser used another host
// than the redirect URI's. It is tried once, as a proxy may hide the host that
// the browser used.
func (h *handlers) canonicalLogin(r *http.Request) (to string, other bool) {
	u, err := url.Parse(h.redirectURI(r))
	q := r.URL.Query()
	if err != nil || u.Host == r.Host || q.Has("canonical") {
		return "", false
	}
	q.Set("canonical", "1")
	u.Path, u.RawQuery = web.LoginPath, q.Encode()
	return u.String(), true
}

// needsTLS says whether the browser would drop our cookies: those for https,
// on plain http, anywhere but on this machine.
func (h *handlers) needsTLS(r *http.Request) bool {
	if !h.cookies.secure || h.HTTPS(r) {
		return false
	}
	u, err := url.Parse(h.redirectURI(r))
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
func (h *handlers) callback(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	c, err := auth.ParseCallback(r.URL.Query())
	if err != nil {
		return h.signInFailed(w, r, err)
	}
	c.Binding = h.cookies.binding(r, c.State)
	c.Replaces = h.cookies.tokens(r)
	c.Device = auth.Device{
		Agent: auth.Agent(r.UserAgent()), Network: auth.Network(web.ClientAddr(r)),
	}
	if c.Binding != "" {
		h.cookies.set(w, flow(c.State), flowPath, "", 0)
	}
	granted, err := h.Authenticator.SignIn.Finish(r.Context(), c)
	if err != nil {
		return h.signInFailed(w, r, err)
	}
	h.cookies.setSession(w, granted.TokenPair)
	to := granted.Return
	if to == "" {
		to = "/"
	}
	return redirect(w, http.StatusSeeOther, h.Frontend+to)
}

// signInFailed sends the browser to the client's page about it. Nothing that a
// provider or a stranger wrote goes there.
func (h *handlers) signInFailed(w http.ResponseWriter, r *http.Request, err error) error {
	code := auth.CodeOf(err)
	if code == auth.CodeServerError {
		web.LogError(r, err)
	}
	return redirect(w, http.StatusSeeOther, h.Frontend+errorPath+"?"+url.Values{
		"error": {string(code)}, "error_description": {code.Description()}, "error_id": {web.RequestID(r)},
	}.Encode())
}

// signInError is the daemon's own page about it, for when it is its own client.
// It says what the code means, whatever else the address says.
func (h *handlers) signInError(w http.ResponseWriter, r *http.Request) error {
	code := auth.Code(r.URL.Query().Get("error"))
	if !slices.Contains(auth.Codes(), code) {
		code = auth.CodeServerError
	}
	return h.WritePage(w, r, http.StatusOK, code.Description())
}

// insecure is the page for who cannot keep our cookies.
func (h *handlers) insecure(w http.ResponseWriter) error {
	return h.pages.show(w, http.StatusForbidden, "notice", messagePage{
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
