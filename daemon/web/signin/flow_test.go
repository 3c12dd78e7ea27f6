package signin_test

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/auth"
	"pressbox/auth/idp"
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
	check.That(t, me.Field("name") == "Anna" && me.Field("provider") == "test" && me.Field("id") != "" &&
		me.Field("created_at") != "", "me: %s", me.Text)
	b.Browser(t).Callback(b.Begin(), "code").WantError(auth.CodeBrowserMismatch)
	dropped, oldest := b.Begin(), b.Begin()
	for range 4 {
		b.Begin()
	}
	b.Callback(dropped, "code").WantError(auth.CodeBrowserMismatch)
	b.Callback(oldest, "code").Want(http.StatusSeeOther)
}

// Parameters and errors of the provider lead to the client's page, and a server error to the log.
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
	const own = "http://pressbox.local:8888"
	h := webtest.NewSignInRig(t, func(c *site.Config) { c.SignIn.Redirect = own + callbackURL })
	b := h.Browser(t)
	p := b.Get("/api/auth/idp/login?return=/lobby", "Host", "192.168.1.5:8888").Want(http.StatusFound)
	to := p.Header.Get("Location")
	check.Require(t, strings.HasPrefix(to, "http://pressbox.local:8888/api/auth/idp/login?") &&
		p.Query("return") == "/lobby", "redirect to %s", to)
	check.That(t, len(h.Provider.Requests()) == 0, "a sign-in was started at the wrong host")
	b.Get(to, "Host", "192.168.1.5:8888").Want(http.StatusFound)
	check.That(t, len(h.Provider.Requests()) == 1, "no sign-in was started behind a proxy that changes Host")
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
		check.That(t, p.Header.Get("Retry-After") != "", "no Retry-After")
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
		check.That(t, !strings.Contains(p.Header.Get("Location"), "alert"), "echoed in %s", p.Header.Get("Location"))
	}
	b := h.Browser(t)
	p := b.Get("/auth/callback?error=access_denied&error_description=%3Cscript%3Ealert(1)" +
		"&error_id=%3Cscript%3Ealert(1)").Want(200)
	check.That(t, strings.Contains(p.Text, auth.CodeAccessDenied.Description()) &&
		!strings.Contains(p.Text, "alert(1)"), "page %s", p.Text)
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
		check.Equal(t, b.Send("HEAD", path, "").Want(405).Header.Get("Allow"), "GET, OPTIONS", "HEAD %s: Allow", path)
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
			check.That(t, c.Raw == want && len(c.Raw) <= 4096, "Set-Cookie: %s, want %s", c.Raw, want)
		}
		check.That(t, binding.Value != "" && len(p.Cookies()) == 4,
			"%d cookies, want access, refresh, account and the deleted binding", len(p.Cookies()))
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
	account, _ := document()
	check.Equal(t, account, "", "in the document of a visitor")
	b.SignIn()
	account, text := document()
	check.Equal(t, account, strings.TrimSpace(b.Get("/api/auth/me").Want(200).Text), "in the document")
	check.That(t, !webtest.TokenPattern.MatchString(text), "the document has a token")
	b.Post("/api/auth/logout").Want(204)
	account, _ = document()
	check.Equal(t, account, "", "after signing out, in the document")
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
	check.That(t, strings.Contains(p.Text, "needs https here.") && len(p.Cookies()) == 0,
		"page %s, cookies %v", p.Text, p.Cookies())
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

// Strict-Transport-Security is sent on https only, which a trusted proxy alone can assert.
func TestHSTS_https(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t, webtest.BehindProxy)
	b := h.Browser(t)
	has := func(want bool, headers ...string) {
		t.Helper()
		check.Equal(t, b.Get("/", headers...).Header.Get("Strict-Transport-Security") != "", want, "%q: sent", headers)
	}
	has(false)
	has(false, "X-Forwarded-Proto", "https") // of an untrusted client
	b.UseProxy()
	has(true)
}

