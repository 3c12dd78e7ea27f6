package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"
)

// A AuthorizationRequest is what the provider is asked with, and asked again when its code is
// exchanged.
type AuthorizationRequest struct {
	State    string // handed to the browser and back
	Verifier string // PKCE, RFC 7636; never leaves the server but in the exchange
	Nonce    string // OpenID Connect's, checked in the ID token
	Redirect string // redirect URI: the same in both requests
}

// An Identity is who a provider says somebody is. Provider, Issuer and Subject
// together never change hands; Name is for display and may.
type Identity struct {
	Provider string // "discord", "local", …
	Issuer   string // "" where the provider has none
	Subject  string
	Name     string
}

// A Provider is an external identity provider, or the appliance's own accounts.
// Its errors are [RefusalError]s where the client can be told more than
// [CodeServerError].
type Provider interface {
	// Authorize is the address to which the browser is sent.
	Authorize(ctx context.Context, flow AuthorizationRequest) (string, error)
	// Issuer is how the provider names itself in callbacks (RFC 9207), and
	// whether it always does; "" means that it does not say.
	Issuer(ctx context.Context) (issuer string, always bool, err error)
	// Identify exchanges a code, asks whose it is, and forgets the tokens.
	Identify(ctx context.Context, flow AuthorizationRequest, code string) (Identity, error)
}

// A PendingFlow is a flow under way. It is kept under the hash of its state value,
// taken by the first callback that names it, and bound to the browser by the
// hash of a cookie (RFC 9700 §2.1).
type PendingFlow struct {
	Provider string  `json:"provider"`
	Verifier string  `json:"verifier"`
	Nonce    string  `json:"nonce"`
	Redirect string  `json:"redirect"`
	Return   string  `json:"return,omitempty"` // path in the client; "" is its default
	Invite   Hash    `json:"invite"`           // zero: none was presented
	Binding  Hash    `json:"binding"`
	Started  Instant `json:"made"`
}

// A SignUpPolicy says whether an identity that is new here becomes an account.
type SignUpPolicy string

// The ways of signing up.
const (
	SignUpOpen   SignUpPolicy = "open"
	SignUpInvite SignUpPolicy = "invite" // with an invite, which is used up
	SignUpClosed SignUpPolicy = "closed"
)

// SignIn lets people in. Its fields are set before use and not changed after.
type SignIn struct {
	Provider     Provider
	ProviderName string       // the provider's: part of every identity and of every state
	SignUp       SignUpPolicy // who becomes an account; the local provider has asked before
	Sessions     *Sessions
	Log          *slog.Logger
}

// A FlowOptions is what a browser asks for when it begins to sign in.
type FlowOptions struct {
	Redirect string // redirect URI
	Return   string // where to go in the client afterwards; see [ReturnPath]
	Invite   string // "" means none
}

// A StartedFlow flow: where to send the browser, and the cookie that binds it.
type StartedFlow struct {
	URL     string
	State   string // its first characters name the cookie
	Binding string // the cookie's value, secret
}

// Begin starts a flow.
func (d *SignIn) Begin(ctx context.Context, s FlowOptions) (StartedFlow, error) {
	flow := AuthorizationRequest{State: NewSecret(), Verifier: NewSecret(), Nonce: NewSecret(), Redirect: s.Redirect}
	begun := StartedFlow{State: flow.State, Binding: NewSecret()}
	to, err := d.Provider.Authorize(ctx, flow)
	if err != nil {
		return StartedFlow{}, fmt.Errorf("ask %s for a sign-in: %w", d.ProviderName, err)
	}
	begun.URL = to
	state := PendingFlow{
		Provider: d.ProviderName,
		Verifier: flow.Verifier,
		Nonce:    flow.Nonce,
		Redirect: flow.Redirect,
		Return:   ReturnPath(s.Return),
		Binding:  HashOf(begun.Binding),
		Started:  d.Sessions.clock.Now(),
	}
	if invite, ok := ParseToken(s.Invite); ok {
		state.Invite = invite.Hash()
	}
	if err := d.Sessions.savePending(ctx, HashOf(flow.State), state); err != nil {
		return StartedFlow{}, fmt.Errorf("keep a sign-in begun: %w", err)
	}
	return begun, nil
}

// A Callback is what a browser brings back from the provider.
type Callback struct {
	State  string
	Code   string
	Issuer string // "" means that none was given
	Error  string // "" means success

	Binding  string  // the flow's cookie; "" means that there is none
	Replaces []Token // of the session that this browser had
	Device   Device
}

// ParseCallback reads a callback's query. A parameter given twice is refused
// (RFC 6749 §3.1), as is one of absurd length.
func ParseCallback(q url.Values) (Callback, error) {
	var c Callback
	for name, field := range map[string]*string{
		"state": &c.State, "code": &c.Code, "iss": &c.Issuer, "error": &c.Error,
	} {
		values := q[name]
		if len(values) > 1 {
			return Callback{}, &RefusalError{CodeInvalidState, fmt.Errorf("%s is given %d times", name, len(values))}
		}
		if len(values) == 1 {
			*field = values[0]
		}
		if len(*field) > maxParam {
			return Callback{}, &RefusalError{CodeInvalidState, fmt.Errorf("%s is %d bytes long", name, len(*field))}
		}
	}
	return c, nil
}

