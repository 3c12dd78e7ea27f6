package web

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
)

// bearer returns the token of an Authorization header (RFC 6750 §2.1), "" for a
// malformed or repeated one, and whether a header of the Bearer scheme was sent.
func bearer(h http.Header) (token string, sent bool) {
	for _, value := range h.Values("Authorization") {
		scheme, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
		if !strings.EqualFold(scheme, "Bearer") {
			continue
		}
		if sent {
			return "", true
		}
		token, sent = strings.TrimSpace(rest), true
		if strings.ContainsAny(token, " \t,") {
			token = ""
		}
	}
	return token, sent
}

// otherTokens returns what may be an API token in a request without a Bearer header: the
// password of Basic, X-Gotify-Key, and, on routes with QueryToken, the parameters token
// and auth. Routes below /api have none.
func otherTokens(r *http.Request) (tokens []string) {
	info := infoOf(r.Context())
	if strings.HasPrefix(info.route, "/api/") {
		return nil
	}
	add := func(token string) {
		if token = strings.TrimSpace(token); token != "" {
			tokens = append(tokens, token)
		}
	}
	if _, password, ok := r.BasicAuth(); ok {
		add(password)
	}
	add(r.Header.Get("X-Gotify-Key"))
	if !info.queryToken {
		return tokens
	}
	query, _ := url.ParseQuery(r.URL.RawQuery) // the valid parameters
	add(query.Get("token"))
	add(authParam(query.Get("auth")))
	return tokens
}

// authParam returns the token of the parameter auth: the value of an Authorization header
// in base64, as ntfy has it.
func authParam(param string) string {
	value, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(strings.NewReplacer("+",
		"-", "/", "_", " ", "-").Replace(param), "="))
	if err != nil {
		return ""
	}
	r := http.Request{Header: http.Header{"Authorization": {string(value)}}}
	if _, password, ok := r.BasicAuth(); ok {
		return password
	}
	token, _ := bearer(r.Header)
	return token
}

// WithoutTokens returns the query of a request without the parameters that may be tokens.
func WithoutTokens(query string) string {
	var rest []string
	for pair := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(pair, "="); name != "token" && name != "auth" {
			rest = append(rest, pair)
		}
	}
	return strings.Join(rest, "&")
}
