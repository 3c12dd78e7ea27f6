package web_test

import (
	"context"
	"encoding/json"
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
	"pressbox/daemon/web"
	"pressbox/store"
)

// A voucher stands in for a sign-in provider: it vouches for who it is told.
type voucher struct {
	mu     sync.Mutex
	who    auth.Identity
	err    error
	panics bool
	flows  []auth.AuthorizationRequest // as asked with, and as exchanged
	codes  []string                    // as exchanged
}

func (v *voucher) Authorize(_ context.Context, f auth.AuthorizationRequest) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.panics {
		panic("the provider has a bug")
	}
	v.flows = append(v.flows, f)
	return "https://idp.example/authorize?" + url.Values{"state": {f.State}, "redirect_uri": {f.Redirect}}.Encode(), nil
}

func (v *voucher) Issuer(context.Context) (string, bool, error) {
	return "https://idp.example", false, nil
}

func (v *voucher) Identify(_ context.Context, f auth.AuthorizationRequest, code string) (auth.Identity, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.flows, v.codes = append(v.flows, f), append(v.codes, code)
	return v.who, v.err
}

// A house is a rig that people can sign in to. Whatever is secret and was
// issued in a test is searched for in the log when the test ends (F7).
type house struct {
	*rig
	t       testing.TB
	voucher *voucher
	book    *session.Sessions
	logins  *session.LocalAccounts
	now     *manualClock

	mu      sync.Mutex
	secrets map[string]string // secret → what it is
}

// A manualClock is set by hand.
type manualClock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *manualClock { return &manualClock{at: time.Now()} }

