package session_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/packaging/check"
)

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

// A session is renewed MaxRenewals times. The next renewal ends it, and no other session.
func TestRefresh_bounded(t *testing.T) {
	r := newRig(t)
	other, result := r.signIn(), r.signIn()
	pair := r.refresh(result.Refresh)
	for key, record := range r.records("auth_session") {
		record = strings.Replace(record, `"renewals":1`, fmt.Sprintf(`"renewals":%d`, auth.MaxRenewals-1), 1)
		check.NoError(t, r.store.Auth().Update(t.Context(), func(tx auth.Tx) error {
			return tx.Put("auth_session", []byte(key), []byte(record))
		}))
	}
	pair = r.refresh(pair.Refresh)
	r.valid(pair.Access)
	r.notRefreshed(pair.Refresh, auth.ErrSessionEnded)
	r.invalid(pair.Access)
	check.NoError(t, r.Sessions.DeleteExpired(t.Context()))
	check.Equal(t, len(r.records("auth_refresh")), 1, "after the end of the session refresh tokens are stored")
	r.refresh(other.Refresh)
}

// MaxAPITokens API tokens and MaxInvites invites can exist; the next one is refused until
// one is revoked or expires.
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
