package idp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"pressbox/auth"
	"pressbox/auth/session"
)

// Parameters of the local provider.
const (
	localClient = "pressbox"
	localOrigin = "http://local.invalid" // a name that no network resolves
	grantTTL    = time.Minute            // of a code, and of the access token it is exchanged for
	maxGrants   = 256                    // outstanding codes, and tokens
)

// Local is the authorization server of the local accounts. The web server shows
// its page ([Local.ParseRequest], [Local.SignIn], [Local.Create], [Local.Deny]);
// its token and userinfo endpoints are reachable from this process only
// ([Local.RoundTrip]).
type Local struct {
	LocalConfig

	mu     sync.Mutex // guards what follows
	codes  map[auth.Hash]grant
	tokens map[auth.Hash]grant
}

// LocalConfig configures a [Local].
type LocalConfig struct {
	Accounts *session.LocalAccounts
	Throttle *session.Throttle
	Hasher   *Hasher
	SignUp   auth.SignUpPolicy
	Now      func() time.Time
	Log      *slog.Logger
}

// NewLocal returns the local authorization server.
func NewLocal(c LocalConfig) *Local {
	return &Local{LocalConfig: c, codes: make(map[auth.Hash]grant), tokens: make(map[auth.Hash]grant)}
}

// Provider returns the provider of the local accounts.
func (l *Local) Provider() auth.Provider {
	return newPlain(
		Config{Provider: auth.Local, ClientID: localClient, Transport: l, Log: l.Log},
		preset{
			endpoint: oauth2.Endpoint{
				AuthURL: auth.AuthorizePath, TokenURL: localOrigin + tokenPath, AuthStyle: oauth2.AuthStyleInParams,
			},
			userinfo: localOrigin + userinfoPath,
			issuer:   auth.LocalIssuer,
			always:   true,
			subject:  []string{"sub"},
			name:     []string{"name"},
		})
}

// ParseRequest parses an authorization request. redirect is the only allowed
// redirect URI; the comparison is exact.
func (l *Local) ParseRequest(q url.Values, redirect string) (auth.LocalRequest, error) {
	for name, want := range map[string]string{
		"client_id": localClient, "response_type": "code", "code_challenge_method": "S256", "redirect_uri": redirect,
	} {
		if got := q[name]; len(got) != 1 || got[0] != want {
			return auth.LocalRequest{}, fmt.Errorf("authorization request: %s must be %q", name, want)
		}
	}
	r := auth.LocalRequest{State: q.Get("state"), Redirect: redirect, Challenge: q.Get("code_challenge")}
	if len(r.Challenge) != 43 || r.State == "" || len(r.State) > 512 {
		return auth.LocalRequest{}, errors.New("authorization request: state and code_challenge are required")
	}
	return r, nil
}

// SignIn checks a name and passphrase and returns the URL to which the browser is
// redirected. It returns [auth.ErrWrongCredentials] or [auth.ThrottledError].
func (l *Local) SignIn(ctx context.Context, r auth.LocalRequest, c auth.Credentials) (string, error) {
	account, err := l.check(ctx, c)
	if err != nil {
		l.Log.Info("local sign-in refused", "network", auth.Network(c.From), "err", err)
		return "", err
	}
	return l.grant(r, account), nil
}

// check returns the account of valid credentials. An unknown name takes as long
// and returns the same error as a wrong passphrase.
func (l *Local) check(ctx context.Context, c auth.Credentials) (auth.LocalAccount, error) {
	name, ok := auth.CanonicalName(c.Name)
	if !ok || len(c.Passphrase) > 4*auth.MaxPassphraseLength {
		return auth.LocalAccount{}, auth.ErrWrongCredentials
	}
	right, wait := l.Throttle.Try(name, c.From)
	if wait > 0 {
		return auth.LocalAccount{}, &auth.ThrottledError{Wait: wait}
	}
	account, err := l.Accounts.Find(ctx, name)
	if err != nil && !errors.Is(err, auth.ErrNotFound) {
		return auth.LocalAccount{}, fmt.Errorf("find a local account: %w", err)
	}
	same, old, err := l.Hasher.Verify(ctx, account.Hash, c.Passphrase)
	if err != nil {
		return auth.LocalAccount{}, fmt.Errorf("verify a passphrase: %w", err)
	}
	if !same {
		return auth.LocalAccount{}, auth.ErrWrongCredentials
	}
	right()
	if old {
		l.rehash(ctx, account, c.Passphrase)
	}
	return account, nil
}

// rehash hashes a passphrase with the present cost. After an error the old hash
// stays.
func (l *Local) rehash(ctx context.Context, account auth.LocalAccount, passphrase string) {
	hash, err := l.Hasher.Hash(ctx, passphrase)
	if err == nil {
		err = l.Accounts.Rehash(ctx, account.Name, account.Hash, hash)
	}
	if err != nil {
		l.Log.Warn("passphrase rehash failed", "err", err)
	}
}

// Create creates an account and returns the URL to which the browser is
// redirected. It returns [auth.ErrInvalidName], an error of
// [auth.CheckPassphrase], [auth.ErrNameTaken], [auth.ErrNotInvited] or
// [auth.ThrottledError].
func (l *Local) Create(ctx context.Context, r auth.LocalRequest, c auth.Credentials) (string, error) {
	policy, hash, err := l.prepare(ctx, c)
	if err != nil {
		return "", err
	}
	account := auth.LocalAccount{Name: c.Name, Subject: rand.Text(), Hash: hash}
	if account, err = l.Accounts.Create(ctx, account, policy, c.Invite); err != nil {
		return "", err
	}
	l.Log.Info("local account created", "network", auth.Network(c.From))
	return l.grant(r, account), nil
}

