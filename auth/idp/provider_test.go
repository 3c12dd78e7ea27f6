package idp_test

import (
	"context"
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"pressbox/auth"
	"pressbox/auth/idp"
	"pressbox/packaging/check"
)

// server is an identity provider for OAuth 2.0 and OpenID Connect. It is correct unless a field changes its responses.
type server struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	doc      map[string]any // changes to the discovery document
	down     bool           // discovery fails
	userinfo string         // response of the userinfo endpoint
	token    http.HandlerFunc
	claim    map[string]any // changes to the ID token's claims; nil removes one
	sign     func(head, body string) string
	received []received
	pad      map[string]int // path → bytes of its answer; 0: as it is
	header   int            // bytes of a field in the header of each answer
	fetched  int            // discovery requests
	secret   string
}

// received is a request to the token or the revocation endpoint.
type received struct {
	form       url.Values
	header     http.Header
	body, path string
}

func newKey() *rsa.PrivateKey {
	key, _ := rsa.GenerateKey(rand.Reader, 2048) // it cannot fail
	return key
}

// Generating keys takes most of the time of these tests: all servers share one,
// and a second one signs what must be refused.
var serverKey, otherKey = sync.OnceValue(newKey), sync.OnceValue(newKey)

func newServer(t *testing.T) *server {
	t.Helper()
	f := &server{
		t: t, doc: map[string]any{}, claim: map[string]any{},
		userinfo: `{"sub":"u1","name":"Anna"}`, secret: auth.NewSecret(),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", f.discovery)
	mux.HandleFunc("GET /keys", f.keys)
	mux.HandleFunc("POST /token", f.exchange)
	mux.HandleFunc("GET /userinfo", f.identity)
	mux.HandleFunc("DELETE /revoke/{client}", f.revoke)
	f.Server = httptest.NewServer(f.padded(mux))
	t.Cleanup(f.Close)
	return f
}

// padded returns a handler that pads the answers of next with spaces.
func (f *server) padded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Padding", strings.Repeat("x", f.header))
		answer := httptest.NewRecorder()
		if f.pad[r.URL.Path] == 0 {
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(answer, r)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, strings.Repeat(" ", f.pad[r.URL.Path]-answer.Body.Len())+answer.Body.String())
	})
}

func (f *server) discovery(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fetched++
	if f.down {
		http.Error(w, "down", http.StatusBadGateway)
		return
	}
	doc := map[string]any{
		"issuer": f.URL, "authorization_endpoint": f.URL + "/authorize", "token_endpoint": f.URL + "/token",
		"userinfo_endpoint": f.URL + "/userinfo", "jwks_uri": f.URL + "/keys",
		"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
	}
	maps.Copy(doc, f.doc)
	f.answer(w, doc)
}

func (f *server) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	check.ErrorIs(f.t, json.NewEncoder(w).Encode(v), nil, "answer")
}

func (f *server) keys(w http.ResponseWriter, _ *http.Request) {
	enc := base64.RawURLEncoding
	key := serverKey()
	f.answer(w, map[string]any{"keys": []any{map[string]any{
		"kty": "RSA", "use": "sig", "kid": "k1",
		"n": enc.EncodeToString(key.N.Bytes()), "e": enc.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
	}}})
}

func (f *server) record(r *http.Request) received {
	body, err := io.ReadAll(r.Body)
	check.ErrorIs(f.t, err, nil, "read a request")
	form, _ := url.ParseQuery(string(body))
	got := received{form, r.Header, string(body), r.URL.Path}
	f.received = append(f.received, got)
	return got
}

func (f *server) exchange(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	got := f.record(r)
	if f.token != nil {
		f.token(w, r)
		return
	}
	f.answer(w, map[string]any{
		"access_token": f.secret, "token_type": "Bearer", "expires_in": 3600,
		"id_token": f.idToken(got.form.Get("code")),
	})
}

// idToken returns an ID token for a nonce, which the tests pass as the code.
func (f *server) idToken(nonce string) string {
	sum := sha256.Sum256([]byte(f.secret))
	claims := map[string]any{
		"iss": f.URL, "aud": "us", "sub": "u1", "name": "Anna", "nonce": nonce,
		"exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(),
		"at_hash": base64.RawURLEncoding.EncodeToString(sum[:16]),
	}
	for name, value := range f.claim {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	body, err := json.Marshal(claims)
	check.ErrorIs(f.t, err, nil, "write the claims")
	sign := f.sign
	if sign == nil {
		sign = rs256(serverKey())
	}
	return sign(`"kid":"k1"`, string(body))
}

// signed returns a signer of an algorithm.
func signed(alg string, sign func(input string) []byte) func(head, body string) string {
	return func(head, body string) string {
		input := part(`{"alg":"`+alg+`",`+head+`}`) + "." + part(body)
		return input + "." + part(string(sign(input)))
	}
}

func rs256(key *rsa.PrivateKey) func(head, body string) string {
	return signed("RS256", func(input string) []byte {
		sum := sha256.Sum256([]byte(input))
		sig, _ := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:]) // a key of its own cannot fail
		return sig
	})
}

// hs256 signs with a public or a shared key.
func hs256(key []byte) func(head, body string) string {
	return signed("HS256", func(input string) []byte {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(input))
		return mac.Sum(nil)
	})
}

