package idp

import (
	"context"
	"net/netip"

	"pressbox/auth"
	"pressbox/auth/session"
)

// AdminCodes sets and redeems the code that makes one account an administrator's. Only its
// hash is stored, by which a short code cannot be guessed quickly from a copy of the store.
type AdminCodes struct {
	Sessions *session.Sessions
	Hasher   *Hasher
}

// Set replaces the code. It returns the errors of [auth.CheckPassphrase].
func (a AdminCodes) Set(ctx context.Context, code string) error {
	if err := auth.CheckPassphrase(code); err != nil {
		return err
	}
	hash, err := a.Hasher.Hash(ctx, code)
	if err != nil {
		return err
	}
	return a.Sessions.SaveAdminCode(ctx, hash)
}

// Redeem uses the code up and makes an account, which sends it from an address, an administrator's. It returns
// [auth.ErrWrongCredentials], [auth.ErrNotFound] if there is no code, or an
// [auth.ThrottledError].
func (a AdminCodes) Redeem(ctx context.Context, account string, from netip.Addr, code string) error {
	hash, err := a.Sessions.TryAdminCode(ctx, account, from)
	if err != nil {
		return err
	}
	right, _, err := a.Hasher.Verify(ctx, hash, code)
	if err != nil {
		return err
	}
	if !right {
		return auth.ErrWrongCredentials
	}
	return a.Sessions.UseAdminCode(ctx, hash, account)
}
