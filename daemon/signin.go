package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"pressbox/auth"
	"pressbox/auth/idp"
	"pressbox/auth/session"
	"pressbox/clock"
	"pressbox/daemon/web"
	"pressbox/store"
)

// signInConfig is the settings of signing in.
type signInConfig struct {
	Provider     string   `mapstructure:"IDP_PROVIDER"`
	ClientID     string   `mapstructure:"IDP_CLIENT_ID"`
	ClientSecret string   `mapstructure:"IDP_CLIENT_SECRET"`      // "" means none here
	SecretFile   string   `mapstructure:"IDP_CLIENT_SECRET_FILE"` // "" means none
	Scopes       []string `mapstructure:"IDP_SCOPES"`             // nil means the provider's least
	Issuer       string   `mapstructure:"IDP_ISSUER"`
	AuthURL      string   `mapstructure:"IDP_AUTH_URL"`
	TokenURL     string   `mapstructure:"IDP_TOKEN_URL"`
	UserinfoURL  string   `mapstructure:"IDP_USERINFO_URL"`
	AuthStyle    string   `mapstructure:"IDP_AUTH_STYLE"`
	SubjectField string   `mapstructure:"IDP_SUBJECT_FIELD"` // "" means sub or id
	NameField    string   `mapstructure:"IDP_NAME_FIELD"`    // "" means name or username

	SignUp        string        `mapstructure:"SIGN_UP"`
	CookieSecure  string        `mapstructure:"COOKIE_SECURE"`
	SessionMaxAge time.Duration `mapstructure:"SESSION_MAX_AGE"`
}

func signInKeys() []key {
	return slices.Concat(providerKeys(), []key{
		{
			name: "SIGN_UP", kind: oneOf("open", "invite", "closed"), value: "open",
			doc: "who may make an account: anyone, who has an invite, or no one", more: "\"pressbox users invite\" makes invites.",
		},
		{
			name: "COOKIE_SECURE", kind: oneOf("auto", "always", "never"), value: "auto",
			doc: "whether cookies are for https only", more: "auto: when PUBLIC_URL is https. Browsers drop such cookies on plain http.",
		},
		{
			name: "SESSION_MAX_AGE", kind: seconds(3600, 31_536_000), value: "2592000",
			doc: "after how long one has to sign in again, however much a session is used",
		},
	})
}

func providerKeys() []key {
	return []key{
		{
			name: "IDP_PROVIDER", kind: oneOf(append([]string{auth.Local}, idp.Providers()...)...), value: auth.Local,
			doc: "who vouches for people", more: "local: accounts that the appliance keeps. oidc and oauth2: any provider of that kind.",
		},
		{
			name: "IDP_CLIENT_ID", kind: text("id", "the id that the provider knows this appliance by"),
			doc: "what the provider knows this appliance as",
		},
		{
			name: "IDP_CLIENT_SECRET", kind: text("secret", "the secret that belongs to IDP_CLIENT_ID"), secret: true,
			doc: "secret that belongs to IDP_CLIENT_ID", more: "A file keeps it better; a systemd credential idp_client_secret does too.",
		},
		{
			name: "IDP_CLIENT_SECRET_FILE", kind: text("file", "a file"),
			doc: "file that holds the secret, when IDP_CLIENT_SECRET does not",
		},
		{
			name: "IDP_SCOPES", kind: words("scopes with commas or spaces between them"),
			doc: "what to ask the provider for", more: "Without it, the least by which it says who somebody is.",
		},
		{
			name: "IDP_ISSUER", kind: exactURL(),
			doc: "issuer of IDP_PROVIDER=oidc, to the letter", more: "With oauth2, the issuer that callbacks must carry, if they carry one.",
		},
		{name: "IDP_AUTH_URL", kind: exactURL(), doc: "authorization page of IDP_PROVIDER=oauth2"},
		{name: "IDP_TOKEN_URL", kind: exactURL(), doc: "token address of IDP_PROVIDER=oauth2"},
		{name: "IDP_USERINFO_URL", kind: exactURL(), doc: "address at which IDP_PROVIDER=oauth2 says who somebody is"},
		{
			name: "IDP_AUTH_STYLE", kind: oneOf("header", "body"), value: "header",
			doc: "how the secret is sent to IDP_PROVIDER=oauth2",
		},
		{
			name: "IDP_SUBJECT_FIELD", kind: text("field", "the name of a field"),
			doc: "field of the userinfo answer that tells people apart", more: "Without it, sub or id.",
		},
		{
			name: "IDP_NAME_FIELD", kind: text("field", "the name of a field"),
			doc: "field of the userinfo answer that is a name to show", more: "Without it, name or username.",
		},
	}
}

