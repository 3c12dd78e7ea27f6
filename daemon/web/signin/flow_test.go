package signin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
)

const callbackURL = "/api/auth/idp/callback/server"

// The whole flow: begin, come back, be somebody.
func TestSignIn(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	b.Get("/api/auth/me").Want(401)
	b.SignIn()
	me := b.Get("/api/auth/me").Want(200)
	if me.Field("name") != "Anna" || me.Field("provider") != "test" || me.Field("id") == "" || me.Field("created_at") == "" {
		t.Errorf("me: %s", me.Text)
	}
}

// A2: a state serves once.
func TestA2_CallbackTwice(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	state := b.Begin()
	b.Callback(state, "code").Want(http.StatusSeeOther)
	b.Callback(state, "code").WantError(auth.CodeInvalidState)
	b = webtest.NewSignInRig(t).Browser(t)
	state = b.Begin()
	b.Clock.Advance(auth.FlowTTL + time.Second)
	b.Callback(state, "code").WantError(auth.CodeStateExpired)
}

// A3, CVE-2022-39222: a state serves the browser that has its cookie.
func TestA3_AnotherBrowser(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	state := h.Browser(t).Begin()
	h.Browser(t).Callback(state, "code").WantError(auth.CodeBrowserMismatch)
	if len(h.Provider.Codes) != 0 {
		t.Error("the code was exchanged")
	}
}

// Two tabs do not disturb one another; of many, the oldest gives way.
func TestFlowsInTabs(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	var states []string
	for range 7 {
		states = append(states, b.Begin())
	}
	b.Callback(states[0], "code").WantError(auth.CodeBrowserMismatch)
	for _, state := range states[3:] {
		if p := b.Callback(state, "code").Want(http.StatusSeeOther); p.Header.Get("Location") != "/" {
			t.Errorf("sent to %s", p.Header.Get("Location"))
		}
	}
}

// A5, F9: the redirect URI is the configured one, whatever the request says.
func TestA5_RedirectURIIsConfigured(t *testing.T) {
	t.Parallel()
	const configured = "http://pressbox.local:8888" + callbackURL
	h := webtest.NewSignInRig(t, func(c *site.Config) { c.SignIn.Redirect = configured })
	for _, headers := range [][]string{
		{}, {"X-Forwarded-Host", "evil.example"}, {"Forwarded", "host=evil.example"}, {"X-Forwarded-Proto", "https"},
	} {
		b := h.Browser(t)
		p := b.Get("/api/auth/idp/login", headers...).Want(http.StatusFound)
		if got := p.Query("redirect_uri"); got != configured {
			t.Errorf("%v: redirect URI %q, want %q", headers, got, configured)
		}
		b.Callback(p.Query("state"), "code").Want(http.StatusSeeOther)
	}
	for _, f := range h.Provider.Flows {
		if f.Redirect != configured {
			t.Errorf("exchanged with redirect URI %q", f.Redirect)
		}
	}
}

// A sign-in begins at the host to which it comes back, so that its cookie is
// there; and once, should a proxy hide the host.
func TestCanonicalHost(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t, func(c *site.Config) { c.SignIn.Redirect = "http://pressbox.local:8888" + callbackURL })
	b := h.Browser(t)
	p := b.Get("/api/auth/idp/login?return=/lobby", "Host", "192.168.1.5:8888").Want(http.StatusFound)
	to := p.Header.Get("Location")
	if !strings.HasPrefix(to, "http://pressbox.local:8888/api/auth/idp/login?") || p.Query("return") != "/lobby" {
		t.Fatalf("sent to %s", to)
	}
	if len(h.Provider.Flows) != 0 {
		t.Error("a sign-in was begun at the wrong host")
	}
	b.Get(to, "Host", "192.168.1.5:8888").Want(http.StatusFound)
	if len(h.Provider.Flows) != 1 {
		t.Error("a sign-in behind a proxy that hides the host is never begun")
	}
}

// A8: a sign-in ends in the client, and nowhere else (CVE-2026-25779).
func TestA8_ReturnsToTheClient(t *testing.T) {
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
		if got := p.Header.Get("Location"); got != "https://client.example"+want {
			t.Errorf("login%s ends at %s", query, got)
		}
	}
}

// A9: sixty sign-ins at once begin, the next is told to wait; this machine may
// begin any.
func TestA9_StartsAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // in which no start comes back while they are made
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

