package session_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/auth"
)

// C2: what is not a bearer token in one spelling is refused, whatever it is.
func TestC2_MalformedHeaders(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	good := h.signIn().Access.Reveal()
	for header, want := range map[string]error{
		"Bearer " + good: nil, "bearer " + good: nil, "BEARER  " + good: nil,
		"": auth.ErrInvalidToken, "Bearer": auth.ErrInvalidToken, "Bearer ": auth.ErrInvalidToken,
		"Bearer a b": auth.ErrInvalidToken, "Basic " + good: auth.ErrInvalidToken, good: auth.ErrInvalidToken,
		"Bearer " + good + " x": auth.ErrInvalidToken, "Bearer " + good + "=": auth.ErrInvalidToken,
		"Bearer\t" + good: auth.ErrInvalidToken, "Bearer " + strings.Repeat("a", 1<<20): auth.ErrInvalidToken,
		"Bearer " + strings.ToUpper(good): auth.ErrInvalidToken,
	} {
		_, err := h.Sessions.Authenticate(t.Context(), auth.RequestCredentials{Authorization: []string{header}})
		if !errors.Is(err, want) {
			t.Errorf("Authorization: %.30q: %v, want %v", header, err, want)
		}
	}
	_, err := h.Sessions.Authenticate(t.Context(), auth.RequestCredentials{Authorization: []string{"Bearer " + good, "Bearer " + good}})
	if !errors.Is(err, auth.ErrInvalidToken) {
		t.Errorf("two headers: %v, want %v", err, auth.ErrInvalidToken)
	}
}

// C4, B5, E2: a header is judged alone; of cookies any one serves; where none
// does, a websocket's auth object.
func TestC4_WhichCredentialCounts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	good, bad := h.signIn().Access.Reveal(), auth.NewToken(auth.KindAccess).Reveal()
	bearer := func(t string) []string { return []string{"Bearer " + t} }
	for _, tt := range []struct {
		name string
		give auth.RequestCredentials
		want error
	}{
		{"nothing", auth.RequestCredentials{}, auth.ErrNoCredentials},
		{"empty cookie", auth.RequestCredentials{Cookies: []string{""}}, auth.ErrNoCredentials},
		{"good cookie", auth.RequestCredentials{Cookies: []string{good}}, nil},
		{"bad cookie", auth.RequestCredentials{Cookies: []string{bad}}, auth.ErrInvalidToken},
		{"garbage, then good", auth.RequestCredentials{Cookies: []string{"garbage", bad, good}}, nil},
		{"bad header, good cookie", auth.RequestCredentials{Authorization: bearer(bad), Cookies: []string{good}}, auth.ErrInvalidToken},
		{"good header, bad cookie", auth.RequestCredentials{Authorization: bearer(good), Cookies: []string{bad}}, nil},
		{"no cookie, good object", auth.RequestCredentials{FrameToken: good}, nil},
		{"bad cookie, good object", auth.RequestCredentials{Cookies: []string{bad}, FrameToken: good}, nil},
		{"good cookie, bad object", auth.RequestCredentials{Cookies: []string{good}, FrameToken: bad}, nil},
		{"both bad", auth.RequestCredentials{Cookies: []string{bad}, FrameToken: bad}, auth.ErrInvalidToken},
	} {
		caller, err := h.Sessions.Authenticate(t.Context(), tt.give)
		if !errors.Is(err, tt.want) || (err == nil) != caller.SignedIn() {
			t.Errorf("%s: %+v, %v; want %v", tt.name, caller, err, tt.want)
		}
	}
}

// C5: a token is good for what it is, and for nothing else.
func TestC5_KindsDoNotMix(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	granted := h.signIn()
	h.mustBeOut(granted.Refresh)
	h.notRefreshed(granted.Access, auth.ErrInvalidToken)
	respelled := "xa_" + strings.TrimPrefix(granted.Refresh.Reveal(), "xr_")
	token, ok := auth.ParseToken(respelled)
	if !ok {
		t.Fatal("not a token")
	}
	h.mustBeOut(token)
	h.mustBeIn(granted.Access)
}

