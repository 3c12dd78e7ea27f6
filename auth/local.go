package auth

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Local is the name of the built-in provider.
const Local = "local"

// ProviderGuest is the provider of accounts that a code of a game has made.
const ProviderGuest = "guest"

// LocalIssuer is the issuer of the local provider's callbacks.
const LocalIssuer = "pressbox"

// AuthorizePath is the path of the local provider's sign-in page.
const AuthorizePath = "/api/auth/local/authorize"

// A LocalRequest is an authorization request (RFC 6749 §4.1.1) to the local
// provider. Its page carries it in the URL.
type LocalRequest struct {
	State     string
	Redirect  string
	Challenge string // PKCE, S256
}

// Credentials holds the fields of the local provider's page.
type Credentials struct {
	Name, Passphrase string
	Invite           string // for a new account, if the policy needs one
	From             netip.Addr
}

// Errors of [Credentials]; the others are those of [CheckPassphrase],
// [ErrNameTaken] and [ErrNotInvited].
var (
	// ErrWrongCredentials: the name or the passphrase is wrong, which of them
	// stays secret.
	ErrWrongCredentials = errors.New("wrong name or passphrase")
	ErrInvalidName      = fmt.Errorf("a name has 1 to %d printable characters", MaxNameLength)
)

// A ThrottledError reports that a name or an address has tried too often.
type ThrottledError struct{ Wait time.Duration }

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("too many attempts: wait %d s", int((e.Wait+time.Second-1)/time.Second))
}
