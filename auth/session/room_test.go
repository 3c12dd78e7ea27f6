package session_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/auth/session"
	"pressbox/packaging/check"
	"pressbox/store"
)

// newSmallRig returns a rig whose store has so many MiB: of 4, there is room for some 50 accounts.
func newSmallRig(t *testing.T, size int64) *rig {
	t.Helper()
	r := newRig(t)
	r.size = size << 20
	r.start()
	return r
}

// as signs in with the identity of a subject.
func (r *rig) as(subject string) (auth.Result, error) {
	r.t.Helper()
	r.idp.Identity = auth.Identity{Provider: "test", Subject: subject, Name: subject}
	return r.Finish(r.t.Context(), authtest.Callback(r.begin()))
}

// room returns the room of sign-in in the store.
func (r *rig) room() store.Share {
	r.t.Helper()
	return check.Must(r.store.Stats())(r.t).Shares[1]
}

// Two accounts that sign in and renew as often as they can have a sixteenth of the room each, and others sign in. An
// account has the sessions for which it has room; the next one ends the one that has been idle longest.
func TestRoom_attack(t *testing.T) {
	r := newSmallRig(t, 8) // room for four sessions of each
	var live []auth.Result
	for _, name := range []string{"Mallory", "Trudy"} {
		for range 12 {
			result := check.Must(r.as(name))(t)
			live = append(live, result)
			for token, err := result.Refresh, error(nil); err == nil; {
				var next auth.Result
				if next, err = r.Sessions.Refresh(t.Context(), token); err == nil {
					token, live[len(live)-1] = next.Refresh, next
				}
				_, throttled := errors.AsType[*auth.ThrottledError](err)
				check.Require(t, err == nil || throttled, "renewed: %v", err)
			}
			r.host.Pass(time.Second)
		}
	}
	room := r.room()
	check.That(t, room.Used <= room.Max/8, "two accounts have %d of %d bytes", room.Used, room.Max)
	r.invalid(live[19].Access)
	for _, result := range live[20:] {
		r.valid(result.Access)
	}
	victim := check.Must(r.as("Anna"))(t)
	r.refresh(victim.Refresh)
}

// When accounts have filled what they may, administrators and sign-ins that begin have a reserve: an administrator
// signs in, renews, invites and disables; others are refused until there is room again.
func TestRoom_reserve(t *testing.T) {
	r := newSmallRig(t, 4)
	admin, yes := check.Must(r.as("admin"))(t), true
	check.NoError(t, r.Sessions.ChangeAccount(t.Context(), admin.Account.ID, session.AccountChange{Admin: &yes}))
	var last auth.Result
	var err error
	accounts := 0
	for ; err == nil; accounts++ {
		var result auth.Result
		if result, err = r.as(fmt.Sprint("account", accounts)); err == nil {
			last = result
		}
	}
	room := r.room()
	check.That(t, errors.Is(err, auth.ErrFull) && auth.CodeOf(err) == auth.CodeFull && accounts > 20 &&
		room.Used <= room.Max*7/8 && room.Used > room.Max*6/8, "after %d accounts, with %+v: %v", accounts, room, err)
	r.notRefreshed(last.Refresh, auth.ErrFull)
	err = nil
	for i := 0; err == nil && i < 20; i++ { // until no record fits
		local := auth.LocalAccount{Name: fmt.Sprint("local", i), Hash: "hash"}
		_, err = r.Sessions.LocalAccounts().Create(t.Context(), local, auth.SignUpOpen, "")
	}
	check.ErrorIs(t, err, auth.ErrFull, "local accounts")
	for range 2 * auth.MaxPendingFlows {
		r.begin()
	}
	for range 3 {
		admin = check.Must(r.as("admin"))(t)
		r.refresh(admin.Refresh)
		r.invite()
		_, _, err := r.Sessions.CreateAPIToken(t.Context(), auth.APIToken{Name: "doorbell"})
		check.NoError(t, err)
	}
	check.NoError(t, r.Sessions.SaveAdminCode(t.Context(), "hash"))
	check.NoError(t, r.Sessions.Reauthenticated(t.Context(), admin.Session))
	check.NoError(t, r.disable(last.Account.ID, true))
	for _, account := range check.Must(r.Sessions.Accounts(t.Context()))(t)[:accounts/2] {
		if !account.Admin {
			check.NoError(t, r.Sessions.DeleteAccount(t.Context(), account.ID))
		}
	}
	check.NoError(t, r.Sessions.DeleteExpired(t.Context()))
	check.Must(r.as("another"))(t)
}
