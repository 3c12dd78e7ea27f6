package session_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/auth"
	"pressbox/auth/session"
)

// F4: spellings of a name are one name.
func TestF4_Names(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"alice", "Alice", "ALICE", " alice ", "ａｌｉｃｅ"},
		{"anna b", "Anna  B", "anna\u00a0b"},
		{"josé", "JOSÉ", "jose\u0301"},
	} {
		for _, name := range same {
			got, ok := auth.CanonicalName(name)
			if want, _ := auth.CanonicalName(same[0]); !ok || got != want {
				t.Errorf("%q is %q, %v; want %q", name, got, ok, want)
			}
		}
	}
	for _, name := range []string{"", "  ", "a\x00b", "a\nb", "\xff", strings.Repeat("a", auth.MaxNameLength+1)} {
		if got, ok := auth.CanonicalName(name); ok {
			t.Errorf("%q is a name, %q", name, got)
		}
	}
	a, _ := auth.CanonicalName("alice")
	if b, _ := auth.CanonicalName("alica"); a == b {
		t.Error("two names are one")
	}
}

// F4: each wrong try makes its name wait longer, however it is spelled, up to a
// minute; the right passphrase then works, and clears the count.
func TestF4_ThrottledByName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		throttle := session.NewThrottle(time.Now, func(netip.Addr) bool { return true })
		lan := netip.MustParseAddr("192.168.1.2")
		for _, seconds := range []int{1, 2, 4, 8, 16, 32, 60, 60, 60} {
			want := time.Duration(seconds) * time.Second
			if _, wait := throttle.Try("alice", lan); wait != 0 {
				t.Fatalf("waiting %v, want to be let try", wait)
			}
			if _, wait := throttle.Try("alice", lan); wait != want {
				t.Fatalf("waiting %v, want %v", wait, want)
			}
			if _, wait := throttle.Try("bob"+want.String(), lan); wait != 0 {
				t.Fatalf("bob waits %v for alice", wait)
			}
			time.Sleep(want)
		}
		right, wait := throttle.Try("alice", lan)
		if wait != 0 {
			t.Fatalf("waiting %v after the wait", wait)
		}
		right()
		if _, wait := throttle.Try("alice", lan); wait != 0 {
			t.Errorf("waiting %v after the right passphrase", wait)
		}
		time.Sleep(time.Hour)
		throttle.Try("alice", lan)
		if _, wait := throttle.Try("alice", lan); wait != time.Second {
			t.Errorf("waiting %v after an hour of quiet, want 1s", wait)
		}
	})
}

// F4: each address has five tries, and five a minute; the exempt have any.
func TestF4_ThrottledByAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		throttle := session.NewThrottle(time.Now, netip.Addr.IsLoopback)
		try := func(i int, from string) time.Duration {
			_, wait := throttle.Try(fmt.Sprint("name", i), netip.MustParseAddr(from))
			return wait
		}
		for i := range 5 {
			if wait := try(i, fmt.Sprintf("2001:db8::%d", i)); wait != 0 {
				t.Fatalf("try %d waits %v", i, wait)
			}
		}
		if wait := try(6, "2001:db8::ffff"); wait <= 0 || wait > 12*time.Second {
			t.Errorf("the sixth of one /64 waits %v, want up to 12s", wait)
		}
		if wait := try(7, "2001:db8:0:1::1"); wait != 0 {
			t.Errorf("another /64 waits %v", wait)
		}
		for i := range 50 {
			if wait := try(100+i, "127.0.0.1"); wait != 0 {
				t.Errorf("loopback waits %v", wait)
			}
		}
		time.Sleep(12 * time.Second)
		if wait := try(8, "2001:db8::1"); wait != 0 {
			t.Errorf("after twelve seconds it waits %v", wait)
		}
	})
}

// Many thousand names and addresses take bounded memory, and an address that
// guesses them stays throttled.
func TestThrottleIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		throttle := session.NewThrottle(time.Now, func(netip.Addr) bool { return false })
		addr := netip.MustParseAddr("10.0.0.1")
		for i := range 20_000 {
			throttle.Try(fmt.Sprint(i), addr)
			addr = addr.Next()
		}
		names, addrs := session.Counters(throttle)
		if names > 4096 || addrs > 4096 {
			t.Errorf("%d names and %d addresses are counted, want at most 4096", names, addrs)
		}
	})
}

