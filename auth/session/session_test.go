package session_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/auth/session"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/store/clock"
)

// An Authorization header takes precedence and has one valid form; of cookies any one suffices;
// without one the auth frame counts.
func TestAuthenticate_precedence(t *testing.T) {
	r := newRig(t)
	good, bad := r.signIn().Access.Reveal(), auth.NewToken(auth.KindAccess).Reveal()
	bearer := func(t string) []string { return []string{"Bearer " + t} }
	for _, tt := range []struct {
		header, cookies []string
		frame           string
		want            error
	}{
		{nil, nil, "", auth.ErrNoCredentials},
		{nil, []string{""}, "", auth.ErrNoCredentials},
		{nil, []string{good}, "", nil},
		{nil, []string{bad}, "", auth.ErrInvalidToken},
		{nil, []string{"garbage", bad, good}, "", nil},
		{bearer(bad), []string{good}, "", auth.ErrInvalidToken},
		{bearer(good), []string{bad}, "", nil},
		{append(bearer(good), bearer(good)...), nil, "", auth.ErrInvalidToken},
		{[]string{"Basic " + good}, nil, "", auth.ErrInvalidToken},
		{nil, nil, good, nil},
		{nil, []string{bad}, good, nil},
		{nil, []string{good}, bad, nil},
		{nil, []string{bad}, bad, auth.ErrInvalidToken},
	} {
		give := auth.RequestCredentials{Authorization: tt.header, Cookies: tt.cookies, FrameToken: tt.frame}
		caller, err := r.Sessions.Authenticate(t.Context(), give)
		check.That(t, errors.Is(err, tt.want) && (err == nil) == caller.SignedIn(),
			"%+v: %+v, %v; want %v", give, caller, err, tt.want)
	}
}

// A token is valid for its kind only.
func TestAuthenticate_kinds(t *testing.T) {
	r := newRig(t)
	result := r.signIn()
	r.invalid(result.Refresh)
	r.notRefreshed(result.Access, auth.ErrInvalidToken)
	respelled, ok := auth.ParseToken("xa_" + strings.TrimPrefix(result.Refresh.Reveal(), "xr_"))
	check.Require(t, ok, "not a token")
	r.invalid(respelled)
	r.valid(result.Access)
}

// The end of a session takes effect at once, everywhere (CVE-2026-43983).
func TestSessions_endAtOnce(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(r *rig, result auth.Result) error{
		"disabled": func(r *rig, result auth.Result) error { return r.disable(result.Account.ID, true) },
		"deleted": func(r *rig, result auth.Result) error {
			return r.Sessions.DeleteAccount(r.t.Context(), result.Account.ID)
		},
		"revoked": func(r *rig, result auth.Result) error {
			_, err := r.Sessions.EndAll(r.t.Context(), result.Account.ID, auth.EndedByOwner)
			return err
		},
		"logged out": func(r *rig, result auth.Result) error {
			return r.Sessions.Logout(r.t.Context(), result.Refresh)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			result := r.signIn()
			caller := r.valid(result.Access)
			ended, stop := r.Sessions.Watch(caller.Session)
			defer stop()
			check.NoError(t, end(r, result))
			r.invalid(result.Access)
			r.notRefreshed(result.Refresh, auth.ErrSessionEnded)
			check.ErrorIs(t, r.Sessions.Validate(t.Context(), caller.Session), auth.ErrSessionEnded, "validate")
			select {
			case <-ended:
			default:
				t.Error("its watcher was not notified")
			}
		})
	}
}

// A disabled account cannot sign in until it is enabled.
func TestChangeAccount_enable(t *testing.T) {
	r := newRig(t)
	account := r.signIn().Account
	check.NoError(t, r.disable(account.ID, true))
	r.refused(authtest.Callback(r.begin()), auth.CodeAccountDisabled)
	check.NoError(t, r.disable(account.ID, false))
	r.signIn()
	check.ErrorIs(t, r.disable("unknown", true), auth.ErrNotFound, "disable an unknown account")
}

// disable disables or enables an account.
func (r *rig) disable(id string, disabled bool) error {
	return r.Sessions.ChangeAccount(r.t.Context(), id, session.AccountChange{Disabled: &disabled})
}

