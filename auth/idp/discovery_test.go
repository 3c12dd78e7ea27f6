package idp_test

import (
	"errors"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/packaging/check"
)

// Discovery happens at a sign-in, once a day. While it fails, the last known
// document is used, also after a restart.
func TestDiscovery_cached(t *testing.T) {
	t.Parallel()
	f := newServer(t)
	now := time.Now()
	c := f.config("oidc")
	c.Now = func() time.Time { return now }
	p := newProvider(t, c)
	authorize := func(p auth.Provider) error {
		_, err := p.Authorize(t.Context(), newRequest())
		return err
	}
	check.Require(t, f.fetched == 0, "fetched at the start")
	f.down = true
	if err := authorize(p); auth.CodeOf(err) != auth.CodeUnreachable {
		t.Fatalf("without a document: %v, want %s", err, auth.CodeUnreachable)
	}
	f.down = false
	for range 3 {
		check.NoError(t, authorize(p))
	}
	check.Equal(t, f.fetched, 2, "fetched times")
	f.down, now = true, now.Add(25*time.Hour)
	again := newProvider(t, c)
	for _, p := range []auth.Provider{p, again, p, again} {
		check.ErrorIs(t, authorize(p), nil, "with a document, while discovery fails")
	}
	check.Equal(t, f.fetched, 4, "fetched times")
	f.down, now = false, now.Add(time.Minute)
	err := authorize(p)
	check.That(t, err == nil && f.fetched == 5, "a minute later: %v, fetched %d times, want 5", err, f.fetched)
}

// A document of another issuer, even by a slash, or without an endpoint is refused.
func TestDiscovery_invalid(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{
		"issuer": "https://evil", "token_endpoint": "", "authorization_endpoint": nil, "jwks_uri": 7,
	} {
		f := newServer(t)
		f.doc[name] = value
		refused(t, newProvider(t, f.config("oidc")), auth.CodeUnreachable)
	}
	f := newServer(t)
	c := f.config("oidc")
	c.Issuer += "/"
	refused(t, newProvider(t, c), auth.CodeUnreachable)
}

// A failing cache does not prevent a sign-in.
func TestDiscovery_cacheFails(t *testing.T) {
	t.Parallel()
	f := newServer(t)
	c := f.config("oidc")
	c.Cache = &cache{err: errors.New("broken")}
	must(t, newProvider(t, c))
}
