package session

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/text/secure/precis"

	"pressbox/auth"
)

// LocalAccounts manages the names and passphrase hashes of the local provider.
type LocalAccounts struct{ sessions *Sessions }

// LocalAccounts returns the local provider's accounts.
func (s *Sessions) LocalAccounts() *LocalAccounts { return &LocalAccounts{s} }

// Find returns the local account of a name in any spelling, or
// [auth.ErrNotFound].
func (l *LocalAccounts) Find(ctx context.Context, name string) (auth.LocalAccount, error) {
	key, ok := auth.CanonicalName(name)
	if !ok {
		return auth.LocalAccount{}, auth.ErrNotFound
	}
	return view(ctx, l.sessions, func(tx auth.Tx) (auth.LocalAccount, error) {
		return get[auth.LocalAccount](tx, tableLocal, []byte(key))
	})
}

// MayCreate returns nil if the policy, which is open, invite or closed, permits a
// new account with the invite; otherwise [auth.ErrNotInvited].
func (l *LocalAccounts) MayCreate(ctx context.Context, policy auth.SignUpPolicy, invite string) error {
	if policy == auth.SignUpOpen {
		return nil
	}
	t, ok := auth.ParseToken(invite)
	if policy != auth.SignUpInvite || !ok {
		return auth.ErrNotInvited
	}
	return l.sessions.repo.View(ctx, func(tx auth.Tx) error { return l.sessions.checkInvite(tx, t.Hash()) })
}

// Create stores a local account and returns it with its name normalized. It
// returns [auth.ErrNameTaken], [auth.ErrNotFound] for an invalid name, or
// [auth.ErrNotInvited]. The transaction that stores the name uses up the invite.
func (l *LocalAccounts) Create(
	ctx context.Context, account auth.LocalAccount, policy auth.SignUpPolicy, invite string,
) (auth.LocalAccount, error) {
	err := l.sessions.repo.Update(ctx, func(tx auth.Tx) error { return l.create(tx, &account, policy, invite) })
	if err != nil {
		return auth.LocalAccount{}, created(err)
	}
	return account, nil
}

// created returns why a local account was not created.
func created(err error) error {
	if auth.CodeOf(err) == auth.CodeNotInvited {
		return auth.ErrNotInvited
	}
	return fmt.Errorf("create a local account: %w", err)
}

// create stores a local account, whose name it normalizes, under its canonical name.
func (l *LocalAccounts) create(
	tx auth.Tx, account *auth.LocalAccount, policy auth.SignUpPolicy, invite string,
) (err error) {
	key, ok := auth.CanonicalName(account.Name)
	if !ok {
		return auth.ErrNotFound
	}
	account.Name, _ = precis.Nickname.String(account.Name) // valid: it has a canonical form
	account.Created = l.sessions.clock.Wall()
	var hash auth.Hash
	if t, ok := auth.ParseToken(invite); ok {
		hash = t.Hash()
	}
	if account.Open, err = l.sessions.checkSignUp(tx, policy, hash); err != nil {
		return err // before the name is looked up
	}
	if tx.Get(tableLocal, []byte(key)) != nil {
		return auth.ErrNameTaken // and the invite stays valid
	}
	leaveReserve(tx, auth.Account{})
	return put(tx, tableLocal, []byte(key), *account)
}

// Rehash replaces the hash old of a name. It returns [auth.ErrNotFound] if the
// stored hash is another one or the name is gone.
func (l *LocalAccounts) Rehash(ctx context.Context, name, old, hash string) error {
	key, _ := auth.CanonicalName(name)
	return l.sessions.repo.Update(ctx, func(tx auth.Tx) error {
		account, err := get[auth.LocalAccount](tx, tableLocal, []byte(key))
		if err != nil {
			return err
		}
		if account.Hash != old {
			return auth.ErrNotFound
		}
		account.Hash = hash
		return put(tx, tableLocal, []byte(key), account)
	})
}

// EndSessions ends the sessions of a name.
func (l *LocalAccounts) EndSessions(ctx context.Context, name string) error {
	local, err := l.Find(ctx, name)
	if err != nil {
		return err
	}
	account, err := l.Account(ctx, local)
	if errors.Is(err, auth.ErrNotFound) {
		return nil // never signed in
	}
	if err == nil {
		_, err = l.sessions.EndAll(ctx, account.ID, auth.EndedByOperator)
	}
	return err
}

// Account returns the account of a local account. It returns [auth.ErrNotFound]
// until the first sign-in.
func (l *LocalAccounts) Account(ctx context.Context, local auth.LocalAccount) (auth.Account, error) {
	key := identityKey(auth.Identity{Provider: auth.Local, Issuer: auth.LocalIssuer, Subject: local.Subject})
	return view(ctx, l.sessions, func(tx auth.Tx) (auth.Account, error) { return accountOf(tx, key) })
}

// deleteLocalAccount deletes the local account of an identity, if it has one.
func deleteLocalAccount(tx auth.Tx, identity auth.Identity) error {
	if identity.Provider != auth.Local {
		return nil
	}
	return deleteWhere(tx, tableLocal, func(_ string, l auth.LocalAccount) bool {
		return l.Subject == identity.Subject
	})
}
