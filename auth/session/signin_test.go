package session_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/packaging/check"
)

// A policy allows new accounts to anyone, to clients of the local network, with an invite, or not at
// all, with every provider; accounts sign in from any address. An invite is valid once, for a week.
func TestFinish_signUp(t *testing.T) {
	r := newRig(t)
	late := r.invite().Reveal()
	r.host.Pass(auth.InviteTTL + time.Second)
	invite, second := r.invite().Reveal(), r.invite().Reveal()
	const remote = "203.0.113.5"
	for _, tt := range []struct {
		policy                auth.SignUpPolicy
		subject, from, invite string
		want                  bool
	}{
		{auth.SignUpLocal, "1", remote, "", false},
		{auth.SignUpLocal, "1", "", "", false}, // unknown address
		{auth.SignUpLocal, "1", remote, "xi_", false},
		{auth.SignUpLocal, "1", "192.168.1.5", "", true},
		{auth.SignUpLocal, "1", remote, "", true}, // an account
		{auth.SignUpLocal, "2", remote, invite, true},
		{auth.SignUpLocal, "3", remote, invite, false}, // used
		{auth.SignUpLocal, "3", "127.0.0.1", "", true},
		{auth.SignUpLocal, "4", "fe80::1", "", true},
		{auth.SignUpClosed, "5", "127.0.0.1", second, false},
		{auth.SignUpClosed, "4", "127.0.0.1", "", true},
		{auth.SignUpInvite, "5", "127.0.0.1", "", false},
		{auth.SignUpInvite, "5", "127.0.0.1", late, false},
		{auth.SignUpInvite, "5", "127.0.0.1", second, true},
		{auth.SignUpOpen, "6", remote, "", true},
	} {
		r.SignUp, r.idp.Identity.Subject = tt.policy, tt.subject
		c := authtest.Callback(check.Must(r.Begin(t.Context(), auth.FlowOptions{Redirect: "x", Invite: tt.invite}))(t))
		c.From, _ = netip.ParseAddr(tt.from)
		_, err := r.Finish(t.Context(), c)
		check.That(t, (!tt.want || err == nil) && (tt.want || auth.CodeOf(err) == auth.CodeNotInvited),
			"%+v: %v", tt, err)
	}
}

// An account of open sign-up is marked, with every provider, until it signs in by an invite; one that was made with an
// invite is not, and neither are those of an earlier version.
func TestFinish_open(t *testing.T) {
	r := newRig(t)
	local := r.Sessions.LocalAccounts()
	signIn := func(provider, subject string, policy auth.SignUpPolicy, invite string, want bool) {
		t.Helper()
		r.ProviderName, r.SignUp = provider, policy
		r.idp.Identity = auth.Identity{Provider: provider, Issuer: auth.LocalIssuer, Subject: subject, Name: subject}
		o := auth.FlowOptions{Redirect: "x", Invite: invite}
		c := authtest.Callback(check.Must(r.Begin(t.Context(), o))(t))
		account := check.Must(r.Finish(t.Context(), c))(t).Account
		stored := check.Must(r.Sessions.Accounts(t.Context()))(t)
		check.That(t, account.Open == want && slices.Contains(stored, account), "%s: %+v", subject, account)
	}
	create := func(name string, policy auth.SignUpPolicy, invite string) {
		t.Helper()
		check.Must(local.Create(t.Context(), auth.LocalAccount{Name: name, Subject: name}, policy, invite))(t)
	}
	signIn("test", "open", auth.SignUpOpen, "", true)
	signIn("test", "open", auth.SignUpOpen, "", true)
	invite := r.invite().Reveal()
	signIn("test", "open", auth.SignUpOpen, invite, false)
	signIn("test", "other", auth.SignUpOpen, invite, true) // which is used up
	signIn("test", "invited", auth.SignUpInvite, r.invite().Reveal(), false)
	create("anna", auth.SignUpOpen, "")
	create("bert", auth.SignUpInvite, r.invite().Reveal())
	signIn(auth.Local, "anna", auth.SignUpOpen, "", true)
	signIn(auth.Local, "anna", auth.SignUpOpen, r.invite().Reveal(), false)
	signIn(auth.Local, "bert", auth.SignUpOpen, "", false)
}