// The flags of an account are independent, and callers have them at once.
func TestChangeAccount_admin(t *testing.T) {
	r := newRig(t)
	result := r.signIn()
	for _, admin := range []bool{true, false} {
		check.NoError(t, r.Sessions.ChangeAccount(t.Context(), result.Account.ID, session.AccountChange{Admin: &admin}))
		check.NoError(t, r.disable(result.Account.ID, true))
		check.NoError(t, r.disable(result.Account.ID, false))
		result = r.signIn()
		check.Equal(t, r.valid(result.Access).Account.Admin, admin, "the account is an administrator's")
	}
}

// CVE-2026-43983: the account is read for each request, also if its session was not ended.
func TestAuthenticate_readsAccount(t *testing.T) {
	r := newRig(t)
	result := r.signIn()
	change := func(do func(tx auth.Tx, key []byte) error) {
		t.Helper()
		check.NoError(t, r.store.Auth().Update(t.Context(), func(tx auth.Tx) error {
			return do(tx, []byte(result.Account.ID))
		}))
		r.invalid(result.Access)
		r.notRefreshed(result.Refresh, auth.ErrSessionEnded)
	}
	change(func(tx auth.Tx, key []byte) error {
		value := strings.Replace(string(tx.Get("auth_user", key)), "{", `{"disabled":true,`, 1)
		return tx.Put("auth_user", key, []byte(value))
	})
	change(func(tx auth.Tx, key []byte) error { return tx.Delete("auth_user", key) })
}

// No secret is stored, logged or printed.
func TestSessions_storeNoSecrets(t *testing.T) {
	r := newRig(t)
	flow := r.begin()
	result := r.signIn()
	pair := r.refresh(result.Refresh)
	invite := r.invite()
	api, _, err := r.Sessions.CreateAPIToken(t.Context(), auth.APIToken{Name: "doorbell"})
	check.NoError(t, err)
	var seen strings.Builder
	for _, table := range session.Tables() {
		fmt.Fprintln(&seen, r.records(table))
	}
	file := check.Must(os.ReadFile(r.path))(t)
	fmt.Fprintf(&seen, "%s %s %v %+v %#v %s", file, r.log.String(), result, pair, invite, api)
	check.Require(t, strings.Contains(seen.String(), "Anna"), "the account is not stored")
	for name, secret := range map[string]string{
		"state": flow.State, "binding": flow.Binding,
		"access": result.Access.Reveal(), "refresh": result.Refresh.Reveal(),
		"next access": pair.Access.Reveal(), "next refresh": pair.Refresh.Reveal(),
		"invite": invite.Reveal(), "API": api.Reveal(),
	} {
		check.That(t, !strings.Contains(seen.String(), secret[max(0, len(secret)-43):]),
			"the %s is stored, logged or printed", name)
	}
}

// A used token is refused after its grace, and its reuse ends its
// family, including the newest tokens, and no other family.
func TestRefresh_reuseEndsFamily(t *testing.T) {
	r := newRig(t)
	other, result := r.signIn(), r.signIn()
	next := r.refresh(result.Refresh)
	r.valid(result.Access) // until its hour is over
	r.valid(next.Access)
	r.host.Pass(auth.ReuseGrace + time.Second)
	r.notRefreshed(result.Refresh, auth.ErrSessionEnded)
	r.invalid(next.Access)
	r.notRefreshed(next.Refresh, auth.ErrSessionEnded)
	r.valid(other.Access)
	r.refresh(other.Refresh)
	check.That(t, strings.Contains(r.log.String(), "used twice"), "not logged:\n%s", r.log.String())
}

// A token that is unknown, or whose successor was used, is refused and ends nothing; an unknown one causes no write.
func TestRefresh_refused(t *testing.T) {
	r := newRig(t)
	result := r.signIn()
	alone := func(token auth.Token) {
		t.Helper()
		_, err := r.Sessions.Refresh(t.Context(), token)
		check.That(t, errors.Is(err, auth.ErrInvalidToken) && !errors.Is(err, auth.ErrSessionEnded),
			"refresh: %v, want %v alone", err, auth.ErrInvalidToken)
	}
	check.Equal(t, r.commits(func() { alone(auth.NewToken(auth.KindRefresh)) }), 0, "commits")
	second := r.refresh(result.Refresh)
	third := r.refresh(second.Refresh)
	alone(result.Refresh)
	r.refresh(third.Refresh)
}