// A10, CVE-2026-33758: what a provider writes is not echoed.
func TestA10_ErrorsAreNotEchoed(t *testing.T) {
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
	p := b.Get("/auth/callback?error=access_denied&error_description=%3Cscript%3E&error_id=%3Cscript%3E").Want(200)
	if !strings.Contains(p.Text, auth.CodeAccessDenied.Description()) || strings.Contains(p.Text, "<script>") {
		t.Errorf("the page says %s", p.Text)
	}
	if p := b.Get("/auth/callback?error=made_up").Want(200); !strings.Contains(p.Text, auth.CodeServerError.Description()) {
		t.Errorf("the page says %s", p.Text)
	}
}

// A11: whatever the parameters, the browser ends on the client's page.
func TestA11_Parameters(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.Get(callbackURL).WantError(auth.CodeInvalidState)
	b.Get(callbackURL + "?code=c").WantError(auth.CodeInvalidState)
	b.Get(callbackURL + "?state=" + b.Begin()).WantError(auth.CodeProviderError)
	state := b.Begin()
	b.Get(callbackURL + "?code=c&state=" + state + "&state=" + state).WantError(auth.CodeInvalidState)
	b.Callback(b.Begin(), strings.Repeat("c", 100_000)).WantError(auth.CodeInvalidState)
	b.Get(callbackURL + "?%zz&state=;").WantError(auth.CodeInvalidState)
}

// A12: the provider's troubles are told as such, and our own as ours, with
// their cause in the log.
func TestA12_ProviderTrouble(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	for _, code := range []auth.Code{auth.CodeUnreachable, auth.CodeExchangeFailed, auth.CodeUserinfoFailed, auth.CodeClockUnsynced} {
		h.Provider.Err = &auth.RefusalError{Code: code}
		b.Callback(b.Begin(), "code").WantError(code)
	}
	h.Provider.Err = fmt.Errorf("the disk is on fire")
	b.Callback(b.Begin(), "code").WantError(auth.CodeServerError)
	if !strings.Contains(h.Log.String(), "the disk is on fire") {
		t.Error("our own trouble is not logged")
	}
}

// A14: who signs in again in a browser ends the session that it had
// (CVE-2026-34454).
func TestA14_SignInReplaces(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	access, refresh := b.AccessToken(), b.RefreshToken()
	b.SignIn()
	b.Get("/api/auth/me").Want(200)
	other := h.Browser(t)
	other.Get("/api/auth/me", "Authorization", "Bearer "+access).Want(401)
	other.Send("POST", "/api/auth/refresh", `{"refresh_token":"`+refresh+`"}`, "Content-Type", "application/json").Want(401)
}

// A15: a callback is a GET, and a HEAD changes nothing.
func TestA15_CallbackIsAGet(t *testing.T) {
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

// A16, B8: what is secret goes neither into caches nor into Referer headers.
func TestA16_Headers(t *testing.T) {
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
			if got := strings.Join(p.Header.Values(header), ", "); got != want {
				t.Errorf("%s: %s: %q, want %q", name, header, got, want)
			}
		}
	}
}

// B1, B3: the cookies are as the specification has them, to the attribute.
func TestB1_Cookies(t *testing.T) {
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
			{login, prefix + "xo_" + login.Query("state")[:8], "/api/auth/idp", "600"},
		} {
			c := tt.from.SetCookie(tt.name)
			if c == nil {
				t.Errorf("secure %v: no cookie %s", secure, tt.name)
				continue
			}
			want := fmt.Sprintf("%s=%s; Path=%s; Max-Age=%s; HttpOnly%s; SameSite=Lax", tt.name, c.Value, tt.path, tt.life, attribute)
			if c.Raw != want || len(c.Raw) > 4096 {
				t.Errorf("Set-Cookie: %s, want %s", c.Raw, want)
			}
		}
		if binding.Value == "" || len(p.Cookies()) != 3 {
			t.Errorf("%d cookies, want the two and the end of the binding", len(p.Cookies()))
		}
	}
}

