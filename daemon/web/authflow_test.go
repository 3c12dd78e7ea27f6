package web_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web"
)

const callbackURL = "/api/auth/idp/callback/server"

// The whole flow: begin, come back, be somebody.
func TestSignIn(t *testing.T) {
	t.Parallel()
	b := newHouse(t).browser(t)
	b.get("/api/auth/me").want(401)
	b.signIn()
	me := b.get("/api/auth/me").want(200)
	if me.field("name") != "Anna" || me.field("provider") != "test" || me.field("id") == "" || me.field("created_at") == "" {
		t.Errorf("me: %s", me.body)
	}
}

// A2: a state serves once.
func TestA2_CallbackTwice(t *testing.T) {
	t.Parallel()
	b := newHouse(t).browser(t)
	state := b.begin()
	b.back(state, "code").want(http.StatusSeeOther)
	b.back(state, "code").failed(auth.CodeInvalidState)
	b = newHouse(t).browser(t)
	state = b.begin()
	b.now.pass(auth.FlowTTL + time.Second)
	b.back(state, "code").failed(auth.CodeStateExpired)
}

// A3, CVE-2022-39222: a state serves the browser that has its cookie.
func TestA3_AnotherBrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	state := h.browser(t).begin()
	h.browser(t).back(state, "code").failed(auth.CodeBrowserMismatch)
	if len(h.voucher.codes) != 0 {
		t.Error("the code was exchanged")
	}
}

// Two tabs do not disturb one another; of many, the oldest gives way.
func TestFlowsInTabs(t *testing.T) {
	t.Parallel()
	b := newHouse(t).browser(t)
	var states []string
	for range 7 {
		states = append(states, b.begin())
	}
	b.back(states[0], "code").failed(auth.CodeBrowserMismatch)
	for _, state := range states[3:] {
		if p := b.back(state, "code").want(http.StatusSeeOther); p.Header.Get("Location") != "/" {
			t.Errorf("sent to %s", p.Header.Get("Location"))
		}
	}
}

// A5, F9: the redirect URI is the configured one, whatever the request says.
func TestA5_RedirectURIIsConfigured(t *testing.T) {
	t.Parallel()
	const configured = "http://pressbox.local:8888" + callbackURL
	h := newHouse(t, func(c *web.Config) { c.SignIn.Redirect = configured })
	for _, headers := range [][]string{
		{}, {"X-Forwarded-Host", "evil.example"}, {"Forwarded", "host=evil.example"}, {"X-Forwarded-Proto", "https"},
	} {
		b := h.browser(t)
		p := b.get("/api/auth/idp/login", headers...).want(http.StatusFound)
		if got := p.query("redirect_uri"); got != configured {
			t.Errorf("%v: redirect URI %q, want %q", headers, got, configured)
		}
		b.back(p.query("state"), "code").want(http.StatusSeeOther)
	}
	for _, f := range h.voucher.flows {
		if f.Redirect != configured {
			t.Errorf("exchanged with redirect URI %q", f.Redirect)
		}
	}
}

// A sign-in begins at the host to which it comes back, so that its cookie is
// there; and once, should a proxy hide the host.
func TestCanonicalHost(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *web.Config) { c.SignIn.Redirect = "http://pressbox.local:8888" + callbackURL })
	b := h.browser(t)
	p := b.get("/api/auth/idp/login?return=/lobby", "Host", "192.168.1.5:8888").want(http.StatusFound)
	to := p.Header.Get("Location")
	if !strings.HasPrefix(to, "http://pressbox.local:8888/api/auth/idp/login?") || p.query("return") != "/lobby" {
		t.Fatalf("sent to %s", to)
	}
	if len(h.voucher.flows) != 0 {
		t.Error("a sign-in was begun at the wrong host")
	}
	b.get(to, "Host", "192.168.1.5:8888").want(http.StatusFound)
	if len(h.voucher.flows) != 1 {
		t.Error("a sign-in behind a proxy that hides the host is never begun")
	}
}

