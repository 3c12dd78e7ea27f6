package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// Sessions knows who is in: accounts, their sessions and tokens, API tokens and
// invites. It is safe for use by several goroutines.
type Sessions struct {
	repo   Repository
	clock  *Clock
	maxAge time.Duration
	log    *slog.Logger

	mu       sync.Mutex // guards watchers
	watchers map[string][]chan struct{}
}

// NewSessions makes a book over what k keeps. A session ends maxAge after its
// sign-in however much it is used; 0 means [MaxAge].
func NewSessions(k Repository, clock *Clock, maxAge time.Duration, log *slog.Logger) *Sessions {
	if maxAge == 0 {
		maxAge = MaxAge
	}
	return &Sessions{repo: k, clock: clock, maxAge: maxAge, log: log, watchers: make(map[string][]chan struct{})}
}

// An Account is somebody who may come back. Name is for display and need not
// be unique.
type Account struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Provider string    `json:"provider"`
	Issuer   string    `json:"issuer,omitempty"`
	Subject  string    `json:"subject"`
	Created  time.Time `json:"created_at"`
	Disabled bool      `json:"disabled,omitempty"`
}

// A Device is what is remembered of where a session was opened: enough to tell
// one's own devices apart.
type Device struct {
	Agent   string `json:"agent"`   // "Firefox on Linux", see [Agent]
	Network string `json:"network"` // "192.168.1.0/24", see [Network]
}

// A Session is one browser or program that somebody is signed in with: a family
// of refresh tokens, each the successor of another.
type Session struct {
	ID      string    `json:"id"`
	Account string    `json:"account"`
	Method  string    `json:"method"` // provider by which it was opened
	Device  Device    `json:"device"`
	Started Instant   `json:"made"`
	Renewed Instant   `json:"used"`            // last renewed
	Ended   EndReason `json:"ended,omitempty"` // "" while it lives
}

// A EndReason is why a session ended before its time.
type EndReason string

// The reasons.
const (
	EndedByLogout    EndReason = "logout"
	EndedByNewSignIn EndReason = "replaced" // another sign-in in the same browser
	EndedByReuse     EndReason = "reuse"    // a refresh token came a second time
	EndedByOwner     EndReason = "revoked"  // from another of the owner's devices
	EndedByOperator  EndReason = "operator"
	EndedByLimit     EndReason = "crowded out" // by the owner's newer sessions
)

// accessRecord is an access token as it is kept.
type accessRecord struct {
	Session string  `json:"session"` // key of its session
	Made    Instant `json:"made"`
}

// key is the session's key in its table: sessions of one account lie together.
func (s Session) key() string { return s.Account + "/" + s.ID }

// A Pair is a session's two tokens.
type Pair struct {
	Access  Token
	Refresh Token
}

// signInEntry is a sign-in that the provider has vouched for.
type signInEntry struct {
	who      Identity
	signUp   SignUpPolicy
	invite   Hash
	device   Device
	replaces []Token
}

// openSession opens a session for whoever e is, making an account where that is
// allowed. The session that the browser had before ends with it.
func (b *Sessions) openSession(ctx context.Context, e signInEntry) (Result, error) {
	pair := Pair{NewToken(KindAccess), NewToken(KindRefresh)}
	session := Session{ID: newID(), Method: e.who.Provider, Device: e.device, Started: b.clock.Now()}
	session.Renewed = session.Started
	fresh := Account{
		ID: newID(), Name: e.who.Name, Provider: e.who.Provider, Issuer: e.who.Issuer,
		Subject: e.who.Subject, Created: b.clock.Wall(),
	}
	var account Account
	var ended []string
	err := b.repo.Update(ctx, func(tx Tx) (err error) {
		if account, err = b.findOrCreateAccount(tx, e, fresh); err != nil {
			return err
		}
		session.Account = account.ID
		if ended, err = b.makeRoom(tx, account.ID, e.replaces); err != nil {
			return err
		}
		return b.open(tx, session, pair)
	})
	if err != nil {
		return Result{}, fmt.Errorf("open a session: %w", err)
	}
	b.notifyEnded(ended...)
	return Result{Pair: pair, Account: account}, nil
}

// findOrCreateAccount finds the account of an identity, or makes it.
func (b *Sessions) findOrCreateAccount(tx Tx, e signInEntry, fresh Account) (Account, error) {
	key := identityKey(e.who)
	id, err := get[string](tx, tableIdentity, key)
	if errors.Is(err, ErrNotFound) {
		if err := b.checkSignUp(tx, e); err != nil {
			return Account{}, err
		}
		if err := put(tx, tableIdentity, key, fresh.ID); err != nil {
			return Account{}, err
		}
		return fresh, put(tx, tableUser, []byte(fresh.ID), fresh)
	}
	if err != nil {
		return Account{}, err
	}
	account, err := get[Account](tx, tableUser, []byte(id))
	if err != nil {
		return Account{}, err
	}
	if account.Disabled {
		return Account{}, &RefusalError{CodeAccountDisabled, nil}
	}
	if e.who.Name != "" && e.who.Name != account.Name {
		account.Name = e.who.Name
		err = put(tx, tableUser, []byte(id), account)
	}
	return account, err
}