// The tabs of a browser that refresh at once get one successor, by one
// write (GHSA-392p-2q2v-4372); a repetition and an authentication write nothing.
func TestRefresh_concurrent(t *testing.T) {
	r := newRig(t)
	result := r.signIn()
	pairs := make([]auth.TokenPair, 8)
	var wg sync.WaitGroup
	for i := range pairs {
		wg.Go(func() { pairs[i] = r.refresh(result.Refresh) })
	}
	wg.Wait()
	for _, pair := range pairs[1:] {
		check.Equal(t, pair, pairs[0], "two successors of one token")
	}
	check.Equal(t, len(r.records("auth_refresh")), 2, "refresh tokens are stored")
	check.Equal(t, r.commits(func() { r.refresh(pairs[0].Refresh) }), 1, "a refresh: commits")
	n := r.commits(func() {
		r.refresh(pairs[0].Refresh)
		r.valid(pairs[0].Access)
	})
	check.Equal(t, n, 0, "a repeated refresh and an authentication: commits")
}

// A restart between two uses of a token changes neither the successor nor,
// after the grace, the detection of reuse (CVE-2026-9802).
func TestRefresh_restart(t *testing.T) {
	r := newRig(t)
	result := r.signIn()
	lost := r.refresh(result.Refresh)
	r.start()
	check.Equal(t, r.refresh(result.Refresh), lost, "two successors of one token")
	r.host.Pass(auth.ReuseGrace + time.Second)
	r.start()
	r.notRefreshed(result.Refresh, auth.ErrSessionEnded)
	r.notRefreshed(lost.Refresh, auth.ErrSessionEnded)
}

// A session ends a month after its sign-in, regardless of activity, and a week after its last use.
func TestSessions_lifetime(t *testing.T) {
	r := newRig(t)
	idle := r.signIn()
	pair := r.signIn().TokenPair
	for day := range 30 {
		r.host.Pass(24*time.Hour - time.Minute)
		pair = r.refresh(pair.Refresh)
		err := r.Sessions.DeleteExpired(t.Context())
		check.Require(t, err == nil, "day %d: %v", day, err)
	}
	r.valid(pair.Access)
	r.host.Pass(time.Hour)
	r.notRefreshed(pair.Refresh, auth.ErrSessionEnded)
	r.invalid(pair.Access)
	r.notRefreshed(idle.Refresh, auth.ErrInvalidToken)
}

// An access token is valid for an hour, a refresh token for a week.
func TestSessions_tokenLifetimes(t *testing.T) {
	r := newRig(t)
	result, other := r.signIn(), r.signIn()
	r.host.Pass(auth.AccessTTL)
	r.valid(result.Access)
	r.host.Pass(time.Second)
	r.invalid(result.Access)
	r.host.Pass(auth.RefreshTTL - auth.AccessTTL - time.Second)
	r.refresh(result.Refresh)
	r.host.Pass(time.Second)
	r.notRefreshed(other.Refresh, auth.ErrSessionEnded)
}

// Either token of a session logs out, repeatedly, and no token is no error.
func TestLogout_anyToken(t *testing.T) {
	r := newRig(t)
	byAccess, byRefresh, stays := r.signIn(), r.signIn(), r.signIn()
	for range 2 {
		unknown := auth.NewToken(auth.KindAccess)
		check.NoError(t, r.Sessions.Logout(t.Context(), byAccess.Access, byRefresh.Refresh, unknown))
	}
	check.NoError(t, r.Sessions.Logout(t.Context()))
	r.invalid(byAccess.Access)
	r.invalid(byRefresh.Access)
	r.valid(stays.Access)
}