// maxParam bounds a callback's parameter, in bytes. The longest codes in use
// are under a thousand.
const maxParam = 4096

// Result is a sign-in that succeeded.
type Result struct {
	Pair
	Account Account
	Return  string // path in the client; "" is its default
}

// Finish ends a flow. The state is consumed before anything else, whatever
// becomes of the rest; then, in this order, its age, the browser, the issuer,
// the provider's error and its code are judged.
func (d *SignIn) Finish(ctx context.Context, c Callback) (Result, error) {
	granted, err := d.finish(ctx, c)
	if err != nil {
		d.Log.Info("sign-in refused", "provider", d.ProviderName, "code", CodeOf(err), "err", err)
		return Result{}, err
	}
	d.Log.Info("signed in", "provider", d.ProviderName, "account", granted.Account.ID, "network", c.Device.Network)
	return granted, nil
}

func (d *SignIn) finish(ctx context.Context, c Callback) (Result, error) {
	state, err := d.Sessions.takePending(ctx, HashOf(c.State))
	if err != nil {
		return Result{}, err
	}
	if err := d.judge(ctx, state, c); err != nil {
		return Result{}, err
	}
	flow := AuthorizationRequest{State: c.State, Verifier: state.Verifier, Nonce: state.Nonce, Redirect: state.Redirect}
	who, err := d.Provider.Identify(ctx, flow, c.Code)
	if err != nil {
		return Result{}, fmt.Errorf("identify by %s: %w", d.ProviderName, err)
	}
	if who.Subject == "" {
		return Result{}, &RefusalError{CodeUserinfoFailed, errors.New("the subject is empty")}
	}
	granted, err := d.Sessions.openSession(ctx, signInEntry{
		who: who, signUp: d.SignUp, invite: state.Invite, device: c.Device, replaces: c.Replaces,
	})
	granted.Return = state.Return
	return granted, err
}

// judge says whether this callback may finish this flow.
func (d *SignIn) judge(ctx context.Context, s PendingFlow, c Callback) error {
	bound := HashOf(c.Binding)
	switch {
	case s.Provider != d.ProviderName:
		return &RefusalError{CodeInvalidState, fmt.Errorf("begun with %q", s.Provider)}
	case d.Sessions.clock.Age(s.Started) > FlowTTL:
		return &RefusalError{CodeStateExpired, nil}
	case subtle.ConstantTimeCompare(bound[:], s.Binding[:]) == 0:
		return &RefusalError{CodeBrowserMismatch, nil}
	}
	if err := d.judgeIssuer(ctx, c.Issuer); err != nil {
		return err
	}
	switch c.Error {
	case "":
	case "access_denied", "login_required", "consent_required", "interaction_required":
		return &RefusalError{CodeAccessDenied, nil}
	default:
		return &RefusalError{CodeProviderError, fmt.Errorf("the provider says %q", c.Error)}
	}
	if c.Code == "" {
		return &RefusalError{CodeProviderError, errors.New("neither a code nor an error")}
	}
	return nil
}

// judgeIssuer is the defence against mix-up (RFC 9207 §2.4).
func (d *SignIn) judgeIssuer(ctx context.Context, got string) error {
	want, always, err := d.Provider.Issuer(ctx)
	if err != nil {
		return fmt.Errorf("learn the issuer: %w", err)
	}
	if got == want || want == "" || got == "" && !always {
		return nil
	}
	return &RefusalError{CodeIssuerMismatch, fmt.Errorf("the answer is from %q, want %q", got, want)}
}

// savePending keeps a flow; the oldest of too many gives way.
func (b *Sessions) savePending(ctx context.Context, key Hash, s PendingFlow) error {
	return b.repo.Update(ctx, func(tx Tx) error {
		var oldest string
		var n int
		var age time.Duration
		err := each(tx, tableState, nil, func(key string, s PendingFlow) error {
			if a := b.clock.Age(s.Started); n == 0 || a > age {
				oldest, age = key, a
			}
			n++
			return nil
		})
		if err == nil && n >= MaxPendingFlows {
			err = tx.Delete(tableState, []byte(oldest))
		}
		if err != nil {
			return err
		}
		return put(tx, tableState, key[:], s)
	})
}

// takePending reads a flow and deletes it, so that of several callbacks with one
// state a single one gets it. An unknown state costs no write.
func (b *Sessions) takePending(ctx context.Context, key Hash) (s PendingFlow, err error) {
	look := func(tx Tx) (err error) {
		s, err = get[PendingFlow](tx, tableState, key[:])
		return err
	}
	err = b.repo.View(ctx, look)
	if err == nil {
		err = b.repo.Update(ctx, func(tx Tx) error {
			if err := look(tx); err != nil {
				return err
			}
			return tx.Delete(tableState, key[:])
		})
	}
	if errors.Is(err, ErrNotFound) {
		return PendingFlow{}, &RefusalError{CodeInvalidState, nil}
	}
	if err != nil {
		return PendingFlow{}, fmt.Errorf("take a sign-in begun: %w", err)
	}
	return s, nil
}