func part(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

func (f *server) identity(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+f.secret {
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, f.userinfo) // the client does not read an overlong one
}

func (f *server) revoke(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.record(r)
	w.WriteHeader(http.StatusNoContent)
}

// cache is an [idp.Cache] in memory.
type cache struct {
	err    error // if set, of all
	mu     sync.Mutex
	values map[string][]byte
}

func (c *cache) Cached(_ context.Context, key string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values[key], c.err
}

func (c *cache) SaveCached(_ context.Context, key string, value []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values == nil {
		c.values = make(map[string][]byte)
	}
	c.values[key] = value
	return c.err
}

// config returns the configuration of a client of the server.
func (f *server) config(provider string) idp.Config {
	return idp.Config{
		Provider: provider, ClientID: "us", ClientSecret: "s3cret/with+signs",
		Issuer:  f.URL,
		AuthURL: f.URL + "/authorize", TokenURL: f.URL + "/token", UserinfoURL: f.URL + "/userinfo",
		Cache: new(cache), Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
}

func newProvider(t *testing.T, c idp.Config) auth.Provider {
	t.Helper()
	return check.Must(idp.New(c))(t)
}

func newRequest() auth.AuthorizationRequest {
	return auth.AuthorizationRequest{
		State: auth.NewSecret(), Verifier: auth.NewSecret(), Nonce: auth.NewSecret(),
		Redirect: "https://box.example/api/auth/idp/callback/server",
	}
}

// identify exchanges a code, which is the nonce of the ID token.
func identify(t *testing.T, p auth.Provider) (auth.Identity, error) {
	t.Helper()
	request := newRequest()
	return p.Identify(t.Context(), request, request.Nonce)
}

// must returns the identity.
func must(t *testing.T, p auth.Provider) auth.Identity {
	t.Helper()
	return check.Must(identify(t, p))(t)
}

// refused checks that p refuses with a code.
func refused(t *testing.T, p auth.Provider, want auth.Code) {
	t.Helper()
	identity, err := identify(t, p)
	check.That(t, err != nil && auth.CodeOf(err) == want,
		"identified %+v, %v; want a refusal with %s", identity, err, want)
}

// transport returns a transport that sends the requests to the URLs of the presets to f.
func (f *server) transport() http.RoundTripper {
	to := check.Must(url.Parse(f.URL))(f.t)
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		paths := map[string]string{
			"https://discord.com/api/oauth2/token":         "/token",
			"https://discord.com/api/users/@me":            "/userinfo",
			"https://github.com/login/oauth/access_token":  "/token",
			"https://api.github.com/user":                  "/userinfo",
			"https://api.github.com/applications/us/token": "/revoke/us",
			"https://accounts.google.com" + wellKnown:      wellKnown,
		}
		path, known := paths[r.URL.String()]
		if !known {
			return nil, fmt.Errorf("unknown URL: %s", r.URL)
		}
		r.URL.Scheme, r.URL.Host, r.URL.Path, r.Host = to.Scheme, to.Host, path, ""
		return http.DefaultTransport.RoundTrip(r)
	})
}

const wellKnown = "/.well-known/openid-configuration"

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answers answers each path with a body.
type answers map[string]string

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	body, ok := a[r.URL.Path]
	status := http.StatusOK
	if !ok {
		status = http.StatusNotFound
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(strings.NewReader(body)), ContentLength: -1,
	}, nil
}

// Whatever a provider answers, the identity is one that can be stored and shown, or the sign-in is refused with a
// code; without the key of the provider, an OpenID Connect sign-in is refused.
func FuzzAnswers(f *testing.F) {
	const discovery = `{"issuer":"https://idp.example","authorization_endpoint":"https://idp.example/authorize",` +
		`"token_endpoint":"https://idp.example/token","userinfo_endpoint":"https://idp.example/userinfo",` +
		`"jwks_uri":"https://idp.example/keys"}`
	const token = `{"access_token":"x","token_type":"Bearer","expires_in":3600,` +
		`"id_token":"eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0."}`
	for _, userinfo := range []string{
		`{"sub":"1","name":"Anna"}`, `{"id":1e999,"username":"x"}`, `{"id":17,"name":null}`,
		`{"sub":""}`, `[]`, `{"sub":"1"`, "\xff", `{"sub":"a\u0000b","name":"\ud800"}`,
		`{"sub":"` + strings.Repeat("x", 300) + `"}`, `{"sub":"1","name":"` + strings.Repeat("ä", 300) + `"}`,
	} {
		f.Add(discovery, token, userinfo, `{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB","kid":"1"}]}`)
	}
	f.Add(`{}`, `{"error":"invalid_grant"}`, ``, `{}`)
	f.Add(discovery, `{"access_token":7,"expires_in":"x"}`, `{}`, `[`)
	f.Fuzz(func(t *testing.T, discovery, token, userinfo, keys string) {
		c := idp.Config{
			ClientID: "pressbox", ClientSecret: "secret", Issuer: "https://idp.example",
			AuthURL: "https://idp.example/authorize", TokenURL: "https://idp.example/token",
			UserinfoURL: "https://idp.example/userinfo",
			Transport: answers{
				"/.well-known/openid-configuration": discovery, "/token": token, "/userinfo": userinfo, "/keys": keys,
			},
			Cache: new(cache), Now: time.Now, ClockTrusted: func() bool { return true },
			Log: slog.New(slog.DiscardHandler),
		}
		for _, c.Provider = range []string{"oauth2", "oidc"} {
			identity, err := check.Must(idp.New(c))(t).Identify(t.Context(), newRequest(), "code")
			if err != nil {
				check.Require(t, auth.CodeOf(err) != auth.CodeServerError, "%s: no code: %v", c.Provider, err)
				continue
			}
			check.Require(t, c.Provider != "oidc", "signed in as %+v without a signature", identity)
			s, name := identity.Subject, identity.Name
			check.Require(t, s != "" && len(s) <= 255 && len(name) <= 255 && utf8.ValidString(s+name),
				"identity %+v", identity)
			check.Must(json.Marshal(identity))(t)
		}
	})
}
