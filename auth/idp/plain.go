package idp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"

	"pressbox/auth"
)

// plain is an OAuth 2.0 provider with a userinfo endpoint.
type plain struct {
	id string
	preset
	conf   oauth2.Config // without the redirect URI, which each request has
	client client
	log    *slog.Logger
}

func newPlain(c Config, p preset) *plain {
	return &plain{
		id:     c.Provider,
		preset: p,
		conf: oauth2.Config{
			ClientID: c.ClientID, ClientSecret: c.ClientSecret,
			Endpoint: p.endpoint, Scopes: scopes(c.Scopes, p.scopes),
		},
		client: newClient(c),
		log:    c.Log,
	}
}

// config returns the configuration for one request.
func (p *plain) config(request auth.AuthorizationRequest) *oauth2.Config {
	conf := p.conf
	conf.RedirectURL = request.Redirect
	return &conf
}

// Authorize implements [auth.Provider].
func (p *plain) Authorize(_ context.Context, request auth.AuthorizationRequest) (string, error) {
	return p.config(request).AuthCodeURL(request.State, oauth2.S256ChallengeOption(request.Verifier)), nil
}

// Issuer implements [auth.Provider].
func (p *plain) Issuer(context.Context) (string, bool, error) { return p.issuer, p.always, nil }

// Identify implements [auth.Provider] with the userinfo endpoint.
func (p *plain) Identify(ctx context.Context, request auth.AuthorizationRequest, code string) (auth.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, signInTimeout)
	defer cancel()
	token, err := p.client.exchange(ctx, p.config(request), request, code)
	if err != nil {
		return auth.Identity{}, err
	}
	defer p.revoke(ctx, token)
	info, err := p.client.fetch(ctx, p.userinfo, token)
	if err != nil {
		return auth.Identity{}, auth.Refuse(auth.CodeUserinfoFailed, fmt.Errorf("userinfo: %w", err))
	}
	identity := auth.Identity{
		Provider: p.id,
		Issuer:   p.issuer,
		Subject:  field(info, p.subject),
		Name:     field(info, p.name),
	}
	if identity.Subject == "" {
		err := fmt.Errorf("userinfo has none of the fields %q", p.subject)
		return auth.Identity{}, auth.Refuse(auth.CodeUserinfoFailed, err)
	}
	return bounded(identity)
}

// revoke revokes a token if the provider would otherwise keep it for ever. A
// failure does not prevent the sign-in.
func (p *plain) revoke(ctx context.Context, token *oauth2.Token) {
	if p.revokeURL == "" {
		return
	}
	if err := p.revokeToken(ctx, token); err != nil {
		p.log.Warn("token revocation failed", "provider", p.id, "err", err)
	}
}

func (p *plain) revokeToken(ctx context.Context, token *oauth2.Token) error {
	body, err := json.Marshal(map[string]string{"access_token": token.AccessToken})
	if err != nil {
		return err
	}
	to := fmt.Sprintf(p.revokeURL, url.PathEscape(p.conf.ClientID))
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.SetBasicAuth(p.conf.ClientID, p.conf.ClientSecret)
	resp, err := p.client.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("status %d, want 2xx", resp.StatusCode)
	}
	return nil
}

// field returns the first of the named fields that is a string or a number.
func field(object map[string]any, names []string) string {
	for _, name := range names {
		switch v := object[name].(type) {
		case string:
			if v != "" {
				return v
			}
		case json.Number:
			return v.String()
		}
	}
	return ""
}