// A user lists and ends the sessions of their account, and no other.
func TestSessions_listAndEnd(t *testing.T) {
	r := newRig(t)
	phone := r.signIn()
	r.host.Pass(time.Minute)
	desk := r.signIn()
	list, err := r.Sessions.List(t.Context(), desk.Account.ID)
	check.Require(t, err == nil && len(list) == 2 && list[0].Idle == 0 && list[1].Age == time.Minute,
		"sessions %+v, %v; want two, the newest first", list, err)
	r.idp.Identity.Subject = "2"
	other := r.signIn().Account.ID
	if err := r.Sessions.End(t.Context(), other, list[1].ID, auth.EndedByOwner); !errors.Is(err, auth.ErrNotFound) {
		t.Errorf("end a session of another account: %v, want %v", err, auth.ErrNotFound)
	}
	check.NoError(t, r.Sessions.End(t.Context(), desk.Account.ID, list[1].ID, auth.EndedByOwner))
	r.invalid(phone.Access)
	r.valid(desk.Access)
}

// DeleteExpired deletes what no longer matters, and nothing else; Count counts live sessions.
func TestDeleteExpired_records(t *testing.T) {
	r := newRig(t)
	gone, stays := r.signIn(), r.signIn()
	check.NoError(t, r.Sessions.Logout(t.Context(), gone.Access))
	counted := func(want int) {
		t.Helper()
		if accounts, sessions, err := r.Sessions.Count(t.Context()); accounts != 1 || sessions != want || err != nil {
			t.Errorf("%d accounts, %d sessions, %v; want 1 and %d", accounts, sessions, err, want)
		}
	}
	counted(1)
	r.host.Pass(2 * auth.AccessTTL)
	next := r.refresh(stays.Refresh)
	check.NoError(t, r.Sessions.DeleteExpired(t.Context()))
	for table, want := range map[auth.Table]int{
		"auth_session": 1, "auth_access": 1, "auth_refresh": 2, "auth_user": 1, "auth_identity": 1, "auth_state": 0,
	} {
		check.Equal(t, len(r.records(table)), want, "%s has records", table)
	}
	r.valid(next.Access)
	r.host.Pass(100 * 24 * time.Hour)
	counted(0)
}

// An API token is valid from its network until it expires, and opens no account.
func TestAPIToken_networkAndExpiry(t *testing.T) {
	r := newRig(t)
	token, record, err := r.Sessions.CreateAPIToken(t.Context(), auth.APIToken{
		Name: "doorbell", Network: netip.MustParsePrefix("192.168.1.0/24"), TTL: time.Hour, Control: true,
	})
	check.NoError(t, err)
	try := func(from string) (auth.Caller, error) {
		return r.Sessions.Authenticate(t.Context(), auth.RequestCredentials{
			Authorization: []string{"Bearer " + token.Reveal()}, From: netip.MustParseAddr(from),
		})
	}
	caller, err := try("::ffff:192.168.1.7")
	check.That(t, err == nil && !caller.SignedIn() && caller.APIToken.ID == record.ID,
		"from its network: %+v, %v", caller, err)
	refused := func(from, why string) {
		t.Helper()
		check.ErrorIs(t, check.Err(try(from)), auth.ErrInvalidToken, "%s", why)
	}
	refused("192.168.2.7", "from another network")
	r.host.Pass(time.Hour + time.Second)
	refused("192.168.1.7", "expired")
	token, record, err = r.Sessions.CreateAPIToken(t.Context(), auth.APIToken{Name: "unlimited"})
	check.NoError(t, err)
	r.host.Pass(1000 * 24 * time.Hour)
	check.Must(try("2001:db8::1"))(t) // without expiry and network
	list, err := r.Sessions.APITokens(t.Context())
	check.That(t, err == nil && len(list) == 1 && list[0] == record, "list %+v, %v", list, err)
	check.NoError(t, r.Sessions.RevokeAPIToken(t.Context(), record.ID))
	refused("2001:db8::1", "revoked")
	check.ErrorIs(t, r.Sessions.RevokeAPIToken(t.Context(), record.ID), auth.ErrNotFound, "revoke again")
}

// A rig is a sign-in over a store, on a host whose clock can be set.
type rig struct {
	*session.SignIn
	t     *testing.T
	path  string
	size  int64 // of the store; 0: as usual
	store *store.Store
	host  *authtest.Host
	clock *clock.Clock
	idp   *authtest.Provider
	log   check.Log
}

