package signin

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web"
)

var (
	errNoSignIn        = errors.New("unknown or expired sign-in")
	errNoPassphrase    = errors.New("this account signs in through an external provider and has no passphrase here")
	errNotForm         = errors.New("Content-Type must be application/x-www-form-urlencoded")
	errMissingToken    = errors.New("refresh token required, in the cookie or in the body")
	errTooManyRenewals = fmt.Errorf("a session is refreshed at most %d times an hour", auth.MaxRenewals)
	errSignUpClosed    = errors.New("new people are not admitted here: SIGN_UP is closed, or a provider " +
		"has the accounts; ask the administrator")
	errOwnAccount = errors.New("administrators cannot disable, delete or demote their own account here")
)

var statuses = web.Statuses{
	web.NewStatus(errTooManyRenewals, http.StatusTooManyRequests, "too_many_requests", time.Minute),
	web.NewStatus(errMissingToken, http.StatusUnauthorized, "missing_token", 0),
	web.NewStatus(errNoPassphrase, http.StatusNotFound, "no_passphrase", 0),
	web.NewStatus(auth.ErrNotFound, http.StatusNotFound, "not_found", 0),
	web.NewStatus(errOwnAccount, http.StatusConflict, "own_account", 0),
	web.NewStatus(errSignUpClosed, http.StatusForbidden, "sign_up_closed", 0),
	web.NewStatus(auth.ErrNotInvited, http.StatusForbidden, "invite_required", 0),
	web.NewStatus(auth.ErrNameTaken, http.StatusConflict, "name_taken", 0),
	web.NewStatus(auth.ErrUnknownCode, http.StatusNotFound, "unknown_code", 0),
	web.NewStatus(auth.ErrGuestsFull, http.StatusServiceUnavailable, "guests_full", 10*time.Minute),
	web.NewStatus(auth.ErrFull, http.StatusServiceUnavailable, "sign_in_full", 10*time.Minute),
	web.NewStatus(auth.ErrTooManyTokens, http.StatusConflict, "too_many_tokens", 0),
	web.NewStatus(auth.ErrTooManyInvites, http.StatusConflict, "too_many_invites", 0),
	web.NewStatus(errNotForm, http.StatusUnsupportedMediaType, "unsupported_media_type", 0),
}

// Problem returns the problem that an error of these routes is to the client.
func Problem(err error) (web.Problem, bool) { return statuses.Problem(err) }

// refused returns an error of a passphrase or code in a body as one of its member path, wrong credentials as wrong, and
// one of too many tries with the time to wait; it returns others unchanged.
func refused(err error, path string, wrong web.Violation) error {
	if wait, ok := errors.AsType[*auth.ThrottledError](err); ok {
		return &web.RetryError{Err: web.ErrTooManyRequests, After: wait.Wait}
	}
	for known, code := range map[error]string{
		auth.ErrPassphraseTooShort: "too_short", auth.ErrPassphraseTooLong: "too_long",
		auth.ErrPassphraseTooCommon: "too_common", auth.ErrWrongCredentials: "wrong",
	} {
		switch {
		case !errors.Is(err, known):
		case code == "wrong":
			wrong.Code = code
			return &web.BodyError{Violations: []web.Violation{wrong}}
		default:
			return &web.BodyError{Violations: []web.Violation{{Path: path, Code: code, Detail: known.Error()}}}
		}
	}
	return err
}
