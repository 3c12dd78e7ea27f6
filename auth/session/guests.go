package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/secure/precis"

	"pressbox/auth"
	"pressbox/store/clock"
)

// guestCode is a stored code that admits a guest to a game.
type guestCode struct {
	Game   string        `json:"game"`
	Issued clock.Instant `json:"made"`
}

// GuestsPlay has guests admitted only while playing reports true of their game; without it, always. It is set before
// the first request.
func (s *Sessions) GuestsPlay(playing func(game string) bool) { s.playing = playing }

// plays reports whether the game of an account that is a guest's goes on; it does of every other account.
func (s *Sessions) plays(account auth.Account) bool {
	return account.Guest == "" || s.playing == nil || s.playing(account.Guest)
}

// CreateGuestCode returns a code by which one guest is admitted to a game for [auth.GuestCodeTTL]. Of a game, the last
// [auth.MaxGuestsEach] codes are valid.
func (s *Sessions) CreateGuestCode(ctx context.Context, game string) (code string, err error) {
	code = rand.Text()[:auth.GuestCodeLength]
	hash := auth.HashOf(code)
	err = s.repo.Update(ctx, func(tx auth.Tx) error {
		count, oldest := 0, ""
		var age time.Duration
		err := each(tx, tableGuest, nil, func(key string, c guestCode) error {
			if c.Game != game || !s.codeValid(c) {
				return nil
			}
			if count++; oldest == "" || s.clock.Age(c.Issued) > age {
				oldest, age = key, s.clock.Age(c.Issued)
			}
			return nil
		})
		if count >= auth.MaxGuestsEach {
			err = errors.Join(err, tx.Delete(tableGuest, []byte(oldest)))
		}
		leaveReserve(tx, auth.Account{})
		return errors.Join(err, put(tx, tableGuest, hash[:], guestCode{game, s.clock.Now()}))
	})
	if err != nil {
		return "", fmt.Errorf("create the code of a guest: %w", err)
	}
	return code, nil
}

// RevokeGuestCodes deletes the codes of a game.
func (s *Sessions) RevokeGuestCodes(ctx context.Context, game string) error {
	err := s.repo.Update(ctx, func(tx auth.Tx) error {
		return deleteWhere(tx, tableGuest, func(_ string, c guestCode) bool { return c.Game == game })
	})
	if err != nil {
		return fmt.Errorf("revoke the codes of a game: %w", err)
	}
	return nil
}

func (s *Sessions) codeValid(c guestCode) bool { return s.clock.Age(c.Issued) <= auth.GuestCodeTTL }

// A Guest is a person who asks to be admitted by a code.
type Guest struct {
	Code, Name string
	Device     auth.Device
	Replaces   []auth.Token // of the browser; their sessions end
}

// OpenGuest uses up a code and opens a session of a new account that may play the code's game, [auth.Account.Guest]. It
// returns [auth.ErrUnknownCode], [auth.ErrInvalidGuest] or [auth.ErrGuestsFull].
func (s *Sessions) OpenGuest(ctx context.Context, g Guest) (auth.Result, error) {
	name, err := precis.Nickname.String(g.Name)
	if err != nil || name == "" || utf8.RuneCountInString(g.Name) > auth.MaxGuestName {
		return auth.Result{}, auth.ErrInvalidGuest
	}
	hash := auth.HashOf(strings.ToUpper(strings.TrimSpace(g.Code)))
	pair := auth.TokenPair{Access: auth.NewToken(auth.KindAccess), Refresh: auth.NewToken(auth.KindRefresh)}
	account := auth.Account{
		ID: auth.NewID(), Name: name + " (guest)", Provider: auth.ProviderGuest, Created: s.clock.Wall(), Open: true,
	}
	account.Subject = account.ID
	session := auth.Session{ID: auth.NewID(), Account: account.ID, Method: auth.ProviderGuest, Device: g.Device}
	var ended []string
	err = s.repo.Update(ctx, func(tx auth.Tx) error {
		code, err := get[guestCode](tx, tableGuest, hash[:])
		if errors.Is(err, auth.ErrNotFound) || err == nil && !s.codeValid(code) {
			return auth.ErrUnknownCode
		} else if err != nil {
			return err
		}
		if err := s.checkGuests(tx, code.Game); err != nil {
			return err
		}
		account.Guest, session.Tokens = code.Game, ""
		session.Started = s.clock.Now()
		session.Renewed = session.Started
		leaveReserve(tx, account)
		if ended, err = s.endReplaced(tx, account.ID, g.Replaces); err != nil {
			return err
		}
		return errors.Join(
			tx.Delete(tableGuest, hash[:]), put(tx, tableUser, []byte(account.ID), account), s.save(tx, &session, pair),
		)
	})
	if err != nil {
		return auth.Result{}, fmt.Errorf("open the session of a guest: %w", err)
	}
	s.notifyEnded(ended...)
	s.log.Info("guest admitted", "account", account.ID, "game", account.Guest, "network", g.Device.Network)
	return auth.Result{TokenPair: pair, Account: account, Session: session}, nil
}

