package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"pressbox/auth"
)

// The errors of this package that clients can cause.
var (
	errNotJSON          = errors.New("request body must be exactly one JSON object")
	ErrNotFound         = errors.New("not found")
	errMethodNotAllowed = errors.New("method not allowed")
	ErrBodyTooLarge     = errors.New("request body exceeds 64 KiB")
	ErrContentType      = errors.New("Content-Type must be application/json")
	ErrIdempotencyKey   = errors.New("Idempotency-Key must be a single header of 1 to 255 visible ASCII characters")
	errHost             = errors.New("unknown Host name; ALLOWED_HOSTS adds names")
	ErrCrossOrigin      = errors.New("cross-origin request refused")
	errAccess           = errors.New("API token required outside the local network")
	errTokenOnly        = errors.New("API token required")
	errToken            = errors.New("invalid API token")
	errNoSession        = errors.New("sign in first: send the session's cookie or its access token")
	errNotAdministrator = errors.New("only root, the server's user and members of the administrator socket's group " +
		"may administer; SocketGroup= in a drop-in of pressbox-admin.socket sets the group")
	errNotAdmin = errors.New("only administrators may do this; on the host, " +
		"\"pressbox users admin NAME\" makes an account an administrator's")
	errPlainHTTP      = errors.New("administration from outside the local network requires https")
	ErrReauthenticate = errors.New("enter the passphrase again: POST /api/auth/reauthenticate, " +
		"or sign in again with the provider")
	errControl = errors.New("sign in as an administrator, or send an API token made with --control " +
		"(CONTROL_ACCESS=admin)")
	errNotPermitted = errors.New("only administrators and API tokens made with --control may change this " +
		"(CONTROL_ACCESS=admin)")
	errNotInvited = errors.New("this account was made without an invite; sign in with an invite, " +
		"or send an API token (NOTIFY_ACCESS=token)")
	errGuest            = errors.New("a guest may only play the game of the invitation")
	errAnnouncementsOff = errors.New("announcements are disabled by NOTIFY_ACCESS=off")
	ErrTooManyRequests  = errors.New("too many requests from this address")
	errInterrupted      = errors.New("request interrupted")
)

// statuses are those of the errors that this package returns.
var statuses = Statuses{
	{errNotJSON, http.StatusBadRequest, "not_json", 0},
	{ErrIdempotencyKey, http.StatusBadRequest, "bad_idempotency_key", 0},
	{errAccess, http.StatusUnauthorized, "unauthenticated", 0},
	{errTokenOnly, http.StatusUnauthorized, "unauthenticated", 0},
	{errControl, http.StatusUnauthorized, "unauthenticated", 0},
	{errNoSession, http.StatusUnauthorized, "unauthenticated", 0},
	{auth.ErrInvalidToken, http.StatusUnauthorized, "invalid_token", 0},
	{errToken, http.StatusUnauthorized, "invalid_token", 0},
	{ErrCrossOrigin, http.StatusForbidden, "cross_origin", 0},
	{errNotInvited, http.StatusForbidden, "not_invited", 0},
	{errGuest, http.StatusForbidden, "guest", 0},
	{errNotPermitted, http.StatusForbidden, "not_permitted", 0},
	{errAnnouncementsOff, http.StatusForbidden, "switched_off", 0},
	{errNotAdministrator, http.StatusForbidden, "not_administrator", 0},
	{errNotAdmin, http.StatusForbidden, "not_administrator", 0},
	{errPlainHTTP, http.StatusForbidden, "https_required", 0},
	{ErrReauthenticate, http.StatusForbidden, "reauthentication_required", 0},
	{ErrNotFound, http.StatusNotFound, "not_found", 0},
	{errMethodNotAllowed, http.StatusMethodNotAllowed, "method_not_allowed", 0},
	{ErrBodyTooLarge, http.StatusRequestEntityTooLarge, "body_too_large", 0},
	{ErrContentType, http.StatusUnsupportedMediaType, "unsupported_media_type", 0},
	{errHost, http.StatusMisdirectedRequest, "wrong_host", 0},
	{ErrTooManyRequests, http.StatusTooManyRequests, "too_many_requests", time.Second},
	{errInterrupted, http.StatusServiceUnavailable, "interrupted", 2 * time.Second},
}

// Problems returns the problem that an error of a package is to the client; ok is false if the
// package does not know the error. Each package of routes has one for the errors that it returns.
type Problems func(err error) (p Problem, ok bool)

// A Status is what one error is to the client: an HTTP status, a code for programs, and the time
// after which to retry, 0 for none. The error's own text, without its wrapping, is the detail.
type Status struct {
	err    error
	status int
	code   string
	retry  time.Duration
}

// NewStatus returns the status of an error.
func NewStatus(err error, status int, code string, retry time.Duration) Status {
	return Status{err, status, code, retry}
}

// Statuses are those of several errors.
type Statuses []Status

// Problem returns the problem of an error with a status.
func (all Statuses) Problem(err error) (p Problem, ok bool) {
	for _, s := range all {
		if !errors.Is(err, s.err) {
			continue
		}
		p = Problem{Status: s.status, Code: s.code, Detail: s.err.Error(), Retry: s.retry}
		if detailed, ok := errors.AsType[*DetailedError](err); ok {
			p.Detail = detailed.Detail
		}
		if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			p.Detail = fmt.Sprintf("%s; at byte %d: %v", p.Detail, syntax.ByteOffset, syntax.Err)
		}
		return p, true
	}
	return Problem{}, false
}

