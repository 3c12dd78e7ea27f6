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

// plain is an OAuth 2.0 provider with a userinfo page of some shape.
type plain struct {
	id string
	preset
	conf   oauth2.Config // but for the redirect URI, which is the flow's
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

// config is the configuration for one flow.
func (p *plain) config(flow auth.AuthorizationRequest) *oauth2.Config {
	conf := p.conf
	conf.RedirectURL = flow.Redirect
	return &conf
}

// Authorize is where the browser goes.
func (p *plain) Authorize(_ context.Context, flow auth.AuthorizationRequest) (string, error) {
	return p.config(flow).AuthCodeURL(flow.State, oauth2.S256ChallengeOption(flow.Verifier)), nil
}

// Issuer is the provider's name for itself.
func (p *plain) Issuer(context.Context) (string, bool, error) { return p.issuer, p.always, nil }

// Identify asks the userinfo page whose code it was.
func (p *plain) Identify(ctx context.Context, flow auth.AuthorizationRequest, code string) (auth.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	token, err := p.client.exchange(ctx, p.config(flow), flow, code)
	if err != nil {
		return auth.Identity{}, err
	}
	defer p.giveBack(ctx, token)
	info, err := p.client.fetch(ctx, p.userinfo, token)
	if err != nil {
		return auth.Identity{}, auth.Refuse(auth.CodeUserinfoFailed, fmt.Errorf("userinfo: %w", err))
	}
	who := auth.Identity{
		Provider: p.id,
		Issuer:   p.issuer,
		Subject:  field(info, p.subject),
		Name:     field(info, p.name),
	}
	if who.Subject == "" {
		return auth.Identity{}, auth.Refuse(auth.CodeUserinfoFailed, fmt.Errorf("userinfo has none of %q", p.subject))
	}
	return who, nil
}

// giveBack revokes a token where the provider would otherwise keep it for ever.
// That it may not succeed is no reason to keep anybody out.
func (p *plain) giveBack(ctx context.Context, token *oauth2.Token) {
	if p.revoke == "" {
		return
	}
	if err := p.revokeToken(ctx, token); err != nil {
		p.log.Warn("the provider's token was not given back", "provider", p.id, "err", err)
	}
}

func (p *plain) revokeToken(ctx context.Context, token *oauth2.Token) error {
	body, err := json.Marshal(map[string]string{"access_token": token.AccessToken})
	if err != nil {
		return err
	}
	to := fmt.Sprintf(p.revoke, url.PathEscape(p.conf.ClientID))
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
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return nil
}

// field is the first of the named fields that holds text or a number.
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
