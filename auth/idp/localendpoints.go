package idp

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"
)

// Paths of the endpoints that only this process reaches.
const (
	tokenPath    = "/token"
	userinfoPath = "/userinfo"
)

// RoundTrip answers the token and userinfo requests of [Local.Provider] in this
// process, without a network.
func (l *Local) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	status, body := http.StatusNotFound, map[string]any{}
	switch r.Method + " " + r.URL.Path {
	case http.MethodPost + " " + tokenPath:
		form, err := readForm(r)
		if err != nil {
			return nil, err
		}
		status, body = l.token(form)
	case http.MethodGet + " " + userinfoPath:
		status, body = l.userinfo(r.Header.Get("Authorization"))
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("answer %s: %w", r.URL.Path, err)
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(bytes.NewReader(raw)),
		ContentLength: int64(len(raw)),
	}, nil
}

func readForm(r *http.Request) (url.Values, error) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("read a token request: %w", err)
	}
	return url.ParseQuery(string(raw))
}

// token exchanges a code (RFC 6749 §4.1.3, RFC 7636 §4.6). The code is deleted
// also if another parameter is wrong.
func (l *Local) token(form url.Values) (int, map[string]any) {
	if form.Get("grant_type") != "authorization_code" {
		return http.StatusBadRequest, map[string]any{"error": "unsupported_grant_type"}
	}
	challenge := oauth2.S256ChallengeFromVerifier(form.Get("code_verifier"))
	g, ok := l.take(l.codes, form.Get("code"))
	switch {
	case !ok,
		form.Get("client_id") != g.client,
		form.Get("redirect_uri") != g.redirect,
		subtle.ConstantTimeCompare([]byte(challenge), []byte(g.challenge)) == 0:
		return http.StatusBadRequest, map[string]any{"error": "invalid_grant"}
	}
	g.issued = l.Now()
	return http.StatusOK, map[string]any{
		"access_token": l.save(l.tokens, g), "token_type": "Bearer", "expires_in": int(grantTTL.Seconds()),
	}
}

// userinfo returns the identity of a token, once.
func (l *Local) userinfo(header string) (int, map[string]any) {
	g, ok := l.take(l.tokens, strings.TrimPrefix(header, "Bearer "))
	if !ok {
		return http.StatusUnauthorized, map[string]any{"error": "invalid_token"}
	}
	return http.StatusOK, map[string]any{"sub": g.account.Subject, "name": g.account.Name}
}
