package idp_test

import (
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/oauth2"

	"pressbox/auth"
	"pressbox/auth/idp"
	"pressbox/packaging/check"
)

// The authorization request has the S256 challenge and not the verifier.
func TestProvider_authorize(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"oauth2", "oidc", "discord", "github"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			f := newServer(t)
			request := newRequest()
			to := check.Must(newProvider(t, f.config(provider)).Authorize(t.Context(), request))(t)
			q := query(t, to)
			for name, want := range map[string]string{
				"response_type": "code", "client_id": "us", "redirect_uri": request.Redirect, "state": request.State,
				"code_challenge_method": "S256", "code_challenge": oauth2.S256ChallengeFromVerifier(request.Verifier),
			} {
				check.Equal(t, q.Get(name), want, "%s", name)
			}
			check.That(t, !strings.Contains(to, request.Verifier) && !strings.Contains(to, "secret"),
				"a secret is in %s", to)
			nonce := q.Get("nonce")
			check.That(t, provider != "oidc" || nonce == request.Nonce, "nonce %q, want %q", nonce, request.Nonce)
		})
	}
}

func query(t *testing.T, address string) url.Values {
	t.Helper()
	return check.Must(url.Parse(address))(t).Query()
}

// The exchange is one request with the same redirect URI, the verifier and the configured client authentication.
func TestProvider_exchange(t *testing.T) {
	t.Parallel()
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("us:"+url.QueryEscape("s3cret/with+signs")))
	for _, tt := range []struct {
		name   string
		change func(*idp.Config, *server)
		header string
		secret string // in the body
	}{
		{"oauth2", func(c *idp.Config, _ *server) { c.Provider = "oauth2" }, basic, ""},
		{"oauth2, secret in the body", func(c *idp.Config, _ *server) {
			c.Provider, c.SecretInBody = "oauth2", true
		}, "", "s3cret/with+signs"},
		{"oauth2, public", func(c *idp.Config, _ *server) { c.Provider, c.ClientSecret = "oauth2", "" }, "", ""},
		{"oidc, default", func(c *idp.Config, _ *server) { c.Provider = "oidc" }, basic, ""},
		{"oidc, post only", func(c *idp.Config, f *server) {
			c.Provider = "oidc"
			f.doc["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
		}, "", "s3cret/with+signs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newServer(t)
			c := f.config("")
			tt.change(&c, f)
			p, request := newProvider(t, c), newRequest()
			check.Must(p.Identify(t.Context(), request, request.Nonce))(t)
			check.Require(t, len(f.received) == 1, "%d token requests, want 1", len(f.received))
			got := f.received[0]
			for name, want := range map[string]string{
				"grant_type": "authorization_code", "code": request.Nonce, "redirect_uri": request.Redirect,
				"code_verifier": request.Verifier, "client_secret": tt.secret,
			} {
				check.Equal(t, got.form.Get(name), want, "%s", name)
			}
			check.Equal(t, got.header.Get("Authorization"), tt.header, "Authorization")
			check.Equal(t, got.header.Get("User-Agent"), "pressbox", "User-Agent")
		})
	}
}

