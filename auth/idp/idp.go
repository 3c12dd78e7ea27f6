// Package idp implements [auth.Provider] for Discord, GitHub, Google, any plain
// OAuth 2.0 server, any OpenID Connect issuer, and the local accounts.
//
// A provider is contacted during a sign-in only, and is trusted only for the
// user's identity. Its tokens are discarded after the userinfo request, and its
// texts never reach a page.
//
// All providers use the same code over golang.org/x/oauth2: authorization code
// with PKCE (RFC 7636, S256) and a configured client authentication method. The
// local accounts differ only in the [http.RoundTripper], which calls [Local] in
// this process.
package idp

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/oauth2"

	"pressbox/auth"
)

// A Cache stores discovery documents, so that a sign-in does not depend on the
// availability of the provider's discovery endpoint.
type Cache interface {
	Cached(ctx context.Context, key string) ([]byte, error) // nil and no error: no such value
	SaveCached(ctx context.Context, key string, value []byte) error
}

// Config configures a provider.
type Config struct {
	Provider     string // "discord", "github", "google", "oidc" or "oauth2"
	ClientID     string
	ClientSecret string   // "" for a public client
	Scopes       []string // nil means the minimum that the provider needs

	Issuer string // for "oidc"; for "oauth2" the issuer expected in callbacks, or ""

	// For "oauth2" only.
	AuthURL, TokenURL, UserinfoURL string
	SubjectField, NameField        string // "" means sub or id; name or username
	SecretInBody                   bool   // the client authenticates in the body, not in a header

	Transport    http.RoundTripper // nil means one like [http.DefaultTransport]
	Cache        Cache
	Now          func() time.Time // wall clock, for the expiry of ID tokens
	ClockTrusted func() bool      // reports whether that clock is synchronized
	Log          *slog.Logger
}

// Providers returns the names that [New] accepts.
func Providers() []string { return []string{"discord", "github", "google", "oidc", "oauth2"} }

// New returns a provider. It sends no request, so the server starts also while
// the provider is down.
func New(c Config) (auth.Provider, error) {
	if c.ClientID == "" {
		return nil, fmt.Errorf("provider %s: IDP_CLIENT_ID is required", c.Provider)
	}
	switch c.Provider {
	case "discord", "github":
		return newPlain(c, presets()[c.Provider]), nil
	case "google":
		c.Issuer = "https://accounts.google.com"
		return newOpenID(c), nil
	case "oidc":
		if c.Issuer == "" {
			return nil, fmt.Errorf("provider oidc: IDP_ISSUER is required")
		}
		return newOpenID(c), nil
	case "oauth2":
		if c.AuthURL == "" || c.TokenURL == "" || c.UserinfoURL == "" {
			return nil, fmt.Errorf("provider oauth2: IDP_AUTH_URL, IDP_TOKEN_URL and IDP_USERINFO_URL are required")
		}
		return newPlain(c, generic(c)), nil
	default:
		return nil, fmt.Errorf("unknown provider %q: want one of %s", c.Provider, strings.Join(Providers(), ", "))
	}
}

// A preset describes a provider without a discovery document.
type preset struct {
	endpoint  oauth2.Endpoint
	userinfo  string
	scopes    []string
	issuer    string   // "" if callbacks carry none
	always    bool     // every callback carries it
	subject   []string // fields of the userinfo response; the first that exists counts
	name      []string
	revokeURL string // URL for token revocation (GitHub); %s is the client id
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
			userinfo:  "https://api.github.com/user",
			subject:   []string{"id"},
			name:      []string{"name", "login"},
			revokeURL: "https://api.github.com/applications/%s/token",
		},
	}
}

// generic returns the preset of a configured OAuth 2.0 provider.
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

// scopes returns the configured scopes, or else the minimum.
func scopes(configured, minimum []string) []string {
	if len(configured) > 0 {
		return slices.Clone(configured)
	}
	return minimum
}

// maxField is the length limit of a subject (OpenID Connect Core §2) and of a name, in
// bytes.
const maxField = 255

// bounded returns an identity with its name without control characters and cut to [maxField]. It refuses a longer
// subject, because two cut ones could be equal.
func bounded(identity auth.Identity) (auth.Identity, error) {
	if n := len(identity.Subject); n > maxField {
		return auth.Identity{}, &auth.RefusalError{
			Code: auth.CodeUserinfoFailed, Err: fmt.Errorf("subject has %d bytes, want at most %d", n, maxField),
		}
	}
	identity.Name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, identity.Name)
	identity.Name = strings.ToValidUTF8(identity.Name[:min(len(identity.Name), maxField)], "")
	return identity, nil
}