// Only trusted origins may read responses.
func TestCORS_trustedOrigin(t *testing.T) {
	t.Parallel()
	const client = "http://pressbox.local:3000"
	b := webtest.NewSignInRig(t, func(c *site.Config) {
		c.SignIn.Frontend, c.TrustedOrigins = client, []string{client}
	}).Browser(t)
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
	check.That(t, p.StatusCode == 204 && strings.Contains(p.Header.Get("Access-Control-Allow-Methods"), "POST"),
		"preflight: %d %v", p.StatusCode, p.Header)
	b.Post("/api/auth/logout", "Origin", client).Want(204)
	b.Post("/api/auth/logout", "Origin", "http://pressbox.local:3001").Want(403)
}

//go:embed testdata/oidc-provider/provider.js
var providerScript string

// startProvider starts npm's oidc-provider in a child process, which ends with the test, and returns its issuer.
func startProvider(t *testing.T, redirect, secret string) (issuer string) {
	t.Helper()
	dir := check.Must(filepath.Abs("../../../.build/oidc-provider"))(t)
	_, err := os.Stat(filepath.Join(dir, "node_modules"))
	check.Require(t, err == nil, "oidc-provider is not installed, run \"make test\": %v", err)
	node := filepath.Join(dir, "node_modules", ".bin", "node") // installed if the host's node is too old
	if _, err := os.Stat(node); err != nil {
		node = "node"
	}
	cmd := exec.Command(node, "--input-type=module", "-e", providerScript, redirect, secret)
	cmd.Dir = dir
	stop := check.Must(cmd.StdinPipe())(t)
	out := check.Must(cmd.StdoutPipe())(t)
	check.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = stop.Close()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "http://") {
			go func() { _, _ = io.Copy(io.Discard, out) }() // until the process ends
			return lines.Text()
		}
	}
	t.Fatal("oidc-provider does not start")
	return ""
}

// providerRig is a rig on a TCP port with a real provider.
type providerRig struct {
	*webtest.Rig
	url    string // of the rig
	issuer string
}

func newProviderRig(t *testing.T, provider string) *providerRig {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	a := &providerRig{url: "http://" + server.Listener.Addr().String()}
	redirect, secret := a.url+callbackURL, auth.NewSecret()
	a.issuer = startProvider(t, redirect, secret)
	a.Rig = webtest.NewSignInRig(t, func(c *site.Config) {
		p := check.Must(idp.New(idp.Config{
			Provider: provider, ClientID: "pressbox",
			ClientSecret: secret, Issuer: a.issuer, Scopes: []string{"openid", "profile"},
			AuthURL: a.issuer + "/auth", TokenURL: a.issuer + "/token", UserinfoURL: a.issuer + "/me",
			Cache: noCache{}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		}))(t)
		c.SignIn.SignIn.Provider, c.SignIn.SignIn.ProviderName, c.SignIn.Redirect = p, provider, redirect
	})
	a.Secret("client secret", secret)
	server.Config.Handler = a.Handler()
	server.Start()
	t.Cleanup(server.Close)
	return a
}

// A networkClient is a browser that uses the network.
type networkClient struct{ *webtest.Browser }

func (a *providerRig) client(t *testing.T) *networkClient {
	t.Helper()
	b := a.Browser(t)
	b.Origin, b.Network = a.url, true
	return &networkClient{b}
}

// next follows a redirect.
func (s *networkClient) next(p webtest.Page) webtest.Page {
	s.T.Helper()
	to, err := p.Location()
	if err != nil {
		s.T.Fatalf("%s does not redirect: %v %s", p.Request.URL, err, p.Text)
	}
	return s.Get(to.String())
}

var providersForm = regexp.MustCompile(`action="([^"]+)"`)

