package idp_test

import (
	"crypto/x509"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/auth"
	"pressbox/auth/idp"
)

// A4: the request carries the S256 challenge and not the verifier; the exchange
// carries the verifier.
func TestA4_PKCE(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"oauth2", "oidc", "discord", "github"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			f := newForeign(t)
			flow := newFlow()
			to, err := newProvider(t, f.config(provider)).Authorize(t.Context(), flow)
			if err != nil {
				t.Fatal(err)
			}
			q := query(t, to)
			for name, want := range map[string]string{
				"response_type": "code", "client_id": "us", "redirect_uri": flow.Redirect, "state": flow.State,
				"code_challenge_method": "S256", "code_challenge": idp.Challenge(flow.Verifier),
			} {
				if q.Get(name) != want {
					t.Errorf("%s = %q, want %q", name, q.Get(name), want)
				}
			}
			if strings.Contains(to, flow.Verifier) || strings.Contains(to, "secret") {
				t.Errorf("a secret is in %s", to)
			}
			if nonce := q.Get("nonce"); provider == "oidc" && nonce != flow.Nonce {
				t.Errorf("nonce %q, want %q", nonce, flow.Nonce)
			}
		})
	}
}

func query(t *testing.T, address string) url.Values {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

// A5: one exchange, with the same redirect URI, the verifier, and the client
// authenticated as configured.
func TestA5_Exchange(t *testing.T) {
	t.Parallel()
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("us:"+url.QueryEscape("s3cret/with+signs")))
	for _, tt := range []struct {
		name   string
		change func(*idp.Config, *foreign)
		header string
		secret string // in the body
	}{
		{"oauth2", func(c *idp.Config, _ *foreign) { c.Provider = "oauth2" }, basic, ""},
		{"oauth2, secret in the body", func(c *idp.Config, _ *foreign) { c.Provider, c.SecretInBody = "oauth2", true }, "", "s3cret/with+signs"},
		{"oauth2, public", func(c *idp.Config, _ *foreign) { c.Provider, c.ClientSecret = "oauth2", "" }, "", ""},
		{"oidc, nothing said", func(c *idp.Config, _ *foreign) { c.Provider = "oidc" }, basic, ""},
		{"oidc, post alone", func(c *idp.Config, f *foreign) {
			c.Provider = "oidc"
			f.doc["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
		}, "", "s3cret/with+signs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newForeign(t)
			c := f.config("")
			tt.change(&c, f)
			p, flow := newProvider(t, c), newFlow()
			if _, err := p.Identify(t.Context(), flow, flow.Nonce); err != nil {
				t.Fatal(err)
			}
			if len(f.seen) != 1 {
				t.Fatalf("%d token requests, want 1", len(f.seen))
			}
			got := f.seen[0]
			for name, want := range map[string]string{
				"grant_type": "authorization_code", "code": flow.Nonce, "redirect_uri": flow.Redirect,
				"code_verifier": flow.Verifier, "client_secret": tt.secret,
			} {
				if got.form.Get(name) != want {
					t.Errorf("%s = %q, want %q", name, got.form.Get(name), want)
				}
			}
			if header := got.header.Get("Authorization"); header != tt.header {
				t.Errorf("Authorization: %q, want %q", header, tt.header)
			}
			if agent := got.header.Get("User-Agent"); agent != "pressbox" {
				t.Errorf("User-Agent: %q", agent)
			}
		})
	}
}

// A refused code is sent once: it may serve only once.
func TestA5_RefusedCodeIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	f.token = reply(http.StatusBadRequest, `{"error":"invalid_grant"}`)
	refused(t, newProvider(t, f.config("oauth2")), auth.CodeExchangeFailed)
	if len(f.seen) != 1 {
		t.Errorf("%d token requests, want 1", len(f.seen))
	}
}

