package signin

import (
	"errors"
	"net/http"
	"net/url"

	"pressbox/auth"
	"pressbox/daemon/web"
)

func (h *handlers) flowRoutes() []web.Route {
	return []web.Route{
		web.NewRoute(http.MethodGet, web.LoginPath, web.Public, h.login, web.Operation{
			ID: "beginSignIn", Tag: "sign-in", Summary: "Start a sign-in",
			Description: "For browsers. Stores a one-time state for ten minutes and redirects to the sign-in " +
				"provider. `return` is the path in the web client to open afterwards; " +
				"`invite` is an invite, if a new account requires one: it applies to every provider, " +
				"and a link with it can be given to the person who is invited.",
			Responses: []web.Response{
				{Status: http.StatusFound, Description: "Redirect to the provider.", Location: true},
				{
					Status:      http.StatusForbidden,
					Description: "A page that explains why sign-in is impossible on this connection.",
					Media:       []string{"text/html"},
				},
			},
			Problems: []int{http.StatusTooManyRequests},
			Once:     true,
		}),
		web.NewRoute(http.MethodGet, CallbackPath, web.Public, h.callback, web.Operation{
			ID: "finishSignIn", Tag: "sign-in", Summary: "Finish a sign-in",
			Description: "For browsers; the redirect URI of the sign-in provider. " +
				"On success, sets the cookies and redirects to the web client. " +
				"On failure, redirects to the client's page /auth/callback with `error`, " +
				"`error_description` and `error_id`.",
			Responses: []web.Response{{
				Status: http.StatusSeeOther, Description: "Redirect to the web client.", Location: true,
			}},
			Once: true,
		}),
		web.NewRoute(http.MethodGet, errorPath, web.Public, h.signInError, web.Operation{
			ID: "getSignInError", Tag: "page", Summary: "Get the page that explains a failed sign-in",
			Responses: []web.Response{{Status: http.StatusOK, Description: "A page.", Media: []string{"text/html"}}},
		}),
	}
}

// login starts a sign-in. It redirects to the redirect URI's host first, because
// the browser does not send a cookie of one host to another.
func (h *handlers) login(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	if to, ok := h.canonicalLogin(r); ok {
		return redirect(w, http.StatusFound, to)
	}
	if h.needsTLS(r) {
		return h.showInsecure(w, r)
	}
	q := r.URL.Query()
	started, err := h.SignIn.Begin(r.Context(), auth.FlowOptions{
		Redirect: h.redirectURI(r), Return: q.Get("return"), Invite: q.Get("invite"), From: web.ClientAddr(r),
	})
	if err != nil {
		return h.signInFailed(w, r, err)
	}
	h.cookies.setFlow(w, r, started)
	return redirect(w, http.StatusFound, h.withInvite(started.URL, q.Get("invite")))
}

// withInvite adds an invite to the URL of the page of local accounts, which shows it
// in its form. Other providers do not receive it: it is part of the pending flow.
func (h *handlers) withInvite(to, invite string) string {
	if h.Local == nil || invite == "" {
		return to
	}
	return to + "&" + url.Values{"invite": {invite}}.Encode()
}

// canonicalLogin returns the login URL at the redirect URI's host if the request
// was sent to another host. A request with the parameter canonical stays, because
// a proxy may change the Host header.
func (h *handlers) canonicalLogin(r *http.Request) (to string, ok bool) {
	u, err := url.Parse(h.redirectURI(r))
	q := r.URL.Query()
	if err != nil || u.Host == r.Host || q.Has("canonical") {
		return "", false
	}
	q.Set("canonical", "1")
	u.Path, u.RawQuery = web.LoginPath, q.Encode()
	return u.String(), true
}

// needsTLS reports whether the browser would drop the cookies: they are Secure,
// and the request came over plain http from another host.
func (h *handlers) needsTLS(r *http.Request) bool {
	if !h.cookies.secure || h.HTTPS(r) {
		return false
	}
	u, err := url.Parse(h.redirectURI(r))
	if err == nil && u.Scheme == "https" && r.Header.Get("X-Forwarded-Proto") == "" {
		return false // a proxy that omits X-Forwarded-Proto terminates TLS
	}
	return !web.NamesLoopback(r.Host)
}

// callback finishes a sign-in.
func (h *handlers) callback(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	c, err := auth.ParseCallback(r.URL.Query())
	if err != nil {
		return h.signInFailed(w, r, err)
	}
	c.Binding = h.cookies.binding(r, c.State)
	c.Replaces = h.cookies.tokens(r)
	c.From = web.ClientAddr(r)
	c.Device = deviceOf(r)
	if c.Binding != "" {
		h.cookies.set(w, flowName(c.State), flowPath, "", 0)
	}
	result, err := h.SignIn.Finish(r.Context(), c)
	if err != nil {
		return h.signInFailed(w, r, err)
	}
	h.cookies.setSession(w, result)
	to := result.Return
	if to == "" {
		to = "/"
	}
	return redirect(w, http.StatusSeeOther, h.Frontend+to)
}

// signInFailed redirects to the client's page for a failed sign-in. The URL
// contains no text of the provider or of the request.
func (h *handlers) signInFailed(w http.ResponseWriter, r *http.Request, err error) error {
	code := auth.CodeOf(err)
	if code == auth.CodeServerError {
		web.LogError(r, err)
	}
	return redirect(w, http.StatusSeeOther, h.Frontend+errorPath+"?"+url.Values{
		"error": {string(code)}, "error_description": {code.Description()}, "error_id": {web.RequestID(r)},
	}.Encode())
}

// signInError serves the server's own page for a failed sign-in. It shows the
// description of the code and no other parameter.
func (h *handlers) signInError(w http.ResponseWriter, r *http.Request) error {
	return h.WritePage(w, r, http.StatusOK, auth.Code(r.URL.Query().Get("error")).Description())
}

// showInsecure shows the page for browsers that would drop the cookies.
func (h *handlers) showInsecure(w http.ResponseWriter, r *http.Request) error {
	return h.pages.show(w, h.Language(r), http.StatusForbidden, "notice", messagePage{
		Text: "insecure",
	})
}

func redirect(w http.ResponseWriter, status int, to string) error {
	if to == "" {
		return errors.New("redirect without a target")
	}
	w.Header().Set("Location", to)
	w.WriteHeader(status)
	return nil
}
