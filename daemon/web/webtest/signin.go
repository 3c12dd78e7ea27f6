package webtest

import (
	"encoding/json"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/auth/idp"
	"pressbox/auth/session"
	"pressbox/daemon/web/signin"
	"pressbox/daemon/web/site"
	"pressbox/packaging/check"
)

// NewSignInRig returns a rig with a fake of the sign-in provider; each change may alter the configuration. The log
// must not contain a secret that the test issued.
func NewSignInRig(tb testing.TB, change ...func(*site.Config)) *Rig {
	tb.Helper()
	r := newRig(tb)
	r.startSignIn(change)
	return r
}

// startSignIn sets up sign-in and creates the server.
func (r *Rig) startSignIn(change []func(*site.Config)) {
	r.T.Helper()
	r.SignInStore = openStore(r.T)
	repository := r.SignInStore.Auth()
	times := check.Must(session.OpenClock(r.T.Context(), repository, r.Clock.Source(), authtest.Released))(r.T)
	withSignIn := func(cfg *site.Config) {
		in := authtest.NewSignIn(r.T, repository, times, cfg.Log)
		r.Provider, _ = in.Provider.(*authtest.Provider)
		r.Sessions, r.Accounts = in.Sessions, in.Sessions.LocalAccounts()
		cfg.SignIn = &signin.Config{
			Sessions: r.Sessions, SignIn: in, AdminCodes: idp.AdminCodes{Sessions: r.Sessions, Hasher: cheapHasher()},
		}
	}
	r.start(append([]func(*site.Config){withSignIn}, change...))
	r.T.Cleanup(r.searchLog)
}

// WithLocalAccounts configures local accounts. The throttle uses the clock, so that
// its waits do not depend on the speed of the host.
func WithLocalAccounts(policy auth.SignUpPolicy, now *authtest.Host) func(*site.Config) {
	return func(cfg *site.Config) {
		l := idp.NewLocal(idp.LocalConfig{
			Accounts: cfg.SignIn.Sessions.LocalAccounts(), SignUp: policy, Now: now.Now, Log: cfg.Log,
			Throttle: session.NewThrottle(now.Now, nil, netip.Addr.IsLoopback),
			Hasher:   cheapHasher(),
		})
		cfg.SignIn.Local, cfg.SignIn.Passphrases = l, l
		cfg.SignIn.SignIn.Provider, cfg.SignIn.SignIn.ProviderName = l.Provider(), auth.Local
	}
}

// cheapHasher returns a hasher that takes no time to speak of.
func cheapHasher() *idp.Hasher {
	return idp.NewHasher(func() idp.Cost { return idp.Cost{Memory: 64, Time: 1} })
}

// NewLocalRig returns a rig with local accounts.
func NewLocalRig(tb testing.TB, policy auth.SignUpPolicy, change ...func(*site.Config)) *Rig {
	tb.Helper()
	r := newRig(tb)
	r.startSignIn(append([]func(*site.Config){WithLocalAccounts(policy, r.Clock)}, change...))
	return r
}

// Secret records a value that must not be logged; what is its kind.
func (r *Rig) Secret(what, value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(value) >= 8 {
		r.secrets[value] = what
	}
}

// searchLog fails the test if the log contains a code, state, token, cookie or passphrase.
func (r *Rig) searchLog() {
	r.mu.Lock()
	defer r.mu.Unlock()
	log := r.Log.String()
	for value, what := range r.secrets {
		check.That(r.T, !strings.Contains(log, value), "the log contains a %s, %q", what, value)
	}
}

// TokenPattern matches any token.
var TokenPattern = regexp.MustCompile(`x[artio]_[A-Za-z0-9_-]{43}`)

// A Browser is a client with a cookie jar. It checks every response against the OpenAPI document.
type Browser struct {
	*Rig
	Client http.Client
	Origin string
	Header http.Header // sent with every request
	From   string      // address and port

	Network bool // send requests over the network instead of to the rig's handler
}

// Browser returns a browser on the local network.
func (r *Rig) Browser(tb testing.TB) *Browser {
	tb.Helper()
	cookies := check.Must(cookiejar.New(nil))(tb)
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
	resp, err := b.send(r)
	if err != nil {
		return nil, err
	}
	for _, c := range resp.Cookies() {
		b.Secret("cookie", c.Value)
	}
	for _, address := range []string{resp.Header.Get("Location"), r.URL.String()} {
		if u, err := url.Parse(address); err == nil {
			b.Secret("code", u.Query().Get("code"))
			b.Secret("state", u.Query().Get("state"))
		}
	}
	return resp, nil
}