// Who starts many sign-ins deletes own pending ones: at the limit, the oldest of the
// client with most goes, in the network with most.
func TestBegin_evictsMostPending(t *testing.T) {
	r := newRig(t)
	begin := func(from string) auth.StartedFlow {
		return check.Must(r.Begin(t.Context(), auth.FlowOptions{Redirect: "x", From: netip.MustParseAddr(from)}))(t)
	}
	victims := []auth.StartedFlow{begin("192.168.1.20"), begin("203.0.113.9"), begin("fe80::2")}
	first := begin("192.168.1.66")
	for range auth.MaxPendingFlows + 1 {
		begin("192.168.1.66")
	}
	for i := range auth.MaxPendingFlows {
		begin(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}).String()) // a whole network
	}
	for _, victim := range victims {
		check.Must(r.Finish(t.Context(), authtest.Callback(victim)))(t) // a sign-in of another client
	}
	r.refused(authtest.Callback(first), auth.CodeInvalidState)
	check.Equal(t, len(r.records("auth_state")), auth.MaxPendingFlows-len(victims), "pending sign-ins")
}

// A state is valid once, for ten minutes, whatever the outcome.
func TestFinish_stateSingleUse(t *testing.T) {
	r := newRig(t)
	used := authtest.Callback(r.begin())
	check.Must(r.Finish(t.Context(), used))(t)
	r.refused(used, auth.CodeInvalidState)

	failed := authtest.Callback(r.begin())
	r.idp.Err = &auth.RefusalError{Code: auth.CodeExchangeFailed}
	r.refused(failed, auth.CodeExchangeFailed)
	r.idp.Err = nil
	r.refused(failed, auth.CodeInvalidState)

	late, inTime := authtest.Callback(r.begin()), authtest.Callback(r.begin())
	r.host.Pass(auth.FlowTTL)
	check.Must(r.Finish(t.Context(), inTime))(t) // at ten minutes
	r.host.Pass(time.Second)
	late.Binding = "" // its cookie has expired too
	r.refused(late, auth.CodeStateExpired)

	before, concurrent := len(r.idp.Codes()), authtest.Callback(r.begin())
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { _, _ = r.Finish(t.Context(), concurrent) })
	}
	wg.Wait()
	check.Equal(t, len(r.idp.Codes())-before, 1, "20 callbacks with one state: exchanges")
}

// A state is valid in the browser that started the flow, and in no other.
func TestFinish_browserBound(t *testing.T) {
	r := newRig(t)
	other := r.begin()
	for _, binding := range []string{"", "x", other.Binding} {
		c := authtest.Callback(r.begin())
		c.Binding = binding
		r.refused(c, auth.CodeBrowserMismatch)
	}
	check.Equal(t, len(r.idp.Codes()), 0, "codes were exchanged")
}

// State, verifier and nonce are random and belong to one flow; the verifier stays on the server. The
// exchange has the redirect URI of the request, and the browser returns to the path of its start.
func TestFinish_sameRequest(t *testing.T) {
	r := newRig(t)
	for path, want := range map[string]string{"/games/7": "/games/7", "//evil": ""} {
		o := auth.FlowOptions{Redirect: "https://box.example/cb", Return: path}
		flow := check.Must(r.Begin(t.Context(), o))(t)
		if result, err := r.Finish(t.Context(), authtest.Callback(flow)); err != nil || result.Return != want {
			t.Errorf("started with %q: returned to %q, %v; want %q", path, result.Return, err, want)
		}
		request := r.idp.Requests()[0]
		raw, err := base64.RawURLEncoding.DecodeString(flow.State)
		check.That(t, err == nil && len(raw) == 32, "state %q: %d bytes, %v; want 32", flow.State, len(raw), err)
		check.That(t, !strings.Contains(flow.URL, request.Verifier), "the verifier is in %s", flow.URL)
	}
	requests := r.idp.Requests()
	asked, exchanged, next := requests[0], requests[1], requests[2]
	check.That(t, asked == exchanged && asked.Redirect == "https://box.example/cb",
		"authorized with %+v, exchanged with %+v", asked, exchanged)
	same := asked.Verifier == next.Verifier || asked.Nonce == next.Nonce || asked.State == next.State
	check.That(t, !same && len(asked.Verifier) >= 43, "two flows: %+v, %+v", asked, next)
}

