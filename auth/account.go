package auth

import (
	"net/netip"
	"time"
	"unicode/utf8"

	"golang.org/x/text/secure/precis"

	"pressbox/auth/netblock"
)

// An Account is created by the first sign-in of an identity. Name is for display
// and need not be unique.
type Account struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Provider string    `json:"provider"`
	Issuer   string    `json:"issuer,omitempty"`
	Subject  string    `json:"subject"`
	Created  time.Time `json:"created_at"`
	Disabled bool      `json:"disabled,omitempty"`
	Admin    bool      `json:"admin,omitempty"` // it may administer, and change what CONTROL_ACCESS guards
	// Open means that open sign-up made it, and no invite has admitted it since. Accounts of 0.5.0, which did
	// not record how they were made, are not.
	Open bool `json:"open,omitempty"`
	// Guest is the id of the one game that a guest may play; "" of other accounts.
	Guest string `json:"guest,omitempty"`
}

// An Identity is what a provider asserts about the user. Provider, Issuer and
// Subject together are permanent; Name is for display and may change.
type Identity struct {
	Provider string // "discord", "local", …
	Issuer   string // "" if the provider has none
	Subject  string
	Name     string
}

// A SignUpPolicy decides whether an unknown identity becomes an account.
type SignUpPolicy string

// The policies.
const (
	SignUpOpen   SignUpPolicy = "open"
	SignUpInvite SignUpPolicy = "invite" // with an invite, which is used up
	SignUpClosed SignUpPolicy = "closed"
	// SignUpLocal is SignUpOpen for clients of the local network and SignUpInvite for
	// others; see [SignUpPolicy.For].
	SignUpLocal SignUpPolicy = "local"
)

// For returns the policy for a client: open, invite or closed. The zero address is
// not local.
func (p SignUpPolicy) For(from netip.Addr) SignUpPolicy {
	switch {
	case p != SignUpLocal:
		return p
	case netblock.IsLocal(from):
		return SignUpOpen
	default:
		return SignUpInvite
	}
}

// A LocalAccount is the name and passphrase of an account of the local provider.
type LocalAccount struct {
	Name    string    `json:"name"`    // as the user wrote it
	Subject string    `json:"subject"` // random; never given to another account, unlike the name
	Hash    string    `json:"hash"`    // of the passphrase, in PHC string format
	Created time.Time `json:"made"`
	Open    bool      `json:"open,omitempty"` // made without an invite
}

// MaxNameLength is the length limit of a name, in characters.
const MaxNameLength = 40

// CanonicalName returns the form under which a name is looked up, throttled and
// reserved: an RFC 8266 nickname, which ignores case, width and extra spaces.
// ok is false if name is not a valid name.
func CanonicalName(name string) (canonical string, ok bool) {
	if !utf8.ValidString(name) || utf8.RuneCountInString(name) > MaxNameLength {
		return "", false
	}
	canonical, err := precis.Nickname.CompareKey(name)
	return canonical, err == nil && canonical != ""
}