// checkSignUp says whether an identity that is new here may become an account; an
// invite is used up by it.
func (b *Sessions) checkSignUp(tx Tx, e signInEntry) error {
	switch e.signUp {
	case SignUpOpen:
		return nil
	case SignUpInvite:
		err := b.useInvite(tx, e.invite)
		if errors.Is(err, ErrNotInvited) {
			return &RefusalError{CodeNotInvited, err}
		}
		return err
	default:
		return &RefusalError{CodeNotInvited, nil}
	}
}

// identityKey is where an identity's account is written. The provider's part
// keeps one provider's subjects from being taken for another's.
func identityKey(who Identity) []byte {
	return []byte(who.Provider + "\x00" + who.Issuer + "\x00" + who.Subject)
}

// open writes a session and its first pair.
func (b *Sessions) open(tx Tx, s Session, p Pair) error {
	if err := put(tx, tableSession, []byte(s.key()), s); err != nil {
		return err
	}
	return b.issue(tx, s, p)
}

// issue writes a pair of tokens of a session.
func (b *Sessions) issue(tx Tx, s Session, p Pair) error {
	now, a, r := b.clock.Now(), p.Access.Hash(), p.Refresh.Hash()
	if err := put(tx, tableAccess, a[:], accessRecord{s.key(), now}); err != nil {
		return err
	}
	return put(tx, tableRefresh, r[:], refreshRecord{Session: s.key(), Made: now})
}

// makeRoom ends the sessions that the given tokens belong to, and the account's
// session unused for longest while there are too many.
func (b *Sessions) makeRoom(tx Tx, account string, replaces []Token) (ended []string, err error) {
	for _, t := range replaces {
		s, err := sessionOf(tx, t)
		if errors.Is(err, ErrNotFound) || err == nil && s.Ended != "" {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := end(tx, s, EndedByNewSignIn); err != nil {
			return nil, err
		}
		ended = append(ended, s.key())
	}
	live, err := b.live(tx, account)
	if err != nil || len(live) < MaxSessions {
		return ended, err
	}
	oldest := slices.MaxFunc(live, func(x, y Session) int {
		return cmp.Compare(b.clock.Age(x.Renewed), b.clock.Age(y.Renewed))
	})
	return append(ended, oldest.key()), end(tx, oldest, EndedByLimit)
}

// live are an account's sessions that have not ended, in no order.
func (b *Sessions) live(tx Tx, account string) (live []Session, err error) {
	err = each(tx, tableSession, []byte(account+"/"), func(_ string, s Session) error {
		if s.Ended == "" && !b.stale(s) {
			live = append(live, s)
		}
		return nil
	})
	return live, err
}

// stale says whether a session is over for its age alone.
func (b *Sessions) stale(s Session) bool {
	return b.clock.Age(s.Started) > b.maxAge || b.clock.Age(s.Renewed) > RefreshTTL
}

// end marks a session as over. Its tokens stay until they are swept, so that
// one that comes late is known for what it is.
func end(tx Tx, s Session, why EndReason) error {
	s.Ended = why
	return put(tx, tableSession, []byte(s.key()), s)
}

// sessionOf is the session of an access or refresh token, live or not.
func sessionOf(tx Tx, t Token) (Session, error) {
	var key string
	hash := t.Hash()
	switch t.Kind() {
	case KindAccess:
		a, err := get[accessRecord](tx, tableAccess, hash[:])
		if err != nil {
			return Session{}, err
		}
		key = a.Session
	case KindRefresh:
		r, err := get[refreshRecord](tx, tableRefresh, hash[:])
		if err != nil {
			return Session{}, err
		}
		key = r.Session
	default:
		return Session{}, ErrNotFound
	}
	return get[Session](tx, tableSession, []byte(key))
}

// Watch is closed when the session ends before its time; stop must be called
// when nobody listens any more. It says nothing of sessions that are over for
// their age: see [Sessions.Validate].
func (b *Sessions) Watch(s Session) (ended <-chan struct{}, stop func()) {
	ch := make(chan struct{})
	key := s.key()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watchers[key] = append(b.watchers[key], ch)
	return ch, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		rest := slices.DeleteFunc(b.watchers[key], func(c chan struct{}) bool { return c == ch })
		if len(rest) == 0 {
			delete(b.watchers, key)
			return
		}
		b.watchers[key] = rest
	}
}

// notifyEnded closes the channels of sessions that ended.
func (b *Sessions) notifyEnded(keys ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range keys {
		for _, ch := range b.watchers[key] {
			close(ch)
		}
		delete(b.watchers, key)
	}
}

// Agent is a browser and its system in words, from a User-Agent header, and
// nothing that would tell two such browsers apart.
func Agent(header string) string {
	browser := firstIn(header, "Unknown program", [][2]string{
		{"Edg", "Edge"},
		{"OPR/", "Opera"},
		{"Firefox/", "Firefox"},
		{"Chromium", "Chromium"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
		{"curl/", "curl"},
	})
	system := firstIn(header, "", [][2]string{
		{"Android", "Android"},
		{"iPhone", "iPhone"},
		{"iPad", "iPad"},
		{"Windows", "Windows"},
		{"Mac OS X", "macOS"},
		{"CrOS", "ChromeOS"},
		{"Linux", "Linux"},
	})
	if system == "" {
		return browser
	}
	return browser + " on " + system
}

// firstIn is the name that stands behind the first mark that is in s.
func firstIn(s, otherwise string, marks [][2]string) string {
	for _, mark := range marks {
		if strings.Contains(s, mark[0]) {
			return mark[1]
		}
	}
	return otherwise
}