func reply(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// A6: a provider that publishes that its callbacks carry iss is held to it.
func TestA6_Issuer(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	for _, promised := range []bool{false, true} {
		f.doc["authorization_response_iss_parameter_supported"] = promised
		issuer, always, err := newProvider(t, f.config("oidc")).Issuer(t.Context())
		if err != nil || issuer != f.URL || always != promised {
			t.Errorf("issuer %q, always %v, %v; want %q, %v", issuer, always, err, f.URL, promised)
		}
	}
	if issuer, _, err := newProvider(t, f.config("discord")).Issuer(t.Context()); err != nil || issuer != "https://discord.com" {
		t.Errorf("discord's issuer: %q, %v", issuer, err)
	}
}

// A7: an ID token is believed when each of its parts is right.
func TestA7_IDToken(t *testing.T) {
	t.Parallel()
	if who := must(t, newProvider(t, newForeign(t).config("oidc"))); who.Subject != "u1" || who.Name != "Anna" {
		t.Fatalf("identified %+v", who)
	}
	hour := time.Hour
	for name, wrong := range map[string]func(f *foreign){
		"another nonce":    func(f *foreign) { f.claim["nonce"] = "x" },
		"no nonce":         func(f *foreign) { f.claim["nonce"] = nil },
		"another audience": func(f *foreign) { f.claim["aud"] = "them" },
		"no audience":      func(f *foreign) { f.claim["aud"] = nil },
		"two audiences":    func(f *foreign) { f.claim["aud"] = []string{"us", "them"} },
		"another party":    func(f *foreign) { f.claim["aud"], f.claim["azp"] = []string{"us", "them"}, "them" },
		"another issuer":   func(f *foreign) { f.claim["iss"] = "https://evil" },
		"no issuer":        func(f *foreign) { f.claim["iss"] = nil },
		"expired":          func(f *foreign) { f.claim["exp"] = time.Now().Add(-3 * time.Minute).Unix() },
		"no expiry":        func(f *foreign) { f.claim["exp"] = nil },
		"not yet":          func(f *foreign) { f.claim["nbf"] = time.Now().Add(hour).Unix() },
		"no subject":       func(f *foreign) { f.claim["sub"] = nil },
		"another token's":  func(f *foreign) { f.claim["at_hash"] = "AAAAAAAAAAAAAAAAAAAAAA" },
		"unsigned":         func(f *foreign) { f.sign = unsigned },
		"shared secret":    func(f *foreign) { f.sign = hs256([]byte("s3cret/with+signs")) },
		"public key":       func(f *foreign) { f.sign = hs256(f.key.N.Bytes()) },
		"another key":      func(f *foreign) { f.sign = newForeign(f.t).rs256 },
		"not a token":      func(f *foreign) { f.sign = func(string, string) string { return "x.y.z" } },
		"none":             func(f *foreign) { f.sign = func(string, string) string { return "" } },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newForeign(t)
			wrong(f)
			refused(t, newProvider(t, f.config("oidc")), auth.CodeExchangeFailed)
		})
	}
	for name, right := range map[string]func(f *foreign){
		"expired a minute ago": func(f *foreign) { f.claim["exp"] = time.Now().Add(-time.Minute).Unix() },
		"two audiences, us":    func(f *foreign) { f.claim["aud"], f.claim["azp"] = []string{"us", "them"}, "us" },
		"no at_hash":           func(f *foreign) { f.claim["at_hash"] = nil },
		"no algorithms listed": func(f *foreign) { f.doc["id_token_signing_alg_values_supported"] = []string{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newForeign(t)
			right(f)
			must(t, newProvider(t, f.config("oidc")))
		})
	}
}