func reply(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Issuer returns the issuer and whether every callback carries it.
func TestProvider_issuer(t *testing.T) {
	t.Parallel()
	f := newServer(t)
	for _, always := range []bool{false, true} {
		f.doc["authorization_response_iss_parameter_supported"] = always
		issuer, got, err := newProvider(t, f.config("oidc")).Issuer(t.Context())
		check.That(t, err == nil && issuer == f.URL && got == always,
			"issuer %q, always %v, %v; want %q, %v", issuer, got, err, f.URL, always)
	}
	issuer, _, err := newProvider(t, f.config("discord")).Issuer(t.Context())
	check.That(t, err == nil && issuer == "https://discord.com", "discord's issuer: %q, %v", issuer, err)
}

// An ID token is accepted only if each claim and the signature are valid.
func TestOpenID_token(t *testing.T) {
	t.Parallel()
	identity := must(t, newProvider(t, newServer(t).config("oidc")))
	check.Require(t, identity.Subject == "u1" && identity.Name == "Anna", "identified %+v", identity)
	for name, change := range map[string]func(f *server){
		"another nonce":    func(f *server) { f.claim["nonce"] = "x" },
		"no nonce":         func(f *server) { f.claim["nonce"] = nil },
		"another audience": func(f *server) { f.claim["aud"] = "them" },
		"no audience":      func(f *server) { f.claim["aud"] = nil },
		"two audiences":    func(f *server) { f.claim["aud"] = []string{"us", "them"} },
		"another party": func(f *server) {
			f.claim["aud"], f.claim["azp"] = []string{"us", "them"}, "them"
		},
		"another issuer":              func(f *server) { f.claim["iss"] = "https://evil" },
		"no issuer":                   func(f *server) { f.claim["iss"] = nil },
		"expired":                     func(f *server) { f.claim["exp"] = time.Now().Add(-3 * time.Minute).Unix() },
		"no expiry":                   func(f *server) { f.claim["exp"] = nil },
		"not yet":                     func(f *server) { f.claim["nbf"] = time.Now().Add(time.Hour).Unix() },
		"no subject":                  func(f *server) { f.claim["sub"] = nil },
		"another token's":             func(f *server) { f.claim["at_hash"] = "AAAAAAAAAAAAAAAAAAAAAA" },
		"unsigned":                    func(f *server) { f.sign = signed("none", func(string) []byte { return nil }) },
		"shared secret":               func(f *server) { f.sign = hs256([]byte("s3cret/with+signs")) },
		"public key":                  func(f *server) { f.sign = hs256(serverKey().N.Bytes()) },
		"another key":                 func(f *server) { f.sign = rs256(otherKey()) },
		"not a token":                 func(f *server) { f.sign = func(string, string) string { return "x.y.z" } },
		"none":                        func(f *server) { f.sign = func(string, string) string { return "" } },
		"right: expired a minute ago": func(f *server) { f.claim["exp"] = time.Now().Add(-time.Minute).Unix() },
		"right: two audiences, us": func(f *server) {
			f.claim["aud"], f.claim["azp"] = []string{"us", "them"}, "us"
		},
		"right: no at_hash":           func(f *server) { f.claim["at_hash"] = nil },
		"right: no algorithms listed": func(f *server) { f.doc["id_token_signing_alg_values_supported"] = []string{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newServer(t)
			change(f)
			p := newProvider(t, f.config("oidc"))
			if strings.HasPrefix(name, "right: ") {
				must(t, p)
			} else {
				refused(t, p, auth.CodeExchangeFailed)
			}
		})
	}
}

// A missing name is read from the userinfo endpoint, whose subject must match.
func TestOpenID_name(t *testing.T) {
	t.Parallel()
	for userinfo, want := range map[string]string{
		`{"sub":"u1","name":"Berta"}`: "Berta", `{"sub":"u1","preferred_username":"bb"}`: "bb",
		`{"sub":"u1"}`: "", `garbage`: "", `{"sub":"u2","name":"Eve"}`: "refused",
	} {
		f := newServer(t)
		f.claim["name"], f.userinfo = nil, userinfo
		p := newProvider(t, f.config("oidc"))
		if want == "refused" {
			refused(t, p, auth.CodeUserinfoFailed)
			continue
		}
		identity := must(t, p)
		check.That(t, identity.Name == want && identity.Subject == "u1",
			"userinfo %s: %+v, want %q", userinfo, identity, want)
	}
	f := newServer(t)
	f.claim["name"], f.claim["preferred_username"] = nil, "pp"
	check.Equal(t, must(t, newProvider(t, f.config("oidc"))).Name, "pp", "name")
}

// A provider that fails is unreachable; one that refuses the code is not.
func TestProvider_badToken(t *testing.T) {
	t.Parallel()
	endless := func(w http.ResponseWriter, _ *http.Request) {
		chunk := strings.Repeat("a", 1<<16)
		for range 1 << 14 { // one gigabyte, unless the client closes
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	}
	hangUp := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for _, provider := range []string{"oauth2", "oidc"} {
		for name, tt := range map[string]struct {
			token http.HandlerFunc
			want  auth.Code
		}{
			"HTML":               {reply(http.StatusOK, "<html>"), auth.CodeUnreachable},
			"no token":           {reply(http.StatusOK, "{}"), auth.CodeUnreachable},
			"one gigabyte":       {endless, auth.CodeUnreachable},
			"bad gateway":        {reply(http.StatusBadGateway, ""), auth.CodeUnreachable},
			"no":                 {reply(http.StatusBadRequest, `{"error":"invalid_grant"}`), auth.CodeExchangeFailed},
			"no, with status OK": {reply(http.StatusOK, `{"error":"bad_verification_code"}`), auth.CodeExchangeFailed},
			"unauthorized":       {reply(http.StatusUnauthorized, ""), auth.CodeExchangeFailed},
			"hung up":            {hangUp, auth.CodeUnreachable},
		} {
			t.Run(provider+" "+name, func(t *testing.T) {
				t.Parallel()
				f := newServer(t)
				f.token = tt.token
				refused(t, newProvider(t, f.config(provider)), tt.want)
			})
		}
	}
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		f := newServer(t)
		c := f.config("oauth2")
		f.Close()
		refused(t, newProvider(t, c), auth.CodeUnreachable)
	})
}