// C6: whoever is shut out is out at once, by every door (CVE-2026-43983).
func TestC6_OutAtOnce(t *testing.T) {
	t.Parallel()
	for name, shut := range map[string]func(h *house, g auth.Result) error{
		"disabled": func(h *house, g auth.Result) error { return h.Sessions.SetDisabled(h.t.Context(), g.Account.ID, true) },
		"deleted":  func(h *house, g auth.Result) error { return h.Sessions.DeleteAccount(h.t.Context(), g.Account.ID) },
		"revoked": func(h *house, g auth.Result) error {
			_, err := h.Sessions.EndAll(h.t.Context(), g.Account.ID, auth.EndedByOwner)
			return err
		},
		"logged out": func(h *house, g auth.Result) error { return h.Sessions.Logout(h.t.Context(), g.Refresh) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			granted := h.signIn()
			caller, err := h.Sessions.Authenticate(t.Context(), auth.RequestCredentials{FrameToken: granted.Access.Reveal()})
			if err != nil {
				t.Fatal(err)
			}
			ended, stop := h.Sessions.Watch(caller.Session)
			defer stop()
			if err := shut(h, granted); err != nil {
				t.Fatal(err)
			}
			h.mustBeOut(granted.Access)
			h.notRefreshed(granted.Refresh, auth.ErrSessionEnded)
			if err := h.Sessions.Validate(t.Context(), caller.Session); !errors.Is(err, auth.ErrSessionEnded) {
				t.Errorf("live: %v, want %v", err, auth.ErrSessionEnded)
			}
			select {
			case <-ended: // E5
			default:
				t.Error("its sockets were not told")
			}
		})
	}
}

// C6: a disabled account stays out until it is let in again.
func TestC6_Disabled(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	account := h.signIn().Account
	if err := h.Sessions.SetDisabled(t.Context(), account.ID, true); err != nil {
		t.Fatal(err)
	}
	h.refused(back(h.begin()), auth.CodeAccountDisabled)
	if err := h.Sessions.SetDisabled(t.Context(), account.ID, false); err != nil {
		t.Fatal(err)
	}
	h.signIn()
	if err := h.Sessions.SetDisabled(t.Context(), "nobody", true); !errors.Is(err, auth.ErrNotFound) {
		t.Errorf("disable nobody: %v, want %v", err, auth.ErrNotFound)
	}
}

// C6, CVE-2026-43983: even of a session that nobody ended, the account is looked
// at each time.
func TestC6_AccountIsReadEachTime(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	granted := h.signIn()
	key := "auth_user\x00" + granted.Account.ID
	h.keeper.rows[key] = strings.Replace(h.keeper.rows[key], "{", `{"disabled":true,`, 1)
	h.mustBeOut(granted.Access)
	h.notRefreshed(granted.Refresh, auth.ErrSessionEnded)
	delete(h.keeper.rows, key)
	h.mustBeOut(granted.Access)
	h.notRefreshed(granted.Refresh, auth.ErrSessionEnded)
}

