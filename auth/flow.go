package auth

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"

	"pressbox/store/clock"
)

// An AuthorizationRequest holds the parameters of one flow (RFC 6749 §4.1.1).
// The code exchange needs the same ones.
type AuthorizationRequest struct {
	State    string // returned by the callback
	Verifier string // PKCE (RFC 7636); sent only in the code exchange
	Nonce    string // of OpenID Connect, verified in the ID token
	Redirect string // redirect URI
}

// A Provider is an identity provider. Its errors are [RefusalError]s if there is a
// better code than [CodeServerError].
type Provider interface {
	// Authorize returns the URL to which the browser is redirected.
	Authorize(ctx context.Context, request AuthorizationRequest) (string, error)
	// Issuer returns the issuer that callbacks carry (RFC 9207), "" if they
	// carry none, and whether every callback carries it.
	Issuer(ctx context.Context) (issuer string, always bool, err error)
	// Identify exchanges a code, reads the user's identity and discards the
	// provider's tokens.
	Identify(ctx context.Context, request AuthorizationRequest, code string) (Identity, error)
}

// A PendingFlow is a flow between its start and its callback. It is stored under
// the hash of its state, deleted by the first callback with that state, and
// bound to the browser by the hash of a cookie (RFC 9700 §2.1).
type PendingFlow struct {
	Provider string        `json:"provider"`
	Verifier string        `json:"verifier"`
	Nonce    string        `json:"nonce"`
	Redirect string        `json:"redirect"`
	Return   string        `json:"return,omitempty"` // path in the client; "" means its default
	Invite   Hash          `json:"invite"`           // zero: none
	Binding  Hash          `json:"binding"`
	Started  clock.Instant `json:"made"`
	Sequence uint64        `json:"seq"` // key in the index by age
}

// FlowOptions are the parameters with which a browser starts a flow.
type FlowOptions struct {
	Redirect string     // redirect URI
	Return   string     // path in the client after the sign-in; see [ReturnPath]
	Invite   string     // "" means none
	From     netip.Addr // zero if unknown
}

// A StartedFlow holds the redirect and the cookie of a flow that has started.
type StartedFlow struct {
	URL     string
	State   string // its first characters name the cookie
	Binding string // secret value of the cookie
}

// A Callback holds the parameters of a callback request.
type Callback struct {
	State  string
	Code   string
	Issuer string // "" if absent
	Error  string // "" means success

	Binding  string  // value of the flow's cookie; "" if absent
	Replaces []Token // tokens of the session that this browser had
	Device   Device
	From     netip.Addr // zero if unknown
}

// maxParamLength is the length limit of a callback parameter, in bytes. The
// longest codes in use have fewer than a thousand.
const maxParamLength = 4096

// ParseCallback parses the query of a callback request. It refuses repeated
// parameters (RFC 6749 §3.1) and parameters over 4096 bytes.
func ParseCallback(q url.Values) (Callback, error) {
	var c Callback
	for name, field := range map[string]*string{
		"state": &c.State, "code": &c.Code, "iss": &c.Issuer, "error": &c.Error,
	} {
		*field = q.Get(name)
		if n := len(q[name]); n > 1 || len(*field) > maxParamLength {
			err := fmt.Errorf("parameter %s is given %d times with %d bytes, want at most once with %d",
				name, n, len(*field), maxParamLength)
			return Callback{}, &RefusalError{CodeInvalidState, err}
		}
	}
	return c, nil
}

// A Result is the result of a successful sign-in, or, without Return, of a refresh.
type Result struct {
	TokenPair
	Account Account
	Session Session
	Return  string // path in the client; "" means its default
}
