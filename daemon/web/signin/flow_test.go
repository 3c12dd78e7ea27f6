package signin_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"pressbox/auth"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

const callbackURL = "/api/auth/idp/callback/server"

// A complete sign-in; the state is bound to the cookie of the browser that began it,
// which has sign-ins in at most five tabs.
func TestSignIn_flow(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	b.Get("/api/auth/me").Want(401)
	b.SignIn()
	me := b.Get("/api/auth/me").Want(200)
	if me.Field("name") != "Anna" || me.Field("provider") != "test" || me.Field("id") == "" ||
		me.Field("created_at") == "" {
		t.Errorf("me: %s", me.Text)
	}
	b.Browser(t).Callback(b.Begin(), "code").WantError(auth.CodeBrowserMismatch)
	dropped, oldest := b.Begin(), b.Begin()
	for range 4 {
		b.Begin()
	}
	b.Callback(dropped, "code").WantError(auth.CodeBrowserMismatch)
	b.Callback(oldest, "code").Want(http.StatusSeeOther)
}

// Parameters and errors of the provider lead to the client's page, and a
// server error to the log.
func TestCallback_errors(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.Get(callbackURL + "?state=" + b.Begin()).WantError(auth.CodeProviderError)
	b.Get(callbackURL + "?%zz&state=;").WantError(auth.CodeInvalidState)
	h.Provider.Err = &auth.RefusalError{Code: auth.CodeClockUnsynced}
	b.Callback(b.Begin(), "code").WantError(auth.CodeClockUnsynced)
	h.Provider.Err = fmt.Errorf("the disk is on fire")
	b.Callback(b.Begin(), "code").WantError(auth.CodeServerError)
	check.Contains(t, h.Log.String(), "the disk is on fire", "the log")
}

// The redirect URI is the configured one, whatever the request's headers.
func TestLogin_redirectURI(t *testing.T) {
	t.Parallel()
	const configured = "http://pressbox.local:8888" + callbackURL
	h := webtest.NewSignInRig(t, func(c *site.Config) { c.SignIn.Redirect = configured })
	for _, headers := range [][]string{
		{}, {"X-Forwarded-Host", "evil.example"}, {"Forwarded", "host=evil.example"}, {"X-Forwarded-Proto", "https"},
	} {
		b := h.Browser(t)
		p := b.Get("/api/auth/idp/login", headers...).Want(http.StatusFound)
		b.Callback(p.Query("state"), "code").Want(http.StatusSeeOther)
	}
	for _, f := range h.Provider.Requests() {
		check.Equal(t, f.Redirect, configured, "redirect URI")
	}
}

// A sign-in starts at the redirect URI's host, whose cookie the callback needs. It is
// redirected once, because a proxy may change Host.
func TestLogin_canonicalHost(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t, func(c *site.Config) {
		c.SignIn.Redirect = "http://pressbox.local:8888" +
			callbackURL
	})
	b := h.Browser(t)
	p := b.Get("/api/auth/idp/login?return=/lobby", "Host", "192.168.1.5:8888").Want(http.StatusFound)
	to := p.Header.Get("Location")
	if !strings.HasPrefix(to, "http://pressbox.local:8888/api/auth/idp/login?") || p.Query("return") != "/lobby" {
		t.Fatalf("redirect to %s", to)
	}
	if len(h.Provider.Requests()) != 0 {
		t.Error("a sign-in was started at the wrong host")
	}
	b.Get(to, "Host", "192.168.1.5:8888").Want(http.StatusFound)
	if len(h.Provider.Requests()) != 1 {
		t.Error("no sign-in was started behind a proxy that changes Host")
	}
}

// A sign-in ends in the web client only (CVE-2026-25779).
func TestCallback_returnPath(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t, func(c *site.Config) { c.SignIn.Frontend = "https://client.example" })
	for query, want := range map[string]string{
		"":                                     "/",
		"?redirect=https://evil":               "/",
		"?next=//evil&frontend_url=//evil":     "/",
		"?return=" + url.QueryEscape("//evil"): "/",
		"?return=" + url.QueryEscape(`/\evil`): "/",
		"?return=/games/7%3Fside%3Dhome":       "/games/7?side=home",
	} {
		b := h.Browser(t)
		state := b.Get("/api/auth/idp/login" + query).Want(http.StatusFound).Query("state")
		p := b.Callback(state, "code", "redirect", "https://evil").Want(http.StatusSeeOther)
		check.Equal(t, p.Header.Get("Location"), "https://client.example"+want, "login%s ends at", query)
	}
}

// 60 sign-ins per minute and address; the host itself is exempt.
func TestLogin_rateLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // so that the limit does not recover
		h := webtest.NewSignInRig(t)
		b := h.Browser(t)
		for range 60 {
			b.Begin()
		}
		p := b.Get("/api/auth/idp/login").Want(http.StatusTooManyRequests)
		if p.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		b.From = "127.0.0.1:5000"
		b.Begin()
		other := h.Browser(t)
		other.From = "192.168.1.21:5000"
		other.Begin()
	})
}

