package doctor

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/auth"
	"pressbox/daemon/settings"
	"pressbox/daemon/web"
	"pressbox/game/leagues"
	"pressbox/packaging/check"
)

func TestProxyFindings(t *testing.T) {
	t.Parallel()
	loopback, other := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("192.168.1.9")
	for _, tt := range []struct {
		arrival                web.Arrival
		err                    error
		result, detail, remedy string
	}{
		{web.Arrival{Peer: loopback, Forwarded: true, Trusted: true}, nil, OK, "sends the client's address", ""},
		{web.Arrival{Peer: other, Direct: true}, nil, OK, "without a proxy", ""},
		{web.Arrival{Peer: loopback, Trusted: true}, nil, Warning, "every client counts as local", "X-Forwarded-For"},
		{web.Arrival{Peer: loopback}, nil, Warning, "every client counts as local", "X-Forwarded-For"},
		{
			web.Arrival{Peer: other, Trusted: true},
			nil, Warning, "does not send the client's address",
			"X-Forwarded-For",
		},
		{
			web.Arrival{Peer: other, Forwarded: true},
			nil, Warning, "is not trusted",
			"add 192.168.1.9 to TRUSTED_PROXIES",
		},
		{web.Arrival{}, web.ErrNotThisServer, Warning, "another server", "PUBLIC_URL"},
		{web.Arrival{}, errors.New("no route"), Warning, "cannot be reached from this host: no route", "PUBLIC_URL"},
	} {
		got := proxyFindings("https://box.example", tt.arrival, tt.err)
		if len(got) != 1 || !has(got, "proxy", tt.result, tt.detail, tt.remedy) {
			t.Errorf("%+v, %v: %+v, want %s: %s", tt.arrival, tt.err, got, tt.result, tt.detail)
		}
	}
}

func TestLeagueFindings(t *testing.T) {
	t.Parallel()
	got := leagueFindings([]leagues.StoredLeague{
		{ID: "a", Kind: leagues.Series, Name: "Goes on"},
		{ID: "b", Kind: leagues.RoundRobin, Name: "Kitchen", Stalled: "a box score cannot be read"},
	})
	if len(got) != 1 || !has(got, "leagues", Warning,
		`league "Kitchen" cannot go on: a box score cannot be read`, "pressbox leagues remove b") {
		t.Errorf("findings %+v", got)
	}
}

// The check ends after five seconds, and sends nothing without PUBLIC_URL.
func TestInside_checkProxy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		probes := 0
		inside := Inside{Probe: func(ctx context.Context, _ *http.Client, _ string) (web.Arrival, error) {
			probes++
			<-ctx.Done()
			return web.Arrival{}, ctx.Err()
		}}
		if got := inside.checkProxy(t.Context()); got != nil || probes != 0 {
			t.Errorf("without PUBLIC_URL: %+v, %d probes", got, probes)
		}
		inside.Started = settings.Config{PublicURL: "https://box.example"}
		began := time.Now()
		if got := inside.checkProxy(t.Context()); !has(got, "proxy", Warning, "cannot be reached", "") ||
			time.Since(began) != 5*time.Second {
			t.Errorf("a proxy that does not answer: %+v after %v", got, time.Since(began))
		}
	})
}

// Settings that let the internet in are named.
func TestExposureFindings(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}
	for _, tt := range []struct {
		access, signUp, public string
		proxies                []netip.Prefix
		want                   string
	}{
		{"open", "open", "https://box.example", nil, "may announce and create accounts"},
		{"open", "open", "", proxies, "may announce and create accounts"},
		{"open", "invite", "https://box.example", nil, "may announce"},
		{"open", "open", "", nil, ""},
		{"lan", "open", "https://box.example", proxies, ""},
		{"token", "open", "https://box.example", proxies, ""},
	} {
		cfg := settings.Config{
			NotifyAccess: tt.access, PublicURL: tt.public, TrustedProxies: tt.proxies,
			SignIn: settings.SignIn{SignUp: tt.signUp},
		}
		got := exposureFindings(cfg)
		if tt.want == "" && got != nil || tt.want != "" && !has(got, "access", Warning, tt.want, "NOTIFY_ACCESS") {
			t.Errorf("%+v: %+v, want %q", tt, got, tt.want)
		}
	}
}

// With NOTIFY_ACCESS=token the accounts that may not announce are named.
func TestOpenAccountFindings(t *testing.T) {
	t.Parallel()
	all := []auth.Account{
		{Name: "Open", Open: true}, {Name: "Invited"}, {Name: "Admin", Open: true, Admin: true},
		{Name: "Gone", Open: true, Disabled: true},
	}
	const want = "made without an invite, 1 accounts may not announce (NOTIFY_ACCESS=token): Open"
	got := openAccountFindings(settings.Config{NotifyAccess: "token"}, all)
	check.That(t, len(got) == 1 && has(got, "access", Warning, want, "users invite"), "findings %+v", got)
	check.Equal(t, len(openAccountFindings(settings.Config{NotifyAccess: "token"}, all[1:])), 0, "findings of others")
	check.Equal(t, len(openAccountFindings(settings.Config{NotifyAccess: "lan"}, all)), 0, "findings with lan")
}
