package webtest

import (
	"context"
	"encoding/json"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/idp"
	"pressbox/auth/session"
	"pressbox/clock"
	"pressbox/daemon/web/signin"
	"pressbox/daemon/web/site"
)

// A Provider is a fake of a sign-in provider. Identify returns Identity and Err.
type Provider struct {
	Mu       sync.Mutex // guards the other fields
	Identity auth.Identity
	Err      error
	Panics   bool
	Flows    []auth.AuthorizationRequest // of Authorize and of Identify
	Codes    []string                    // of Identify
}

// Authorize returns the URL of a sign-in.
func (v *Provider) Authorize(_ context.Context, f auth.AuthorizationRequest) (string, error) {
	v.Mu.Lock()
	defer v.Mu.Unlock()
	if v.Panics {
		panic("the provider has a bug")
	}
	v.Flows = append(v.Flows, f)
	return "https://idp.example/authorize?" + url.Values{"state": {f.State}, "redirect_uri": {f.Redirect}}.Encode(), nil
}

// Issuer returns the issuer, which sends no iss parameter.
func (v *Provider) Issuer(context.Context) (string, bool, error) {
	return "https://idp.example", false, nil
}

// Identify exchanges a code.
func (v *Provider) Identify(_ context.Context, f auth.AuthorizationRequest, code string) (auth.Identity, error) {
	v.Mu.Lock()
	defer v.Mu.Unlock()
	v.Flows, v.Codes = append(v.Flows, f), append(v.Codes, code)
	return v.Identity, v.Err
}

// A Clock is a manual clock.
type Clock struct {
	mu sync.Mutex // guards at
	at time.Time
}