// A name is taken once, in whatever spelling, and given back with the account.
func TestLogins(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	logins := h.Sessions.LocalAccounts()
	anna := auth.LocalAccount{Name: " Anna ", Subject: "s1", Hash: "h1"}
	if _, err := logins.Create(t.Context(), anna, auth.SignUpOpen, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := logins.Create(t.Context(), auth.LocalAccount{Name: "ANNA"}, auth.SignUpOpen, ""); !errors.Is(err, auth.ErrNameTaken) {
		t.Errorf("ANNA: %v, want %v", err, auth.ErrNameTaken)
	}
	got, err := logins.Find(t.Context(), "anna")
	if err != nil || got.Name != "Anna" || got.Subject != "s1" || got.Created.IsZero() {
		t.Errorf("anna is %+v, %v", got, err)
	}
	if err := logins.Rehash(t.Context(), "Anna", "another", "h2"); !errors.Is(err, auth.ErrNotFound) {
		t.Errorf("rehash of what is not there: %v", err)
	}
	if err := logins.Rehash(t.Context(), "Anna", "h1", "h2"); err != nil {
		t.Fatal(err)
	}
	h.ProviderName, h.idp.who = auth.Local, auth.Identity{
		Provider: auth.Local, Issuer: auth.LocalIssuer, Subject: "s1", Name: "Anna",
	}
	if _, err := logins.Account(t.Context(), got); !errors.Is(err, auth.ErrNotFound) {
		t.Errorf("an account before the first sign-in: %v", err)
	}
	account := h.signIn().Account
	if same, err := logins.Account(t.Context(), got); err != nil || same != account {
		t.Errorf("account %+v, %v; want %+v", same, err, account)
	}
	if err := h.Sessions.DeleteAccount(t.Context(), account.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := logins.Find(t.Context(), "anna"); !errors.Is(err, auth.ErrNotFound) {
		t.Errorf("after the account is forgotten: %v", err)
	}
	if accounts, err := h.Sessions.Accounts(t.Context()); err != nil || len(accounts) != 0 {
		t.Errorf("accounts %+v, %v", accounts, err)
	}
}

// F1: an invite makes one account, within its week, and a taken name does not
// use it up.
func TestF1_InviteServesOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	logins := h.Sessions.LocalAccounts()
	create := func(name, invite string) error {
		_, err := logins.Create(t.Context(), auth.LocalAccount{Name: name}, auth.SignUpInvite, invite)
		return err
	}
	invite, err := h.Sessions.CreateInvite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	late, err := h.Sessions.CreateInvite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, invite string
		want         error
	}{
		{"anna", "", auth.ErrNotInvited},
		{"anna", "xi_", auth.ErrNotInvited},
		{"anna", auth.NewToken(auth.KindInvite).Reveal(), auth.ErrNotInvited},
		{"anna", invite.Reveal(), nil},
		{"bert", invite.Reveal(), auth.ErrNotInvited},
		{"anna", late.Reveal(), auth.ErrNameTaken},
		{"bert", late.Reveal(), nil},
	} {
		if err := create(tt.name, tt.invite); !errors.Is(err, tt.want) {
			t.Errorf("%s with %.5s…: %v, want %v", tt.name, tt.invite, err, tt.want)
		}
	}
	if late, err = h.Sessions.CreateInvite(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.machine.pass(auth.InviteTTL + time.Second)
	if err := create("cora", late.Reveal()); !errors.Is(err, auth.ErrNotInvited) {
		t.Errorf("after its week: %v", err)
	}
	if _, err := logins.Create(t.Context(), auth.LocalAccount{Name: "cora"}, auth.SignUpClosed, ""); !errors.Is(err, auth.ErrNotInvited) {
		t.Errorf("closed: %v", err)
	}
}

// A token never shows itself: printed, logged or marshalled it is its kind.
func TestTokensHide(t *testing.T) {
	t.Parallel()
	token := auth.NewToken(auth.KindAPI)
	var out strings.Builder
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "token", token, "in", struct{ T auth.Token }{token})
	js, err := json.Marshal(map[string]any{"t": token})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "%v %+v %#v %s %q %s", token, token, token, token, token, js)
	if strings.Contains(out.String(), token.Reveal()[4:]) {
		t.Errorf("shown in %s", out.String())
	}
	if again, ok := auth.ParseToken(token.Reveal()); !ok || again != token {
		t.Errorf("%q is not read back", token.Reveal())
	}
}

// A hash is read back, and only a hash is.
func TestHash(t *testing.T) {
	t.Parallel()
	h := auth.HashOf("secret")
	text, err := h.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	var again auth.Hash
	if err := again.UnmarshalText(text); err != nil || again != h {
		t.Errorf("%s is read as %x, %v", text, again, err)
	}
	for _, bad := range []string{"", "00", strings.Repeat("z", 64)} {
		if err := again.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is read as a hash", bad)
		}
	}
}

// What is remembered of a device tells one's own devices apart, and no more.
func TestDevice(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0":                                                                "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0":             "Edge on Windows",
		"Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36":                 "Chrome on Android",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604": "Safari on iPhone",
		"curl/7.88.1": "curl", "": "Unknown program", "x": "Unknown program",
	} {
		if got := auth.Agent(header); got != want {
			t.Errorf("Agent(%q) = %q, want %q", header, got, want)
		}
	}
	for addr, want := range map[string]string{
		"192.168.1.77": "192.168.1.0/24", "::ffff:10.1.2.3": "10.1.2.0/24", "2001:db8:1:2::3": "2001:db8:1::/48", "fe80::1%eth0": "fe80::/48",
	} {
		if got := auth.Network(netip.MustParseAddr(addr)); got != want {
			t.Errorf("Network(%s) = %q, want %q", addr, got, want)
		}
	}
	if got := auth.Network(netip.Addr{}); got != "" {
		t.Errorf("Network of no address = %q", got)
	}
}
