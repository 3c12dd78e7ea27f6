package session

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

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
		session.Account, session.Tokens = account.ID, ""
		leaveReserve(tx, account)
		if ended, err = s.endReplaced(tx, account.ID, a.replaces); err != nil {
			return err
		}
		return s.save(tx, &session, pair)
	})
	if err != nil {
		return auth.Result{}, fmt.Errorf("open a session: %w", err)
	}
	s.notifyEnded(ended...)
	return auth.Result{TokenPair: pair, Account: account, Session: session}, nil
}

// findOrCreateAccount returns the account of an identity, or stores fresh as its
// account. An invite also admits an account of open sign-up.
func (s *Sessions) findOrCreateAccount(tx auth.Tx, a admission, fresh auth.Account) (auth.Account, error) {
	key := identityKey(a.identity)
	account, err := accountOf(tx, key)
	switch {
	case errors.Is(err, auth.ErrNotFound):
		if fresh.Open, err = s.checkSignUp(tx, a.signUp, a.invite); err != nil {
			return auth.Account{}, err
		}
		fresh.Open = fresh.Open && !invitedLocally(tx, a.identity)
		return fresh, errors.Join(put(tx, tableIdentity, key, fresh.ID), put(tx, tableUser, []byte(fresh.ID), fresh))
	case err != nil:
		return auth.Account{}, err
	case account.Disabled:
		return auth.Account{}, &auth.RefusalError{Code: auth.CodeAccountDisabled}
	}
	known := account
	account.Name = cmp.Or(a.identity.Name, account.Name)
	if account.Open {
		account.Open, err = s.checkSignUp(tx, auth.SignUpOpen, a.invite)
	}
	if account != known {
		err = errors.Join(err, put(tx, tableUser, []byte(account.ID), account))
	}
	return account, err
}

// checkSignUp returns a refusal unless the policy allows a new account, and whether it is one of open sign-up. It uses
// up the invite.
func (s *Sessions) checkSignUp(tx auth.Tx, policy auth.SignUpPolicy, invite auth.Hash) (open bool, err error) {
	err = auth.ErrNotInvited
	if policy != auth.SignUpClosed {
		err = s.useInvite(tx, invite)
	}
	switch {
	case !errors.Is(err, auth.ErrNotInvited):
		return false, err
	case policy == auth.SignUpOpen:
		return true, nil
	default:
		return false, &auth.RefusalError{Code: auth.CodeNotInvited, Err: err}
	}
}

// invitedLocally reports whether an identity is of a local account that was made with an invite.
func invitedLocally(tx auth.Tx, identity auth.Identity) bool {
	name, _ := auth.CanonicalName(identity.Name)
	local, err := get[auth.LocalAccount](tx, tableLocal, []byte(name))
	return err == nil && identity.Provider == auth.Local && identity.Subject == local.Subject && !local.Open
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

// Sizes of the records of an account in the store, at most.
const (
	sessionSize = 10 << 10 // of a session with the tokens that are kept of it
	accountSize = 4 << 10  // of all others
	tokenKey    = 43       // characters of a key in [auth.Session.Tokens]
)

// leaveReserve has a transaction leave what is reserved for flows and administrators, unless the account is one's.
func leaveReserve(tx auth.Tx, account auth.Account) {
	if !account.Admin {
		tx.Leave(tx.Room() / 8)
	}
}

// save stores a session and a pair of its tokens, and deletes the pairs that it need not know any more.
func (s *Sessions) save(tx auth.Tx, session *auth.Session, p auth.TokenPair) error {
	key, now, a, r := sessionKey(*session), s.clock.Now(), p.Access.Hash(), p.Refresh.Hash()
	session.Tokens += tokenKeys.EncodeToString(a[:]) + tokenKeys.EncodeToString(r[:])
	err := deleteTokens(tx, session, auth.MaxUsedTokens+1)
	return errors.Join(
		err, put(tx, tableSession, []byte(key), *session), put(tx, tableAccess, a[:], accessRecord{key, now}),
		put(tx, tableRefresh, r[:], refreshRecord{Session: key, Issued: now}),
	)
}

var tokenKeys = base64.RawURLEncoding //nolint:gochecknoglobals // a constant

// deleteTokens deletes the tokens of a session but those of the last pairs.
func deleteTokens(tx auth.Tx, session *auth.Session, keep int) error {
	for len(session.Tokens) > keep*2*tokenKey {
		for _, table := range []auth.Table{tableAccess, tableRefresh} {
			hash, err := tokenKeys.DecodeString(session.Tokens[:tokenKey])
			if err = errors.Join(err, tx.Delete(table, hash)); err != nil {
				return err
			}
			session.Tokens = session.Tokens[tokenKey:]
		}
	}
	return nil
}

// endReplaced ends the sessions of the given tokens, and makes room for another one of the account. It returns the keys
// of the sessions that have ended.
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
	crowded, err := s.makeRoom(tx, account)
	return append(ended, crowded...), err
}

// makeRoom deletes sessions of an account until it may have another one: first those that are over, then the ones that
// have been idle longest. It returns the keys of what it deleted.
func (s *Sessions) makeRoom(tx auth.Tx, account string) (deleted []string, err error) {
	all, err := sessionsOf(tx, account)
	idle := func(session auth.Session) time.Duration {
		if s.over(session) {
			return math.MaxInt64
		}
		return s.clock.Age(session.Renewed)
	}
	slices.SortFunc(all, func(x, y auth.Session) int { return cmp.Compare(idle(y), idle(x)) })
	most := max(1, min(auth.MaxSessions, (tx.Room()/16-accountSize)/sessionSize))
	for len(all) >= int(most) {
		key := sessionKey(all[0])
		deleted = append(deleted, key)
		err = errors.Join(err, deleteTokens(tx, &all[0], 0), tx.Delete(tableSession, []byte(key)))
		all = all[1:]
	}
	return deleted, err
}
