package session_test

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/auth/session"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/store/clock"
)

// A rig is a sign-in over a store, on a host whose clock can be set.
type rig struct {
	*session.SignIn
	t     *testing.T
	path  string
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
	r.store = check.Must(store.Open(r.path, store.Options{}))(r.t)
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
	check.Require(r.t, err != nil && auth.CodeOf(err) == want && result == (auth.Result{}),
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