// A name that the ID token lacks comes from the userinfo page, if that speaks
// of the same person.
func TestOpenID_Name(t *testing.T) {
	t.Parallel()
	for userinfo, want := range map[string]string{
		`{"sub":"u1","name":"Berta"}`: "Berta", `{"sub":"u1","preferred_username":"bb"}`: "bb",
		`{"sub":"u1"}`: "", `garbage`: "", `{"sub":"u2","name":"Eve"}`: "refused",
	} {
		f := newForeign(t)
		f.claim["name"], f.userinfo = nil, userinfo
		p := newProvider(t, f.config("oidc"))
		if want == "refused" {
			refused(t, p, auth.CodeUserinfoFailed)
			continue
		}
		if who := must(t, p); who.Name != want || who.Subject != "u1" {
			t.Errorf("userinfo %s: %+v, want %q", userinfo, who, want)
		}
	}
	f := newForeign(t)
	f.claim["name"], f.claim["preferred_username"] = nil, "pp"
	if who := must(t, newProvider(t, f.config("oidc"))); who.Name != "pp" {
		t.Errorf("name %q, want pp", who.Name)
	}
}

// A12: a provider that is down, slow, endless or mad costs ten seconds at most
// and is called unreachable; one that says no is not.
func TestA12_BadProviders(t *testing.T) {
	t.Parallel()
	endless := func(w http.ResponseWriter, r *http.Request) {
		chunk := strings.Repeat("a", 1<<16)
		for range 1 << 14 { // one gigabyte, unless nobody listens
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	}
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
			"hung up": {func(http.ResponseWriter, *http.Request) {
				panic(http.ErrAbortHandler)
			}, auth.CodeUnreachable},
		} {
			t.Run(provider+" "+name, func(t *testing.T) {
				t.Parallel()
				f := newForeign(t)
				f.token = tt.token
				refused(t, newProvider(t, f.config(provider)), tt.want)
			})
		}
	}
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		f := newForeign(t)
		c := f.config("oauth2")
		f.Close()
		refused(t, newProvider(t, c), auth.CodeUnreachable)
	})
}

// A12: a provider that never answers is given up after ten seconds.
func TestA12_Silence(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"oauth2", "oidc"} {
		synctest.Test(t, func(t *testing.T) {
			c := idp.Config{
				Provider: provider, ClientID: "us", Issuer: "https://idp.example",
				AuthURL: "https://idp.example/a", TokenURL: "https://idp.example/t", UserinfoURL: "https://idp.example/u",
				Cache: new(shelf), Now: time.Now, Log: slog.New(slog.DiscardHandler),
				Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}),
			}
			p, began := newProvider(t, c), time.Now()
			refused(t, p, auth.CodeUnreachable)
			if took := time.Since(began); took != 10*time.Second {
				t.Errorf("%s: given up after %v, want 10s", provider, took)
			}
		})
	}
}

// A12: what the userinfo page says wrong is its fault.
func TestA12_BadUserinfo(t *testing.T) {
	t.Parallel()
	for _, userinfo := range []string{"", "<html>", "[]", "{}", `{"sub":""}`, `{"sub":["u1"]}`, `{"sub":null}`} {
		f := newForeign(t)
		f.userinfo = userinfo
		refused(t, newProvider(t, f.config("oauth2")), auth.CodeUserinfoFailed)
	}
	f := newForeign(t)
	f.userinfo = `{"sub":"` + strings.Repeat("a", 2<<20) + `"}`
	refused(t, newProvider(t, f.config("oauth2")), auth.CodeUnreachable)
}

// A redirect to another host is not followed: the code and the secret go to
// nobody else.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	f, evil := newForeign(t), newForeign(t)
	f.token = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", evil.URL+"/token")
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
	refused(t, newProvider(t, f.config("oauth2")), auth.CodeUnreachable)
	if len(evil.seen) != 0 {
		t.Errorf("the code went to another host: %v", evil.seen[0].form)
	}
}

// F7: what is logged of a refusal has neither the code nor what the provider
// wrote.
func TestF7_ErrorsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	flow := newFlow()
	f.token = reply(http.StatusBadRequest, `{"error":"invalid_grant","error_description":"code `+flow.Nonce+` is bad"}`)
	_, err := newProvider(t, f.config("oauth2")).Identify(t.Context(), flow, flow.Nonce)
	for _, secret := range []string{flow.Nonce, flow.Verifier, flow.State, "s3cret"} {
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("the error is %v", err)
		}
	}
}

