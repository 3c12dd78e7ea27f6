package session

import (
	"context"
	"fmt"
	"net/netip"

	"pressbox/auth"
)

// CreateAPIToken returns a new API token with the name, network, time to live and
// Control of record. The token is not stored, only its hash. It returns
// [auth.ErrTooManyTokens] beyond [auth.MaxAPITokens].
func (s *Sessions) CreateAPIToken(ctx context.Context, record auth.APIToken) (auth.Token, auth.APIToken, error) {
	t := auth.NewToken(auth.KindAPI)
	hash := t.Hash()
	record.ID, record.Issued, record.Created = auth.NewID(), s.clock.Now(), s.clock.Wall()
	err := s.repo.Update(ctx, func(tx auth.Tx) error {
		valid, err := where(tx, tableAPIToken, s.tokenValid)
		switch {
		case err != nil:
			return err
		case len(valid) >= auth.MaxAPITokens:
			return auth.ErrTooManyTokens
		}
		return put(tx, tableAPIToken, hash[:], record)
	})
	if err != nil {
		return auth.Token{}, auth.APIToken{}, fmt.Errorf("create an API token: %w", err)
	}
	s.log.Info("API token created", "token", record.ID, "name", record.Name, "control", record.Control)
	return t, record, nil
}

// APITokens returns all API tokens that have not expired.
func (s *Sessions) APITokens(ctx context.Context) ([]auth.APIToken, error) {
	return list(ctx, s, tableAPIToken, s.tokenValid)
}

// RevokeAPIToken deletes the API token with the given id. It returns
// [auth.ErrNotFound] if there is none.
func (s *Sessions) RevokeAPIToken(ctx context.Context, id string) error {
	err := revoke(ctx, s, tableAPIToken, func(_ string, t auth.APIToken) bool { return t.ID == id })
	if err == nil {
		s.log.Info("API token revoked", "token", id)
	}
	return err
}

// apiToken returns the record of t, or ErrNotFound if t is not valid from that
// address.
func (s *Sessions) apiToken(ctx context.Context, t auth.Token, from netip.Addr) (auth.APIToken, error) {
	hash := t.Hash()
	record, err := view(ctx, s, func(tx auth.Tx) (auth.APIToken, error) {
		return get[auth.APIToken](tx, tableAPIToken, hash[:])
	})
	foreign := record.Network.IsValid() && !record.Network.Contains(from.Unmap())
	if err == nil && (foreign || !s.tokenValid("", record)) {
		return auth.APIToken{}, auth.ErrNotFound
	}
	return record, err
}

func (s *Sessions) tokenValid(_ string, t auth.APIToken) bool {
	return t.TTL == 0 || s.clock.Age(t.Issued) <= t.TTL
}
