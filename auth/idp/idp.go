// Package idp is the identity providers behind [auth.Provider]: discord,
// github, google, any plain OAuth 2.0 server, any OpenID Connect issuer, and
// the appliance's own accounts.
//
// The law it keeps: a provider is asked when somebody signs in, never before,
// and is believed only about who that is. Its tokens are dropped as soon as the
// question is answered; its words never reach a page.
//
// All of them run the same code over golang.org/x/oauth2: authorization code
// with PKCE (RFC 7636, S256), the client's authentication named and never
// guessed. The appliance's own accounts differ by an [http.RoundTripper] alone,
// whose other end is [Local], in this process.
package idp

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"pressbox/auth"
)

// A Cache keeps what providers publish about themselves, so that signing in
// does not depend on that page being up.
type Cache interface {
	Cached(ctx context.Context, key string) ([]byte, error) // nil and no error: nothing kept
	SaveCached(ctx context.Context, key string, value []byte) error
}

// Config says which provider, and what it knows this appliance as.
type Config struct {
	Provider     string // "discord", "github", "google", "oidc" or "oauth2"
	ClientID     string
	ClientSecret string   // "" for a public client
	Scopes       []string // none means the provider's least

	Issuer string // for "oidc"; for "oauth2" the issuer expected in callbacks, or ""

	// For "oauth2" alone.
	AuthURL, TokenURL, UserinfoURL string
	SubjectField, NameField        string // "" means sub or id; name or username
	SecretInBody                   bool   // the client authenticates in the body, not by a header

	Transport    http.RoundTripper // nil means [http.DefaultTransport]
	Cache        Cache
	Now          func() time.Time // wall clock, for the expiry of ID tokens
	ClockTrusted func() bool      // whether that clock is known to be right
	Log          *slog.Logger
}

// Providers are the names that [New] knows.
func Providers() []string { return []string{"discord", "github", "google", "oidc", "oauth2"} }

// New makes a provider. It asks nobody anything: a provider that is down is
// noticed by whoever signs in, not by the daemon that starts.
func New(c Config) (auth.Provider, error) {
	if c.ClientID == "" {
		return nil, fmt.Errorf("provider %s: IDP_CLIENT_ID is needed", c.Provider)
	}
	switch c.Provider {
	case "discord", "github":
		return newPlain(c, presets()[c.Provider]), nil
	case "google":
		c.Issuer = "https://accounts.google.com"
		return newOpenID(c), nil
	case "oidc":
		if c.Issuer == "" {
			return nil, fmt.Errorf("provider oidc: IDP_ISSUER is needed")
		}
		return newOpenID(c), nil
	case "oauth2":
		if c.AuthURL == "" || c.TokenURL == "" || c.UserinfoURL == "" {
			return nil, fmt.Errorf("provider oauth2: IDP_AUTH_URL, IDP_TOKEN_URL and IDP_USERINFO_URL are needed")
		}
		return newPlain(c, generic(c)), nil
	default:
		return nil, fmt.Errorf("unknown provider %q: want one of %s", c.Provider, strings.Join(Providers(), ", "))
	}
}

// preset is what must be known of a provider that does not publish it.
type preset struct {
	endpoint oauth2.Endpoint
	userinfo string
	scopes   []string
	issuer   string   // "" where callbacks carry none
	always   bool     // whether callbacks always carry it
	subject  []string // fields of the userinfo answer, the first that is there
	name     []string
	revoke   string // where GitHub's tokens are given back; %s is the client's id
}

func presets() map[string]preset {
	return map[string]preset{
		"discord": {
			endpoint: oauth2.Endpoint{ //nolint:gosec // addresses
				AuthURL:   "https://discord.com/oauth2/authorize",
				TokenURL:  "https://discord.com/api/oauth2/token",
				AuthStyle: oauth2.AuthStyleInHeader,
			},
			userinfo: "https://discord.com/api/users/@me",
			scopes:   []string{"identify"},
			issuer:   "https://discord.com",
			subject:  []string{"id"},
			name:     []string{"global_name", "username"},
		},
		"github": {
			endpoint: oauth2.Endpoint{ //nolint:gosec // addresses
				AuthURL:   "https://github.com/login/oauth/authorize",
				TokenURL:  "https://github.com/login/oauth/access_token",
				AuthStyle: oauth2.AuthStyleInParams,
			},
			userinfo: "https://api.github.com/user",
			subject:  []string{"id"},
			name:     []string{"name", "login"},
			revoke:   "https://api.github.com/applications/%s/token",
		},
	}
}

// generic is the preset that a configuration spells out.
func generic(c Config) preset {
	style := oauth2.AuthStyleInHeader
	if c.SecretInBody || c.ClientSecret == "" {
		style = oauth2.AuthStyleInParams
	}
	p := preset{
		endpoint: oauth2.Endpoint{AuthURL: c.AuthURL, TokenURL: c.TokenURL, AuthStyle: style},
		userinfo: c.UserinfoURL,
		issuer:   c.Issuer,
		subject:  []string{"sub", "id"},
		name:     []string{"name", "username"},
	}
	if c.SubjectField != "" {
		p.subject = []string{c.SubjectField}
	}
	if c.NameField != "" {
		p.name = []string{c.NameField}
	}
	return p
}

// scopes are the configured ones, else the least that the provider has.
func scopes(configured, least []string) []string {
	if len(configured) > 0 {
		return slices.Clone(configured)
	}
	return least
}
