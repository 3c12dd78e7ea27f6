package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"pressbox/auth"
	"pressbox/store/clock"
)

// adminCode is the stored administrator code.
type adminCode struct {
	Hash  string          `json:"hash"`            // in PHC string format
	Tries []clock.Instant `json:"tries,omitempty"` // the last ones, oldest first, at most [auth.MaxCodeTries]
}

var adminCodeKey = []byte("code")

// SaveAdminCode stores the hash of the code that makes one account an administrator's, in
// place of an earlier code. The tries of that one still count.
func (s *Sessions) SaveAdminCode(ctx context.Context, hash string) error {
	err := s.repo.Update(ctx, func(tx auth.Tx) error {
		code, err := get[adminCode](tx, tableAdminCode, adminCodeKey)
		if err != nil && !errors.Is(err, auth.ErrNotFound) {
			return err
		}
		code.Hash = hash
		return put(tx, tableAdminCode, adminCodeKey, code)
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

// TryAdminCode counts a try and returns the hash to compare the code with. It returns
// [auth.ErrNotFound] if there is no code, or [auth.ThrottledError] after
// [auth.MaxCodeTries] within [auth.CodeWindow]. A try counts before its code is compared, so
// that concurrent tries and a restart add none.
func (s *Sessions) TryAdminCode(ctx context.Context) (hash string, err error) {
	err = s.repo.Update(ctx, func(tx auth.Tx) error {
		code, err := get[adminCode](tx, tableAdminCode, adminCodeKey)
		if err != nil {
			return err
		}
		code.Tries = slices.DeleteFunc(code.Tries, func(at clock.Instant) bool {
			return s.clock.Age(at) >= auth.CodeWindow
		})
		if len(code.Tries) >= auth.MaxCodeTries {
			return &auth.ThrottledError{Wait: auth.CodeWindow - s.clock.Age(code.Tries[0])}
		}
		code.Tries, hash = append(code.Tries, s.clock.Now()), code.Hash
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