// newRig returns the rig of a parallel test.
func newRig(t *testing.T) *rig {
	t.Helper()
	t.Parallel()
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "pressbox.db"), host: authtest.NewHost()}
	r.start()
	check.Close(t, r.store)
	return r
}

// start starts the program, or restarts it.
func (r *rig) start() {
	r.t.Helper()
	if r.store != nil {
		check.NoError(r.t, r.store.Close())
	}
	r.store = check.Must(store.Open(r.path, store.Options{MaxSize: r.size}))(r.t)
	r.clock = check.Must(session.OpenClock(r.t.Context(), r.store.Auth(), r.host.Source(), authtest.Released))(r.t)
	in := authtest.NewSignIn(r.t, r.store.Auth(), r.clock, slog.New(slog.NewTextHandler(&r.log, nil)))
	if r.idp == nil {
		r.idp, _ = in.Provider.(*authtest.Provider)
	}
	r.SignIn, in.Provider = in, r.idp
}

// records returns the records of a table.
func (r *rig) records(table auth.Table) map[string]string {
	r.t.Helper()
	records := map[string]string{}
	check.NoError(r.t, r.store.Auth().View(r.t.Context(), func(tx auth.Tx) error {
		return tx.Each(table, nil, func(key, value []byte) error {
			records[string(key)] = string(value)
			return nil
		})
	}))
	return records
}

// commits returns how many transactions do writes.
func (r *rig) commits(do func()) uint64 {
	r.t.Helper()
	before := check.Must(r.store.Stats())(r.t)
	do()
	after := check.Must(r.store.Stats())(r.t)
	return after.Commits - before.Commits
}

func (r *rig) begin() auth.StartedFlow { r.t.Helper(); return authtest.Begin(r.t, r.SignIn) }

func (r *rig) signIn(tokens ...auth.Token) auth.Result {
	r.t.Helper()
	return authtest.Run(r.t, r.SignIn, tokens...)
}

// refused checks that a callback is refused with a code.
func (r *rig) refused(c auth.Callback, want auth.Code) {
	r.t.Helper()
	result, err := r.Finish(r.t.Context(), c)
	check.Require(r.t, err != nil && auth.CodeOf(err) == want && result.TokenPair == (auth.TokenPair{}),
		"finish: %v, %v; want a refusal with %s", result, err, want)
}

// invite returns a new invite.
func (r *rig) invite() auth.Token {
	r.t.Helper()
	return check.Must(r.Sessions.CreateInvite(r.t.Context()))(r.t)
}

// valid checks that an access token is accepted, and returns the caller.
func (r *rig) valid(token auth.Token) auth.Caller {
	r.t.Helper()
	return check.Must(r.Sessions.Authenticate(r.t.Context(), auth.RequestCredentials{FrameToken: token.Reveal()}))(r.t)
}

// invalid checks that an access token is refused.
func (r *rig) invalid(token auth.Token) {
	r.t.Helper()
	_, err := r.Sessions.Authenticate(r.t.Context(), auth.RequestCredentials{Cookies: []string{token.Reveal()}})
	check.Require(r.t, errors.Is(err, auth.ErrInvalidToken), "access token: %v, want %v", err, auth.ErrInvalidToken)
}

func (r *rig) refresh(token auth.Token) auth.TokenPair {
	r.t.Helper()
	return check.Must(r.Sessions.Refresh(r.t.Context(), token))(r.t).TokenPair
}

// notRefreshed checks that a refresh token is refused with an error.
func (r *rig) notRefreshed(token auth.Token, want error) {
	r.t.Helper()
	pair, err := r.Sessions.Refresh(r.t.Context(), token)
	check.Require(r.t, errors.Is(err, want), "refresh: %v, %v; want %v", pair, err, want)
}

// At the limit the session that has been idle longest ends.
func TestSessions_bounded(t *testing.T) {
	r := newRig(t)
	first := r.signIn()
	r.host.Pass(time.Second)
	second := r.signIn()
	for range auth.MaxSessions - 1 {
		r.host.Pass(time.Second)
		r.signIn()
	}
	r.invalid(first.Access)
	r.valid(second.Access)
}