// A8: a sign-in ends in the client, and nowhere else (CVE-2026-25779).
func TestA8_ReturnsToTheClient(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *web.Config) { c.SignIn.Frontend = "https://client.example" })
	for query, want := range map[string]string{
		"":                                     "/",
		"?redirect=https://evil":               "/",
		"?next=//evil&frontend_url=//evil":     "/",
		"?return=" + url.QueryEscape("//evil"): "/",
		"?return=" + url.QueryEscape(`/\evil`): "/",
		"?return=/games/7%3Fside%3Dhome":       "/games/7?side=home",
	} {
		b := h.browser(t)
		state := b.get("/api/auth/idp/login" + query).want(http.StatusFound).query("state")
		p := b.back(state, "code", "redirect", "https://evil").want(http.StatusSeeOther)
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
		h := newHouse(t)
		b := h.browser(t)
		for range 60 {
			b.begin()
		}
		p := b.get("/api/auth/idp/login").want(http.StatusTooManyRequests)
		if p.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		b.from = "127.0.0.1:5000"
		b.begin()
		other := h.browser(t)
		other.from = "192.168.1.21:5000"
		other.begin()
	})
}

// A10, CVE-2026-33758: what a provider writes is not echoed.
func TestA10_ErrorsAreNotEchoed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for given, want := range map[string]auth.Code{
		"access_denied": auth.CodeAccessDenied, "zzz": auth.CodeProviderError, `"><script>`: auth.CodeProviderError,
	} {
		b := h.browser(t)
		p := b.get(callbackURL + "?" + url.Values{
			"state": {b.begin()}, "error": {given}, "error_description": {"<script>alert(1)</script>"},
		}.Encode())
		p.failed(want)
		if strings.Contains(p.Header.Get("Location"), "alert") {
			t.Errorf("echoed in %s", p.Header.Get("Location"))
		}
	}
	b := h.browser(t)
	p := b.get("/auth/callback?error=access_denied&error_description=%3Cscript%3E&error_id=%3Cscript%3E").want(200)
	if !strings.Contains(p.body, auth.CodeAccessDenied.Description()) || strings.Contains(p.body, "<script>") {
		t.Errorf("the page says %s", p.body)
	}
	if p := b.get("/auth/callback?error=made_up").want(200); !strings.Contains(p.body, auth.CodeServerError.Description()) {
		t.Errorf("the page says %s", p.body)
	}
}

// A11: whatever the parameters, the browser ends on the client's page.
func TestA11_Parameters(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.browser(t)
	b.get(callbackURL).failed(auth.CodeInvalidState)
	b.get(callbackURL + "?code=c").failed(auth.CodeInvalidState)
	b.get(callbackURL + "?state=" + b.begin()).failed(auth.CodeProviderError)
	state := b.begin()
	b.get(callbackURL + "?code=c&state=" + state + "&state=" + state).failed(auth.CodeInvalidState)
	b.back(b.begin(), strings.Repeat("c", 100_000)).failed(auth.CodeInvalidState)
	b.get(callbackURL + "?%zz&state=;").failed(auth.CodeInvalidState)
}

// A12: the provider's troubles are told as such, and our own as ours, with
// their cause in the log.
func TestA12_ProviderTrouble(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.browser(t)
	for _, code := range []auth.Code{auth.CodeUnreachable, auth.CodeExchangeFailed, auth.CodeUserinfoFailed, auth.CodeClockUnsynced} {
		h.voucher.err = &auth.RefusalError{Code: code}
		b.back(b.begin(), "code").failed(code)
	}
	h.voucher.err = fmt.Errorf("the disk is on fire")
	b.back(b.begin(), "code").failed(auth.CodeServerError)
	if !strings.Contains(h.log.String(), "the disk is on fire") {
		t.Error("our own trouble is not logged")
	}
}