// words is a []string.
func words(expects string) kind {
	return kind{"words", expects, func(value string) (any, bool) { return listed(value), true }}
}

// exactURL is an address of the web that is kept as it is written.
func exactURL() kind {
	k := webURL(false)
	k.expects = "a URL such as https://accounts.example"
	return k
}

// A doorway is what lets people in, and keeps its book tidy.
type doorway struct {
	clock  *clock.Clock
	keeper auth.Repository
	log    *slog.Logger
	web    *web.SignIn
}

// buildDoorway makes the parts of signing in over the store.
func buildDoorway(cfg Config, kept *store.Store, log *slog.Logger) (*doorway, error) {
	source, err := machineTime()
	if err != nil {
		return nil, err
	}
	clock, err := session.OpenClock(context.Background(), kept.Auth(), source, releasedAt())
	if err != nil {
		return nil, err
	}
	book := session.New(kept.Auth(), clock, cfg.SignIn.SessionMaxAge, log)
	d := &doorway{clock: clock, keeper: kept.Auth(), log: log, web: &web.SignIn{
		Book:     book,
		Door:     &session.SignIn{ProviderName: cfg.SignIn.Provider, SignUp: auth.SignUpPolicy(cfg.SignIn.SignUp), Sessions: book, Log: log},
		Redirect: cfg.OAuthRedirectURI,
		Frontend: cfg.FrontendURL,
		Secure:   secureCookies(cfg),
	}}
	if d.web.Redirect == "" && cfg.PublicURL != "" {
		d.web.Redirect = cfg.PublicURL + web.CallbackPath
	}
	if err := d.addProvider(cfg, kept); err != nil {
		return nil, &exitError{exitUsage, err}
	}
	return d, nil
}

// addProvider makes the provider that is configured.
func (d *doorway) addProvider(cfg Config, kept *store.Store) (err error) {
	local := cfg.SignIn.Provider == auth.Local
	u, err := url.Parse(d.web.Redirect)
	if (err != nil || u.Path != web.CallbackPath) && (!local || d.web.Redirect != "") {
		return fmt.Errorf("OAUTH_SERVER_REDIRECT_URI=%s: with IDP_PROVIDER=%s, expected the address of this appliance with the path %s, or none and PUBLIC_URL",
			cfg.OAuthRedirectURI, cfg.SignIn.Provider, web.CallbackPath)
	}
	if local {
		d.addLocal(cfg, kept)
		return nil
	}
	secret, err := clientSecret(cfg.SignIn)
	if err != nil {
		return err
	}
	in := cfg.SignIn
	d.web.Door.Provider, err = idp.New(idp.Config{
		Provider: in.Provider, ClientID: in.ClientID, ClientSecret: secret, Scopes: in.Scopes, Issuer: in.Issuer,
		AuthURL: in.AuthURL, TokenURL: in.TokenURL, UserinfoURL: in.UserinfoURL,
		SubjectField: in.SubjectField, NameField: in.NameField, SecretInBody: in.AuthStyle == "body",
		Cache: kept, Now: time.Now, ClockTrusted: clockTrusted, Log: d.log,
	})
	if err != nil {
		return fmt.Errorf("sign in by IDP_PROVIDER: %w", err)
	}
	return nil
}