// An answer of a provider, whichever, has at most 1 MiB, and its header 64 KiB.
func TestProvider_boundedAnswers(t *testing.T) {
	t.Parallel()
	for path, code := range map[string]auth.Code{
		wellKnown: auth.CodeUnreachable, "/keys": auth.CodeExchangeFailed, "/token": auth.CodeUnreachable,
		"/userinfo": auth.CodeUnreachable, "header": auth.CodeUnreachable,
	} {
		for over, want := range map[int]auth.Code{0: "", 2: code} {
			f := newServer(t)
			f.pad, f.header = map[string]int{path: 1<<20 + over}, 0
			if path == "header" {
				f.header = 60<<10 + over*4<<10
			}
			provider := "oidc"
			if path == "/userinfo" {
				provider = "oauth2"
			}
			_, err := identify(t, newProvider(t, f.config(provider)))
			check.That(t, (err == nil) == (want == "") && (err == nil || auth.CodeOf(err) == want),
				"%s, %d over the limit: %v, want %q", path, over, err, want)
		}
	}
}

// A sign-in times out after ten seconds.
func TestProvider_timeout(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"oauth2", "oidc"} {
		synctest.Test(t, func(t *testing.T) {
			c := idp.Config{
				Provider: provider, ClientID: "us", Issuer: "https://idp.example",
				AuthURL: "https://idp.example/a", TokenURL: "https://idp.example/t",
				UserinfoURL: "https://idp.example/u", Cache: new(cache),
				Now: time.Now, Log: slog.New(slog.DiscardHandler),
				Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}),
			}
			p, start := newProvider(t, c), time.Now()
			refused(t, p, auth.CodeUnreachable)
			check.Equal(t, time.Since(start), 10*time.Second, "%s: timed out after", provider)
		})
	}
}

// A userinfo response without a subject is refused.
func TestProvider_badUserinfo(t *testing.T) {
	t.Parallel()
	for _, userinfo := range []string{"", "<html>", "[]", "{}", `{"sub":""}`, `{"sub":["u1"]}`, `{"sub":null}`} {
		f := newServer(t)
		f.userinfo = userinfo
		refused(t, newProvider(t, f.config("oauth2")), auth.CodeUserinfoFailed)
	}
	f := newServer(t)
	f.userinfo = `{"sub":"` + strings.Repeat("a", 2<<20) + `"}`
	refused(t, newProvider(t, f.config("oauth2")), auth.CodeUnreachable)
}

// A redirect to another host is not followed: the code and the secret stay with the provider.
func TestProvider_redirect(t *testing.T) {
	t.Parallel()
	f, evil := newServer(t), newServer(t)
	f.token = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", evil.URL+"/token")
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
	refused(t, newProvider(t, f.config("oauth2")), auth.CodeUnreachable)
	check.Equal(t, len(evil.received), 0, "requests to another host, with the code")
}

// A refused code is not sent again, and neither it nor the provider's text is in the error.
func TestProvider_errorsHideSecrets(t *testing.T) {
	t.Parallel()
	f := newServer(t)
	request := newRequest()
	answer := `{"error":"invalid_grant","error_description":"code ` + request.Nonce + ` is bad"}`
	f.token = reply(http.StatusBadRequest, answer)
	_, err := newProvider(t, f.config("oauth2")).Identify(t.Context(), request, request.Nonce)
	for _, secret := range []string{request.Nonce, request.Verifier, request.State, "s3cret"} {
		check.That(t, err != nil && !strings.Contains(err.Error(), secret), "the error is %v", err)
	}
	check.Equal(t, len(f.received), 1, "token requests")
}

// A certificate that seems expired by an untrusted clock is refused as clock_unsynced.
func TestProvider_clockUnsynced(t *testing.T) {
	t.Parallel()
	for trusted, want := range map[bool]auth.Code{true: auth.CodeUnreachable, false: auth.CodeClockUnsynced} {
		f := newServer(t)
		for _, provider := range []string{"oauth2", "oidc"} {
			c := f.config(provider)
			c.ClockTrusted = func() bool { return trusted }
			c.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
				return nil, x509.CertificateInvalidError{Reason: x509.Expired}
			})
			refused(t, newProvider(t, c), want)
		}
	}
}