// A14: who signs in again in a browser ends the session that it had
// (CVE-2026-34454).
func TestA14_SignInReplaces(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.browser(t)
	b.signIn()
	access, refresh := b.access(), b.refreshToken()
	b.signIn()
	b.get("/api/auth/me").want(200)
	other := h.browser(t)
	other.get("/api/auth/me", "Authorization", "Bearer "+access).want(401)
	other.send("POST", "/api/auth/refresh", `{"refresh_token":"`+refresh+`"}`, "Content-Type", "application/json").want(401)
}

// A15: a callback is a GET, and a HEAD changes nothing.
func TestA15_CallbackIsAGet(t *testing.T) {
	t.Parallel()
	b := newHouse(t).browser(t)
	state := b.begin()
	b.post(callbackURL + "?code=c&state=" + state).want(405)
	for _, path := range []string{callbackURL + "?code=c&state=" + state, "/api/auth/idp/login"} {
		if allow := b.send("HEAD", path, "").want(405).Header.Get("Allow"); allow != "GET, OPTIONS" {
			t.Errorf("HEAD %s: Allow %q", path, allow)
		}
	}
	b.back(state, "code").want(http.StatusSeeOther)
	b.get("/api/auth/me").want(200)
}

// A16, B8: what is secret goes neither into caches nor into Referer headers.
func TestA16_Headers(t *testing.T) {
	t.Parallel()
	b := newHouse(t).browser(t)
	state := b.get("/api/auth/idp/login").want(http.StatusFound).query("state")
	pages := map[string]page{
		"login":    b.get("/api/auth/idp/login").want(http.StatusFound),
		"callback": b.back(state, "code").want(http.StatusSeeOther),
		"me":       b.get("/api/auth/me").want(200),
		"refresh":  b.post("/api/auth/refresh").want(200),
		"refused":  b.get(callbackURL).want(http.StatusSeeOther),
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
		h := newHouse(t, func(c *web.Config) { c.SignIn.Secure = secure }, behindProxy)
		b := h.browser(t)
		if secure {
			b.throughProxy()
		}
		login := b.get("/api/auth/idp/login").want(http.StatusFound)
		p := b.back(login.query("state"), "code").want(http.StatusSeeOther)
		prefix, attribute := "", ""
		if secure {
			prefix, attribute = "__Secure-", "; Secure"
		}
		binding := login.Cookies()[0]
		for _, tt := range []struct {
			from             page
			name, path, life string
		}{
			{p, prefix + "pressbox_access", "/api", "3600"},
			{p, prefix + "pressbox_refresh", "/api/auth", "604800"},
			{login, prefix + "xo_" + login.query("state")[:8], "/api/auth/idp", "600"},
		} {
			c := tt.from.cookie(tt.name)
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

// behindProxy makes the house trust a reverse proxy.
func behindProxy(c *web.Config) {
	c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
}

// throughProxy makes the browser come by https, through that proxy.
func (b *browser) throughProxy() {
	b.origin, b.from = "https://pressbox.local", "10.0.0.1:1000"
	b.header.Set("X-Forwarded-Proto", "https")
	b.header.Set("X-Forwarded-For", "192.168.1.20")
}

// B7: on plain http, where a browser would drop our cookies, a page says so.
func TestB7_InsecureTransport(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *web.Config) { c.SignIn.Secure = true })
	b := h.browser(t)
	p := b.get("/api/auth/idp/login").want(http.StatusForbidden)
	if !strings.Contains(p.body, "Sign-in needs https here.") || len(p.Cookies()) != 0 {
		t.Errorf("the page says %s, and sets %v", p.body, p.Cookies())
	}
	b.origin = "http://127.0.0.1:8888" // browsers keep them there
	b.begin()
	b.origin = "http://localhost:8888"
	b.begin()
}

// C8: a bug in the program is an answer with a number, and no more.
func TestC8_Panic(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.voucher.panics = true
	p := h.browser(t).get("/api/auth/idp/login").want(500)
	if p.field("request_id") == "" || strings.Contains(p.body, "bug") || !strings.Contains(h.log.String(), "the provider has a bug") {
		t.Errorf("the answer is %s", p.body)
	}
}

// F8: what happens at the door is logged, by its code and never by its secrets.
func TestF8_EventsAreLogged(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.browser(t)
	b.signIn()
	b.back("nonsense", "code").failed(auth.CodeInvalidState)
	b.post("/api/auth/logout").want(204)
	for _, want := range []string{"signed in", "sign-in refused", "invalid_state", "sessions ended", "why=logout"} {
		if !strings.Contains(h.log.String(), want) {
			t.Errorf("the log does not say %q", want)
		}
	}
}

// F9: who sends X-Forwarded-For without being trusted is still from outside.
func TestF9_ForwardedHeaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // in which no start comes back while they are made
		h := newHouse(t, behindProxy)
		b := h.browser(t)
		b.from = "203.0.113.5:1000"
		b.header.Set("X-Forwarded-For", "127.0.0.1")
		for range 60 {
			b.begin()
		}
		b.get("/api/auth/idp/login").want(http.StatusTooManyRequests) // it is not taken for this machine
		p := b.get("/api/auth/idp/callback/server", "X-Forwarded-Proto", "https")
		if p.Header.Get("Strict-Transport-Security") != "" {
			t.Error("a stranger is believed about TLS")
		}
	})
}

