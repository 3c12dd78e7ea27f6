package session

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"pressbox/auth"
	"pressbox/store/clock"
)

// adminCode is the stored administrator code.
type adminCode struct {
	Hash  string    `json:"hash"`            // in PHC string format
	Tries []codeTry `json:"tries,omitempty"` // the last ones, oldest first, at most maxCodeTries
}

// A codeTry is a try of an account from a network.
type codeTry struct {
	By string        `json:"by"`
	At clock.Instant `json:"at"`
}

// maxCodeTries is the number of tries that are stored, of all accounts.
const maxCodeTries = 100

var adminCodeKey = []byte("code")

// SaveAdminCode stores the hash of the code that makes one account an administrator's, in
// place of an earlier code. The tries of that one count no more.
func (s *Sessions) SaveAdminCode(ctx context.Context, hash string) error {
	err := s.repo.Update(ctx, func(tx auth.Tx) error {
		return put(tx, tableAdminCode, adminCodeKey, adminCode{Hash: hash})
	})
	if err != nil {
		return fmt.Errorf("save the administrator code: %w", err)
	}
	s.log.Info("administrator code set")
	return nil
}

// HasAdminCode reports whether there is an unused administrator code.
func (s *Sessions) HasAdminCode(ctx context.Context) (bool, error) {
	return view(ctx, s, func(tx auth.Tx) (bool, error) { return tx.Get(tableAdminCode, adminCodeKey) != nil, nil })
}

// TryAdminCode counts a try of an account from an address and returns the hash to compare the code with. It returns
// [auth.ErrNotFound] if there is no code, or an [auth.ThrottledError] after [auth.MaxCodeTries] of the account from the
// network within [auth.CodeWindow]: nobody can use up the tries of others. A try counts before its code is compared, so
// that concurrent tries and a restart add none.
func (s *Sessions) TryAdminCode(ctx context.Context, account string, from netip.Addr) (hash string, err error) {
	by := account + " " + auth.Network(from)
	err = s.repo.Update(ctx, func(tx auth.Tx) error {
		code, err := get[adminCode](tx, tableAdminCode, adminCodeKey)
		if err != nil {
			return err
		}
		code.Tries = slices.DeleteFunc(code.Tries, func(try codeTry) bool {
			return s.clock.Age(try.At) >= auth.CodeWindow
		})
		own := slices.DeleteFunc(slices.Clone(code.Tries), func(try codeTry) bool { return try.By != by })
		if len(own) >= auth.MaxCodeTries {
			return &auth.ThrottledError{Wait: auth.CodeWindow - s.clock.Age(own[0].At)}
		}
		code.Tries, hash = append(code.Tries, codeTry{by, s.clock.Now()}), code.Hash
		code.Tries = code.Tries[max(0, len(code.Tries)-maxCodeTries):]
		return put(tx, tableAdminCode, adminCodeKey, code)
	})
	if err != nil {
		return "", fmt.Errorf("try the administrator code: %w", err)
	}
	return hash, nil
}

// UseAdminCode deletes the code with that hash and makes an account an administrator's. It
// returns [auth.ErrNotFound] if the code was used or replaced meanwhile.
func (s *Sessions) UseAdminCode(ctx context.Context, hash, account string) error {
	err := s.repo.Update(ctx, func(tx auth.Tx) error {
		code, err := get[adminCode](tx, tableAdminCode, adminCodeKey)
		if err == nil && code.Hash != hash {
			err = auth.ErrNotFound
		}
		if err != nil {
			return err
		}
		user, err := get[auth.Account](tx, tableUser, []byte(account))
		if err != nil {
			return err
		}
		user.Admin = true
		if err := put(tx, tableUser, []byte(account), user); err != nil {
			return err
		}
		return tx.Delete(tableAdminCode, adminCodeKey)
	})
	if err != nil {
		return fmt.Errorf("use the administrator code: %w", err)
	}
	s.log.Info("administrator code used", "account", account)
	return nil
}