// Each preset reads the subject and the name of its provider; GitHub's token is revoked. The fields
// of a plain provider can be configured; the defaults are sub or id, name or username.
func TestPresets_userinfo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ provider, fields, userinfo, subject, name string }{
		{"discord", "", `{"id":"80351110224678","global_name":"Nelly","username":"n"}`, "80351110224678", "Nelly"},
		{"discord", "", `{"id":"80351110224678912","global_name":null,"username":"n"}`, "80351110224678912", "n"},
		{"github", "", `{"id":9007199254740993,"name":"Octo","login":"octocat"}`, "9007199254740993", "Octo"},
		{"github", "", `{"id":1,"name":null,"login":"octocat"}`, "1", "octocat"},
		{"oauth2", "", `{"sub":"a","id":"b","name":"A","username":"B"}`, "a", "A"},
		{"oauth2", "", `{"sub":"a","name":"A\u001b]0;\nB\u009b"}`, "a", "A]0;B"},
		{"oauth2", "", `{"id":12345678901234567890,"username":"B"}`, "12345678901234567890", "B"},
		{"oauth2", "uuid nick", `{"sub":"a","uuid":"c","name":"A","nick":"C"}`, "c", "C"},
	} {
		f := newServer(t)
		f.userinfo = tt.userinfo
		c := f.config(tt.provider)
		c.SubjectField, c.NameField, _ = strings.Cut(tt.fields, " ")
		if tt.provider != "oauth2" {
			c.Transport = f.transport()
		}
		issuer := map[string]string{"discord": "https://discord.com", "oauth2": f.URL}[tt.provider]
		want := auth.Identity{Provider: tt.provider, Issuer: issuer, Subject: tt.subject, Name: tt.name}
		check.Equal(t, must(t, newProvider(t, c)), want, "identified")
		last := f.received[len(f.received)-1]
		check.That(t, tt.provider != "github" || last.path == "/revoke/us" && strings.Contains(last.body, f.secret),
			"the token was not revoked: %s %s", last.path, last.body)
	}
}

// Google is an OpenID Connect issuer without configuration.
func TestPresets_google(t *testing.T) {
	t.Parallel()
	f := newServer(t)
	f.doc["issuer"] = "https://accounts.google.com"
	c := f.config("google")
	c.Transport = f.transport()
	to, err := newProvider(t, c).Authorize(t.Context(), newRequest())
	check.That(t, err == nil && query(t, to).Get("scope") == "openid profile", "authorize: %s, %v", to, err)
}

// New refuses incomplete configurations (GHSA-8fpg-xm3f-6cx3).
func TestNew_refuses(t *testing.T) {
	t.Parallel()
	for _, c := range []idp.Config{
		{},
		{Provider: "github"},
		{Provider: "myspace", ClientID: "x"},
		{Provider: "oidc", ClientID: "x"},
		{Provider: "oauth2", ClientID: "x", AuthURL: "x", TokenURL: "x"},
	} {
		p, err := idp.New(c)
		check.That(t, err != nil, "New(%+v) = %v, want an error", c, p)
	}
	for _, provider := range idp.Providers() {
		c := idp.Config{Provider: provider, ClientID: "x", Issuer: "x", AuthURL: "x", TokenURL: "x", UserinfoURL: "x"}
		check.ErrorIs(t, check.Err(idp.New(c)), nil, "New(%s)", provider)
	}
}

// Discovery happens at a sign-in, once a day. While it fails, the last known document is used, also after a restart.
func TestDiscovery_cached(t *testing.T) {
	t.Parallel()
	f := newServer(t)
	now := time.Now()
	c := f.config("oidc")
	c.Now = func() time.Time { return now }
	p := newProvider(t, c)
	authorize := func(p auth.Provider) error {
		_, err := p.Authorize(t.Context(), newRequest())
		return err
	}
	check.Require(t, f.fetched == 0, "fetched at the start")
	f.down = true
	if err := authorize(p); auth.CodeOf(err) != auth.CodeUnreachable {
		t.Fatalf("without a document: %v, want %s", err, auth.CodeUnreachable)
	}
	f.down = false
	for range 3 {
		check.NoError(t, authorize(p))
	}
	check.Equal(t, f.fetched, 2, "fetched times")
	f.down, now = true, now.Add(25*time.Hour)
	again := newProvider(t, c)
	for _, p := range []auth.Provider{p, again, p, again} {
		check.ErrorIs(t, authorize(p), nil, "with a document, while discovery fails")
	}
	check.Equal(t, f.fetched, 4, "fetched times")
	f.down, now = false, now.Add(time.Minute)
	err := authorize(p)
	check.That(t, err == nil && f.fetched == 5, "a minute later: %v, fetched %d times, want 5", err, f.fetched)
}

// A document of another issuer, even by a slash, or without an endpoint is refused.
func TestDiscovery_invalid(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{
		"issuer": "https://evil", "token_endpoint": "", "authorization_endpoint": nil, "jwks_uri": 7,
	} {
		f := newServer(t)
		f.doc[name] = value
		refused(t, newProvider(t, f.config("oidc")), auth.CodeUnreachable)
	}
	f := newServer(t)
	c := f.config("oidc")
	c.Issuer += "/"
	refused(t, newProvider(t, c), auth.CodeUnreachable)
}

// A failing cache does not prevent a sign-in.
func TestDiscovery_cacheFails(t *testing.T) {
	t.Parallel()
	f := newServer(t)
	c := f.config("oidc")
	c.Cache = &cache{err: errors.New("broken")}
	must(t, newProvider(t, c))
}