// A callback from another issuer, or from none although the provider always sends it, is refused, errors
// included; so is a flow of another provider (GHSA-x445-f3h2-j279).
func TestFinish_issuer(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct {
		name, issuer, got, err string
		always                 bool
		want                   auth.Code // "": signed in
	}{
		{"unknown", "", "", "", false, ""},
		{"same", "https://idp.example", "https://idp.example", "", true, ""},
		{"optional and absent", "https://idp.example", "", "", false, ""},
		{"required and absent", "https://idp.example", "", "", true, auth.CodeIssuerMismatch},
		{"another", "https://idp.example", "https://evil", "", false, auth.CodeIssuerMismatch},
		{"another by a slash", "https://idp.example", "https://idp.example/", "", true, auth.CodeIssuerMismatch},
		{"error of another", "https://idp.example", "https://evil", "access_denied", true, auth.CodeIssuerMismatch},
	} {
		r.idp.Iss, r.idp.IssSent = tt.issuer, tt.always
		c := authtest.Callback(r.begin())
		c.Issuer, c.Error = tt.got, tt.err
		_, err := r.Finish(t.Context(), c)
		check.That(t, (err == nil) == (tt.want == "") && (err == nil || auth.CodeOf(err) == tt.want),
			"issuer %s: %v, want %q", tt.name, err, tt.want)
	}
	flow := r.begin()
	r.ProviderName = "another"
	r.refused(authtest.Callback(flow), auth.CodeInvalidState)
}

// The number of pending flows is bounded, and the oldest is deleted. A callback with an unknown state causes no write.
func TestBegin_bounded(t *testing.T) {
	r := newRig(t)
	first := authtest.Callback(r.begin())
	second := r.begin()
	var last auth.StartedFlow
	for range auth.MaxPendingFlows - 1 {
		r.host.Pass(time.Millisecond)
		last = r.begin()
	}
	flows, order := len(r.records("auth_state")), len(r.records("auth_state_order"))
	check.That(t, flows == auth.MaxPendingFlows && order == flows,
		"%d flows in an order of %d, want %d", flows, order, auth.MaxPendingFlows)
	check.Equal(t, r.commits(func() { r.refused(first, auth.CodeInvalidState) }), 0, "an unknown state: commits")
	for _, flow := range []auth.StartedFlow{second, last} {
		check.Must(r.Finish(t.Context(), authtest.Callback(flow)))(t) // the oldest and the newest that are left
	}
	r.host.Pass(3 * auth.FlowTTL)
	check.NoError(t, r.Sessions.DeleteExpired(t.Context()))
	flows, order = len(r.records("auth_state")), len(r.records("auth_state_order"))
	check.That(t, flows == 0 && order == 0, "%d flows in an order of %d after they have expired", flows, order)
}

// The provider's errors become codes and are not echoed; missing parameters are refused.
func TestFinish_providerErrors(t *testing.T) {
	r := newRig(t)
	r.refused(auth.Callback{}, auth.CodeInvalidState)
	for given, want := range map[string]auth.Code{
		"access_denied": auth.CodeAccessDenied, "login_required": auth.CodeAccessDenied, "": auth.CodeProviderError,
		"zzz": auth.CodeProviderError, "<script>": auth.CodeProviderError, "server_error": auth.CodeProviderError,
	} {
		c := authtest.Callback(r.begin())
		c.Error, c.Code = given, ""
		r.refused(c, want)
		check.That(t, given == "" || !strings.Contains(want.Description(), given), "%q is echoed", given)
	}
}

// A sign-in ends the session that this browser had, and no other (CVE-2026-34454).
func TestFinish_replacesSession(t *testing.T) {
	r := newRig(t)
	elsewhere, first := r.signIn(), r.signIn()
	second := r.signIn(first.Access, first.Refresh)
	r.invalid(first.Access)
	r.notRefreshed(first.Refresh, auth.ErrSessionEnded)
	r.valid(second.Access)
	r.valid(elsewhere.Access)
	r.idp.Identity.Subject = "2"
	third := r.signIn(second.Access)
	r.invalid(second.Access)
	r.valid(third.Access)
}