// B7: on plain http, where a browser would drop our cookies, a page says so.
func TestB7_InsecureTransport(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t, func(c *site.Config) { c.SignIn.Secure = true })
	b := h.Browser(t)
	p := b.Get("/api/auth/idp/login").Want(http.StatusForbidden)
	if !strings.Contains(p.Text, "Sign-in needs https here.") || len(p.Cookies()) != 0 {
		t.Errorf("the page says %s, and sets %v", p.Text, p.Cookies())
	}
	b.Origin = "http://127.0.0.1:8888" // browsers keep them there
	b.Begin()
	b.Origin = "http://localhost:8888"
	b.Begin()
}

// C8: a bug in the program is an answer with a number, and no more.
func TestC8_Panic(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	h.Provider.Panics = true
	p := h.Browser(t).Get("/api/auth/idp/login").Want(500)
	if p.Field("request_id") == "" || strings.Contains(p.Text, "bug") || !strings.Contains(h.Log.String(), "the provider has a bug") {
		t.Errorf("the answer is %s", p.Text)
	}
}

// F8: what happens at the door is logged, by its code and never by its secrets.
func TestF8_EventsAreLogged(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	b.Callback("nonsense", "code").WantError(auth.CodeInvalidState)
	b.Post("/api/auth/logout").Want(204)
	for _, want := range []string{"signed in", "sign-in refused", "invalid_state", "sessions ended", "why=logout"} {
		if !strings.Contains(h.Log.String(), want) {
			t.Errorf("the log does not say %q", want)
		}
	}
}

// F9: who sends X-Forwarded-For without being trusted is still from outside.
func TestF9_ForwardedHeaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // in which no start comes back while they are made
		h := webtest.NewSignInRig(t, webtest.BehindProxy)
		b := h.Browser(t)
		b.From = "203.0.113.5:1000"
		b.Header.Set("X-Forwarded-For", "127.0.0.1")
		for range 60 {
			b.Begin()
		}
		b.Get("/api/auth/idp/login").Want(http.StatusTooManyRequests) // it is not taken for this machine
		p := b.Get("/api/auth/idp/callback/server", "X-Forwarded-Proto", "https")
		if p.Header.Get("Strict-Transport-Security") != "" {
			t.Error("a stranger is believed about TLS")
		}
	})
}

// F10: only our own names are answered to.
func TestF10_Hosts(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	for host, want := range map[string]int{
		"evil.example": 421, "0.0.0.0:8888": 421, "192.168.1.5:8888": 302, "localhost": 302, "[::1]:8888": 302, "pressbox": 302,
	} {
		b.Get("/api/auth/idp/login", "Host", host).Want(want)
	}
}

// F14: https is insisted on where it was used, and nowhere else.
func TestF14_HSTS(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t, webtest.BehindProxy)
	b := h.Browser(t)
	if p := b.Get("/"); p.Header.Get("Strict-Transport-Security") != "" {
		t.Error("on plain http")
	}
	b.UseProxy()
	if p := b.Get("/"); p.Header.Get("Strict-Transport-Security") == "" {
		t.Error("not on https")
	}
}

// The client's page of another origin may read answers, and no other page.
func TestCORS(t *testing.T) {
	t.Parallel()
	const client = "http://pressbox.local:3000"
	h := webtest.NewSignInRig(t, func(c *site.Config) {
		c.SignIn.Frontend = client
		c.TrustedOrigins = []string{client}
	})
	b := h.Browser(t)
	for origin, want := range map[string]string{client: client, "http://pressbox.local:3001": "", "null": "", "https://pressbox.local:3000": ""} {
		p := b.Get("/api/auth/me", "Origin", origin)
		credentials := p.Header.Get("Access-Control-Allow-Credentials")
		if got := p.Header.Get("Access-Control-Allow-Origin"); got != want || (credentials != "") != (want != "") {
			t.Errorf("Origin %s: allowed %q, credentials %q", origin, got, credentials)
		}
		if !strings.Contains(strings.Join(p.Header.Values("Vary"), ","), "Origin") {
			t.Error("caches are not told that it depends on the origin")
		}
	}
	p := b.Send("OPTIONS", "/api/auth/refresh", "", "Origin", client, "Access-Control-Request-Method", "POST")
	if p.StatusCode != 204 || !strings.Contains(p.Header.Get("Access-Control-Allow-Methods"), "POST") {
		t.Errorf("preflight: %d %v", p.StatusCode, p.Header)
	}
	b.Post("/api/auth/logout", "Origin", client).Want(204)
	b.Post("/api/auth/logout", "Origin", "http://pressbox.local:3001").Want(403)
}