// send sends a request over the network, or to the rig and checks the response.
func (b *Browser) send(r *http.Request) (*http.Response, error) {
	if b.Network {
		r.RequestURI = ""
		return http.DefaultTransport.RoundTrip(r)
	}
	p := b.Rig.Send(b.T, b.Handler(), r)
	for _, token := range TokenPattern.FindAllString(p.Text, -1) {
		b.Secret("token", token)
	}
	return p.Response, nil
}

// A Page is a response with its body.
type Page struct {
	*http.Response
	T    testing.TB
	Text string
}

// Send sends a request; headers alternates names and values. A path without a host is relative to Origin.
func (b *Browser) Send(method, path, body string, headers ...string) Page {
	b.T.Helper()
	if strings.HasPrefix(path, "/") {
		path = b.Origin + path
	}
	req := check.Must(http.NewRequestWithContext(b.T.Context(), method, path, strings.NewReader(body)))(b.T)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Add(headers[i], headers[i+1])
	}
	resp := check.Must(b.Client.Do(req))(b.T)
	defer resp.Body.Close()
	text := check.Must(io.ReadAll(resp.Body))(b.T)
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
	return b.Send(http.MethodPost, path, form.Encode(),
		"Content-Type", "application/x-www-form-urlencoded", "Origin", b.Origin)
}

// Want fails the test unless the response has the status and, if given, the problem code.
func (p Page) Want(status int, code ...string) Page {
	p.T.Helper()
	check.Require(p.T, p.StatusCode == status, "%s %s: status %d, want %d: %v %s", p.Request.Method, p.Request.URL.Path,
		p.StatusCode, status, p.Header, p.Text)
	if len(code) > 0 && code[0] != "" {
		check.Require(p.T, p.Field("code") == code[0], "code %q, want %q: %s", p.Field("code"), code[0], p.Text)
	}
	return p
}

// Query returns a query parameter of the redirect.
func (p Page) Query(name string) string {
	p.T.Helper()
	u := check.Must(url.Parse(p.Header.Get("Location")))(p.T)
	return u.Query().Get(name)
}

// Field returns a member of the response's JSON object: a string, or JSON.
func (p Page) Field(name string) string {
	p.T.Helper()
	var all map[string]json.RawMessage
	p.Decode(&all)
	var text string
	if json.Unmarshal(all[name], &text) != nil {
		return string(all[name])
	}
	return text
}

// Decode decodes the body.
func (p Page) Decode(v any) {
	p.T.Helper()
	if err := json.Unmarshal([]byte(p.Text), v); err != nil {
		p.T.Fatalf("%s %s: %v in %s", p.Request.Method, p.Request.URL.Path, err, p.Text)
	}
}

// Violations returns path and code of each violation, sorted.
func (p Page) Violations() string {
	p.T.Helper()
	var problem struct {
		Errors []struct{ Path, Code string }
	}
	p.Decode(&problem)
	var all []string
	for _, e := range problem.Errors {
		all = append(all, e.Path+" "+e.Code)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
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
	u := check.Must(url.Parse(p.Header.Get("Location")))(p.T)
	q := u.Query()
	if u.Path != "/auth/callback" || q.Get("error") != string(code) ||
		q.Get("error_description") != code.Description() ||
		q.Get("error_id") != p.Header.Get("X-Request-Id") || len(q) != 3 {
		p.T.Errorf("redirect to %s, want error=%s", u, code)
	}
	check.That(p.T, p.SetCookie("pressbox_access") == nil && p.SetCookie("pressbox_refresh") == nil,
		"the failed sign-in sets session cookies")
}

// Begin starts a sign-in and returns its state.
func (b *Browser) Begin() (state string) {
	b.T.Helper()
	return b.Get("/api/auth/idp/login").Want(http.StatusFound).Query("state")
}

// Callback requests the redirect URI; more alternates names and values of further parameters.
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
	check.Require(b.T, p.Header.Get("Location") == "/", "redirect to %s", p.Header.Get("Location"))
}

// Cookie returns the value of a cookie for a path; "" if there is none.
func (b *Browser) Cookie(name, path string) string {
	u := check.Must(url.Parse(b.Origin + path))(b.T)
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

// LocalForm starts a sign-in, opens the page of local accounts and returns the URL of its forms.
func (b *Browser) LocalForm() (action string) {
	b.T.Helper()
	to := b.Get("/api/auth/idp/login").Want(http.StatusFound).Header.Get("Location")
	p := b.Get(to).Want(http.StatusOK)
	found := formAction.FindStringSubmatch(p.Text)
	check.Require(b.T, found != nil, "no form in %s", p.Text)
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