// Text of the provider is not echoed (CVE-2026-33758).
func TestSignInError_noEcho(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	for given, want := range map[string]auth.Code{
		"access_denied": auth.CodeAccessDenied, "zzz": auth.CodeProviderError, `"><script>`: auth.CodeProviderError,
	} {
		b := h.Browser(t)
		p := b.Get(callbackURL + "?" + url.Values{
			"state": {b.Begin()}, "error": {given}, "error_description": {"<script>alert(1)</script>"},
		}.Encode())
		p.WantError(want)
		if strings.Contains(p.Header.Get("Location"), "alert") {
			t.Errorf("echoed in %s", p.Header.Get("Location"))
		}
	}
	b := h.Browser(t)
	p := b.Get("/auth/callback?error=access_denied&error_description=%3Cscript%3Ealert(1)" +
		"&error_id=%3Cscript%3Ealert(1)").Want(200)
	if !strings.Contains(p.Text, auth.CodeAccessDenied.Description()) || strings.Contains(p.Text, "alert(1)") {
		t.Errorf("page %s", p.Text)
	}
	p = b.Get("/auth/callback?error=made_up").Want(200)
	check.Contains(t, p.Text, auth.CodeServerError.Description(), "the page")
}

// A new sign-in ends the browser's previous session (CVE-2026-34454).
func TestCallback_replacesSession(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	access, refresh := b.AccessToken(), b.RefreshToken()
	b.SignIn()
	b.Get("/api/auth/me").Want(200)
	other := h.Browser(t)
	other.Get("/api/auth/me", "Authorization", "Bearer "+access).Want(401)
	other.Send("POST", "/api/auth/refresh", `{"refresh_token":"`+refresh+`"}`,
		"Content-Type", "application/json").Want(401)
}

// HEAD and POST change nothing.
func TestCallback_methods(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	state := b.Begin()
	b.Post(callbackURL + "?code=c&state=" + state).Want(405)
	for _, path := range []string{callbackURL + "?code=c&state=" + state, "/api/auth/idp/login"} {
		if allow := b.Send("HEAD", path, "").Want(405).Header.Get("Allow"); allow != "GET, OPTIONS" {
			t.Errorf("HEAD %s: Allow %q", path, allow)
		}
	}
	b.Callback(state, "code").Want(http.StatusSeeOther)
	b.Get("/api/auth/me").Want(200)
}

// Secrets reach neither caches nor Referer headers.
func TestSignIn_headers(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	state := b.Get("/api/auth/idp/login").Want(http.StatusFound).Query("state")
	pages := map[string]webtest.Page{
		"login":    b.Get("/api/auth/idp/login").Want(http.StatusFound),
		"callback": b.Callback(state, "code").Want(http.StatusSeeOther),
		"me":       b.Get("/api/auth/me").Want(200),
		"refresh":  b.Post("/api/auth/refresh").Want(200),
		"refused":  b.Get(callbackURL).Want(http.StatusSeeOther),
	}
	for name, p := range pages {
		for header, want := range map[string]string{
			"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Vary": "Cookie, Authorization, Origin",
			"X-Content-Type-Options": "nosniff",
		} {
			check.Equal(t, strings.Join(p.Header.Values(header), ", "), want, "%s: %s", name, header)
		}
	}
}

// Names, paths, lifetimes and attributes of the cookies.
func TestCookies_attributes(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		h := webtest.NewSignInRig(t, func(c *site.Config) { c.SignIn.Secure = secure }, webtest.BehindProxy)
		b := h.Browser(t)
		if secure {
			b.UseProxy()
		}
		login := b.Get("/api/auth/idp/login").Want(http.StatusFound)
		p := b.Callback(login.Query("state"), "code").Want(http.StatusSeeOther)
		prefix, attribute := "", ""
		if secure {
			prefix, attribute = "__Secure-", "; Secure"
		}
		binding := login.Cookies()[0]
		for _, tt := range []struct {
			from             webtest.Page
			name, path, life string
		}{
			{p, prefix + "pressbox_access", "/api", "3600"},
			{p, prefix + "pressbox_refresh", "/api/auth", "604800"},
			{p, prefix + "pressbox_session", "/", "3600"},
			{login, prefix + "xo_" + login.Query("state")[:8], "/api/auth/idp", "600"},
		} {
			c := tt.from.SetCookie(tt.name)
			if c == nil {
				t.Errorf("secure %v: no cookie %s", secure, tt.name)
				continue
			}
			want := fmt.Sprintf("%s=%s; Path=%s; Max-Age=%s; HttpOnly%s; SameSite=Lax",
				tt.name, c.Value, tt.path, tt.life, attribute)
			if c.Raw != want || len(c.Raw) > 4096 {
				t.Errorf("Set-Cookie: %s, want %s", c.Raw, want)
			}
		}
		if binding.Value == "" || len(p.Cookies()) != 4 {
			t.Errorf("%d cookies, want access, refresh, account and the deleted binding", len(p.Cookies()))
		}
	}
}