// F10: only our own names are answered to.
func TestF10_Hosts(t *testing.T) {
	t.Parallel()
	b := newHouse(t).browser(t)
	for host, want := range map[string]int{
		"evil.example": 421, "0.0.0.0:8888": 421, "192.168.1.5:8888": 302, "localhost": 302, "[::1]:8888": 302, "pressbox": 302,
	} {
		b.get("/api/auth/idp/login", "Host", host).want(want)
	}
}

// F14: https is insisted on where it was used, and nowhere else.
func TestF14_HSTS(t *testing.T) {
	t.Parallel()
	h := newHouse(t, behindProxy)
	b := h.browser(t)
	if p := b.get("/"); p.Header.Get("Strict-Transport-Security") != "" {
		t.Error("on plain http")
	}
	b.throughProxy()
	if p := b.get("/"); p.Header.Get("Strict-Transport-Security") == "" {
		t.Error("not on https")
	}
}

// The client's page of another origin may read answers, and no other page.
func TestCORS(t *testing.T) {
	t.Parallel()
	const client = "http://pressbox.local:3000"
	h := newHouse(t, func(c *web.Config) {
		c.SignIn.Frontend = client
		c.TrustedOrigins = []string{client}
	})
	b := h.browser(t)
	for origin, want := range map[string]string{client: client, "http://pressbox.local:3001": "", "null": "", "https://pressbox.local:3000": ""} {
		p := b.get("/api/auth/me", "Origin", origin)
		credentials := p.Header.Get("Access-Control-Allow-Credentials")
		if got := p.Header.Get("Access-Control-Allow-Origin"); got != want || (credentials != "") != (want != "") {
			t.Errorf("Origin %s: allowed %q, credentials %q", origin, got, credentials)
		}
		if !strings.Contains(strings.Join(p.Header.Values("Vary"), ","), "Origin") {
			t.Error("caches are not told that it depends on the origin")
		}
	}
	p := b.send("OPTIONS", "/api/auth/refresh", "", "Origin", client, "Access-Control-Request-Method", "POST")
	if p.StatusCode != 204 || !strings.Contains(p.Header.Get("Access-Control-Allow-Methods"), "POST") {
		t.Errorf("preflight: %d %v", p.StatusCode, p.Header)
	}
	b.post("/api/auth/logout", "Origin", client).want(204)
	b.post("/api/auth/logout", "Origin", "http://pressbox.local:3001").want(403)
}
