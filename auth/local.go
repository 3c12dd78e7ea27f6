package auth

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Local is the name of the provider whose accounts the appliance keeps itself.
const Local = "local"

// LocalIssuer is how that provider names itself in callbacks.
const LocalIssuer = "pressbox"

// AuthorizePath is where its page with the two forms is.
const AuthorizePath = "/api/auth/local/authorize"

// A LocalRequest is an authorization request (RFC 6749 §4.1.1) to the
// appliance's own provider, which its page carries along in its address.
type LocalRequest struct {
	State     string
	Redirect  string
	Challenge string // PKCE, S256
}

// A Credentials is what somebody types into that page.
type Credentials struct {
	Name, Passphrase string
	Invite           string // for a new account, where one is needed
	From             netip.Addr
}

// What is wrong with a claim, besides [CheckPassphrase]'s errors,
// [ErrNameTaken] and [ErrNotInvited].
var (
	// ErrWrongCredentials: the name is unknown or the passphrase is another; which of both
	// is not said.
	ErrWrongCredentials = errors.New("name or passphrase is wrong")
	// ErrInvalidName: no such name can be had.
	ErrInvalidName = fmt.Errorf("a name has 1 to %d printable characters", MaxNameLength)
)

// A ThrottledError says that this name or address has tried too often.
type ThrottledError struct{ Wait time.Duration }

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("too many tries: wait %d s", int((e.Wait+time.Second-1)/time.Second))
}