// NewClock returns a clock that shows the present time.
func NewClock() *Clock { return &Clock{at: time.Now()} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Advance moves the clock forward.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// NewSignInRig returns a rig with a fake of the sign-in provider; each change may
// alter the configuration. The log must not contain a secret that the test
// issued (F7).
func NewSignInRig(tb testing.TB, change ...func(*site.Config)) *Rig {
	tb.Helper()
	return newSignInRig(tb, NewClock(), change)
}

func newSignInRig(tb testing.TB, now *Clock, change []func(*site.Config)) *Rig {
	tb.Helper()
	r := newRig(tb)
	r.startSignIn(now, change)
	return r
}

// startSignIn sets up sign-in and creates the server.
func (r *Rig) startSignIn(now *Clock, change []func(*site.Config)) {
	r.T.Helper()
	r.Clock = now
	r.Provider = &Provider{Identity: auth.Identity{Provider: "test", Subject: "1", Name: "Anna"}}
	repository := openStore(r.T).Auth()
	start := now.Now()
	times, err := session.OpenClock(r.T.Context(), repository, clock.Source{
		Wall: now.Now, Since: func() time.Duration { return now.Now().Sub(start) }, Boot: "boot",
	}, time.Time{})
	if err != nil {
		r.T.Fatal(err)
	}
	withSignIn := func(cfg *site.Config) {
		r.Sessions = session.New(repository, times, 0, cfg.Log)
		r.Accounts = r.Sessions.LocalAccounts()
		cfg.SignIn = &signin.Config{
			Sessions: r.Sessions,
			SignIn:   &session.SignIn{Provider: r.Provider, ProviderName: "test", SignUp: auth.SignUpOpen, Sessions: r.Sessions, Log: cfg.Log},
		}
	}
	r.start(append([]func(*site.Config){withSignIn}, change...))
	r.T.Cleanup(r.searchLog)
}

// WithLocalAccounts configures local accounts. The throttle uses the clock, so that
// its waits do not depend on the speed of the host.
func WithLocalAccounts(policy auth.SignUpPolicy, now *Clock) func(*site.Config) {
	return func(cfg *site.Config) {
		l := idp.NewLocal(idp.LocalConfig{
			Accounts: cfg.SignIn.Sessions.LocalAccounts(), SignUp: policy, Now: now.Now, Log: cfg.Log,
			Throttle: session.NewThrottle(now.Now, netip.Addr.IsLoopback),
			Hasher:   idp.NewHasher(func() idp.Cost { return idp.Cost{Memory: 64, Time: 1} }),
		})
		cfg.SignIn.Local, cfg.SignIn.Passphrases = l, l
		cfg.SignIn.SignIn.Provider, cfg.SignIn.SignIn.ProviderName = l.Provider(), auth.Local
	}
}

// NewLocalRig returns a rig with local accounts.
func NewLocalRig(tb testing.TB, policy auth.SignUpPolicy, change ...func(*site.Config)) *Rig {
	tb.Helper()
	now := NewClock()
	return newSignInRig(tb, now, append([]func(*site.Config){WithLocalAccounts(policy, now)}, change...))
}

// Secret records a value that must not be logged; what is its kind.
func (r *Rig) Secret(what, value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(value) >= 8 {
		r.secrets[value] = what
	}
}

// searchLog fails the test if the log contains a code, state, token, cookie or
// passphrase (F7).
func (r *Rig) searchLog() {
	r.mu.Lock()
	defer r.mu.Unlock()
	log := r.Log.String()
	for value, what := range r.secrets {
		if strings.Contains(log, value) {
			r.T.Errorf("the log contains a %s, %q", what, value)
		}
	}
}

// TokenPattern matches any token.
var TokenPattern = regexp.MustCompile(`x[artio]_[A-Za-z0-9_-]{43}`)

// A Browser is a client with a cookie jar. It checks every response against the
// OpenAPI document.
type Browser struct {
	*Rig
	Client http.Client
	Origin string
	Header http.Header // sent with every request
	From   string      // address and port
}

// Browser returns a browser on the local network.
func (r *Rig) Browser(tb testing.TB) *Browser {
	tb.Helper()
	cookies, err := cookiejar.New(nil)
	if err != nil {
		tb.Fatal(err)
	}
	b := &Browser{Rig: r, Origin: "http://pressbox.local:8888", Header: http.Header{}, From: "192.168.1.20:40000"}
	b.Client = http.Client{Jar: cookies, Transport: b, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	return b
}

// RoundTrip sends a request to the rig.
func (b *Browser) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.RemoteAddr, r.RequestURI = b.From, r.URL.RequestURI()
	if r.Host == "" {
		r.Host = r.URL.Host
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	maps.Copy(r.Header, b.Header)
	for _, c := range r.Cookies() {
		b.Secret("cookie", c.Value)
	}
	w := httptest.NewRecorder()
	b.Handler().ServeHTTP(w, r)
	resp := w.Result()
	resp.Request = r
	for _, c := range resp.Cookies() {
		b.Secret("cookie", c.Value)
	}
	for _, address := range []string{resp.Header.Get("Location"), r.URL.String()} {
		if u, err := url.Parse(address); err == nil {
			b.Secret("code", u.Query().Get("code"))
			b.Secret("state", u.Query().Get("state"))
		}
	}
	for _, token := range TokenPattern.FindAllString(w.Body.String(), -1) {
		b.Secret("token", token)
	}
	b.Check.CheckResponse(b.T, r, resp)
	resp.Body = io.NopCloser(strings.NewReader(w.Body.String()))
	return resp, nil
}

// A Page is a response with its body.
type Page struct {
	*http.Response
	T    testing.TB
	Text string
}

// Send sends a request; headers alternates names and values. A path without a
// host is relative to Origin.
func (b *Browser) Send(method, path, body string, headers ...string) Page {
	b.T.Helper()
	if strings.HasPrefix(path, "/") {
		path = b.Origin + path
	}
	req, err := http.NewRequestWithContext(b.T.Context(), method, path, strings.NewReader(body))
	if err != nil {
		b.T.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := b.Client.Do(req)
	if err != nil {
		b.T.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.T.Fatal(err)
	}
	return Page{resp, b.T, string(text)}
}

// Get sends a GET request.
func (b *Browser) Get(path string, headers ...string) Page {
	b.T.Helper()
	return b.Send(http.MethodGet, path, "", headers...)
}

// Post sends a POST request without a body.
func (b *Browser) Post(path string, headers ...string) Page {
	b.T.Helper()
	return b.Send(http.MethodPost, path, "", headers...)
}

// Submit sends a form; fields alternates names and values.
func (b *Browser) Submit(path string, fields ...string) Page {
	b.T.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
		if fields[i] == "passphrase" || fields[i] == "invite" {
			b.Secret(fields[i], fields[i+1])
		}
	}
	return b.Send(http.MethodPost, path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Origin", b.Origin)
}

// Want fails the test unless the response has the status.
func (p Page) Want(status int) Page {
	p.T.Helper()
	if p.StatusCode != status {
		p.T.Fatalf("%s %s: status %d, want %d: %v %s", p.Request.Method, p.Request.URL.Path, p.StatusCode, status, p.Header, p.Text)
	}
	return p
}

// Query returns a query parameter of the redirect.
func (p Page) Query(name string) string {
	p.T.Helper()
	u, err := url.Parse(p.Header.Get("Location"))
	if err != nil {
		p.T.Fatal(err)
	}
	return u.Query().Get(name)
}

// Field returns a string member of the response's JSON object.
func (p Page) Field(name string) string {
	p.T.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(p.Text), &all); err != nil {
		p.T.Fatalf("%v in %s", err, p.Text)
	}
	text, _ := all[name].(string)
	return text
}

// SetCookie returns the cookie of a name that the response sets; nil if none.
func (p Page) SetCookie(name string) *http.Cookie {
	for _, c := range p.Cookies() {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// WantError fails the test unless the response redirects to the client's page for
// a failed sign-in, with the code and without session cookies.
func (p Page) WantError(code auth.Code) {
	p.T.Helper()
	p.Want(http.StatusSeeOther)
	u, err := url.Parse(p.Header.Get("Location"))
	if err != nil {
		p.T.Fatal(err)
	}
	q := u.Query()
	if u.Path != "/auth/callback" || q.Get("error") != string(code) || q.Get("error_description") != code.Description() ||
		q.Get("error_id") != p.Header.Get("X-Request-Id") || len(q) != 3 {
		p.T.Errorf("redirect to %s, want error=%s", u, code)
	}
	if p.SetCookie("pressbox_access") != nil || p.SetCookie("pressbox_refresh") != nil {
		p.T.Error("the failed sign-in sets session cookies")
	}
}

// Begin starts a sign-in and returns its state.
func (b *Browser) Begin() (state string) {
	b.T.Helper()
	return b.Get("/api/auth/idp/login").Want(http.StatusFound).Query("state")
}

// Callback requests the redirect URI; more alternates names and values of further
// parameters.
func (b *Browser) Callback(state, code string, more ...string) Page {
	b.T.Helper()
	q := url.Values{"state": {state}, "code": {code}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return b.Get("/api/auth/idp/callback/server?" + q.Encode())
}

// SignIn signs in through the fake provider.
func (b *Browser) SignIn() {
	b.T.Helper()
	p := b.Callback(b.Begin(), "code "+auth.NewSecret()).Want(http.StatusSeeOther)
	if p.Header.Get("Location") != "/" {
		b.T.Fatalf("redirect to %s", p.Header.Get("Location"))
	}
}

// Cookie returns the value of a cookie for a path; "" if there is none.
func (b *Browser) Cookie(name, path string) string {
	u, err := url.Parse(b.Origin + path)
	if err != nil {
		b.T.Fatal(err)
	}
	for _, c := range b.Client.Jar.Cookies(u) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// AccessToken returns the access token in the cookie.
func (b *Browser) AccessToken() string { return b.Cookie("pressbox_access", "/api") }

// RefreshToken returns the refresh token in the cookie.
func (b *Browser) RefreshToken() string { return b.Cookie("pressbox_refresh", "/api/auth") }

// BehindProxy makes the server trust a reverse proxy.
func BehindProxy(c *site.Config) {
	c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
}

// UseProxy makes the browser use https through that proxy.
func (b *Browser) UseProxy() {
	b.Origin, b.From = "https://pressbox.local", "10.0.0.1:1000"
	b.Header.Set("X-Forwarded-Proto", "https")
	b.Header.Set("X-Forwarded-For", "192.168.1.20")
}

// Passphrase is the passphrase of local accounts.
const Passphrase = "a dog in a boat"

var formAction = regexp.MustCompile(`<form method="post" action="([^"]+)"`)

// LocalForm starts a sign-in, opens the page of local accounts and returns the URL
// of its forms.
func (b *Browser) LocalForm() (action string) {
	b.T.Helper()
	to := b.Get("/api/auth/idp/login").Want(http.StatusFound).Header.Get("Location")
	p := b.Get(to).Want(http.StatusOK)
	found := formAction.FindStringSubmatch(p.Text)
	if found == nil {
		b.T.Fatalf("no form in %s", p.Text)
	}
	return html.UnescapeString(found[1])
}

// FollowForm follows the redirects of a successful form to the end of the sign-in.
func (b *Browser) FollowForm(p Page) {
	b.T.Helper()
	p.Want(http.StatusSeeOther)
	if p = b.Get(p.Header.Get("Location")).Want(http.StatusSeeOther); p.Header.Get("Location") != "/" {
		b.T.Fatalf("redirect to %s", p.Header.Get("Location"))
	}
}

// CreateAccount creates a local account and signs in with it.
func (b *Browser) CreateAccount(name string) {
	b.T.Helper()
	b.FollowForm(b.Submit(b.LocalForm(), "form", "create", "name", name, "passphrase", Passphrase))
}

// Bearer returns the Authorization header with a token.
func Bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

// RefreshWith refreshes with the token in the body.
func (b *Browser) RefreshWith(token string) Page {
	b.T.Helper()
	return b.Send(http.MethodPost, "/api/auth/refresh", `{"refresh_token":"`+token+`"}`, "Content-Type", AsJSON)
}