// A session is renewed MaxRenewals times in any hour, where the tabs of a browser count once. The next renewal waits,
// and uses nothing up; other sessions do not wait.
func TestRefresh_perHour(t *testing.T) {
	r := newRig(t)
	other, pair := r.signIn(), r.signIn().TokenPair
	for range auth.MaxRenewals {
		next := r.refresh(pair.Refresh)
		check.Equal(t, r.refresh(pair.Refresh), next, "the tokens of another tab")
		pair = next
		r.host.Pass(time.Minute)
	}
	left := auth.Renewing - auth.MaxRenewals*time.Minute
	for _, pass := range []time.Duration{0, left - 1, 0} {
		r.host.Pass(pass)
		left -= pass
		wait, ok := errors.AsType[*auth.ThrottledError](check.Err(r.Sessions.Refresh(t.Context(), pair.Refresh)))
		check.Require(t, ok && wait.Wait == left, "the next renewal: %v, want to wait %v", wait, left)
	}
	r.refresh(other.Refresh)
	for range 2 { // as each of the first ones leaves the hour
		r.host.Pass(left)
		pair, left = r.refresh(pair.Refresh), time.Minute
		wait, ok := errors.AsType[*auth.ThrottledError](check.Err(r.Sessions.Refresh(t.Context(), pair.Refresh)))
		check.Require(t, ok && wait.Wait == left, "the one after it: %v, want to wait %v", wait, left)
	}
}

// Of a session MaxUsedTokens used tokens are known, whose reuse ends it; earlier ones, and their access tokens, are
// not, and change nothing.
func TestRefresh_usedTokens(t *testing.T) {
	r := newRig(t)
	pairs := []auth.TokenPair{r.signIn().TokenPair}
	for range auth.MaxUsedTokens + 1 {
		pairs = append(pairs, r.refresh(pairs[len(pairs)-1].Refresh))
		r.host.Pass(time.Minute)
	}
	last := pairs[len(pairs)-1]
	for _, table := range []auth.Table{"auth_access", "auth_refresh"} {
		check.Equal(t, len(r.records(table)), auth.MaxUsedTokens+1, "%s: records", table)
	}
	r.notRefreshed(pairs[0].Refresh, auth.ErrInvalidToken)
	r.invalid(pairs[0].Access)
	r.valid(pairs[1].Access)
	r.valid(last.Access)
	r.notRefreshed(pairs[1].Refresh, auth.ErrSessionEnded)
	r.invalid(last.Access)
	check.NoError(t, r.Sessions.DeleteExpired(t.Context()))
	check.Equal(t, len(r.records("auth_refresh")), 0, "after the end of the session refresh tokens are stored")
}

// MaxAPITokens API tokens and MaxInvites invites can exist; the next one is refused until one is revoked or expires.
func TestSessions_boundedTokens(t *testing.T) {
	r := newRig(t)
	token := func() error {
		_, _, err := r.Sessions.CreateAPIToken(t.Context(), auth.APIToken{Name: "doorbell", TTL: time.Hour})
		return err
	}
	invite := func() error {
		_, err := r.Sessions.CreateInvite(t.Context())
		return err
	}
	oneRefused(t, auth.MaxAPITokens+1, token, auth.ErrTooManyTokens)
	oneRefused(t, auth.MaxInvites+1, invite, auth.ErrTooManyInvites)
	r.host.Pass(time.Hour + time.Second)
	oneRefused(t, auth.MaxAPITokens+1, token, auth.ErrTooManyTokens)
	oneRefused(t, 1, invite, auth.ErrTooManyInvites)
	list := check.Must(r.Sessions.APITokens(t.Context()))(t)
	check.NoError(t, r.Sessions.RevokeAPIToken(t.Context(), list[0].ID))
	check.NoError(t, token())
	r.host.Pass(auth.InviteTTL)
	check.NoError(t, invite())
}

// oneRefused calls create n times at once; all but one must succeed.
func oneRefused(t *testing.T, n int, create func() error, want error) {
	t.Helper()
	errs := make([]error, n)
	var calls sync.WaitGroup
	for i := range errs {
		calls.Go(func() { errs[i] = create() })
	}
	calls.Wait()
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	check.That(t, len(errs) == 1 && errors.Is(errs[0], want), "errors %v, want one: %v", errs, want)
}

const year = 365 * 24 * time.Hour

