package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"pressbox/auth"
	"pressbox/store/clock"
)

// accessRecord is a stored access token.
type accessRecord struct {
	Session string        `json:"session"` // key of its session
	Issued  clock.Instant `json:"made"`
}

// An admission is a sign-in that the provider has confirmed.
type admission struct {
	identity auth.Identity
	signUp   auth.SignUpPolicy
	invite   auth.Hash
	device   auth.Device
	replaces []auth.Token
}

// open opens a session, and creates the account if the policy allows it. It ends
// the session that the browser had before.
func (s *Sessions) open(ctx context.Context, a admission) (auth.Result, error) {
	pair := auth.TokenPair{Access: auth.NewToken(auth.KindAccess), Refresh: auth.NewToken(auth.KindRefresh)}
	session := auth.Session{ID: auth.NewID(), Method: a.identity.Provider, Device: a.device, Started: s.clock.Now()}
	session.Renewed = session.Started
	fresh := auth.Account{
		ID: auth.NewID(), Name: a.identity.Name, Provider: a.identity.Provider, Issuer: a.identity.Issuer,
		Subject: a.identity.Subject, Created: s.clock.Wall(),
	}
	var account auth.Account
	var ended []string
	err := s.repo.Update(ctx, func(tx auth.Tx) (err error) {
		if account, err = s.findOrCreateAccount(tx, a, fresh); err != nil {
			return err
		}
		session.Account = account.ID
		if ended, err = s.endReplaced(tx, account.ID, a.replaces); err != nil {
			return err
		}
		return s.save(tx, session, pair)
	})
	if err != nil {
		return auth.Result{}, fmt.Errorf("open a session: %w", err)
	}
	s.notifyEnded(ended...)
	return auth.Result{TokenPair: pair, Account: account, Session: session}, nil
}

// findOrCreateAccount returns the account of an identity, or stores fresh as its
// account.
func (s *Sessions) findOrCreateAccount(tx auth.Tx, a admission, fresh auth.Account) (auth.Account, error) {
	key := identityKey(a.identity)
	if tx.Get(tableIdentity, key) == nil {
		if err := s.checkSignUp(tx, a.signUp, a.invite); err != nil {
			return auth.Account{}, err
		}
		if err := put(tx, tableIdentity, key, fresh.ID); err != nil {
			return auth.Account{}, err
		}
		return fresh, put(tx, tableUser, []byte(fresh.ID), fresh)
	}
	account, err := accountOf(tx, key)
	if err != nil {
		return auth.Account{}, err
	}
	if account.Disabled {
		return auth.Account{}, &auth.RefusalError{Code: auth.CodeAccountDisabled}
	}
	if name := a.identity.Name; name != "" && name != account.Name {
		account.Name = name
		err = put(tx, tableUser, []byte(account.ID), account)
	}
	return account, err
}

// checkSignUp returns a refusal unless the policy allows a new account. It uses
// up the invite.
func (s *Sessions) checkSignUp(tx auth.Tx, policy auth.SignUpPolicy, invite auth.Hash) error {
	switch policy {
	case auth.SignUpOpen:
		return nil
	case auth.SignUpInvite:
		err := s.useInvite(tx, invite)
		if errors.Is(err, auth.ErrNotInvited) {
			return &auth.RefusalError{Code: auth.CodeNotInvited, Err: err}
		}
		return err
	default:
		return &auth.RefusalError{Code: auth.CodeNotInvited}
	}
}

// identityKey returns the key of an identity. It contains the provider, so that
// equal subjects of two providers are two identities.
func identityKey(identity auth.Identity) []byte {
	return []byte(identity.Provider + "\x00" + identity.Issuer + "\x00" + identity.Subject)
}

// accountOf returns the account of an identity, or ErrNotFound.
func accountOf(tx auth.Tx, identity []byte) (auth.Account, error) {
	id, err := get[string](tx, tableIdentity, identity)
	if err != nil {
		return auth.Account{}, err
	}
	return get[auth.Account](tx, tableUser, []byte(id))
}

// save stores a session and a pair of its tokens.
func (s *Sessions) save(tx auth.Tx, session auth.Session, p auth.TokenPair) error {
	key, now, a, r := sessionKey(session), s.clock.Now(), p.Access.Hash(), p.Refresh.Hash()
	return errors.Join(
		put(tx, tableSession, []byte(key), session), put(tx, tableAccess, a[:], accessRecord{key, now}),
		put(tx, tableRefresh, r[:], refreshRecord{Session: key, Issued: now}),
	)
}

// endReplaced ends the sessions of the given tokens and, at the limit, the
// account's session that has been idle longest.
func (s *Sessions) endReplaced(tx auth.Tx, account string, replaces []auth.Token) (ended []string, err error) {
	for _, t := range replaces {
		session, err := sessionOf(tx, t)
		if errors.Is(err, auth.ErrNotFound) || err == nil && session.Ended != "" {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := end(tx, session, auth.EndedByNewSignIn); err != nil {
			return nil, err
		}
		ended = append(ended, sessionKey(session))
	}
	live, err := s.live(tx, account)
	if err != nil || len(live) < auth.MaxSessions {
		return ended, err
	}
	oldest := slices.MaxFunc(live, func(x, y auth.Session) int {
		return cmp.Compare(s.clock.Age(x.Renewed), s.clock.Age(y.Renewed))
	})
	return append(ended, sessionKey(oldest)), end(tx, oldest, auth.EndedByLimit)
}
