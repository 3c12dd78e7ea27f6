// Package signin builds the sign-in of the server from its settings: the provider, the
// sessions and their clock.
//
// One law: a missing or invalid setting is an error at the start, never at a sign-in.
package signin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"pressbox/auth"
	"pressbox/auth/idp"
	"pressbox/auth/netblock"
	"pressbox/auth/session"
	"pressbox/daemon/exitcode"
	"pressbox/daemon/settings"
	"pressbox/daemon/web"
	"pressbox/daemon/web/signin"
	"pressbox/store"
	"pressbox/store/clock"
	"pressbox/store/clock/system"
)

// A SignIn holds the parts of signing in.
type SignIn struct {
	Web *signin.Config

	// ClockChanged, if not nil, is called when the wall clock may have been set.
	ClockChanged func()

	clock *clock.Clock
	repo  auth.Repository
	log   *slog.Logger
}

// New builds the parts over the store. blocks are the addresses that count as one client.
// released is the date of the program's version: the
// host's clock cannot be right if it is earlier; the zero time means unknown.
func New(cfg settings.Config, st *store.Store, blocks *netblock.Table,
	released time.Time, log *slog.Logger,
) (*SignIn, error) {
	boot, err := system.BootID()
	if err != nil {
		return nil, err
	}
	source := clock.Source{Wall: time.Now, Since: system.SinceBoot, Boot: boot}
	clk, err := session.OpenClock(context.Background(), st.Auth(), source, released)
	if err != nil {
		return nil, err
	}
	sessions := session.New(st.Auth(), clk, cfg.SignIn.SessionMaxAge, log)
	hasher := idp.NewHasher(idp.CalibratedCost(st))
	s := &SignIn{clock: clk, repo: st.Auth(), log: log, Web: &signin.Config{
		Sessions: sessions,
		SignIn: &session.SignIn{
			ProviderName: cfg.SignIn.Provider, SignUp: signUpPolicy(cfg), Sessions: sessions, Blocks: blocks, Log: log,
		},
		Redirect:     cfg.OAuthRedirectURI,
		Frontend:     cfg.FrontendURL,
		PublicOrigin: func() string { return origin(cfg, outboundAddr) },
		Secure:       secureCookies(cfg),
		AdminCodes:   idp.AdminCodes{Sessions: sessions, Hasher: hasher},
	}}
	if s.Web.Redirect == "" && cfg.PublicURL != "" {
		s.Web.Redirect = cfg.PublicURL + signin.CallbackPath
	}
	if err := s.addProvider(cfg, st, hasher, blocks, released); err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	return s, nil
}

// addProvider adds the provider that the settings select.
func (s *SignIn) addProvider(cfg settings.Config, st *store.Store,
	hasher *idp.Hasher, blocks *netblock.Table, released time.Time,
) (err error) {
	local := cfg.SignIn.Provider == auth.Local
	u, err := url.Parse(s.Web.Redirect)
	if (err != nil || u.Path != signin.CallbackPath) && (!local || s.Web.Redirect != "") {
		return fmt.Errorf("OAUTH_SERVER_REDIRECT_URI=%s: with IDP_PROVIDER=%s, expected a URL with the path %s; "+
			"or leave it empty and set PUBLIC_URL",
			cfg.OAuthRedirectURI, cfg.SignIn.Provider, signin.CallbackPath)
	}
	if local {
		s.addLocal(cfg, hasher, blocks)
		return nil
	}
	secret, err := clientSecret(cfg.SignIn)
	if err != nil {
		return err
	}
	in := cfg.SignIn
	s.Web.SignIn.Provider, err = idp.New(idp.Config{
		Provider: in.Provider, ClientID: in.ClientID, ClientSecret: secret, Scopes: in.Scopes, Issuer: in.Issuer,
		AuthURL: in.AuthURL, TokenURL: in.TokenURL, UserinfoURL: in.UserinfoURL,
		SubjectField: in.SubjectField, NameField: in.NameField, SecretInBody: in.AuthStyle == "body",
		Cache: st, Now: time.Now, ClockTrusted: func() bool { return ClockSet(released) }, Log: s.log,
	})
	if err != nil {
		return fmt.Errorf("IDP_PROVIDER: %w", err)
	}
	return nil
}

