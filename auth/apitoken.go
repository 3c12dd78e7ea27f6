package auth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// An APIToken lets a machine announce; it opens nothing else. What is kept of
// it says who it is for, never the token.
type APIToken struct {
	ID      string        `json:"id"`
	Name    string        `json:"name"`
	Network netip.Prefix  `json:"network"`       // from where it is good; zero: from anywhere
	TTL     time.Duration `json:"ttl,omitempty"` // nanoseconds; 0 means for ever
	Issued  Instant       `json:"made"`
	Created time.Time     `json:"created_at"`
}

// CreateAPIToken makes a token. The name is for people; network and ttl may be
// zero: from anywhere, for ever. It is told once.
func (b *Sessions) CreateAPIToken(ctx context.Context, name string, network netip.Prefix, ttl time.Duration) (Token, APIToken, error) {
	t := NewToken(KindAPI)
	hash := t.Hash()
	kept := APIToken{
		ID: newID(), Name: name, Network: network, TTL: ttl, Issued: b.clock.Now(), Created: b.clock.Wall(),
	}
	err := b.repo.Update(ctx, func(tx Tx) error { return put(tx, tableAPIToken, hash[:], kept) })
	if err != nil {
		return Token{}, APIToken{}, fmt.Errorf("make an API token: %w", err)
	}
	b.log.Info("API token made", "token", kept.ID, "name", name)
	return t, kept, nil
}

// APITokens are all API tokens that are still good.
func (b *Sessions) APITokens(ctx context.Context) (tokens []APIToken, err error) {
	err = b.repo.View(ctx, func(tx Tx) error {
		tokens = nil
		return each(tx, tableAPIToken, nil, func(_ string, t APIToken) error {
			if !b.expired(t) {
				tokens = append(tokens, t)
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list the API tokens: %w", err)
	}
	return tokens, nil
}

// RevokeAPIToken ends the token of an id, or is [ErrNotFound].
func (b *Sessions) RevokeAPIToken(ctx context.Context, id string) error {
	err := b.repo.Update(ctx, func(tx Tx) error {
		found := false
		err := sweep(tx, tableAPIToken, nil, func(_ string, t APIToken) bool {
			found = found || t.ID == id
			return t.ID == id
		})
		if err == nil && !found {
			err = ErrNotFound
		}
		return err
	})
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("revoke an API token: %w", err)
	}
	if err == nil {
		b.log.Info("API token revoked", "token", id)
	}
	return err
}

// apiToken is the API token that t is, when it is good from there.
func (b *Sessions) apiToken(ctx context.Context, t Token, from netip.Addr) (kept APIToken, err error) {
	hash := t.Hash()
	err = b.repo.View(ctx, func(tx Tx) (err error) {
		kept, err = get[APIToken](tx, tableAPIToken, hash[:])
		return err
	})
	if err == nil && (b.expired(kept) || kept.Network.IsValid() && !kept.Network.Contains(from.Unmap())) {
		return APIToken{}, ErrNotFound
	}
	return kept, err
}

func (b *Sessions) expired(t APIToken) bool { return t.TTL > 0 && b.clock.Age(t.Issued) > t.TTL }

// Network is the network that an address lies in, wide enough to name no
// single device: /24, or /48 of IPv6.
func Network(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	bits := 24
	if a.Is6() {
		bits = 48
	}
	p, err := a.Prefix(bits)
	if err != nil || !p.IsValid() {
		return "" // no address
	}
	return p.String()
}
