package idp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
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

// Where the appliance's own provider is.
const (
	localClient = "pressbox"
	localOrigin = "http://local.invalid" // a name that no network resolves
	grantTTL    = time.Minute            // of a code, and of the token it buys
	maxGrants   = 256                    // outstanding, of each
)

// Local is an authorization server for the accounts that the appliance keeps
// itself. Its front is a page that the web server shows ([Local.ParseRequest],
// [Local.SignIn], [Local.Create], [Local.Deny]); its token and userinfo pages
// are reachable from this process alone ([Local.RoundTrip]).
type Local struct {
	logins   *session.LocalAccounts
	throttle *session.Throttle
	hasher   *Hasher
	signUp   auth.SignUpPolicy
	now      func() time.Time
	log      *slog.Logger

	mu     sync.Mutex // guards what follows
	codes  map[auth.Hash]grant
	tokens map[auth.Hash]grant
}

// LocalConfig is what [NewLocal] needs.
type LocalConfig struct {
	Accounts *session.LocalAccounts
	Throttle *session.Throttle
	Hasher   *Hasher
	SignUp   auth.SignUpPolicy
	Now      func() time.Time
	Log      *slog.Logger
}

// NewLocal makes the appliance's own authorization server.
func NewLocal(c LocalConfig) *Local {
	return &Local{
		logins: c.Accounts, throttle: c.Throttle, hasher: c.Hasher, signUp: c.SignUp, now: c.Now, log: c.Log,
		codes: make(map[auth.Hash]grant), tokens: make(map[auth.Hash]grant),
	}
}

// Provider is the local accounts as any other provider.
func (l *Local) Provider() auth.Provider {
	return newPlain(
		Config{Provider: auth.Local, ClientID: localClient, Transport: l, Log: l.log},
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

// ParseRequest reads an authorization request. redirect is the one redirect URI that
// there is; any other, by so much as a letter, is refused.
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
		return auth.LocalRequest{}, errors.New("authorization request: state and code_challenge are needed")
	}
	return r, nil
}

// SignIn checks a name and passphrase and is where the browser goes next.
// Errors: [auth.ErrWrongCredentials], [auth.ThrottledError].
func (l *Local) SignIn(ctx context.Context, r auth.LocalRequest, c auth.Credentials) (string, error) {
	login, err := l.check(ctx, c)
	if err != nil {
		l.log.Info("local sign-in refused", "network", auth.Network(c.From), "err", err)
		return "", err
	}
	return l.grant(r, login), nil
}

// check is the login of a claim that is right. An unknown name takes as long
// and says the same as a wrong passphrase.
func (l *Local) check(ctx context.Context, c auth.Credentials) (auth.LocalAccount, error) {
	name, ok := auth.CanonicalName(c.Name)
	if !ok || len(c.Passphrase) > 4*auth.MaxPassphraseLength {
		return auth.LocalAccount{}, auth.ErrWrongCredentials
	}
	right, wait := l.throttle.Try(name, c.From)
	if wait > 0 {
		return auth.LocalAccount{}, &auth.ThrottledError{Wait: wait}
	}
	login, err := l.logins.Find(ctx, name)
	if err != nil && !errors.Is(err, auth.ErrNotFound) {
		return auth.LocalAccount{}, fmt.Errorf("find a login: %w", err)
	}
	same, old, err := l.hasher.Verify(ctx, login.Hash, c.Passphrase)
	if err != nil {
		return auth.LocalAccount{}, fmt.Errorf("verify a passphrase: %w", err)
	}
	if !same {
		return auth.LocalAccount{}, auth.ErrWrongCredentials
	}
	right()
	if old {
		l.renew(ctx, login, c.Passphrase)
	}
	return login, nil
}

// renew hashes a passphrase at today's cost. Where that cannot be, the old hash
// goes on serving.
func (l *Local) renew(ctx context.Context, login auth.LocalAccount, passphrase string) {
	hash, err := l.hasher.Hash(ctx, passphrase)
	if err == nil {
		err = l.logins.Rehash(ctx, login.Name, login.Hash, hash)
	}
	if err != nil {
		l.log.Warn("a passphrase was not hashed anew", "err", err)
	}
}