// addLocal adds the accounts in the store. Their form asks for an invite, so the sign-in
// itself is open to the accounts that it authenticates.
func (s *SignIn) addLocal(cfg settings.Config, hasher *idp.Hasher, blocks *netblock.Table) {
	exempt := func(a netip.Addr) bool {
		return a.IsLoopback() || slices.ContainsFunc(cfg.TrustedProxies,
			func(p netip.Prefix) bool { return p.Contains(a) })
	}
	local := idp.NewLocal(idp.LocalConfig{
		Accounts: s.Web.Sessions.LocalAccounts(),
		Throttle: session.NewThrottle(time.Now, blocks, exempt),
		Hasher:   hasher,
		SignUp:   s.Web.SignIn.SignUp,
		Now:      time.Now,
		Log:      s.log,
	})
	s.Web.SignIn.SignUp, s.Web.SignIn.Provider = auth.SignUpOpen, local.Provider()
	s.Web.Local, s.Web.Passphrases = local, local
}

// signUpPolicy returns the sign-up policy. An account may announce, so SIGN_UP=open admits
// other addresses than local ones without an invite only if NOTIFY_ACCESS=open does too.
func signUpPolicy(cfg settings.Config) auth.SignUpPolicy {
	policy := auth.SignUpPolicy(cfg.SignIn.SignUp)
	if policy == auth.SignUpOpen && web.Access(cfg.NotifyAccess) != web.Open {
		return auth.SignUpLocal
	}
	return policy
}

// secureCookies reports whether cookies are restricted to https.
func secureCookies(cfg settings.Config) bool {
	switch cfg.SignIn.CookieSecure {
	case "always":
		return true
	case "never":
		return false
	default:
		return strings.HasPrefix(cfg.PublicURL, "https://")
	}
}

// clientSecret returns the OAuth client secret: IDP_CLIENT_SECRET, else the content of
// IDP_CLIENT_SECRET_FILE, else systemd's credential; "" if there is none.
func clientSecret(in settings.SignIn) (string, error) {
	if in.ClientSecret != "" {
		return in.ClientSecret, nil
	}
	return settings.Secret("IDP_CLIENT_SECRET_FILE", in.SecretFile, "idp_client_secret")
}

// sweepInterval is the interval at which expired sessions are deleted and the clock is
// checked.
const sweepInterval = 10 * time.Minute

// Run saves the clock and deletes expired sessions until ctx ends.
func (s *SignIn) Run(ctx context.Context) error {
	changed := make(chan struct{}, 1)
	var watch sync.WaitGroup
	defer watch.Wait()
	watch.Go(func() {
		if err := system.Watch(ctx, changed); err != nil {
			s.log.Warn("cannot watch for clock changes; polling every 10 minutes", "err", err)
		}
	})
	sweep := time.NewTicker(sweepInterval)
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			s.logError(session.SaveClock(context.WithoutCancel(ctx), s.repo, s.clock))
			return nil
		case <-changed:
			s.checkClock()
			s.logError(session.SaveClock(ctx, s.repo, s.clock))
		case <-sweep.C:
			s.checkClock() // it may have been slewed
			s.logError(session.SaveClock(ctx, s.repo, s.clock))
			s.logError(s.Web.Sessions.DeleteExpired(ctx))
		}
	}
}

// checkClock adapts to a change of the host's clock.
func (s *SignIn) checkClock() {
	if by := s.clock.Corrected(); by != 0 {
		s.log.Warn("clock changed", "by", by)
	}
	if s.ClockChanged != nil {
		s.ClockChanged()
	}
}

// logError logs a failed cleanup; the next one tries again.
func (s *SignIn) logError(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		s.log.Error("session cleanup failed", "err", err)
	}
}

// ClockSet reports whether a time server keeps the clock, or it is at least later than
// the program's release.
func ClockSet(released time.Time) bool {
	synchronized, err := system.Synchronized()
	return err == nil && synchronized || time.Now().After(released)
}
