package idp_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"pressbox/auth"
)

// Discovery is asked for when somebody signs in, once a day, and the last known
// document serves while the provider's page is down, restarts included.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	now := time.Now()
	c := f.config("oidc")
	c.Now = func() time.Time { return now }
	p := newProvider(t, c)
	ask := func(p auth.Provider) error {
		_, err := p.Authorize(t.Context(), newFlow())
		return err
	}
	if f.asked != 0 {
		t.Fatal("asked at the start")
	}
	f.down = true
	if err := ask(p); auth.CodeOf(err) != auth.CodeUnreachable {
		t.Fatalf("never reached: %v, want %s", err, auth.CodeUnreachable)
	}
	f.down = false
	for range 3 {
		if err := ask(p); err != nil {
			t.Fatal(err)
		}
	}
	if f.asked != 2 {
		t.Errorf("asked %d times, want 2", f.asked)
	}
	f.down, now = true, now.Add(25*time.Hour)
	again := newProvider(t, c)
	for _, p := range []auth.Provider{p, again, p, again} {
		if err := ask(p); err != nil {
			t.Errorf("with the page down: %v", err)
		}
	}
	if f.asked != 4 {
		t.Errorf("asked %d times, want 4", f.asked)
	}
	f.down, now = false, now.Add(time.Minute)
	if err := ask(p); err != nil || f.asked != 5 {
		t.Errorf("a minute later: %v, asked %d times, want 5", err, f.asked)
	}
}

// A discovery document of another issuer, by so much as a slash, or without
// what is needed, is none.
func TestDiscovery_Wrong(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{
		"issuer": "https://evil", "token_endpoint": "", "authorization_endpoint": nil, "jwks_uri": 7,
	} {
		f := newForeign(t)
		f.doc[name] = value
		refused(t, newProvider(t, f.config("oidc")), auth.CodeUnreachable)
	}
	f := newForeign(t)
	c := f.config("oidc")
	c.Issuer += "/"
	refused(t, newProvider(t, c), auth.CodeUnreachable)
}

// A cache that does not work is no reason to keep anybody out.
func TestDiscovery_WithoutCache(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	c := f.config("oidc")
	c.Cache = brokenShelf{}
	must(t, newProvider(t, c))
}

type brokenShelf struct{}

func (brokenShelf) Cached(context.Context, string) ([]byte, error) { return nil, errors.New("broken") }

func (brokenShelf) SaveCached(context.Context, string, []byte) error {
	return errors.New("broken")
}
