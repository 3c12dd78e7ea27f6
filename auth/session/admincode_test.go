package session_test

import (
	"errors"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/packaging/check"
)

// tryCode tries the administrator code, of which the hash is "hash".
func (r *rig) tryCode(want error) {
	r.t.Helper()
	hash, err := r.Sessions.TryAdminCode(r.t.Context())
	check.Require(r.t, errors.Is(err, want) && (err != nil || hash == "hash"),
		"the hash is %q, %v, want %v", hash, err, want)
}

// Five tries an hour are permitted, across restarts, and an earlier code's tries count.
func TestAdminCode_tries(t *testing.T) {
	r := newRig(t)
	r.tryCode(auth.ErrNotFound)
	check.NoError(t, r.Sessions.SaveAdminCode(t.Context(), "earlier"))
	_ = check.Must(r.Sessions.TryAdminCode(t.Context()))(t)
	check.NoError(t, r.Sessions.SaveAdminCode(t.Context(), "hash"))
	r.host.Pass(time.Minute)
	for range auth.MaxCodeTries - 1 {
		r.tryCode(nil)
	}
	r.host.Restart("second boot", time.Minute)
	r.start()
	_, err := r.Sessions.TryAdminCode(t.Context())
	wait, ok := errors.AsType[*auth.ThrottledError](err)
	check.Require(t, ok && wait.Wait <= auth.CodeWindow-time.Minute && wait.Wait >= auth.CodeWindow-5*time.Minute,
		"the sixth try: %v", err)
	r.host.Pass(wait.Wait - time.Second)
	_, err = r.Sessions.TryAdminCode(t.Context())
	check.Require(t, err != nil, "a try is permitted a second early")
	r.host.Pass(time.Second)
	r.tryCode(nil)
	_, err = r.Sessions.TryAdminCode(t.Context())
	check.Require(t, err != nil, "the four tries of the second minute are forgotten")
}

// The code makes one account an administrator's and is gone then. A code that was replaced
// during a try makes none.
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
	r.tryCode(auth.ErrNotFound)
}