// A correction of the wall clock during a session changes no age.
func TestClock_corrected(t *testing.T) {
	r := newRig(t)
	for _, by := range []time.Duration{40 * year, -24 * time.Hour} {
		result, flow := r.signIn(), r.begin()
		r.host.Correct(by)
		first, second := r.clock.Corrected(), r.clock.Corrected()
		check.That(t, first == by && second == 0, "corrected by %v, then %v; want %v, 0", first, second, by)
		r.valid(result.Access)
		check.ErrorIs(t, check.Err(r.Finish(t.Context(), authtest.Callback(flow))), nil, "corrected by %v", by)
		r.host.Pass(auth.AccessTTL + time.Second)
		r.invalid(result.Access)
		r.refresh(result.Refresh)
	}
}

// The ages of records from before a correction are right also after a restart.
func TestClock_correctedThenRestarted(t *testing.T) {
	r := newRig(t)
	result := r.signIn() // while the clock is decades behind
	r.host.Correct(40 * year)
	r.clock.Corrected()
	check.NoError(t, session.SaveClock(t.Context(), r.store.Auth(), r.clock))
	r.host.Pass(time.Hour)
	r.host.Restart("second", time.Minute)
	r.start()
	r.invalid(result.Access)
	r.refresh(result.Refresh)
}

// After a restart with the wall clock behind, the time is the last known one.
func TestClock_restartedBehind(t *testing.T) {
	r := newRig(t)
	result := r.signIn()
	r.host.Pass(10 * time.Minute)
	check.NoError(t, session.SaveClock(t.Context(), r.store.Auth(), r.clock))
	seen := r.clock.Wall()
	r.host.Restart("second", -3*year)
	r.start()
	if now := r.clock.Wall(); now.Before(seen) || now.After(seen.Add(time.Minute)) {
		t.Errorf("after a restart it is %v, want about %v", now, seen)
	}
	r.valid(result.Access)
	r.host.Correct(3*year + 8*24*time.Hour) // by the network
	r.clock.Corrected()
	r.invalid(result.Access)
	r.notRefreshed(result.Refresh, auth.ErrSessionEnded)
}

// Eight days without power end a session; a restart of the program changes nothing.
func TestClock_restarted(t *testing.T) {
	r := newRig(t)
	result := r.signIn()
	r.host.Correct(5 * year)
	r.start()
	r.valid(result.Access)
	r.host.Pass(auth.AccessTTL + time.Second)
	r.invalid(result.Access)
	r.host.Restart("second", 8*24*time.Hour)
	r.start()
	r.notRefreshed(result.Refresh, auth.ErrSessionEnded)
}

// An unknown boot is older than any lifetime, and a thousand boots are stored: the oldest is deleted.
func TestOpenClock_bounded(t *testing.T) {
	r := newRig(t)
	age := r.clock.Age(clock.Instant{Boot: "unknown"})
	check.That(t, age >= year, "age %v, want more than any lifetime", age)
	check.NoError(t, r.store.Auth().Update(t.Context(), func(tx auth.Tx) error {
		for i := range uint64(998) { // with the first one, one less than the limit
			id := fmt.Sprint("boot", i)
			value, err := json.Marshal(clock.Boot{Start: authtest.Released, Seen: authtest.Released})
			if err != nil {
				return err
			}
			if err := tx.Put("meta_clock", []byte(id), value); err != nil {
				return err
			}
			if err := tx.Put("meta_clock_order", binary.BigEndian.AppendUint64(nil, i+1), []byte(id)); err != nil {
				return err
			}
		}
		return nil
	}))
	for i := range 5 {
		r.host.Restart(fmt.Sprint("new", i), time.Minute)
		r.start()
		check.Equal(t, r.clock.Age(r.clock.Now()), 0, "the age of now")
	}
	boots := r.records("meta_clock")
	n, order := len(boots), len(r.records("meta_clock_order"))
	check.That(t, n == 1000 && order == 1000, "%d boots in an order of %d, want 1000", n, order)
	for id, want := range map[string]bool{"first": false, "boot2": false, "boot3": true, "new0": true, "new4": true} {
		_, ok := boots[id]
		check.That(t, ok == want, "boot %s is stored: %v, want %v", id, ok, want)
	}
}
