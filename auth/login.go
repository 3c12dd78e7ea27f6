package auth

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"golang.org/x/text/secure/precis"
)

// A LocalAccount is the name and passphrase of one of the appliance's own accounts.
type LocalAccount struct {
	Name    string    `json:"name"`    // as its owner writes it
	Subject string    `json:"subject"` // random: a name may be given away again, this never
	Hash    string    `json:"hash"`    // of the passphrase, in PHC's notation
	Created time.Time `json:"made"`
}

// MaxNameLength is the longest name, in characters.
const MaxNameLength = 40

// CanonicalName is the one spelling under which a name is looked up, throttled
// and taken: RFC 8266 nicknames, so that neither case, nor width, nor spacing
// makes another name. It says ok = false of what cannot be a name.
func CanonicalName(name string) (canonical string, ok bool) {
	if !utf8.ValidString(name) || utf8.RuneCountInString(name) > MaxNameLength {
		return "", false
	}
	canonical, err := precis.Nickname.CompareKey(name)
	return canonical, err == nil && canonical != ""
}

// LocalAccounts are the names and passphrases that the appliance keeps.
type LocalAccounts struct{ book *Sessions }

// LocalAccounts are the book's own accounts' names and passphrases.
func (b *Sessions) LocalAccounts() *LocalAccounts { return &LocalAccounts{b} }

// Find is the login of a name in any spelling, or [ErrNotFound].
func (l *LocalAccounts) Find(ctx context.Context, name string) (login LocalAccount, err error) {
	key, ok := CanonicalName(name)
	if !ok {
		return LocalAccount{}, ErrNotFound
	}
	err = l.book.repo.View(ctx, func(tx Tx) (err error) {
		login, err = get[LocalAccount](tx, tableLocal, []byte(key))
		return err
	})
	return login, err
}

// Create takes a name, and is the login as it is kept: without stray spaces in
// its name. Errors: [ErrNameTaken], [ErrNotFound] for what cannot be a name,
// [ErrNotInvited] when policy or invite forbid it. The invite is used up in the
// transaction that takes the name.
func (l *LocalAccounts) Create(ctx context.Context, login LocalAccount, policy SignUpPolicy, invite string) (LocalAccount, error) {
	key, ok := CanonicalName(login.Name)
	if !ok {
		return LocalAccount{}, ErrNotFound
	}
	e := signInEntry{signUp: policy}
	if t, ok := ParseToken(invite); ok {
		e.invite = t.Hash()
	}
	login.Name, _ = precis.Nickname.String(login.Name) // what has a key has a name
	login.Created = l.book.clock.Wall()
	err := l.book.repo.Update(ctx, func(tx Tx) error {
		if tx.Get(tableLocal, []byte(key)) != nil {
			return ErrNameTaken
		}
		if err := l.book.checkSignUp(tx, e); err != nil {
			return err
		}
		return put(tx, tableLocal, []byte(key), login)
	})
	if CodeOf(err) == CodeNotInvited {
		return LocalAccount{}, ErrNotInvited
	}
	if err != nil {
		return LocalAccount{}, fmt.Errorf("take the name: %w", err)
	}
	return login, nil
}

// Rehash keeps another hash for a name whose present hash is old.
// [ErrNotFound] says that the hash is another by now, or the name gone.
func (l *LocalAccounts) Rehash(ctx context.Context, name, old, hash string) error {
	key, _ := CanonicalName(name)
	return l.book.repo.Update(ctx, func(tx Tx) error {
		login, err := get[LocalAccount](tx, tableLocal, []byte(key))
		if err != nil {
			return err
		}
		if login.Hash != old {
			return ErrNotFound
		}
		login.Hash = hash
		return put(tx, tableLocal, []byte(key), login)
	})
}

// EndSessions ends the sessions of whoever has a name.
func (l *LocalAccounts) EndSessions(ctx context.Context, name string) error {
	login, err := l.Find(ctx, name)
	if err != nil {
		return err
	}
	account, err := l.Account(ctx, login)
	if errors.Is(err, ErrNotFound) {
		return nil // it has never been signed in with
	}
	if err == nil {
		_, err = l.book.EndAll(ctx, account.ID, EndedByOperator)
	}
	return err
}

// Account is the account of a login, or [ErrNotFound] when it has never been
// signed in with.
func (l *LocalAccounts) Account(ctx context.Context, login LocalAccount) (account Account, err error) {
	key := identityKey(Identity{Provider: Local, Issuer: LocalIssuer, Subject: login.Subject})
	err = l.book.repo.View(ctx, func(tx Tx) error {
		id, err := get[string](tx, tableIdentity, key)
		if err == nil {
			account, err = get[Account](tx, tableUser, []byte(id))
		}
		return err
	})
	return account, err
}

// forgetLogin removes the login of an identity, if it has one here.
func forgetLogin(tx Tx, who Identity) error {
	if who.Provider != Local {
		return nil
	}
	return sweep(tx, tableLocal, nil, func(_ string, l LocalAccount) bool { return l.Subject == who.Subject })
}

// inviteRecord is an invite as it is kept.
type inviteRecord struct {
	Made Instant `json:"made"`
}

// CreateInvite makes an invite: one account may be made with it, within
// [InviteTTL].
func (b *Sessions) CreateInvite(ctx context.Context) (Token, error) {
	t := NewToken(KindInvite)
	hash := t.Hash()
	err := b.repo.Update(ctx, func(tx Tx) error {
		return put(tx, tableInvite, hash[:], inviteRecord{b.clock.Now()})
	})
	if err != nil {
		return Token{}, fmt.Errorf("make an invite: %w", err)
	}
	b.log.Info("invite made")
	return t, nil
}

// useInvite uses an invite up, or is [ErrNotInvited].
func (b *Sessions) useInvite(tx Tx, hash Hash) error {
	i, err := get[inviteRecord](tx, tableInvite, hash[:])
	if errors.Is(err, ErrNotFound) || err == nil && b.clock.Age(i.Made) > InviteTTL {
		return ErrNotInvited
	}
	if err != nil {
		return err
	}
	return tx.Delete(tableInvite, hash[:])
}