// toForm follows redirects to a form and returns the URL of its action.
func (s *networkClient) toForm(p webtest.Page) string {
	s.T.Helper()
	for p.StatusCode/100 == 3 {
		p = s.next(p)
	}
	form := providersForm.FindStringSubmatch(p.Text)
	if form == nil {
		s.T.Fatalf("no form at %s: %d %s", p.Request.URL, p.StatusCode, p.Text)
	}
	to := check.Must(p.Request.URL.Parse(html.UnescapeString(form[1])))(s.T)
	return to.String()
}

// toCallback follows redirects up to the redirect URI, which it does not request.
func (s *networkClient) toCallback(p webtest.Page) *url.URL {
	s.T.Helper()
	for {
		to, err := p.Location()
		if err != nil {
			s.T.Fatalf("%s does not redirect: %v %s", p.Request.URL, err, p.Text)
		}
		if strings.HasPrefix(to.String(), s.Origin+callbackURL) {
			return to
		}
		p = s.next(p)
	}
}

// consent signs in at the provider, consents and returns the redirect URI.
func (s *networkClient) consent(name string) *url.URL {
	s.T.Helper()
	form := s.toForm(s.Get("/api/auth/idp/login"))
	p := s.Submit(form, "prompt", "login", "login", name, "password", "any")
	return s.toCallback(s.Submit(s.toForm(p), "prompt", "consent"))
}

// noCache is an empty cache of discovery documents.
type noCache struct{}

func (noCache) Cached(context.Context, string) ([]byte, error) { return nil, nil }

func (noCache) SaveCached(context.Context, string, []byte) error { return nil }

// Sign-in with an independent provider, as OpenID Connect and as plain OAuth 2.0.
func TestProvider_real(t *testing.T) {
	if testing.Short() {
		t.Skip("runs npm's oidc-provider in a child process")
	}
	t.Parallel()
	for _, kind := range []string{"oidc", "oauth2"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			a := newProviderRig(t, kind)
			s := a.client(t)
			back := s.consent("anna")
			iss := back.Query().Get("iss")
			check.Require(t, iss == a.issuer, "iss=%q, want %q", iss, a.issuer)
			s.Get(back.String()).Want(http.StatusSeeOther)
			me := s.Get("/api/auth/me").Want(200)
			check.That(t, me.Field("name") == "anna of the provider" && me.Field("provider") == kind, "me: %s", me.Text)
			s.Get(back.String()).WantError(auth.CodeInvalidState) // the state is used

			t.Run("declined", func(t *testing.T) { // access_denied of the provider
				s := a.client(t)
				form := s.toForm(s.Get("/api/auth/idp/login"))
				back := s.toCallback(s.Get(form + "/abort"))
				check.Require(t, back.Query().Get("error") == "access_denied" && back.Query().Get("iss") == a.issuer,
					"redirect to %s", back)
				s.Get(back.String()).WantError(auth.CodeAccessDenied)
			})
			t.Run("impostor", func(t *testing.T) { // iss of another provider
				s := a.client(t)
				back := s.consent("anna")
				q := back.Query()
				q.Set("iss", "https://evil.example")
				back.RawQuery = q.Encode()
				s.Get(back.String()).WantError(auth.CodeIssuerMismatch)
			})
			t.Run("stolen code", func(t *testing.T) { // the code is bound to the flow's verifier
				thief, victim := a.client(t), a.client(t)
				stolen := victim.consent("anna").Query().Get("code")
				back := thief.consent("eve")
				q := back.Query()
				q.Set("code", stolen)
				back.RawQuery = q.Encode()
				thief.Get(back.String()).WantError(auth.CodeExchangeFailed)
			})
			t.Run("without PKCE", func(t *testing.T) { // the provider requires PKCE
				s := a.client(t)
				to := check.Must(s.Get("/api/auth/idp/login").Location())(t)
				q := to.Query()
				q.Del("code_challenge")
				q.Del("code_challenge_method")
				to.RawQuery = q.Encode()
				back := s.toCallback(s.Get(to.String()))
				check.Require(t, back.Query().Get("error") == "invalid_request", "redirect to %s", back)
				s.Get(back.String()).WantError(auth.CodeProviderError)
			})
		})
	}
}