// A certificate that is out of date by a clock that is not trusted is the
// clock's fault.
func TestClockUnsynced(t *testing.T) {
	t.Parallel()
	for trusted, want := range map[bool]auth.Code{true: auth.CodeUnreachable, false: auth.CodeClockUnsynced} {
		f := newForeign(t)
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

// Each preset finds the subject and the name where its provider puts them, and
// GitHub's token is given back.
func TestPresets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ provider, userinfo, subject, name, issuer string }{
		{"discord", `{"id":"80351110224678912","global_name":"Nelly","username":"nelly"}`, "80351110224678912", "Nelly", "https://discord.com"},
		{"discord", `{"id":"80351110224678912","global_name":null,"username":"nelly"}`, "80351110224678912", "nelly", "https://discord.com"},
		{"github", `{"id":9007199254740993,"name":"The Octocat","login":"octocat"}`, "9007199254740993", "The Octocat", ""},
		{"github", `{"id":1,"name":null,"login":"octocat"}`, "1", "octocat", ""},
	} {
		f := newForeign(t)
		f.userinfo = tt.userinfo
		c := f.config(tt.provider)
		c.Transport = f.through()
		who := must(t, newProvider(t, c))
		want := auth.Identity{Provider: tt.provider, Issuer: tt.issuer, Subject: tt.subject, Name: tt.name}
		if who != want {
			t.Errorf("identified %+v, want %+v", who, want)
		}
		if tt.provider == "github" {
			last := f.seen[len(f.seen)-1]
			if last.path != "/revoke/us" || !strings.Contains(last.body, f.secret) {
				t.Errorf("the token was not given back: %s %s", last.path, last.body)
			}
		}
	}
}

// Google is an OpenID Connect issuer that need not be configured.
func TestPresets_Google(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	f.doc["issuer"] = "https://accounts.google.com"
	c := f.config("google")
	c.Transport = f.through()
	to, err := newProvider(t, c).Authorize(t.Context(), newFlow())
	if err != nil || query(t, to).Get("scope") != "openid profile" {
		t.Errorf("authorize: %s, %v", to, err)
	}
}

// The plain provider's fields can be named, and its default is sub or id, name
// or username.
func TestPlainFields(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ subject, name, userinfo, wantSubject, wantName string }{
		{"", "", `{"sub":"a","id":"b","name":"A","username":"B"}`, "a", "A"},
		{"", "", `{"id":12345678901234567890,"username":"B"}`, "12345678901234567890", "B"},
		{"uuid", "nick", `{"sub":"a","uuid":"c","name":"A","nick":"C"}`, "c", "C"},
	} {
		f := newForeign(t)
		f.userinfo = tt.userinfo
		c := f.config("oauth2")
		c.SubjectField, c.NameField = tt.subject, tt.name
		if who := must(t, newProvider(t, c)); who.Subject != tt.wantSubject || who.Name != tt.wantName {
			t.Errorf("%s: %+v, want %s, %s", tt.userinfo, who, tt.wantSubject, tt.wantName)
		}
	}
}

// What cannot be a provider is refused when it is made (GHSA-8fpg-xm3f-6cx3).
func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	for _, c := range []idp.Config{
		{},
		{Provider: "github"},
		{Provider: "myspace", ClientID: "x"},
		{Provider: "oidc", ClientID: "x"},
		{Provider: "oauth2", ClientID: "x", AuthURL: "x", TokenURL: "x"},
	} {
		if p, err := idp.New(c); err == nil {
			t.Errorf("New(%+v) = %v, want an error", c, p)
		}
	}
	for _, provider := range idp.Providers() {
		c := idp.Config{Provider: provider, ClientID: "x", Issuer: "x", AuthURL: "x", TokenURL: "x", UserinfoURL: "x"}
		if _, err := idp.New(c); err != nil {
			t.Errorf("New(%s): %v", provider, err)
		}
	}
}
