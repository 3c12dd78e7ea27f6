package auth

import (
	"errors"
	"fmt"
)

// A Code says to the client's page why a sign-in did not succeed. The set is
// fixed, so that nothing an identity provider or a stranger writes is echoed.
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
	CodeServerError       Code = "server_error"
)

// Codes are all codes.
func Codes() []Code {
	return []Code{
		CodeAccessDenied, CodeInvalidState, CodeStateExpired, CodeBrowserMismatch, CodeIssuerMismatch,
		CodeExchangeFailed, CodeUnreachable, CodeUserinfoFailed, CodeProviderError, CodeNotInvited,
		CodeAccountDisabled, CodeClockUnsynced, CodeInsecureTransport, CodeRateLimited, CodeServerError,
	}
}

// Description is the code in a sentence for people.
func (c Code) Description() string {
	switch c {
	case CodeAccessDenied:
		return "Sign-in was cancelled or refused."
	case CodeInvalidState:
		return "This sign-in was already finished, or was never begun here. Please start again."
	case CodeStateExpired:
		return "Sign-in took longer than ten minutes. Please start again."
	case CodeBrowserMismatch:
		return "Sign-in was begun in another browser, or cookies are blocked. Please start again from this one."
	case CodeIssuerMismatch:
		return "The answer came from another identity provider than the one that was asked."
	case CodeExchangeFailed:
		return "The identity provider did not confirm this sign-in."
	case CodeUnreachable:
		return "The identity provider cannot be reached right now."
	case CodeUserinfoFailed:
		return "The identity provider did not say who signed in."
	case CodeProviderError:
		return "The identity provider reported an error."
	case CodeNotInvited:
		return "An invite is needed to make an account here."
	case CodeAccountDisabled:
		return "This account has been disabled."
	case CodeClockUnsynced:
		return "The device does not know the time yet. Please try again in a few minutes."
	case CodeInsecureTransport:
		return "Sign-in needs https here. Please use the device's https address."
	case CodeRateLimited:
		return "Too many sign-ins were begun. Please wait a minute."
	default:
		return "Something went wrong on this device."
	}
}

// A RefusalError is why a sign-in did not succeed: the code for the client, and the
// cause for the log.
type RefusalError struct {
	Code Code
	Err  error // nil when the code says it all
}

// Error is the code and the cause; it is not for the client.
func (r *RefusalError) Error() string {
	if r.Err == nil {
		return string(r.Code)
	}
	return fmt.Sprintf("%s: %v", r.Code, r.Err)
}

// Unwrap is the cause.
func (r *RefusalError) Unwrap() error { return r.Err }

// Refuse makes a refusal, unless err is one already.
func Refuse(code Code, err error) error {
	if r, ok := errors.AsType[*RefusalError](err); ok {
		return r
	}
	return &RefusalError{code, err}
}

// CodeOf is the code to show for err: its own when it is a [RefusalError], otherwise
// [CodeServerError].
func CodeOf(err error) Code {
	if r, ok := errors.AsType[*RefusalError](err); ok {
		return r.Code
	}
	return CodeServerError
}
