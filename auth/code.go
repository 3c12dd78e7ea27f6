package auth

import (
	"cmp"
	"errors"
	"fmt"
)

// A Code gives the client the reason of a failed sign-in. The set is fixed, so no text of
// a provider or a client is echoed.
type Code string

// The codes.
const (
	CodeAccessDenied      Code = "access_denied"
	CodeInvalidState      Code = "invalid_state"
	CodeStateExpired      Code = "state_expired"
	CodeBrowserMismatch   Code = "state_browser_mismatch"
	CodeIssuerMismatch    Code = "issuer_mismatch"
	CodeExchangeFailed    Code = "exchange_failed"
	CodeUnreachable       Code = "idp_unreachable"
	CodeUserinfoFailed    Code = "userinfo_failed"
	CodeProviderError     Code = "idp_error"
	CodeNotInvited        Code = "not_invited"
	CodeAccountDisabled   Code = "account_disabled"
	CodeClockUnsynced     Code = "clock_unsynced"
	CodeInsecureTransport Code = "insecure_transport"
	CodeRateLimited       Code = "rate_limited"
	CodeFull              Code = "sign_in_full"
	CodeServerError       Code = "server_error"
)

// descriptions are sentences for the user.
var descriptions = map[Code]string{ //nolint:gochecknoglobals // never changed
	CodeAccessDenied: "Sign-in was cancelled or refused.",
	CodeInvalidState: "This sign-in is unknown or already finished. Please start again.",
	CodeStateExpired: "Sign-in took longer than ten minutes. Please start again.",
	CodeBrowserMismatch: "Sign-in was started in another browser, or cookies are blocked. " +
		"Please start again in this browser.",
	CodeIssuerMismatch:    "The answer came from another identity provider than the one that was asked.",
	CodeExchangeFailed:    "The identity provider did not confirm this sign-in.",
	CodeUnreachable:       "The identity provider cannot be reached. Please try again later.",
	CodeUserinfoFailed:    "The identity provider did not return a user identity.",
	CodeProviderError:     "The identity provider reported an error.",
	CodeNotInvited:        "You need an invite to create an account here.",
	CodeAccountDisabled:   "This account is disabled.",
	CodeClockUnsynced:     "The server's clock is not set yet. Please try again in a few minutes.",
	CodeInsecureTransport: "Sign-in needs https here. Please use the server's https address.",
	CodeRateLimited:       "Too many sign-ins were started. Please wait a minute.",
	CodeFull:              "There is no room for another session. Please ask an administrator.",
	CodeServerError:       "Something went wrong on the server.",
}

// Description returns a sentence for the user; that of [CodeServerError] for an unknown code.
func (c Code) Description() string { return cmp.Or(descriptions[c], descriptions[CodeServerError]) }

// A RefusalError is the failure of a sign-in: a code for the client and a cause
// for the log.
type RefusalError struct {
	Code Code
	Err  error // nil if the code is the whole cause
}

// Error returns the code and the cause. It is for the log, not for the client.
func (r *RefusalError) Error() string {
	if r.Err == nil {
		return string(r.Code)
	}
	return fmt.Sprintf("%s: %v", r.Code, r.Err)
}

// Unwrap returns the cause.
func (r *RefusalError) Unwrap() error { return r.Err }

// Refuse returns err as a [RefusalError] with the given code, unless it is one
// already.
func Refuse(code Code, err error) error {
	if r, ok := errors.AsType[*RefusalError](err); ok {
		return r
	}
	return &RefusalError{code, err}
}

// CodeOf returns the code of a [RefusalError] or of [ErrFull], and [CodeServerError] for any
// other error.
func CodeOf(err error) Code {
	if r, ok := errors.AsType[*RefusalError](err); ok {
		return r.Code
	}
	if errors.Is(err, ErrFull) {
		return CodeFull
	}
	return CodeServerError
}