// An identity is a provider, an issuer and a subject; names are for display (GHSA-g38m-r43w-p2q7).
func TestFinish_identity(t *testing.T) {
	r := newRig(t)
	anna := r.signIn().Account
	r.idp.Identity.Name = "Anna Maria"
	if again := r.signIn().Account; again.ID != anna.ID || again.Name != "Anna Maria" {
		t.Errorf("the same subject is %+v, want %s with the new name", again, anna.ID)
	}
	for _, identity := range []auth.Identity{
		{Provider: "test", Subject: "2", Name: "Anna"},
		{Provider: "test", Issuer: "x", Subject: "1", Name: "Anna"},
		{Provider: "other", Subject: "1", Name: "Anna"},
		{Provider: "test", Issuer: "", Subject: "Anna", Name: "1"},
	} {
		r.idp.Identity = identity
		check.That(t, r.signIn().Account.ID != anna.ID, "%+v has the account of %+v", identity, anna)
	}
	check.NoError(t, r.Sessions.DeleteAccount(t.Context(), anna.ID))
	r.idp.Identity = auth.Identity{Provider: "test", Subject: "1", Name: "Anna"}
	check.That(t, r.signIn().Account.ID != anna.ID, "the deleted account was restored")
}

// A store that cannot be written refuses sign-ins as a server error.
func TestSignIn_storeFails(t *testing.T) {
	r := newRig(t)
	flow := r.begin()
	check.NoError(t, r.store.Close())
	_, err := r.Begin(t.Context(), auth.FlowOptions{})
	check.That(t, err != nil && auth.CodeOf(err) == auth.CodeServerError, "begin: %v, want server_error", err)
	r.refused(authtest.Callback(flow), auth.CodeServerError)
}

// A name is taken once, in any spelling, and free again after its account was deleted.
func TestLocalAccounts_names(t *testing.T) {
	r := newRig(t)
	local := r.Sessions.LocalAccounts()
	for _, tt := range []struct {
		name string
		want error
	}{{"", auth.ErrNotFound}, {" Anna ", nil}, {"a\nb", auth.ErrNotFound}, {"ANNA", auth.ErrNameTaken}} {
		account := auth.LocalAccount{Name: tt.name, Subject: "s1", Hash: "h1"}
		_, err := local.Create(t.Context(), account, auth.SignUpOpen, "")
		check.Require(t, errors.Is(err, tt.want), "create %q: %v, want %v", tt.name, err, tt.want)
	}
	got, err := local.Find(t.Context(), "anna")
	check.That(t, err == nil && got.Name == "Anna" && got.Subject == "s1" && !got.Created.IsZero(),
		"anna is %+v, %v", got, err)
	check.ErrorIs(t, local.Rehash(t.Context(), "Anna", "another", "h2"), auth.ErrNotFound, "rehash of another hash")
	check.NoError(t, local.Rehash(t.Context(), "Anna", "h1", "h2"))
	r.ProviderName, r.idp.Identity = auth.Local, auth.Identity{
		Provider: auth.Local, Issuer: auth.LocalIssuer, Subject: "s1", Name: "Anna",
	}
	check.ErrorIs(t, check.Err(local.Account(t.Context(), got)), auth.ErrNotFound, "account before the first sign-in")
	account := r.signIn().Account
	same, err := local.Account(t.Context(), got)
	check.That(t, err == nil && same == account, "account %+v, %v; want %+v", same, err, account)
	check.NoError(t, r.Sessions.DeleteAccount(t.Context(), account.ID))
	check.ErrorIs(t, check.Err(local.Find(t.Context(), "anna")), auth.ErrNotFound, "after its account was deleted")
	accounts, err := r.Sessions.Accounts(t.Context())
	check.That(t, err == nil && len(accounts) == 0, "accounts %+v, %v", accounts, err)
}

