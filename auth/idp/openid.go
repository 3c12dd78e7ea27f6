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
	leeway     = 2 * time.Minute  // between the provider's clock and ours
	documentOK = 24 * time.Hour   // a discovery document is asked for again after
	retryAfter = 30 * time.Second // a provider that did not answer is left alone
)

// document is what OpenID Connect Discovery 1.0 §3 and RFC 9207 §3 publish of a
// provider, as far as it concerns us.
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

// openID is a provider that says in a signed ID token who signed in.
type openID struct {
	Config
	client client
	log    *slog.Logger

	mu    sync.Mutex // guards what follows
	known *discovered
	again time.Time // when to ask for the document again
}

// discovered is a document and what verifies its provider's ID tokens.
type discovered struct {
	document
	verifier *oidc.IDTokenVerifier
}

func newOpenID(c Config) *openID {
	return &openID{Config: c, client: newClient(c), log: c.Log}
}

// Authorize is where the browser goes.
func (o *openID) Authorize(ctx context.Context, flow auth.AuthorizationRequest) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	d, err := o.discover(ctx)
	if err != nil {
		return "", err
	}
	return o.config(d, flow).AuthCodeURL(flow.State,
		oauth2.S256ChallengeOption(flow.Verifier), oidc.Nonce(flow.Nonce)), nil
}

// Issuer is the provider's name for itself.
func (o *openID) Issuer(ctx context.Context) (string, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	d, err := o.discover(ctx)
	if err != nil {
		return "", false, err
	}
	return d.Issuer, d.SendsIss, nil
}

// config is the configuration for one flow.
func (o *openID) config(d *discovered, flow auth.AuthorizationRequest) *oauth2.Config {
	return &oauth2.Config{
		ClientID: o.ClientID, ClientSecret: o.ClientSecret, RedirectURL: flow.Redirect,
		Endpoint: oauth2.Endpoint{AuthURL: d.AuthURL, TokenURL: d.TokenURL, AuthStyle: o.style(d.document)},
		Scopes:   scopes(o.Scopes, []string{oidc.ScopeOpenID, "profile"}),
	}
}

// style is how the client authenticates: as the provider says, by a header if
// it says nothing (Discovery §3), in the body when there is no secret.
func (o *openID) style(d document) oauth2.AuthStyle {
	if o.ClientSecret == "" || len(d.AuthBy) > 0 && !slices.Contains(d.AuthBy, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// Identify verifies the ID token that comes for the code.
func (o *openID) Identify(ctx context.Context, flow auth.AuthorizationRequest, code string) (auth.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	d, err := o.discover(ctx)
	if err != nil {
		return auth.Identity{}, err
	}
	token, err := o.client.exchange(ctx, o.config(d, flow), flow, code)
	if err != nil {
		return auth.Identity{}, err
	}
	claims, err := o.verify(ctx, d, token, flow.Nonce)
	if err != nil {
		return auth.Identity{}, o.client.refuse(fmt.Errorf("ID token: %w", err), auth.CodeExchangeFailed)
	}
	who := auth.Identity{Provider: o.Provider, Issuer: d.Issuer, Subject: claims.Subject, Name: claims.name()}
	if who.Name == "" && d.Userinfo != "" {
		who.Name, err = o.nameOf(ctx, d.Userinfo, token, who.Subject)
	}
	return who, err
}

// claims are what an ID token says, as far as it concerns us.
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
		return c, errors.New("there is none")
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
		return c, errors.New("the nonce is another flow's")
	case len(id.Audience) > 1 && c.Party != o.ClientID:
		return c, errors.New("it was issued to another party")
	case c.Subject == "":
		return c, errors.New("the subject is empty")
	}
	if id.AccessTokenHash != "" {
		return c, id.VerifyAccessToken(token.AccessToken)
	}
	return c, nil
}

// nameOf asks the userinfo page for a name to display; it must speak of the
// same subject (Core §5.3.2). Without a name one can still sign in.
func (o *openID) nameOf(ctx context.Context, userinfo string, token *oauth2.Token, subject string) (string, error) {
	info, err := o.client.fetch(ctx, userinfo, token)
	if err != nil {
		o.log.Warn("the provider did not say a name", "provider", o.Provider, "err", err)
		return "", nil
	}
	if field(info, []string{"sub"}) != subject {
		return "", &auth.RefusalError{Code: auth.CodeUserinfoFailed, Err: errors.New("userinfo is about somebody else")}
	}
	return field(info, []string{"name", "preferred_username"}), nil
}

// discover is what is known of the provider: from memory, else from its page,
// else from the cache, however old.
func (o *openID) discover(ctx context.Context) (*discovered, error) {
	o.mu.Lock()
	known, fresh := o.known, o.Now().Before(o.again)
	o.mu.Unlock()
	if known != nil && fresh {
		return known, nil
	}
	doc, err := o.ask(ctx)
	wait := documentOK
	if err != nil {
		if known == nil {
			known = o.remembered(ctx)
		}
		if known == nil {
			return nil, o.client.refuse(fmt.Errorf("discover %s: %w", o.Config.Issuer, err), auth.CodeUnreachable)
		}
		o.log.Warn("the provider's discovery document is an old one", "issuer", o.Config.Issuer, "err", err)
		wait = retryAfter
	} else {
		known = o.prepare(doc) //nolint:contextcheck // the keys outlive the request
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known, o.again = known, o.Now().Add(wait)
	return known, nil
}

// ask reads the discovery document from the provider and keeps it.
func (o *openID) ask(ctx context.Context) (document, error) {
	object, err := o.client.fetch(ctx, strings.TrimSuffix(o.Config.Issuer, "/")+"/.well-known/openid-configuration", nil)
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
		o.log.Warn("the provider's discovery document was not kept", "err", err)
	}
	return doc, nil
}

// remembered is what the cache has, or nil.
func (o *openID) remembered(ctx context.Context) *discovered {
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

// parse reads a document, which must be the configured issuer's own, to the
// letter (Discovery §4.3).
func (o *openID) parse(raw []byte) (doc document, err error) {
	if err := json.Unmarshal(raw, &doc); err != nil {
		return doc, fmt.Errorf("read the discovery document: %w", err)
	}
	if doc.Issuer != o.Config.Issuer {
		return doc, fmt.Errorf("the discovery document is of %q, want %q", doc.Issuer, o.Config.Issuer)
	}
	if doc.AuthURL == "" || doc.TokenURL == "" || doc.KeysURL == "" {
		return doc, errors.New("the discovery document lacks an endpoint")
	}
	return doc, nil
}

// prepare makes the verifier. Only public-key signatures are accepted, whatever
// the document says: a shared secret or none proves nothing (RFC 8725 §3.1).
func (o *openID) prepare(doc document) *discovered {
	accepted := []string{
		oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512,
		oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
	}
	algorithms := slices.DeleteFunc(slices.Clone(doc.Algorithms), func(alg string) bool {
		return !slices.Contains(accepted, alg)
	})
	if len(algorithms) == 0 {
		algorithms = []string{oidc.RS256} // the one that all must have (Core §15.1)
	}
	// The keys are fetched when a token comes, for whoever brings it.
	keys := oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), o.client.http), doc.KeysURL)
	return &discovered{doc, oidc.NewVerifier(doc.Issuer, keys, &oidc.Config{
		ClientID:             o.ClientID,
		SupportedSigningAlgs: algorithms,
		// go-oidc gives a token that is not valid yet five minutes, and an expired
		// one none: by a clock that is two minutes slow, three and two.
		Now: func() time.Time { return o.Now().Add(-leeway) },
	})}
}
