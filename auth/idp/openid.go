package idp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"pressbox/auth"
)

const (
	leeway      = 2 * time.Minute  // between the provider's clock and the host's
	documentAge = 24 * time.Hour   // after which a discovery document is fetched again
	retryAfter  = 30 * time.Second // after a failed fetch
)

// document holds the used fields of a discovery document (OpenID Connect
// Discovery 1.0 §3, RFC 9207 §3).
type document struct {
	Issuer     string   `json:"issuer"`
	AuthURL    string   `json:"authorization_endpoint"`
	TokenURL   string   `json:"token_endpoint"`
	Userinfo   string   `json:"userinfo_endpoint"`
	KeysURL    string   `json:"jwks_uri"`
	AuthBy     []string `json:"token_endpoint_auth_methods_supported"`
	Algorithms []string `json:"id_token_signing_alg_values_supported"`
	SendsIss   bool     `json:"authorization_response_iss_parameter_supported"`
}

// openID is a provider that identifies the user by a signed ID token.
type openID struct {
	Config
	client client
	log    *slog.Logger

	mu    sync.Mutex // guards what follows
	known *discovered
	again time.Time // when to fetch the document again
}

// discovered holds a document and the verifier of its provider's ID tokens.
type discovered struct {
	document
	verifier *oidc.IDTokenVerifier
}

func newOpenID(c Config) *openID {
	return &openID{Config: c, client: newClient(c), log: c.Log}
}

// Authorize implements [auth.Provider].
func (o *openID) Authorize(ctx context.Context, request auth.AuthorizationRequest) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, signInTimeout)
	defer cancel()
	d, err := o.discover(ctx)
	if err != nil {
		return "", err
	}
	return o.config(d, request).AuthCodeURL(request.State,
		oauth2.S256ChallengeOption(request.Verifier), oidc.Nonce(request.Nonce)), nil
}

// Issuer implements [auth.Provider].
func (o *openID) Issuer(ctx context.Context) (string, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, signInTimeout)
	defer cancel()
	d, err := o.discover(ctx)
	if err != nil {
		return "", false, err
	}
	return d.Issuer, d.SendsIss, nil
}

// config returns the configuration for one request.
func (o *openID) config(d *discovered, request auth.AuthorizationRequest) *oauth2.Config {
	return &oauth2.Config{
		ClientID: o.ClientID, ClientSecret: o.ClientSecret, RedirectURL: request.Redirect,
		Endpoint: oauth2.Endpoint{AuthURL: d.AuthURL, TokenURL: d.TokenURL, AuthStyle: o.style(d.document)},
		Scopes:   scopes(o.Scopes, []string{oidc.ScopeOpenID, "profile"}),
	}
}

// style returns the client authentication method: the one in the document, else
// the header (Discovery §3), or the body if there is no secret.
func (o *openID) style(d document) oauth2.AuthStyle {
	if o.ClientSecret == "" || len(d.AuthBy) > 0 && !slices.Contains(d.AuthBy, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// Identify implements [auth.Provider] with the ID token.
func (o *openID) Identify(ctx context.Context, request auth.AuthorizationRequest, code string) (auth.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, signInTimeout)
	defer cancel()
	d, err := o.discover(ctx)
	if err != nil {
		return auth.Identity{}, err
	}
	token, err := o.client.exchange(ctx, o.config(d, request), request, code)
	if err != nil {
		return auth.Identity{}, err
	}
	claims, err := o.verify(ctx, d, token, request.Nonce)
	if err != nil {
		return auth.Identity{}, o.client.refuse(fmt.Errorf("ID token: %w", err), auth.CodeExchangeFailed)
	}
	identity := auth.Identity{Provider: o.Provider, Issuer: d.Issuer, Subject: claims.Subject, Name: claims.name()}
	if identity.Name == "" && d.Userinfo != "" {
		if identity.Name, err = o.fetchName(ctx, d.Userinfo, token, identity.Subject); err != nil {
			return auth.Identity{}, err
		}
	}
	return bounded(identity)
}

// claims holds the used claims of an ID token.
type claims struct {
	Subject   string `json:"sub"`
	Party     string `json:"azp"`
	Name      string `json:"name"`
	Preferred string `json:"preferred_username"`
}

func (c claims) name() string {
	if c.Name != "" {
		return c.Name
	}
	return c.Preferred
}

// verify checks an ID token (OpenID Connect Core §3.1.3.7): signature, issuer
// and audience by go-oidc, the rest here.
func (o *openID) verify(ctx context.Context, d *discovered, token *oauth2.Token, nonce string) (c claims, err error) {
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return c, errors.New("response has no ID token")
	}
	id, err := d.verifier.Verify(o.client.with(ctx), raw)
	if err != nil {
		return c, err
	}
	if err := id.Claims(&c); err != nil {
		return c, err
	}
	switch {
	case id.Nonce != nonce:
		return c, errors.New("nonce does not match")
	case len(id.Audience) > 1 && c.Party != o.ClientID:
		return c, fmt.Errorf("authorized party is %.60q, want %q", c.Party, o.ClientID)
	case c.Subject == "":
		return c, errors.New("subject is empty")
	}
	if id.AccessTokenHash != "" {
		return c, id.VerifyAccessToken(token.AccessToken)
	}
	return c, nil
}