// addLocal makes the appliance's own accounts. They ask for an invite where
// they are made; the door then lets in whoever they vouch for.
func (d *doorway) addLocal(cfg Config, kept *store.Store) {
	exempt := func(a netip.Addr) bool {
		return a.IsLoopback() || slices.ContainsFunc(cfg.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(a) })
	}
	local := idp.NewLocal(idp.LocalConfig{
		Accounts: d.web.Book.LocalAccounts(),
		Throttle: session.NewThrottle(time.Now, exempt),
		Hasher:   idp.NewHasher(idp.CalibratedCost(kept)),
		SignUp:   d.web.Door.SignUp,
		Now:      time.Now,
		Log:      d.log,
	})
	d.web.Door.SignUp, d.web.Door.Provider = auth.SignUpOpen, local.Provider()
	d.web.Local, d.web.Passphrases = local, local
}

// secureCookies says whether cookies are for https only.
func secureCookies(cfg Config) bool {
	switch cfg.SignIn.CookieSecure {
	case "always":
		return true
	case "never":
		return false
	default:
		return strings.HasPrefix(cfg.PublicURL, "https://")
	}
}

// clientSecret is the secret of a provider's client: the setting, else the
// file, else systemd's credential; "" when there is none of them.
func clientSecret(in signInConfig) (string, error) {
	if in.ClientSecret != "" {
		return in.ClientSecret, nil
	}
	path := in.SecretFile
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); path == "" && dir != "" {
		path = filepath.Join(dir, "idp_client_secret")
	}
	if path == "" {
		return "", nil
	}
	secret, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if errors.Is(err, fs.ErrNotExist) && in.SecretFile == "" {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("IDP_CLIENT_SECRET_FILE: %w", err)
	}
	return strings.TrimSpace(string(secret)), nil
}

// run keeps the clock's place and sweeps what has expired, until ctx ends.
func (d *doorway) run(ctx context.Context) error {
	set := make(chan struct{}, 1)
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() {
		if err := watchClock(ctx, set); err != nil {
			d.log.Warn("a clock that is set will be noticed late", "err", err)
		}
	})
	sweep := time.NewTicker(10 * time.Minute)
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			d.note(session.SaveClock(context.WithoutCancel(ctx), d.keeper, d.clock))
			return nil
		case <-set:
			d.checkClock()
			d.note(session.SaveClock(ctx, d.keeper, d.clock))
		case <-sweep.C:
			d.checkClock() // it may have been slewed, a little at a time
			d.note(session.SaveClock(ctx, d.keeper, d.clock))
			d.note(d.web.Book.DeleteExpired(ctx))
		}
	}
}

// checkClock follows a clock that was moved.
func (d *doorway) checkClock() {
	if moved := d.clock.Corrected(); moved != 0 {
		d.log.Warn("the clock was corrected", "by", moved)
	}
}

// note logs what could not be kept this time; the next time it may be.
func (d *doorway) note(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		d.log.Error("sign-in is not tidied up", "err", err)
	}
}

// machineTime is this machine's time.
func machineTime() (clock.Source, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return clock.Source{}, fmt.Errorf("learn which boot this is: %w", err)
	}
	return clock.Source{Wall: time.Now, Since: sinceBoot, Boot: strings.TrimSpace(string(boot))}, nil
}

// sinceBoot is CLOCK_BOOTTIME, which every kernel since 2.6.39 has.
func sinceBoot() time.Duration {
	var up unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &up)
	return time.Duration(up.Nano())
}

// clockTrusted says whether the clock is kept right by the network, or at least
// later than this program was made.
func clockTrusted() bool {
	var state unix.Timex
	_, err := unix.Adjtimex(&state)
	return err == nil && state.Status&unix.STA_UNSYNC == 0 || time.Now().After(releasedAt())
}

// releasedAt is the day on which this program's version was released; the zero time when
// that is not known.
func releasedAt() time.Time {
	at, err := time.Parse(time.DateOnly, released)
	if err != nil {
		return time.Time{}
	}
	return at
}