// A Problem is the body of every error response (RFC 9457).
//
//	{"type": "about:blank", "title": "Service Unavailable", "status": 503, "detail": "the queue is full",
//	 "code": "queue_full", "request_id": "JBSWY3DPEHPK3PXP"}
type Problem struct {
	Type      string      `json:"type" const:"about:blank"`
	Title     string      `json:"title"` // text of the status
	Status    int         `json:"status" minimum:"400" maximum:"599"`
	Detail    string      `json:"detail"`                        // error text for people
	Code      string      `json:"code" pattern:"^[a-z_]+$"`      // error code for programs
	Errors    []Violation `json:"errors,omitempty" minItems:"1"` // every violation in the request
	Example   string      `json:"example,omitempty"`             // a body that is accepted
	RequestID string      `json:"request_id"`                    // id of the request in the server's log
	// Only below /v1 and /api/v1: the error in the form of OpenAI's API.
	Error *apiError `json:"error,omitempty"`

	Retry time.Duration `json:"-"` // after which to retry; 0 means not stated
}

// A Violation is one error in a body.
type Violation struct {
	// Location in the body, or / and the name of a query parameter.
	Path   string `json:"path" format:"json-pointer"`
	Code   string `json:"code" pattern:"^[a-z_]+$"`
	Detail string `json:"detail"`
	// The byte of the body at which the value begins, from 0.
	Position *int `json:"position,omitempty" minimum:"0"`
}

// A BodyError lists every violation of a body's schema.
type BodyError struct{ Violations []Violation }

func (e *BodyError) Error() string {
	return fmt.Sprintf("%d violations, first at %s: %s",
		len(e.Violations), e.Violations[0].Path, e.Violations[0].Detail)
}

// A RetryError is an error with the time after which to retry.
type RetryError struct {
	Err   error
	After time.Duration
}

func (e *RetryError) Error() string { return e.Err.Error() }

func (e *RetryError) Unwrap() error { return e.Err }

// A DetailedError is a known error with a detail for the client in place of its text.
type DetailedError struct {
	Err    error
	Detail string
}

// Error returns the text of the error, once, and the detail.
func (e *DetailedError) Error() string {
	if strings.HasPrefix(e.Detail, e.Err.Error()) {
		return e.Detail
	}
	return e.Err.Error() + ": " + e.Detail
}

func (e *DetailedError) Unwrap() error { return e.Err }

// Invalid returns the problem of a request with violations.
func Invalid(all []Violation) Problem {
	p := Problem{Status: http.StatusUnprocessableEntity, Code: "invalid", Errors: all}
	if p.Detail = fmt.Sprintf("%d violations in the request", len(all)); len(all) == 1 {
		p.Code, p.Detail = all[0].Code, all[0].Detail
	}
	return p
}

// Problem returns the problem that err is to the client. An error that no package knows is
// internal: 500, logged, and not explained.
func (s *Server) Problem(err error) Problem {
	return problemOf(err, s.problems)
}

func problemOf(err error, others []Problems) Problem {
	p := Problem{
		Status: http.StatusInternalServerError,
		Code:   "internal",
		Detail: "internal error; the server's log has the cause under this request_id",
	}
	for _, known := range append(slices.Clone(others), ownProblem) {
		if of, ok := known(err); ok {
			p = of
			break
		}
	}
	if retryable, ok := errors.AsType[*RetryError](err); ok {
		p.Retry = retryable.After
	}
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	return p
}

// ownProblem returns the problem of an error of this package.
func ownProblem(err error) (Problem, bool) {
	if body, ok := errors.AsType[*BodyError](err); ok {
		return Invalid(body.Violations), true
	}
	return statuses.Problem(err)
}

// writeProblem responds with the problem of an error of this package.
func writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	writeProblemOf(w, r, err, nil)
}

// writeProblemOf responds with the problem of err, which others may know.
func writeProblemOf(w http.ResponseWriter, r *http.Request, err error, others []Problems) {
	// the client disconnected, or the request timed out
	if ended := r.Context().Err(); ended != nil && errors.Is(err, ended) {
		err = errInterrupted
	}
	p := problemOf(err, others)
	info := infoOf(r.Context())
	p.RequestID, info.code = info.id, p.Code
	if isOpenAI(r.URL.Path) {
		p.Error = newAPIError(p)
	}
	if p.Status >= http.StatusInternalServerError && err.Error() != p.Detail { // the client does not receive all of it
		info.err = err
	}
	h := w.Header()
	if p.Retry > 0 {
		h.Set("Retry-After", strconv.Itoa(int((p.Retry+time.Second-1)/time.Second)))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", challenge(err))
	}
	for _, name := range []string{"Content-Length", "Content-Encoding", "ETag", "Location"} {
		h.Del(name) // of the response that the handler began
	}
	body := any(p)
	h.Set("Content-Type", "application/problem+json")
	if info.ntfy {
		h.Set("Content-Type", "application/json")
		body = newNtfyError(p)
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(body) // the client may have disconnected
}
