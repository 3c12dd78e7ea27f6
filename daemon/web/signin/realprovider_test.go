package signin_test

import (
	"bufio"
	"context"
	_ "embed"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/idp"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
)

//go:embed testdata/oidc-provider/provider.js
var providerScript string

// startProvider starts npm's oidc-provider in a process of its own, which ends
// with the test, and is its issuer.
func startProvider(t *testing.T, redirect, secret string) (issuer string) {
	t.Helper()
	dir, err := filepath.Abs("../../../.build/oidc-provider")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		t.Fatalf("there is no oidc-provider: run \"make test\": %v", err)
	}
	node := filepath.Join(dir, "node_modules", ".bin", "node") // where the machine's is too old
	if _, err := os.Stat(node); err != nil {
		node = "node"
	}
	cmd := exec.Command(node, "--input-type=module", "-e", providerScript, redirect, secret)
	cmd.Dir = dir
	stop, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stop.Close()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "http://") {
			go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the process
			return lines.Text()
		}
	}
	t.Fatal("oidc-provider does not start")
	return ""
}

// abroad is a house on a real port whose people sign in with a real provider.
type abroad struct {
	*webtest.SignInRig
	url    string // of the house
	issuer string
}

func newAbroad(t *testing.T, provider string) *abroad {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	a := &abroad{url: "http://" + server.Listener.Addr().String()}
	redirect, secret := a.url+callbackURL, auth.NewSecret()
	a.issuer = startProvider(t, redirect, secret)
	a.SignInRig = webtest.NewSignInRig(t, func(c *site.Config) {
		p, err := idp.New(idp.Config{
			Provider: provider, ClientID: "pressbox", ClientSecret: secret, Issuer: a.issuer, Scopes: []string{"openid", "profile"},
			AuthURL: a.issuer + "/auth", TokenURL: a.issuer + "/token", UserinfoURL: a.issuer + "/me",
			Cache: noCache{}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		c.SignIn.SignIn.Provider, c.SignIn.SignIn.ProviderName, c.SignIn.Redirect = p, provider, redirect
	})
	a.Secret("client secret", secret)
	server.Config.Handler = a.Handler()
	server.Start()
	t.Cleanup(server.Close)
	return a
}

// surfer is a browser on the network.
type surfer struct {
	*abroad
	http.Client
}

func (a *abroad) surfer(t *testing.T) *surfer {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &surfer{a, http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}}
}

// open asks for a page; with a form it is sent.
func (s *surfer) open(address string, form url.Values) webtest.Page {
	s.T.Helper()
	method, body := http.MethodGet, ""
	if form != nil {
		method, body = http.MethodPost, form.Encode()
	}
	req, err := http.NewRequestWithContext(s.T.Context(), method, address, strings.NewReader(body))
	if err != nil {
		s.T.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := s.Do(req)
	if err != nil {
		s.T.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	for _, c := range resp.Cookies() {
		s.Secret("cookie", c.Value)
	}
	return webtest.Page{Response: resp, T: s.T, Text: string(text)}
}

// next follows a redirect.
func (s *surfer) next(p webtest.Page) webtest.Page {
	s.T.Helper()
	to, err := p.Location()
	if err != nil {
		s.T.Fatalf("%s leads nowhere: %v %s", p.Request.URL, err, p.Text)
	}
	s.Secret("code", to.Query().Get("code"))
	s.Secret("state", to.Query().Get("state"))
	return s.open(to.String(), nil)
}

var providersForm = regexp.MustCompile(`action="([^"]+)"`)

// toForm follows redirects until there is a form, and is where it goes.
func (s *surfer) toForm(p webtest.Page) string {
	s.T.Helper()
	for p.StatusCode/100 == 3 {
		p = s.next(p)
	}
	form := providersForm.FindStringSubmatch(p.Text)
	if form == nil {
		s.T.Fatalf("no form at %s: %d %s", p.Request.URL, p.StatusCode, p.Text)
	}
	to, err := p.Request.URL.Parse(html.UnescapeString(form[1]))
	if err != nil {
		s.T.Fatal(err)
	}
	return to.String()
}

// toCallback follows redirects until the house is asked, which is not done.
func (s *surfer) toCallback(p webtest.Page) *url.URL {
	s.T.Helper()
	for {
		to, err := p.Location()
		if err != nil {
			s.T.Fatalf("%s leads nowhere: %v %s", p.Request.URL, err, p.Text)
		}
		if strings.HasPrefix(to.String(), s.url+callbackURL) {
			return to
		}
		p = s.next(p)
	}
}

// consent signs in at the provider and agrees, up to the callback.
func (s *surfer) consent(name string) *url.URL {
	s.T.Helper()
	form := s.toForm(s.open(s.url+"/api/auth/idp/login", nil))
	p := s.open(form, url.Values{"prompt": {"login"}, "login": {name}, "password": {"any"}})
	return s.toCallback(s.open(s.toForm(p), url.Values{"prompt": {"consent"}}))
}

// noCache keeps nothing.
type noCache struct{}

func (noCache) Cached(context.Context, string) ([]byte, error) { return nil, nil }

func (noCache) SaveCached(context.Context, string, []byte) error { return nil }

// The whole flow with a provider that somebody else wrote, as OpenID Connect
// and as plain OAuth 2.0: somebody signs in, declines, is sent back by an
// impostor, brings a code twice, and goes without PKCE.
func TestRealProvider(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"oidc", "oauth2"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			a := newAbroad(t, kind)
			s := a.surfer(t)
			back := s.consent("anna")
			if iss := back.Query().Get("iss"); iss != a.issuer {
				t.Fatalf("the provider says iss=%q, want %q", iss, a.issuer)
			}
			s.open(back.String(), nil).Want(http.StatusSeeOther)
			if me := s.open(a.url+"/api/auth/me", nil).Want(200); me.Field("name") != "anna of the provider" || me.Field("provider") != kind {
				t.Errorf("me: %s", me.Text)
			}
			s.open(back.String(), nil).WantError(auth.CodeInvalidState) // A2

			t.Run("declined", func(t *testing.T) { // A10
				s := a.surfer(t)
				form := s.toForm(s.open(a.url+"/api/auth/idp/login", nil))
				back := s.toCallback(s.open(form+"/abort", nil))
				if back.Query().Get("error") != "access_denied" || back.Query().Get("iss") != a.issuer {
					t.Fatalf("the provider says %s", back)
				}
				s.open(back.String(), nil).WantError(auth.CodeAccessDenied)
			})
			t.Run("impostor", func(t *testing.T) { // A6
				s := a.surfer(t)
				back := s.consent("anna")
				q := back.Query()
				q.Set("iss", "https://evil.example")
				back.RawQuery = q.Encode()
				s.open(back.String(), nil).WantError(auth.CodeIssuerMismatch)
			})
			t.Run("stolen code", func(t *testing.T) { // A4: it is bound to the flow's verifier
				thief, victim := a.surfer(t), a.surfer(t)
				stolen := victim.consent("anna").Query().Get("code")
				back := thief.consent("eve")
				q := back.Query()
				q.Set("code", stolen)
				back.RawQuery = q.Encode()
				thief.open(back.String(), nil).WantError(auth.CodeExchangeFailed)
			})
			t.Run("without PKCE", func(t *testing.T) { // A4
				s := a.surfer(t)
				to, err := s.open(a.url+"/api/auth/idp/login", nil).Location()
				if err != nil {
					t.Fatal(err)
				}
				q := to.Query()
				q.Del("code_challenge")
				q.Del("code_challenge_method")
				to.RawQuery = q.Encode()
				back := s.toCallback(s.open(to.String(), nil))
				if back.Query().Get("error") != "invalid_request" {
					t.Fatalf("the provider says %s", back)
				}
				s.open(back.String(), nil).WantError(auth.CodeProviderError)
			})
		})
	}
}