func (c *manualClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *manualClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// newHouse makes a house with a voucher; change may alter how one signs in.
func newHouse(tb testing.TB, change ...func(*web.Config)) *house {
	tb.Helper()
	return newHouseAt(tb, newClock(), change...)
}

// newHouseAt is newHouse with the house's clock.
func newHouseAt(tb testing.TB, now *manualClock, change ...func(*web.Config)) *house {
	tb.Helper()
	h := &house{
		t: tb, now: now, secrets: map[string]string{},
		voucher: &voucher{who: auth.Identity{Provider: "test", Subject: "1", Name: "Anna"}},
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
	began := h.now.now()
	times, err := session.OpenClock(tb.Context(), kept.Auth(), clock.Source{
		Wall: h.now.now, Since: func() time.Duration { return h.now.now().Sub(began) }, Boot: "boot",
	}, time.Time{})
	if err != nil {
		tb.Fatal(err)
	}
	furnish := func(cfg *web.Config) {
		h.book = session.New(kept.Auth(), times, 0, cfg.Log)
		h.logins = h.book.LocalAccounts()
		cfg.SignIn = &web.SignIn{
			Book: h.book,
			Door: &session.SignIn{Provider: h.voucher, ProviderName: "test", SignUp: auth.SignUpOpen, Sessions: h.book, Log: cfg.Log},
		}
	}
	h.rig = newRig(tb, append([]func(*web.Config){furnish}, change...)...)
	tb.Cleanup(h.searchLog)
	return h
}

// local makes the appliance vouch for its own accounts, by a clock: whoever was
// wrong waits a second by it, however long the machine takes to ask again.
func local(policy auth.SignUpPolicy, now *manualClock) func(*web.Config) {
	return func(cfg *web.Config) {
		l := idp.NewLocal(idp.LocalConfig{
			Accounts: cfg.SignIn.Book.LocalAccounts(), SignUp: policy, Now: now.now, Log: cfg.Log,
			Throttle: session.NewThrottle(now.now, netip.Addr.IsLoopback),
			Hasher:   idp.NewHasher(func() idp.Cost { return idp.Cost{Memory: 64, Time: 1} }),
		})
		cfg.SignIn.Local, cfg.SignIn.Passphrases = l, l
		cfg.SignIn.Door.Provider, cfg.SignIn.Door.ProviderName = l.Provider(), auth.Local
	}
}

// newLocalHouse makes a house that keeps accounts itself.
func newLocalHouse(tb testing.TB, policy auth.SignUpPolicy, change ...func(*web.Config)) *house {
	tb.Helper()
	now := newClock()
	return newHouseAt(tb, now, append([]func(*web.Config){local(policy, now)}, change...)...)
}

// secret notes that something must not be logged.
func (h *house) secret(what, value string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(value) >= 8 {
		h.secrets[value] = what
	}
}

// searchLog is F7: no code, state, token, cookie or passphrase is in the log.
func (h *house) searchLog() {
	h.mu.Lock()
	defer h.mu.Unlock()
	log := h.log.String()
	for value, what := range h.secrets {
		if strings.Contains(log, value) {
			h.t.Errorf("the log has a %s, %q", what, value)
		}
	}
}

var anyToken = regexp.MustCompile(`x[artio]_[A-Za-z0-9_-]{43}`)

// A browser keeps cookies as browsers do, and every answer that it gets is held
// against the OpenAPI document.
type browser struct {
	*house
	client http.Client
	origin string
	header http.Header // sent with every request
	from   string      // address and port
}

// browser opens one, at the usual address.
func (h *house) browser(tb testing.TB) *browser {
	tb.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		tb.Fatal(err)
	}
	b := &browser{house: h, origin: "http://pressbox.local:8888", header: http.Header{}, from: "192.168.1.20:40000"}
	b.client = http.Client{Jar: jar, Transport: b, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	return b
}

// RoundTrip sends a request to the house.
func (b *browser) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.RemoteAddr, r.RequestURI = b.from, r.URL.RequestURI()
	if r.Host == "" {
		r.Host = r.URL.Host
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	maps.Copy(r.Header, b.header)
	for _, c := range r.Cookies() {
		b.secret("cookie", c.Value)
	}
	w := httptest.NewRecorder()
	b.Handler().ServeHTTP(w, r)
	resp := w.Result()
	resp.Request = r
	for _, c := range resp.Cookies() {
		b.secret("cookie", c.Value)
	}
	for _, address := range []string{resp.Header.Get("Location"), r.URL.String()} {
		if u, err := url.Parse(address); err == nil {
			b.secret("code", u.Query().Get("code"))
			b.secret("state", u.Query().Get("state"))
		}
	}
	for _, token := range anyToken.FindAllString(w.Body.String(), -1) {
		b.secret("token", token)
	}
	b.check.response(b.t, r, resp)
	resp.Body = io.NopCloser(strings.NewReader(w.Body.String()))
	return resp, nil
}

// An page is an answer, read.
type page struct {
	*http.Response
	t    testing.TB
	body string
}

func (b *browser) send(method, path, body string, headers ...string) page {
	b.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = b.origin + path
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return page{resp, b.t, string(text)}
}

func (b *browser) get(path string, headers ...string) page {
	b.t.Helper()
	return b.send(http.MethodGet, path, "", headers...)
}

func (b *browser) post(path string, headers ...string) page {
	b.t.Helper()
	return b.send(http.MethodPost, path, "", headers...)
}

// submit sends a form as a browser does.
func (b *browser) submit(path string, fields ...string) page {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
		if fields[i] == "passphrase" || fields[i] == "invite" {
			b.secret(fields[i], fields[i+1])
		}
	}
	return b.send(http.MethodPost, path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Origin", b.origin)
}

// want fails the test unless the answer has that status.
func (p page) want(status int) page {
	p.t.Helper()
	if p.StatusCode != status {
		p.t.Fatalf("%s %s: status %d, want %d: %v %s", p.Request.Method, p.Request.URL.Path, p.StatusCode, status, p.Header, p.body)
	}
	return p
}

// query is a parameter of where the answer leads.
func (p page) query(name string) string {
	p.t.Helper()
	u, err := url.Parse(p.Header.Get("Location"))
	if err != nil {
		p.t.Fatal(err)
	}
	return u.Query().Get(name)
}

// field is a member of the answer's JSON object.
func (p page) field(name string) string {
	p.t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(p.body), &all); err != nil {
		p.t.Fatalf("%v in %s", err, p.body)
	}
	text, _ := all[name].(string)
	return text
}

// cookie is the cookie of a name that the answer sets; nil when it sets none.
func (p page) cookie(name string) *http.Cookie {
	for _, c := range p.Cookies() {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// failed fails the test unless the browser is sent to the client's page with
// that code, and without a session.
func (p page) failed(code auth.Code) {
	p.t.Helper()
	p.want(http.StatusSeeOther)
	u, err := url.Parse(p.Header.Get("Location"))
	if err != nil {
		p.t.Fatal(err)
	}
	q := u.Query()
	if u.Path != "/auth/callback" || q.Get("error") != string(code) || q.Get("error_description") != code.Description() ||
		q.Get("error_id") != p.Header.Get("X-Request-Id") || len(q) != 3 {
		p.t.Errorf("sent to %s, want error=%s", u, code)
	}
	if p.cookie("pressbox_access") != nil || p.cookie("pressbox_refresh") != nil {
		p.t.Error("and with cookies")
	}
}

// begin begins a sign-in and is its state.
func (b *browser) begin() (state string) {
	b.t.Helper()
	return b.get("/api/auth/idp/login").want(http.StatusFound).query("state")
}

// back comes back from the provider.
func (b *browser) back(state, code string, more ...string) page {
	b.t.Helper()
	q := url.Values{"state": {state}, "code": {code}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return b.get("/api/auth/idp/callback/server?" + q.Encode())
}

// signIn signs in with the voucher.
func (b *browser) signIn() {
	b.t.Helper()
	p := b.back(b.begin(), "code "+auth.NewSecret()).want(http.StatusSeeOther)
	if p.Header.Get("Location") != "/" {
		b.t.Fatalf("sent to %s", p.Header.Get("Location"))
	}
}

// token is the value of a cookie that the browser has; "" when it has none.
func (b *browser) token(name, path string) string {
	u, err := url.Parse(b.origin + path)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range b.client.Jar.Cookies(u) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func (b *browser) access() string       { return b.token("pressbox_access", "/api") }
func (b *browser) refreshToken() string { return b.token("pressbox_refresh", "/api/auth") }