// checkGuests returns [auth.ErrGuestsFull] if a game, or all of them, has as many guests as it may.
func (s *Sessions) checkGuests(tx auth.Tx, game string) error {
	guests, err := where(tx, tableUser, func(_ string, a auth.Account) bool { return a.Guest != "" && s.plays(a) })
	all, own := 0, 0
	for _, a := range guests {
		live, liveErr := s.live(tx, a.ID)
		err = errors.Join(err, liveErr)
		if len(live) == 0 {
			continue
		}
		if all++; a.Guest == game {
			own++
		}
	}
	if err == nil && (all >= auth.MaxGuests || own >= auth.MaxGuestsEach) {
		err = auth.ErrGuestsFull
	}
	return err
}

// KeptGuest returns the guest of the first token of a session that has not ended, although the game is over, for
// [auth.KeepGuest]; otherwise [auth.ErrInvalidToken].
func (s *Sessions) KeptGuest(ctx context.Context, tokens ...auth.Token) (auth.Account, error) {
	for _, t := range tokens {
		account, err := view(ctx, s, func(tx auth.Tx) (auth.Account, error) {
			session, err := sessionOf(tx, t)
			if err == nil && (s.over(session) || s.clock.Age(session.Renewed) > auth.KeepGuest) {
				err = auth.ErrNotFound
			}
			if err != nil {
				return auth.Account{}, err
			}
			return get[auth.Account](tx, tableUser, []byte(session.Account))
		})
		switch {
		case err == nil && account.Guest != "":
			return account, nil
		case err != nil && !errors.Is(err, auth.ErrNotFound):
			return auth.Account{}, fmt.Errorf("look up a guest: %w", err)
		}
	}
	return auth.Account{}, auth.ErrInvalidToken
}

// Keep makes the account of a guest one with a name and passphrase, whose session it opens. It returns the errors of
// [LocalAccounts.Create].
func (l *LocalAccounts) Keep(
	ctx context.Context, guest string, local auth.LocalAccount, a Admission,
) (auth.Result, error) {
	identity := auth.Identity{Provider: auth.Local, Issuer: auth.LocalIssuer, Subject: local.Subject}
	err := l.sessions.repo.Update(ctx, func(tx auth.Tx) error {
		account, err := get[auth.Account](tx, tableUser, []byte(guest))
		if err == nil && account.Guest == "" {
			err = auth.ErrNotFound
		}
		if err != nil {
			return err
		}
		if err := l.create(tx, &local, a.Policy, a.Invite); err != nil {
			return err
		}
		identity.Name = local.Name
		account.Name, account.Provider, account.Issuer = local.Name, auth.Local, auth.LocalIssuer
		account.Subject, account.Guest, account.Open = local.Subject, "", local.Open
		return errors.Join(
			put(tx, tableIdentity, identityKey(identity), account.ID), put(tx, tableUser, []byte(account.ID), account),
		)
	})
	if err != nil {
		return auth.Result{}, created(err)
	}
	return l.sessions.open(ctx, admission{
		identity: identity, signUp: auth.SignUpClosed, device: a.Device, replaces: a.Replaces,
	})
}

// An Admission is how a guest becomes a local account.
type Admission struct {
	Policy   auth.SignUpPolicy // open, invite or closed
	Invite   string
	Device   auth.Device
	Replaces []auth.Token
}

// guestGone reports whether a session is of a guest whose game is over and who can no longer keep the account.
func (s *Sessions) guestGone(tx auth.Tx, session auth.Session) bool {
	if session.Method != auth.ProviderGuest || s.clock.Age(session.Renewed) <= auth.KeepGuest {
		return false
	}
	account, err := get[auth.Account](tx, tableUser, []byte(session.Account))
	return err == nil && !s.plays(account)
}

// deleteGuests deletes the accounts of guests that have no session any more.
func (s *Sessions) deleteGuests(tx auth.Tx) error {
	return deleteWhere(tx, tableUser, func(id string, a auth.Account) bool {
		if a.Guest == "" {
			return false
		}
		sessions, err := sessionsOf(tx, id)
		return err == nil && len(sessions) == 0
	})
}