// fetchName gets the display name from the userinfo endpoint, whose subject must
// be the same (Core §5.3.2). A missing name does not prevent the sign-in.
func (o *openID) fetchName(ctx context.Context, userinfo string, token *oauth2.Token, subject string) (string, error) {
	info, err := o.client.fetch(ctx, userinfo, token)
	if err != nil {
		o.log.Warn("provider returned no name", "provider", o.Provider, "err", err)
		return "", nil
	}
	if field(info, []string{"sub"}) != subject {
		return "", auth.Refuse(auth.CodeUserinfoFailed, errors.New("userinfo has another subject than the ID token"))
	}
	return field(info, []string{"name", "preferred_username"}), nil
}

// discover returns the discovery document: from memory if it is recent, else from
// the provider, else from memory or the cache at any age.
func (o *openID) discover(ctx context.Context) (*discovered, error) {
	o.mu.Lock()
	known, fresh := o.known, o.Now().Before(o.again)
	o.mu.Unlock()
	if known != nil && fresh {
		return known, nil
	}
	doc, err := o.fetchDocument(ctx)
	wait := documentAge
	if err != nil {
		if known == nil {
			known = o.cached(ctx)
		}
		if known == nil {
			return nil, o.client.refuse(fmt.Errorf("discover %s: %w", o.Config.Issuer, err), auth.CodeUnreachable)
		}
		o.log.Warn("discovery document outdated", "issuer", o.Config.Issuer, "err", err)
		wait = retryAfter
	} else {
		known = o.prepare(doc) //nolint:contextcheck // the keys outlive the request
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known, o.again = known, o.Now().Add(wait)
	return known, nil
}

// fetchDocument gets the discovery document from the provider and caches it.
func (o *openID) fetchDocument(ctx context.Context) (document, error) {
	address := strings.TrimSuffix(o.Config.Issuer, "/") + "/.well-known/openid-configuration"
	object, err := o.client.fetch(ctx, address, nil)
	if err != nil {
		return document{}, err
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return document{}, err
	}
	doc, err := o.parse(raw)
	if err != nil {
		return document{}, err
	}
	if err := o.Cache.SaveCached(ctx, o.cacheKey(), raw); err != nil {
		o.log.Warn("discovery document not cached", "err", err)
	}
	return doc, nil
}

// cached returns the cached document, or nil.
func (o *openID) cached(ctx context.Context) *discovered {
	raw, err := o.Cache.Cached(ctx, o.cacheKey())
	if err != nil || raw == nil {
		return nil
	}
	doc, err := o.parse(raw)
	if err != nil {
		return nil
	}
	return o.prepare(doc) //nolint:contextcheck // the keys outlive the request
}

func (o *openID) cacheKey() string { return "discovery " + o.Config.Issuer }

// parse decodes a document, whose issuer must be exactly the configured one
// (Discovery §4.3).
func (o *openID) parse(raw []byte) (doc document, err error) {
	if err := json.Unmarshal(raw, &doc); err != nil {
		return doc, fmt.Errorf("decode the discovery document: %w", err)
	}
	if doc.Issuer != o.Config.Issuer {
		return doc, fmt.Errorf("discovery document of issuer %q, want %q", doc.Issuer, o.Config.Issuer)
	}
	if doc.AuthURL == "" || doc.TokenURL == "" || doc.KeysURL == "" {
		return doc, errors.New("discovery document has no authorization, token or key endpoint")
	}
	return doc, nil
}

// prepare returns a document with its verifier. It accepts only public-key
// signatures, whatever the document lists: a shared secret or none proves nothing
// (RFC 8725 §3.1).
func (o *openID) prepare(doc document) *discovered {
	accepted := []string{
		oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512,
		oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
	}
	algorithms := slices.DeleteFunc(slices.Clone(doc.Algorithms), func(alg string) bool {
		return !slices.Contains(accepted, alg)
	})
	if len(algorithms) == 0 {
		algorithms = []string{oidc.RS256} // mandatory for all (Core §15.1)
	}
	// Fetched with the first token, and shared by all requests.
	keys := oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), o.client.http), doc.KeysURL)
	return &discovered{doc, oidc.NewVerifier(doc.Issuer, keys, &oidc.Config{
		ClientID:             o.ClientID,
		SupportedSigningAlgs: algorithms,
		// go-oidc allows five minutes for a token that is not valid yet and none
		// for an expired one; with a clock two minutes slow these are three and two.
		Now: func() time.Time { return o.Now().Add(-leeway) },
	})}
}