// The document has the account that is signed in, as it is and without a token, so that the
// page needs no request for it; nothing that the cookie contains becomes markup.
func TestPage_account(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	document := func() (account, text string) {
		text = b.Get("/").Want(200).Text
		found := regexp.MustCompile(`<meta name="pressbox-account" content="(.*)">`).FindStringSubmatch(text)
		return html.UnescapeString(found[1]), text
	}
	if account, _ := document(); account != "" {
		t.Errorf("the document of a visitor has %s", account)
	}
	b.SignIn()
	account, text := document()
	if want := strings.TrimSpace(b.Get("/api/auth/me").Want(200).Text); account != want {
		t.Errorf("the document has %s, want %s", account, want)
	}
	if webtest.TokenPattern.MatchString(text) {
		t.Error("the document has a token")
	}
	b.Post("/api/auth/logout").Want(204)
	if account, _ := document(); account != "" {
		t.Errorf("after signing out, the document has %s", account)
	}
	h.Provider.Identifies(auth.Identity{Provider: "test", Subject: "x", Name: `"><script>`})
	b.SignIn()
	if account, text := document(); !strings.Contains(account, "script") || strings.Contains(text, `"><script>`) {
		t.Errorf("the name of the account is not escaped in %s", text)
	}
	ended := b.Cookie("pressbox_session", "/")
	b.Post("/api/auth/logout-all").Want(204)
	for _, cookie := range []string{ended, "", ".", "x.y", "x"} {
		text := h.Browser(t).Get("/", "Cookie", "pressbox_session="+cookie).Want(200).Text
		check.Contains(t, text, `<meta name="pressbox-account" content="">`,
			"with the cookie %q there is an account in", cookie)
	}
}

// On plain http with Secure cookies, a page explains the failure.
func TestLogin_insecureTransport(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t, func(c *site.Config) { c.SignIn.Secure = true })
	b := h.Browser(t)
	p := b.Get("/api/auth/idp/login").Want(http.StatusForbidden)
	if !strings.Contains(p.Text, "Sign-in needs https here.") || len(p.Cookies()) != 0 {
		t.Errorf("page %s, cookies %v", p.Text, p.Cookies())
	}
	b.Origin = "http://127.0.0.1:8888" // browsers accept Secure cookies here
	b.Begin()
	b.Origin = "http://localhost:8888"
	b.Begin()
}

// Sign-ins, refusals and ended sessions are logged with their codes.
func TestSignIn_logged(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	b.Callback("nonsense", "code").WantError(auth.CodeInvalidState)
	b.Post("/api/auth/logout").Want(204)
	for _, want := range []string{"signed in", "sign-in refused", "invalid_state", "sessions ended", "why=logout"} {
		check.Contains(t, h.Log.String(), want, "the log")
	}
}

// Strict-Transport-Security is sent on https only, which a trusted proxy
// alone can assert.
func TestHSTS_https(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t, webtest.BehindProxy)
	b := h.Browser(t)
	if p := b.Get("/"); p.Header.Get("Strict-Transport-Security") != "" {
		t.Error("Strict-Transport-Security on plain http")
	}
	if p := b.Get("/", "X-Forwarded-Proto", "https"); p.Header.Get("Strict-Transport-Security") != "" {
		t.Error("X-Forwarded-Proto of an untrusted client is trusted")
	}
	b.UseProxy()
	if p := b.Get("/"); p.Header.Get("Strict-Transport-Security") == "" {
		t.Error("no Strict-Transport-Security on https")
	}
}

// Only trusted origins may read responses.
func TestCORS_trustedOrigin(t *testing.T) {
	t.Parallel()
	const client = "http://pressbox.local:3000"
	h := webtest.NewSignInRig(t, func(c *site.Config) {
		c.SignIn.Frontend = client
		c.TrustedOrigins = []string{client}
	})
	b := h.Browser(t)
	for origin, want := range map[string]string{
		client: client, "http://pressbox.local:3001": "", "null": "", "https://pressbox.local:3000": "",
	} {
		p := b.Get("/api/auth/me", "Origin", origin)
		credentials := p.Header.Get("Access-Control-Allow-Credentials")
		if got := p.Header.Get("Access-Control-Allow-Origin"); got != want || (credentials != "") != (want != "") {
			t.Errorf("Origin %s: allowed %q, credentials %q", origin, got, credentials)
		}
		check.Contains(t, strings.Join(p.Header.Values("Vary"), ","), "Origin", "Vary")
	}
	p := b.Send("OPTIONS", "/api/auth/refresh", "", "Origin", client, "Access-Control-Request-Method", "POST")
	if p.StatusCode != 204 || !strings.Contains(p.Header.Get("Access-Control-Allow-Methods"), "POST") {
		t.Errorf("preflight: %d %v", p.StatusCode, p.Header)
	}
	b.Post("/api/auth/logout", "Origin", client).Want(204)
	b.Post("/api/auth/logout", "Origin", "http://pressbox.local:3001").Want(403)
}
