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
	"path/filepath"
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
	"pressbox/store"
)

// A Provider stands in for a sign-in provider: it vouches for who it is told.
type Provider struct {
	Mu       sync.Mutex
	Identity auth.Identity
	Err      error
	Panics   bool
	Flows    []auth.AuthorizationRequest // as asked with, and as exchanged
	Codes    []string                    // as exchanged
}

func (v *Provider) Authorize(_ context.Context, f auth.AuthorizationRequest) (string, error) {
	v.Mu.Lock()
	defer v.Mu.Unlock()
	if v.Panics {
		panic("the provider has a bug")
	}
	v.Flows = append(v.Flows, f)
	return "https://idp.example/authorize?" + url.Values{"state": {f.State}, "redirect_uri": {f.Redirect}}.Encode(), nil
}

func (v *Provider) Issuer(context.Context) (string, bool, error) {
	return "https://idp.example", false, nil
}

func (v *Provider) Identify(_ context.Context, f auth.AuthorizationRequest, code string) (auth.Identity, error) {
	v.Mu.Lock()
	defer v.Mu.Unlock()
	v.Flows, v.Codes = append(v.Flows, f), append(v.Codes, code)
	return v.Identity, v.Err
}

// A SignInRig is a rig that people can sign in to. Whatever is secret and was
// issued in a test is searched for in the log when the test ends (F7).
type SignInRig struct {
	*Rig
	T        testing.TB
	Provider *Provider
	Sessions *session.Sessions
	Accounts *session.LocalAccounts
	Clock    *Clock

	mu      sync.Mutex
	secrets map[string]string // secret → what it is
}

// A Clock is set by hand.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

func NewClock() *Clock { return &Clock{at: time.Now()} }

func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// NewSignInRig makes a house with a voucher; change may alter how one signs in.
func NewSignInRig(tb testing.TB, change ...func(*site.Config)) *SignInRig {
	tb.Helper()
	return NewSignInRigAt(tb, NewClock(), change...)
}

// NewSignInRigAt is newHouse with the house's clock.
func NewSignInRigAt(tb testing.TB, now *Clock, change ...func(*site.Config)) *SignInRig {
	tb.Helper()
	h := &SignInRig{
		T: tb, Clock: now, secrets: map[string]string{},
		Provider: &Provider{Identity: auth.Identity{Provider: "test", Subject: "1", Name: "Anna"}},
	}
	kept, err := store.Open(filepath.Join(tb.TempDir(), "people.db"), store.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := kept.Close(); err != nil {
			tb.Error(err)
		}
	})
	began := h.Clock.Now()
	times, err := session.OpenClock(tb.Context(), kept.Auth(), clock.Source{
		Wall: h.Clock.Now, Since: func() time.Duration { return h.Clock.Now().Sub(began) }, Boot: "boot",
	}, time.Time{})
	if err != nil {
		tb.Fatal(err)
	}
	furnish := func(cfg *site.Config) {
		h.Sessions = session.New(kept.Auth(), times, 0, cfg.Log)
		h.Accounts = h.Sessions.LocalAccounts()
		cfg.SignIn = &signin.Config{
			Sessions: h.Sessions,
			SignIn:   &session.SignIn{Provider: h.Provider, ProviderName: "test", SignUp: auth.SignUpOpen, Sessions: h.Sessions, Log: cfg.Log},
		}
	}
	h.Rig = NewRig(tb, append([]func(*site.Config){furnish}, change...)...)
	tb.Cleanup(h.searchLog)
	return h
}

// Local makes the appliance vouch for its own accounts, by a clock: whoever was
// wrong waits a second by it, however long the machine takes to ask again.
func Local(policy auth.SignUpPolicy, now *Clock) func(*site.Config) {
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

// NewLocalRig makes a house that keeps accounts itself.
func NewLocalRig(tb testing.TB, policy auth.SignUpPolicy, change ...func(*site.Config)) *SignInRig {
	tb.Helper()
	now := NewClock()
	return NewSignInRigAt(tb, now, append([]func(*site.Config){Local(policy, now)}, change...)...)
}

// Secret notes that something must not be logged.
func (h *SignInRig) Secret(what, value string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(value) >= 8 {
		h.secrets[value] = what
	}
}

// searchLog is F7: no code, state, token, cookie or passphrase is in the log.
func (h *SignInRig) searchLog() {
	h.mu.Lock()
	defer h.mu.Unlock()
	log := h.Log.String()
	for value, what := range h.secrets {
		if strings.Contains(log, value) {
			h.T.Errorf("the log has a %s, %q", what, value)
		}
	}
}

var AnyToken = regexp.MustCompile(`x[artio]_[A-Za-z0-9_-]{43}`)

// A Browser keeps cookies as browsers do, and every answer that it gets is held
// against the OpenAPI document.
type Browser struct {
	*SignInRig
	Client http.Client
	Origin string
	Header http.Header // sent with every request
	From   string      // address and port
}

// Browser opens one, at the usual address.
func (h *SignInRig) Browser(tb testing.TB) *Browser {
	tb.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		tb.Fatal(err)
	}
	b := &Browser{SignInRig: h, Origin: "http://pressbox.local:8888", Header: http.Header{}, From: "192.168.1.20:40000"}
	b.Client = http.Client{Jar: jar, Transport: b, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	return b
}

// RoundTrip sends a request to the house.
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
	for _, token := range AnyToken.FindAllString(w.Body.String(), -1) {
		b.Secret("token", token)
	}
	b.Check.CheckResponse(b.T, r, resp)
	resp.Body = io.NopCloser(strings.NewReader(w.Body.String()))
	return resp, nil
}