// C7, F7: no secret is kept, and none is logged.
func TestC7_SecretsAreNotKept(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	begun := h.begin()
	granted := h.signIn()
	pair := h.refresh(granted.Refresh)
	invite, err := h.Sessions.CreateInvite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	machine, _, err := h.Sessions.CreateAPIToken(t.Context(), "doorbell", netip.Prefix{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kept strings.Builder
	for key, value := range h.keeper.rows {
		fmt.Fprintln(&kept, key, value)
	}
	kept.WriteString(h.log.String())
	fmt.Fprintf(&kept, "%v %+v %#v %s", granted, pair, invite, machine)
	for name, secret := range map[string]string{
		"state": begun.State, "binding": begun.Binding,
		"access": granted.Access.Reveal(), "refresh": granted.Refresh.Reveal(),
		"next access": pair.Access.Reveal(), "next refresh": pair.Refresh.Reveal(),
		"invite": invite.Reveal(), "API": machine.Reveal(),
	} {
		if bare := secret[max(0, len(secret)-43):]; strings.Contains(kept.String(), bare) {
			t.Errorf("the %s is kept, logged or printed", name)
		}
	}
}

// D1, D2: a used token is dead after its grace, and using it again kills its
// family, its newest member included, and no other family.
func TestD2_ReuseKillsTheFamily(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	other, granted := h.signIn(), h.signIn()
	next := h.refresh(granted.Refresh)
	h.mustBeIn(granted.Access) // its hour is not over
	h.mustBeIn(next.Access)
	h.machine.pass(auth.ReuseGrace + time.Second)
	h.notRefreshed(granted.Refresh, auth.ErrSessionEnded)
	h.mustBeOut(next.Access)
	h.notRefreshed(next.Refresh, auth.ErrSessionEnded)
	h.mustBeIn(other.Access)
	h.refresh(other.Refresh)
	if !strings.Contains(h.log.String(), "used twice") { // F8
		t.Errorf("not logged:\n%s", h.log)
	}
}

// D3: a token that nobody issued changes nothing, and costs no write.
func TestD3_UnknownToken(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	granted := h.signIn()
	before := h.keeper.writes
	h.notRefreshed(auth.NewToken(auth.KindRefresh), auth.ErrInvalidToken)
	if _, err := h.Sessions.Refresh(t.Context(), auth.NewToken(auth.KindRefresh)); errors.Is(err, auth.ErrSessionEnded) {
		t.Error("an unknown token would clear the browser's cookies")
	}
	if h.keeper.writes != before {
		t.Errorf("%d writes, want none", h.keeper.writes-before)
	}
	h.refresh(granted.Refresh)
}

// D4, D5: a browser's tabs that refresh at once get one successor, by one write
// (GHSA-392p-2q2v-4372).
func TestD4_ConcurrentRefresh(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	granted := h.signIn()
	before := h.keeper.writes
	pairs := make([]auth.TokenPair, 5)
	var wg sync.WaitGroup
	for i := range pairs {
		wg.Go(func() { pairs[i] = h.refresh(granted.Refresh) })
	}
	wg.Wait()
	for _, pair := range pairs {
		if pair != pairs[0] {
			t.Errorf("two successors of one token")
		}
	}
	h.mustBeIn(pairs[0].Access)
	if n := h.keeper.count("auth_refresh"); n != 2 {
		t.Errorf("%d refresh tokens are kept, want 2", n)
	}
	if h.keeper.writes == before {
		t.Error("nothing was written")
	}
	h.refresh(pairs[0].Refresh)
}

// D5: a straggler whose successor is used already is refused without harm.
func TestD5_Straggler(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	granted := h.signIn()
	second := h.refresh(granted.Refresh)
	third := h.refresh(second.Refresh)
	_, err := h.Sessions.Refresh(t.Context(), granted.Refresh)
	if !errors.Is(err, auth.ErrInvalidToken) || errors.Is(err, auth.ErrSessionEnded) {
		t.Fatalf("straggler: %v, want %v and no cookies cleared", err, auth.ErrInvalidToken)
	}
	h.refresh(third.Refresh)
}

// D6: the answer was lost with the program that gave it; asked again, the next
// program gives the same one. After the grace it is reuse, restart or not
// (CVE-2026-9802).
func TestD6_RestartBetween(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	granted := h.signIn()
	lost := h.refresh(granted.Refresh)
	h.start()
	if again := h.refresh(granted.Refresh); again != lost {
		t.Error("two live chains")
	}
	h.machine.pass(auth.ReuseGrace + time.Second)
	h.start()
	h.notRefreshed(granted.Refresh, auth.ErrSessionEnded)
	h.notRefreshed(lost.Refresh, auth.ErrSessionEnded)
}

// D9: a session ends a month after its sign-in, however it is used; and a week
// after it was used last.
func TestD9_Lifetimes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	idle := h.signIn()
	pair := h.signIn().TokenPair
	for day := range 30 {
		h.machine.pass(24*time.Hour - time.Minute)
		pair = h.refresh(pair.Refresh)
		if err := h.Sessions.DeleteExpired(t.Context()); err != nil {
			t.Fatalf("day %d: %v", day, err)
		}
	}
	h.mustBeIn(pair.Access)
	h.machine.pass(time.Hour)
	h.notRefreshed(pair.Refresh, auth.ErrSessionEnded)
	h.mustBeOut(pair.Access)
	h.notRefreshed(idle.Refresh, auth.ErrInvalidToken)
}

// The access token lives an hour, the refresh token a week.
func TestTokenLifetimes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	granted, other := h.signIn(), h.signIn()
	h.machine.pass(auth.AccessTTL)
	h.mustBeIn(granted.Access)
	h.machine.pass(time.Second)
	h.mustBeOut(granted.Access)
	h.machine.pass(auth.RefreshTTL - auth.AccessTTL - time.Second)
	h.refresh(granted.Refresh)
	h.machine.pass(time.Second)
	h.notRefreshed(other.Refresh, auth.ErrSessionEnded)
}

