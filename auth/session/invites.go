package session

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"pressbox/auth"
	"pressbox/store/clock"
)

// inviteRecord is a stored invite.
type inviteRecord struct {
	Issued clock.Instant `json:"made"`
}

// CreateInvite returns an invite for one new account, valid for
// [auth.InviteTTL]. It returns [auth.ErrTooManyInvites] beyond [auth.MaxInvites].
func (s *Sessions) CreateInvite(ctx context.Context) (auth.Token, error) {
	t := auth.NewToken(auth.KindInvite)
	hash := t.Hash()
	err := s.repo.Update(ctx, func(tx auth.Tx) error {
		valid, err := where(tx, tableInvite, s.inviteValid)
		switch {
		case err != nil:
			return err
		case len(valid) >= auth.MaxInvites:
			return auth.ErrTooManyInvites
		}
		return put(tx, tableInvite, hash[:], inviteRecord{s.clock.Now()})
	})
	if err != nil {
		return auth.Token{}, fmt.Errorf("create an invite: %w", err)
	}
	s.log.Info("invite created")
	return t, nil
}

// inviteID returns the id by which an invite is listed and revoked: the start of its hash.
func inviteID(key string) string { return hex.EncodeToString([]byte(key[:8])) }

// Invites returns the valid invites, in no order.
func (s *Sessions) Invites(ctx context.Context) (invites []auth.Invite, err error) {
	err = s.repo.View(ctx, func(tx auth.Tx) error {
		invites = nil
		return each(tx, tableInvite, nil, func(key string, i inviteRecord) error {
			if s.inviteValid(key, i) {
				invites = append(invites, auth.Invite{ID: inviteID(key), Left: auth.InviteTTL - s.clock.Age(i.Issued)})
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list the invites: %w", err)
	}
	return invites, nil
}

// RevokeInvite deletes an invite, or returns [auth.ErrNotFound].
func (s *Sessions) RevokeInvite(ctx context.Context, id string) error {
	err := revoke(ctx, s, tableInvite, func(key string, _ inviteRecord) bool { return inviteID(key) == id })
	if err == nil {
		s.log.Info("invite revoked", "invite", id)
	}
	return err
}

func (s *Sessions) inviteValid(_ string, i inviteRecord) bool {
	return s.clock.Age(i.Issued) <= auth.InviteTTL
}

// checkInvite returns nil for a valid invite, or ErrNotInvited.
func (s *Sessions) checkInvite(tx auth.Tx, hash auth.Hash) error {
	i, err := get[inviteRecord](tx, tableInvite, hash[:])
	if errors.Is(err, auth.ErrNotFound) || err == nil && !s.inviteValid("", i) {
		return auth.ErrNotInvited
	}
	return err
}

// useInvite deletes a valid invite, or returns ErrNotInvited.
func (s *Sessions) useInvite(tx auth.Tx, hash auth.Hash) error {
	if err := s.checkInvite(tx, hash); err != nil {
		return err
	}
	return tx.Delete(tableInvite, hash[:])
}