// An Page is an answer, read.
type Page struct {
	*http.Response
	T    testing.TB
	Text string
}

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

func (b *Browser) Get(path string, headers ...string) Page {
	b.T.Helper()
	return b.Send(http.MethodGet, path, "", headers...)
}

func (b *Browser) Post(path string, headers ...string) Page {
	b.T.Helper()
	return b.Send(http.MethodPost, path, "", headers...)
}

// Submit sends a form as a browser does.
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

// Want fails the test unless the answer has that status.
func (p Page) Want(status int) Page {
	p.T.Helper()
	if p.StatusCode != status {
		p.T.Fatalf("%s %s: status %d, want %d: %v %s", p.Request.Method, p.Request.URL.Path, p.StatusCode, status, p.Header, p.Text)
	}
	return p
}

// Query is a parameter of where the answer leads.
func (p Page) Query(name string) string {
	p.T.Helper()
	u, err := url.Parse(p.Header.Get("Location"))
	if err != nil {
		p.T.Fatal(err)
	}
	return u.Query().Get(name)
}

// Field is a member of the answer's JSON object.
func (p Page) Field(name string) string {
	p.T.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(p.Text), &all); err != nil {
		p.T.Fatalf("%v in %s", err, p.Text)
	}
	text, _ := all[name].(string)
	return text
}

// SetCookie is the cookie of a name that the answer sets; nil when it sets none.
func (p Page) SetCookie(name string) *http.Cookie {
	for _, c := range p.Cookies() {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// WantError fails the test unless the browser is sent to the client's page with
// that code, and without a session.
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
		p.T.Errorf("sent to %s, want error=%s", u, code)
	}
	if p.SetCookie("pressbox_access") != nil || p.SetCookie("pressbox_refresh") != nil {
		p.T.Error("and with cookies")
	}
}

// Begin begins a sign-in and is its state.
func (b *Browser) Begin() (state string) {
	b.T.Helper()
	return b.Get("/api/auth/idp/login").Want(http.StatusFound).Query("state")
}

// Callback comes back from the provider.
func (b *Browser) Callback(state, code string, more ...string) Page {
	b.T.Helper()
	q := url.Values{"state": {state}, "code": {code}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return b.Get("/api/auth/idp/callback/server?" + q.Encode())
}

// SignIn signs in with the voucher.
func (b *Browser) SignIn() {
	b.T.Helper()
	p := b.Callback(b.Begin(), "code "+auth.NewSecret()).Want(http.StatusSeeOther)
	if p.Header.Get("Location") != "/" {
		b.T.Fatalf("sent to %s", p.Header.Get("Location"))
	}
}

// Cookie is the value of a cookie that the browser has; "" when it has none.
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

func (b *Browser) AccessToken() string { return b.Cookie("pressbox_access", "/api") }

func (b *Browser) RefreshToken() string { return b.Cookie("pressbox_refresh", "/api/auth") }

// BehindProxy makes the house trust a reverse proxy.
func BehindProxy(c *site.Config) {
	c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
}

// UseProxy makes the browser come by https, through that proxy.
func (b *Browser) UseProxy() {
	b.Origin, b.From = "https://pressbox.local", "10.0.0.1:1000"
	b.Header.Set("X-Forwarded-Proto", "https")
	b.Header.Set("X-Forwarded-For", "192.168.1.20")
}

const Passphrase = "a dog in a boat"

var formAction = regexp.MustCompile(`<form method="post" action="([^"]+)"`)

// LocalForm opens the page of local accounts, as a sign-in leads to it, and is where
// its forms go.
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

// FollowForm follows where a form that succeeded leads, to the end.
func (b *Browser) FollowForm(p Page) {
	b.T.Helper()
	p.Want(http.StatusSeeOther)
	if p = b.Get(p.Header.Get("Location")).Want(http.StatusSeeOther); p.Header.Get("Location") != "/" {
		b.T.Fatalf("sent to %s", p.Header.Get("Location"))
	}
}

// CreateAccount makes an account and signs in with it.
func (b *Browser) CreateAccount(name string) {
	b.T.Helper()
	b.FollowForm(b.Submit(b.LocalForm(), "form", "create", "name", name, "passphrase", Passphrase))
}

// Bearer is the header of a token.
func Bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

// RefreshWith refreshes as older clients do.
func (b *Browser) RefreshWith(token string) Page {
	b.T.Helper()
	return b.Send(http.MethodPost, "/api/auth/refresh", `{"refresh_token":"`+token+`"}`, "Content-Type", AsJSON)
}
