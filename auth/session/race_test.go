package session_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"pressbox/auth"
	"pressbox/packaging/check"
)

// Of many who use an invite at once, one gets an account.
func TestLocalAccounts_inviteRace(t *testing.T) {
	r := newRig(t)
	for round := range 5 {
		invite, created, refused := r.invite().Reveal(), atomic.Int64{}, atomic.Int64{}
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				account := auth.LocalAccount{Name: fmt.Sprintf("guest %d of %d", i, round)}
				_, err := r.Sessions.LocalAccounts().Create(t.Context(), account, auth.SignUpInvite, invite)
				if err == nil {
					created.Add(1)
				} else if errors.Is(err, auth.ErrNotInvited) {
					refused.Add(1)
				}
			})
		}
		all.Wait()
		check.Equal(t, created.Load(), 1, "accounts")
		check.Equal(t, refused.Load(), 19, "refusals")
	}
}