// An invite is valid for one account, within its week, and a taken name does not use it up.
func TestLocalAccounts_invites(t *testing.T) {
	r := newRig(t)
	invite, second := r.invite().Reveal(), r.invite().Reveal()
	create := func(name, invite string, policy auth.SignUpPolicy, want error) {
		t.Helper()
		_, err := r.Sessions.LocalAccounts().Create(t.Context(), auth.LocalAccount{Name: name}, policy, invite)
		check.ErrorIs(t, err, want, "%s with %.5s…", name, invite)
	}
	create("anna", "", auth.SignUpInvite, auth.ErrNotInvited)
	create("anna", "xi_", auth.SignUpInvite, auth.ErrNotInvited)
	create("anna", auth.NewToken(auth.KindInvite).Reveal(), auth.SignUpInvite, auth.ErrNotInvited)
	create("anna", invite, auth.SignUpInvite, nil)
	create("bert", invite, auth.SignUpInvite, auth.ErrNotInvited)
	create("anna", second, auth.SignUpInvite, auth.ErrNameTaken)
	create("bert", second, auth.SignUpInvite, nil)
	late := r.invite().Reveal()
	r.host.Pass(auth.InviteTTL + time.Second)
	create("cora", late, auth.SignUpInvite, auth.ErrNotInvited)
	create("cora", "", auth.SignUpClosed, auth.ErrNotInvited)
}

// tryCode tries the administrator code, of which the hash is "hash", and returns how long to wait.
func (r *rig) tryCode(account, from string) time.Duration {
	r.t.Helper()
	hash, err := r.Sessions.TryAdminCode(r.t.Context(), account, netip.MustParseAddr(from))
	wait, throttled := errors.AsType[*auth.ThrottledError](err)
	if throttled {
		return wait.Wait
	}
	check.Require(r.t, err == nil && hash == "hash", "the hash is %q, %v", hash, err)
	return 0
}

// An account has five tries an hour from a network, across restarts, which no other uses up; a new code forgets them.
func TestAdminCode_tries(t *testing.T) {
	r := newRig(t)
	const lan, elsewhere = "192.168.1.7", "192.168.2.7"
	check.NoError(t, r.Sessions.SaveAdminCode(t.Context(), "hash"))
	r.tryCode("guesser", lan)
	r.host.Pass(time.Minute)
	for range auth.MaxCodeTries - 1 {
		check.Equal(t, r.tryCode("guesser", lan), 0, "a try waits")
	}
	r.host.Restart("second boot", time.Minute)
	r.start()
	wait := r.tryCode("guesser", "192.168.1.8")
	check.Require(t, wait <= auth.CodeWindow-time.Minute && wait >= auth.CodeWindow-5*time.Minute, "waits %v", wait)
	for range auth.MaxCodeTries {
		check.Equal(t, r.tryCode("owner", lan)+r.tryCode("guesser", elsewhere), 0, "others wait")
	}
	r.host.Pass(wait - time.Second)
	check.Equal(t, r.tryCode("guesser", lan), time.Second, "a second early: waits")
	r.host.Pass(time.Second)
	check.Equal(t, r.tryCode("guesser", lan), 0, "waits")
	check.That(t, r.tryCode("guesser", lan) > 0, "the four tries of the second minute are forgotten")
	for i := range 120 {
		r.tryCode(fmt.Sprint("account", i), lan)
	}
	check.That(t, len(r.records("auth_admin_code")["code"]) < 16<<10, "the tries take %d bytes",
		len(r.records("auth_admin_code")["code"]))
	for range 2 {
		check.NoError(t, r.Sessions.SaveAdminCode(t.Context(), "hash"))
		for range auth.MaxCodeTries {
			check.Equal(t, r.tryCode("owner", lan), 0, "of a new code: waits")
		}
	}
}

// The code makes one account an administrator's and is gone then. A code that was replaced during a try makes none.
func TestAdminCode_once(t *testing.T) {
	r := newRig(t)
	r.signIn()
	account := check.Must(r.Sessions.Accounts(t.Context()))(t)[0].ID
	check.NoError(t, r.Sessions.SaveAdminCode(t.Context(), "hash"))
	check.ErrorIs(t, r.Sessions.UseAdminCode(t.Context(), "earlier", account), auth.ErrNotFound, "a replaced code")
	check.That(t, !check.Must(r.Sessions.HasAdministrator(t.Context()))(t), "a replaced code made an administrator")
	check.NoError(t, r.Sessions.UseAdminCode(t.Context(), "hash", account))
	check.That(t, check.Must(r.Sessions.HasAdministrator(t.Context()))(t), "the code made no administrator")
	check.That(t, !check.Must(r.Sessions.HasAdminCode(t.Context()))(t), "the used code still exists")
	_, err := r.Sessions.TryAdminCode(t.Context(), account, netip.Addr{})
	check.ErrorIs(t, err, auth.ErrNotFound, "without a code")
}