// prepare checks whether credentials may make an account, by which policy, and returns the hash of the passphrase.
func (l *Local) prepare(ctx context.Context, c auth.Credentials) (policy auth.SignUpPolicy, hash string, err error) {
	if _, ok := auth.CanonicalName(c.Name); !ok {
		return "", "", auth.ErrInvalidName
	}
	if err := auth.CheckPassphrase(c.Passphrase); err != nil {
		return "", "", err
	}
	if _, wait := l.Throttle.Try("", c.From); wait > 0 {
		return "", "", &auth.ThrottledError{Wait: wait}
	}
	policy = l.LocalConfig.SignUp.For(c.From)
	// Before the hash and the name: others do not learn which names exist, at no cost.
	if err := l.Accounts.MayCreate(ctx, policy, c.Invite); err != nil {
		return "", "", err
	}
	hash, err = l.Hasher.Hash(ctx, c.Passphrase)
	if err != nil {
		return "", "", fmt.Errorf("hash a passphrase: %w", err)
	}
	return policy, hash, nil
}

// Keep makes the account of a guest a local one and opens a session of it. The errors are those of [Local.Create], and
// [auth.ErrNotFound] if there is no such guest.
func (l *Local) Keep(
	ctx context.Context, guest string, c auth.Credentials, device auth.Device, replaces []auth.Token,
) (auth.Result, error) {
	policy, hash, err := l.prepare(ctx, c)
	if err != nil {
		return auth.Result{}, err
	}
	result, err := l.Accounts.Keep(ctx, guest, auth.LocalAccount{Name: c.Name, Subject: rand.Text(), Hash: hash},
		session.Admission{Policy: policy, Invite: c.Invite, Device: device, Replaces: replaces})
	if err == nil {
		l.Log.Info("guest kept as an account", "account", result.Account.ID, "network", auth.Network(c.From))
	}
	return result, err
}

// CheckPassphrase returns nil for valid credentials, [auth.ErrWrongCredentials] or
// [auth.ThrottledError].
func (l *Local) CheckPassphrase(ctx context.Context, c auth.Credentials) error {
	_, err := l.check(ctx, c)
	return err
}

// ChangePassphrase sets a new passphrase for valid credentials. It returns
// [auth.ErrWrongCredentials], an error of [auth.CheckPassphrase] or
// [auth.ThrottledError].
func (l *Local) ChangePassphrase(ctx context.Context, c auth.Credentials, passphrase string) error {
	if err := auth.CheckPassphrase(passphrase); err != nil {
		return err
	}
	account, err := l.check(ctx, c)
	if err != nil {
		return err
	}
	return l.setPassphrase(ctx, account.Name, passphrase)
}

// ResetPassphrase sets and returns a random passphrase for a name, and ends the
// sessions of its account. It returns [auth.ErrNotFound] for an unknown name.
func (l *Local) ResetPassphrase(ctx context.Context, name string) (passphrase string, err error) {
	passphrase = rand.Text()[:16]
	if err := l.setPassphrase(ctx, name, passphrase); err != nil {
		return "", err
	}
	return passphrase, l.Accounts.EndSessions(ctx, name)
}

func (l *Local) setPassphrase(ctx context.Context, name, passphrase string) error {
	account, err := l.Accounts.Find(ctx, name)
	if err != nil {
		return err
	}
	hash, err := l.Hasher.Hash(ctx, passphrase)
	if err != nil {
		return fmt.Errorf("hash a passphrase: %w", err)
	}
	if err := l.Accounts.Rehash(ctx, account.Name, account.Hash, hash); err != nil {
		return fmt.Errorf("save a passphrase: %w", err)
	}
	l.Log.Info("local passphrase changed")
	return nil
}

// SignUp returns the sign-up policy.
func (l *Local) SignUp() auth.SignUpPolicy { return l.LocalConfig.SignUp }

// Deny returns the URL to which the browser is redirected when the user cancels.
func (l *Local) Deny(r auth.LocalRequest) string { return callbackURL(r, "error", "access_denied") }

// A grant is what a code, and then the access token exchanged for it, stands for.
type grant struct {
	client    string
	redirect  string
	challenge string
	account   auth.LocalAccount
	issued    time.Time
}

// grant issues a code and returns the callback URL.
func (l *Local) grant(r auth.LocalRequest, account auth.LocalAccount) string {
	code := l.save(l.codes, grant{localClient, r.Redirect, r.Challenge, account, l.Now()})
	return callbackURL(r, "code", code)
}

// callbackURL returns the redirect URI with a parameter of the response.
func callbackURL(r auth.LocalRequest, name, value string) string {
	return r.Redirect + "?" + url.Values{
		name: {value}, "state": {r.State}, "iss": {auth.LocalIssuer},
	}.Encode()
}

// save stores a grant under a new secret. It deletes expired grants, and at the
// limit any other.
func (l *Local) save(grants map[auth.Hash]grant, g grant) (secret string) {
	secret = auth.NewSecret()
	l.mu.Lock()
	defer l.mu.Unlock()
	for hash, other := range grants {
		if l.Now().Sub(other.issued) > grantTTL {
			delete(grants, hash)
		}
	}
	for hash := range grants {
		if len(grants) < maxGrants {
			break
		}
		delete(grants, hash)
	}
	grants[auth.HashOf(secret)] = g
	return secret
}

// take deletes and returns the grant of a secret. ok is false if it has expired.
func (l *Local) take(grants map[auth.Hash]grant, secret string) (g grant, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	hash := auth.HashOf(secret)
	g, ok = grants[hash]
	delete(grants, hash)
	return g, ok && l.Now().Sub(g.issued) <= grantTTL
}
