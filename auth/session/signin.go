package session

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"

	"pressbox/auth"
	"pressbox/auth/netblock"
)

// SignIn runs the flows of one provider. Its fields are set before use and not
// changed afterwards.
type SignIn struct {
	Provider     auth.Provider
	ProviderName string            // as configured; part of each identity and pending flow
	SignUp       auth.SignUpPolicy // the local provider applies it on its own page
	Sessions     *Sessions
	Blocks       *netblock.Table // addresses that are one client
	Log          *slog.Logger
}

// Begin starts a flow.
func (in *SignIn) Begin(ctx context.Context, o auth.FlowOptions) (auth.StartedFlow, error) {
	request := auth.AuthorizationRequest{
		State: auth.NewSecret(), Verifier: auth.NewSecret(), Nonce: auth.NewSecret(), Redirect: o.Redirect,
	}
	started := auth.StartedFlow{State: request.State, Binding: auth.NewSecret()}
	to, err := in.Provider.Authorize(ctx, request)
	if err != nil {
		return auth.StartedFlow{}, fmt.Errorf("build the authorization request to %s: %w", in.ProviderName, err)
	}
	started.URL = to
	flow := auth.PendingFlow{
		Provider: in.ProviderName,
		Verifier: request.Verifier,
		Nonce:    request.Nonce,
		Redirect: request.Redirect,
		Return:   auth.ReturnPath(o.Return),
		Binding:  auth.HashOf(started.Binding),
		Started:  in.Sessions.clock.Now(),
	}
	if invite, ok := auth.ParseToken(o.Invite); ok {
		flow.Invite = invite.Hash()
	}
	if err := in.Sessions.savePending(ctx, auth.HashOf(request.State), flowTag(in.Blocks, o.From), flow); err != nil {
		return auth.StartedFlow{}, fmt.Errorf("save a pending sign-in: %w", err)
	}
	return started, nil
}

// Finish ends a flow. It first deletes the pending flow, whatever the outcome,
// and then checks, in this order, its age, the browser, the issuer, and the
// provider's error and code.
func (in *SignIn) Finish(ctx context.Context, c auth.Callback) (auth.Result, error) {
	result, err := in.finish(ctx, c)
	if err != nil {
		in.Log.Info("sign-in refused", "provider", in.ProviderName, "code", auth.CodeOf(err), "err", err)
		return auth.Result{}, err
	}
	in.Log.Info("signed in", "provider", in.ProviderName, "account", result.Account.ID, "network", c.Device.Network)
	return result, nil
}

func (in *SignIn) finish(ctx context.Context, c auth.Callback) (auth.Result, error) {
	flow, err := in.Sessions.takePending(ctx, auth.HashOf(c.State))
	if err != nil {
		return auth.Result{}, err
	}
	if err := in.check(ctx, flow, c); err != nil {
		return auth.Result{}, err
	}
	request := auth.AuthorizationRequest{
		State: c.State, Verifier: flow.Verifier, Nonce: flow.Nonce, Redirect: flow.Redirect,
	}
	identity, err := in.Provider.Identify(ctx, request, c.Code)
	if err != nil {
		return auth.Result{}, fmt.Errorf("identify the user at %s: %w", in.ProviderName, err)
	}
	if identity.Subject == "" {
		return auth.Result{}, &auth.RefusalError{Code: auth.CodeUserinfoFailed, Err: errors.New("subject is empty")}
	}
	result, err := in.Sessions.open(ctx, admission{
		identity: identity, signUp: in.SignUp.For(c.From), invite: flow.Invite, device: c.Device, replaces: c.Replaces,
	})
	result.Return = flow.Return
	return result, err
}

// check returns why a callback may not finish a flow, or nil.
func (in *SignIn) check(ctx context.Context, flow auth.PendingFlow, c auth.Callback) error {
	binding := auth.HashOf(c.Binding)
	switch {
	case flow.Provider != in.ProviderName:
		return refusef(auth.CodeInvalidState, "flow of provider %q, want %q", flow.Provider, in.ProviderName)
	case in.Sessions.clock.Age(flow.Started) > auth.FlowTTL:
		return &auth.RefusalError{Code: auth.CodeStateExpired}
	case subtle.ConstantTimeCompare(binding[:], flow.Binding[:]) == 0:
		return &auth.RefusalError{Code: auth.CodeBrowserMismatch}
	}
	if err := in.checkIssuer(ctx, c.Issuer); err != nil {
		return err
	}
	switch c.Error {
	case "":
	case "access_denied", "login_required", "consent_required", "interaction_required":
		return &auth.RefusalError{Code: auth.CodeAccessDenied}
	default:
		return refusef(auth.CodeProviderError, "provider returned error %q", c.Error)
	}
	if c.Code == "" {
		return refusef(auth.CodeProviderError, "callback has neither code nor error")
	}
	return nil
}

// checkIssuer defends against mix-up attacks (RFC 9207 §2.4).
func (in *SignIn) checkIssuer(ctx context.Context, got string) error {
	want, always, err := in.Provider.Issuer(ctx)
	if err != nil {
		return fmt.Errorf("read the issuer: %w", err)
	}
	if got == want || want == "" || got == "" && !always {
		return nil
	}
	return refusef(auth.CodeIssuerMismatch, "callback from issuer %q, want %q", got, want)
}

func refusef(code auth.Code, format string, args ...any) error {
	return &auth.RefusalError{Code: code, Err: fmt.Errorf(format, args...)}
}
