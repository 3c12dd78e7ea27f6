package signin_test

import (
	"bufio"
	"context"
	_ "embed"
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
	"time"

	"pressbox/auth"
	"pressbox/auth/idp"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

//go:embed testdata/oidc-provider/provider.js
var providerScript string

// startProvider starts npm's oidc-provider in a child process, which ends with the
// test, and returns its issuer.
func startProvider(t *testing.T, redirect, secret string) (issuer string) {
	t.Helper()
	dir := check.Must(filepath.Abs("../../../.build/oidc-provider"))(t)
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		t.Fatalf("oidc-provider is not installed, run \"make test\": %v", err)
	}
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
			if iss := back.Query().Get("iss"); iss != a.issuer {
				t.Fatalf("iss=%q, want %q", iss, a.issuer)
			}
			s.Get(back.String()).Want(http.StatusSeeOther)
			if me := s.Get("/api/auth/me").Want(200); me.Field("name") != "anna of the provider" ||
				me.Field("provider") != kind {
				t.Errorf("me: %s", me.Text)
			}
			s.Get(back.String()).WantError(auth.CodeInvalidState) // the state is used

			t.Run("declined", func(t *testing.T) { // access_denied of the provider
				s := a.client(t)
				form := s.toForm(s.Get("/api/auth/idp/login"))
				back := s.toCallback(s.Get(form + "/abort"))
				if back.Query().Get("error") != "access_denied" || back.Query().Get("iss") != a.issuer {
					t.Fatalf("redirect to %s", back)
				}
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
				if back.Query().Get("error") != "invalid_request" {
					t.Fatalf("redirect to %s", back)
				}
				s.Get(back.String()).WantError(auth.CodeProviderError)
			})
		})
	}
}