// Both tokens of a session serve to log out, more than once, and no token is
// well too (D11).
func TestD11_Logout(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	byAccess, byRefresh, stays := h.signIn(), h.signIn(), h.signIn()
	for range 2 {
		if err := h.Sessions.Logout(t.Context(), byAccess.Access, byRefresh.Refresh, auth.NewToken(auth.KindAccess)); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Sessions.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.mustBeOut(byAccess.Access)
	h.mustBeOut(byRefresh.Access)
	h.mustBeIn(stays.Access)
}

// F6: one's own sessions can be listed and ended; another's cannot.
func TestF6_OwnSessions(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	phone := h.signIn()
	h.machine.pass(time.Minute)
	desk := h.signIn()
	sessions, err := h.Sessions.List(t.Context(), desk.Account.ID)
	if err != nil || len(sessions) != 2 || sessions[0].Idle != 0 || sessions[1].Age != time.Minute {
		t.Fatalf("sessions %+v, %v; want two, the newest first", sessions, err)
	}
	h.idp.who.Subject = "2"
	stranger := h.signIn().Account.ID
	if err := h.Sessions.End(t.Context(), stranger, sessions[1].ID, auth.EndedByOwner); !errors.Is(err, auth.ErrNotFound) {
		t.Errorf("ending another's session: %v, want %v", err, auth.ErrNotFound)
	}
	if err := h.Sessions.End(t.Context(), desk.Account.ID, sessions[1].ID, auth.EndedByOwner); err != nil {
		t.Error(err)
	}
	h.mustBeOut(phone.Access)
	h.mustBeIn(desk.Access)
}

// Of too many sessions the one unused for longest gives way.
func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.signIn()
	h.machine.pass(time.Second)
	second := h.signIn()
	for range auth.MaxSessions - 1 {
		h.machine.pass(time.Second)
		h.signIn()
	}
	h.mustBeOut(first.Access)
	h.mustBeIn(second.Access)
}

// What can no longer matter is swept, and nothing else.
func TestSweep(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	gone, stays := h.signIn(), h.signIn()
	if err := h.Sessions.Logout(t.Context(), gone.Access); err != nil {
		t.Fatal(err)
	}
	h.machine.pass(2 * auth.AccessTTL)
	next := h.refresh(stays.Refresh)
	if err := h.Sessions.DeleteExpired(t.Context()); err != nil {
		t.Fatal(err)
	}
	for table, want := range map[auth.Table]int{
		"auth_session": 1, "auth_access": 1, "auth_refresh": 2, "auth_user": 1, "auth_identity": 1, "auth_state": 0,
	} {
		if n := h.keeper.count(table); n != want {
			t.Errorf("%s has %d records, want %d", table, n, want)
		}
	}
	h.mustBeIn(next.Access)
}

// A machine's token announces, from its network and for its time, and opens no
// account.
func TestAPITokens(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	lan := netip.MustParsePrefix("192.168.1.0/24")
	token, kept, err := h.Sessions.CreateAPIToken(t.Context(), "doorbell", lan, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	try := func(from string) (auth.Caller, error) {
		return h.Sessions.Authenticate(context.Background(), auth.RequestCredentials{
			Authorization: []string{"Bearer " + token.Reveal()}, From: netip.MustParseAddr(from),
		})
	}
	caller, err := try("::ffff:192.168.1.7")
	if err != nil || caller.SignedIn() || caller.APIToken.ID != kept.ID {
		t.Errorf("from its network: %+v, %v", caller, err)
	}
	if _, err := try("192.168.2.7"); !errors.Is(err, auth.ErrInvalidToken) {
		t.Errorf("from another network: %v", err)
	}
	h.machine.pass(time.Hour + time.Second)
	if _, err := try("192.168.1.7"); !errors.Is(err, auth.ErrInvalidToken) {
		t.Errorf("after its time: %v", err)
	}
	token, kept, err = h.Sessions.CreateAPIToken(t.Context(), "for ever", netip.Prefix{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	h.machine.pass(1000 * 24 * time.Hour)
	if _, err := try("2001:db8::1"); err != nil {
		t.Errorf("for ever, from anywhere: %v", err)
	}
	if list, err := h.Sessions.APITokens(t.Context()); err != nil || len(list) != 1 || list[0] != kept {
		t.Errorf("list %+v, %v", list, err)
	}
	if err := h.Sessions.RevokeAPIToken(t.Context(), kept.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := try("2001:db8::1"); !errors.Is(err, auth.ErrInvalidToken) {
		t.Errorf("revoked: %v", err)
	}
	if err := h.Sessions.RevokeAPIToken(t.Context(), kept.ID); !errors.Is(err, auth.ErrNotFound) {
		t.Errorf("revoked again: %v", err)
	}
}
