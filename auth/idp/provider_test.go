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
	"sync"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/idp"
)

// foreign is an identity provider with switches: OAuth 2.0 and OpenID Connect,
// right unless told otherwise.
type foreign struct {
	*httptest.Server
	t   *testing.T
	key *rsa.PrivateKey

	mu       sync.Mutex
	doc      map[string]any // what discovery publishes, beyond the defaults
	down     bool           // discovery is refused
	userinfo string         // its answer
	token    http.HandlerFunc
	claim    map[string]any // changes to the ID token's claims; nil removes one
	sign     func(head, body string) string
	seen     []*seen
	asked    int // discovery requests
	secret   string
}

// seen is one request to the token endpoint, or one that gives a token back.
type seen struct {
	form   url.Values
	header http.Header
	body   string
	path   string
}

func newForeign(t *testing.T) *foreign {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	f := &foreign{
		t: t, key: key, doc: map[string]any{}, claim: map[string]any{},
		userinfo: `{"sub":"u1","name":"Anna"}`, secret: auth.NewSecret(),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", f.discovery)
	mux.HandleFunc("GET /keys", f.keys)
	mux.HandleFunc("POST /token", f.exchange)
	mux.HandleFunc("GET /userinfo", f.who)
	mux.HandleFunc("DELETE /revoke/{client}", f.revoke)
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	return f
}

func (f *foreign) discovery(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
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

func (f *foreign) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		f.t.Error(err)
	}
}

func (f *foreign) keys(w http.ResponseWriter, _ *http.Request) {
	enc := base64.RawURLEncoding
	f.answer(w, map[string]any{"keys": []any{map[string]any{
		"kty": "RSA", "use": "sig", "kid": "k1",
		"n": enc.EncodeToString(f.key.N.Bytes()), "e": enc.EncodeToString(big.NewInt(int64(f.key.E)).Bytes()),
	}}})
}

func (f *foreign) note(r *http.Request) *seen {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Error(err)
	}
	form, _ := url.ParseQuery(string(body))
	s := &seen{form, r.Header, string(body), r.URL.Path}
	f.seen = append(f.seen, s)
	return s
}

func (f *foreign) exchange(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.note(r)
	if f.token != nil {
		f.token(w, r)
		return
	}
	f.answer(w, map[string]any{
		"access_token": f.secret, "token_type": "Bearer", "expires_in": 3600, "id_token": f.idToken(s.form.Get("code")),
	})
}

// idToken is signed for the nonce that the test passes as the code.
func (f *foreign) idToken(nonce string) string {
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
	if err != nil {
		f.t.Error(err)
	}
	sign := f.sign
	if sign == nil {
		sign = f.rs256
	}
	return sign(`"kid":"k1"`, string(body))
}

func (f *foreign) rs256(head, body string) string {
	input := part(`{"alg":"RS256",`+head+`}`) + "." + part(body)
	sum := sha256.Sum256([]byte(input))
	sig, err := rsa.SignPKCS1v15(rand.Reader, f.key, crypto.SHA256, sum[:])
	if err != nil {
		f.t.Error(err)
	}
	return input + "." + part(string(sig))
}

// unsigned claims that no signature is needed.
func unsigned(head, body string) string {
	return part(`{"alg":"none",`+head+`}`) + "." + part(body) + "."
}

// hs256 signs with what is public or shared.
func hs256(key []byte) func(head, body string) string {
	return func(head, body string) string {
		input := part(`{"alg":"HS256",`+head+`}`) + "." + part(body)
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(input))
		return input + "." + part(string(mac.Sum(nil)))
	}
}

func part(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

func (f *foreign) who(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+f.secret {
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, f.userinfo) // one that is too long is not read to its end
}

func (f *foreign) revoke(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note(r)
	w.WriteHeader(http.StatusNoContent)
}

// shelf is an idp.Cache in memory.
type shelf struct {
	mu   sync.Mutex
	rows map[string][]byte
}

func (s *shelf) Cached(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rows[key], nil
}

func (s *shelf) SaveCached(_ context.Context, key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = make(map[string][]byte)
	}
	s.rows[key] = value
	return nil
}

// config is how this appliance is registered with f.
func (f *foreign) config(provider string) idp.Config {
	return idp.Config{
		Provider: provider, ClientID: "us", ClientSecret: "s3cret/with+signs",
		Issuer:  f.URL,
		AuthURL: f.URL + "/authorize", TokenURL: f.URL + "/token", UserinfoURL: f.URL + "/userinfo",
		Cache: new(shelf), Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
}

func newProvider(t *testing.T, c idp.Config) auth.Provider {
	t.Helper()
	p, err := idp.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newFlow() auth.AuthorizationRequest {
	return auth.AuthorizationRequest{
		State: auth.NewSecret(), Verifier: auth.NewSecret(), Nonce: auth.NewSecret(),
		Redirect: "https://box.example/api/auth/idp/callback/server",
	}
}

// identify exchanges a code that says which nonce the ID token shall have.
func identify(t *testing.T, p auth.Provider) (auth.Identity, error) {
	t.Helper()
	flow := newFlow()
	return p.Identify(t.Context(), flow, flow.Nonce)
}

// must is what p identifies.
func must(t *testing.T, p auth.Provider) auth.Identity {
	t.Helper()
	who, err := identify(t, p)
	if err != nil {
		t.Fatal(err)
	}
	return who
}

// refused is the code with which p must refuse.
func refused(t *testing.T, p auth.Provider, want auth.Code) {
	t.Helper()
	if who, err := identify(t, p); err == nil || auth.CodeOf(err) != want {
		t.Errorf("identified %+v, %v; want a refusal with %s", who, err, want)
	}
}

// through is a transport that takes every address for f's, so that the presets'
// own addresses can be tried.
func (f *foreign) through() http.RoundTripper {
	to, err := url.Parse(f.URL)
	if err != nil {
		f.t.Fatal(err)
	}
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
			return nil, fmt.Errorf("no such page: %s", r.URL)
		}
		r.URL.Scheme, r.URL.Host, r.URL.Path, r.Host = to.Scheme, to.Host, path, ""
		return http.DefaultTransport.RoundTrip(r)
	})
}

const wellKnown = "/.well-known/openid-configuration"

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