// Create makes an account and is where the browser goes next. Errors:
// [auth.ErrInvalidName], [auth.CheckPassphrase]'s, [auth.ErrNameTaken], [auth.ErrNotInvited],
// [auth.ThrottledError].
func (l *Local) Create(ctx context.Context, r auth.LocalRequest, c auth.Credentials) (string, error) {
	if _, ok := auth.CanonicalName(c.Name); !ok {
		return "", auth.ErrInvalidName
	}
	if err := auth.CheckPassphrase(c.Passphrase); err != nil {
		return "", err
	}
	if _, wait := l.throttle.Try("", c.From); wait > 0 {
		return "", &auth.ThrottledError{Wait: wait}
	}
	hash, err := l.hasher.Hash(ctx, c.Passphrase)
	if err != nil {
		return "", fmt.Errorf("hash a passphrase: %w", err)
	}
	login := auth.LocalAccount{Name: c.Name, Subject: rand.Text(), Hash: hash}
	if login, err = l.logins.Create(ctx, login, l.signUp, c.Invite); err != nil {
		return "", err
	}
	l.log.Info("local account made", "network", auth.Network(c.From))
	return l.grant(r, login), nil
}

// ChangePassphrase sets another passphrase for a name whose present one is known.
// Errors: [auth.ErrWrongCredentials], [auth.CheckPassphrase]'s, [auth.ThrottledError].
func (l *Local) ChangePassphrase(ctx context.Context, c auth.Credentials, passphrase string) error {
	if err := auth.CheckPassphrase(passphrase); err != nil {
		return err
	}
	login, err := l.check(ctx, c)
	if err != nil {
		return err
	}
	return l.set(ctx, login.Name, passphrase)
}

// ResetPassphrase sets a random passphrase for a name, for its owner to change, and ends
// the sessions of its account; or it is [auth.ErrNotFound].
func (l *Local) ResetPassphrase(ctx context.Context, name string) (passphrase string, err error) {
	passphrase = rand.Text()[:16]
	if err := l.set(ctx, name, passphrase); err != nil {
		return "", err
	}
	return passphrase, l.logins.EndSessions(ctx, name)
}

func (l *Local) set(ctx context.Context, name, passphrase string) error {
	login, err := l.logins.Find(ctx, name)
	if err != nil {
		return err
	}
	hash, err := l.hasher.Hash(ctx, passphrase)
	if err != nil {
		return fmt.Errorf("hash a passphrase: %w", err)
	}
	if err := l.logins.Rehash(ctx, login.Name, login.Hash, hash); err != nil {
		return fmt.Errorf("keep a passphrase: %w", err)
	}
	l.log.Info("local passphrase changed")
	return nil
}

// SignUp says who may make an account.
func (l *Local) SignUp() auth.SignUpPolicy { return l.signUp }

// Deny is where the browser goes when somebody would rather not.
func (l *Local) Deny(r auth.LocalRequest) string { return answer(r, "error", "access_denied") }

// grant is what a code stands for, and then the token that it bought.
type grant struct {
	client    string
	redirect  string
	challenge string
	login     auth.LocalAccount
	made      time.Time
}

// grant makes a code and is the address that carries it back.
func (l *Local) grant(r auth.LocalRequest, login auth.LocalAccount) string {
	code := l.keep(l.codes, grant{localClient, r.Redirect, r.Challenge, login, l.now()})
	return answer(r, "code", code)
}

// answer is the redirect URI with what the authorization server says.
func answer(r auth.LocalRequest, name, value string) string {
	return r.Redirect + "?" + url.Values{
		name: {value}, "state": {r.State}, "iss": {auth.LocalIssuer},
	}.Encode()
}

// keep keeps a grant under a new secret. Of too many, one gives way.
func (l *Local) keep(grants map[auth.Hash]grant, g grant) (secret string) {
	secret = auth.NewSecret()
	l.mu.Lock()
	defer l.mu.Unlock()
	for hash, other := range grants {
		if l.now().Sub(other.made) > grantTTL {
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

// take is the grant of a secret, once and within its minute.
func (l *Local) take(grants map[auth.Hash]grant, secret string) (grant, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	hash := auth.HashOf(secret)
	g, ok := grants[hash]
	delete(grants, hash)
	return g, ok && l.now().Sub(g.made) <= grantTTL
}

// challenge is the S256 challenge of a verifier (RFC 7636 §4.2).
func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
