// Package authtest provides stand-ins for tests of sign-in: a host whose clock can be set, and an identity provider.
package authtest

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/session"
	"pressbox/packaging/check"
	"pressbox/store/clock"
)

// Released is the release date of the program under test.
var Released = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant

// A Host is a host whose clock can be set and which can be restarted. Its time stands still.
type Host struct {
	mu    sync.Mutex
	wall  time.Time
	since time.Duration
	boot  string
}

// NewHost returns a host that has run for an hour.
func NewHost() *Host {
	return &Host{wall: Released.AddDate(0, 3, 0), since: time.Hour, boot: "first"}
}

// Source returns the host's time.
func (h *Host) Source() clock.Source {
	h.mu.Lock()
	defer h.mu.Unlock()
	return clock.Source{Wall: h.Now, Since: h.uptime, Boot: h.boot}
}

// Now returns the wall-clock time.
func (h *Host) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.wall
}

func (h *Host) uptime() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.since
}

// Pass advances the time.
func (h *Host) Pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wall, h.since = h.wall.Add(d), h.since+d
}

// Correct moves the wall clock alone.
func (h *Host) Correct(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wall = h.wall.Add(d)
}

// Restart boots the host, and moves its wall clock by d.
func (h *Host) Restart(boot string, d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.boot, h.since, h.wall = boot, 10*time.Second, h.wall.Add(d)
}

// A Provider identifies every user as Identity, or returns Err.
type Provider struct {
	Identity auth.Identity
	Err      error
	Iss      string // see [auth.Provider.Issuer]
	IssSent  bool

	mu       sync.Mutex
	requests []auth.AuthorizationRequest // of Authorize and Identify
	codes    []string
}

// Authorize implements [auth.Provider].
func (p *Provider) Authorize(_ context.Context, r auth.AuthorizationRequest) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r)
	return "https://idp.example/authorize?state=" + r.State, nil
}

// Issuer implements [auth.Provider].
func (p *Provider) Issuer(context.Context) (string, bool, error) { return p.Iss, p.IssSent, nil }

// Identify implements [auth.Provider].
func (p *Provider) Identify(_ context.Context, r auth.AuthorizationRequest, code string) (auth.Identity, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests, p.codes = append(p.requests, r), append(p.codes, code)
	return p.Identity, p.Err
}

// Identifies sets Identity, for concurrent use.
func (p *Provider) Identifies(identity auth.Identity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Identity = identity
}

// Requests returns the requests so far, in order.
func (p *Provider) Requests() []auth.AuthorizationRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests
}

// Codes returns the exchanged codes.
func (p *Provider) Codes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.codes
}

// NewSignIn returns a sign-in over a repository, by a provider that identifies
// every user as Anna. A nil clock means that of a [Host] whose time stands still.
func NewSignIn(tb testing.TB, repo auth.Repository, c *clock.Clock, log *slog.Logger) *session.SignIn {
	tb.Helper()
	if c == nil {
		c = check.Must(session.OpenClock(tb.Context(), repo, NewHost().Source(), Released))(tb)
	}
	return &session.SignIn{
		Provider:     &Provider{Identity: auth.Identity{Provider: "test", Subject: "1", Name: "Anna"}},
		ProviderName: "test", SignUp: auth.SignUpOpen, Sessions: session.New(repo, c, 0, log), Log: log,
	}
}

// Begin starts a flow.
func Begin(tb testing.TB, in *session.SignIn) auth.StartedFlow {
	tb.Helper()
	return check.Must(in.Begin(tb.Context(), auth.FlowOptions{Redirect: "https://box.example/cb"}))(tb)
}

// Callback returns the callback of the browser that started a flow.
func Callback(f auth.StartedFlow) auth.Callback {
	return auth.Callback{State: f.State, Binding: f.Binding, Code: "code"}
}

// Run runs a whole flow, in a browser that has the given tokens.
func Run(tb testing.TB, in *session.SignIn, tokens ...auth.Token) auth.Result {
	tb.Helper()
	c := Callback(Begin(tb, in))
	c.Replaces = tokens
	return check.Must(in.Finish(tb.Context(), c))(tb)
}
