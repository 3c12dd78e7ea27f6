package idp_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pressbox/auth"
	"pressbox/auth/idp"
	"pressbox/packaging/check"
)

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
