package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"pressbox/auth"
	"pressbox/daemon/limits"
	"pressbox/game/protocol"
	"pressbox/game/teams"
	"pressbox/voice"
	"pressbox/voice/announce"
	"pressbox/voice/announce/draft"
	"pressbox/voice/control"
)

// The errors that clients can cause, in addition to those of the packages below.
var (
	errNotJSON          = errors.New("request body must be exactly one JSON object")
	ErrNotFound         = errors.New("not found")
	errMethodNotAllowed = errors.New("method not allowed")
	ErrBodyTooLarge     = errors.New("request body exceeds 64 KiB")
	ErrUnknownWebhook   = errors.New("unknown webhook")
	ErrBrokenTemplate   = errors.New("the template of this webhook is not valid")
	ErrTemplateFailed   = errors.New("the template of this webhook does not accept this body")
	ErrContentType      = errors.New("Content-Type must be application/json")
	ErrIdempotencyKey   = errors.New("Idempotency-Key must be a single header of 1 to 255 visible ASCII characters")
	errHost             = errors.New("unknown Host name; ALLOWED_HOSTS adds names")
	ErrCrossOrigin      = errors.New("cross-origin request refused")
	errAccess           = errors.New("API token required outside the local network")
	errTokenOnly        = errors.New("API token required")
	errToken            = errors.New("invalid API token")
	errNoSession        = errors.New("sign in first: send the session's cookie or its access token")
	errNotAdministrator = errors.New("only root, the server's user and members of the administrator socket's group may administer; SocketGroup= in a drop-in of pressbox-admin.socket sets the group")
	errNotAdmin         = errors.New("only administrators may do this; on the host, \"pressbox users admin NAME\" makes an account an administrator's")
	errPlainHTTP        = errors.New("administration from outside the local network requires https")
	errReauthenticate   = errors.New("enter the passphrase again: POST /api/auth/reauthenticate, or sign in again with the provider")
	ErrFixedSetting     = errors.New("the setting is set by a flag or in the environment, which take precedence over the page")
	ErrSettings         = errors.New("the settings in the files are not valid")
	ErrBackupFailed     = errors.New("the backup cannot be made; \"pressbox doctor\" on the host names the reason")
	ErrBackupDamaged    = errors.New("the backup is damaged; create another one")
	ErrCatalog          = errors.New("the catalog of voices cannot be read")
	ErrInstalling       = errors.New("another voice is being installed")
	ErrDefaultVoice     = errors.New("this is the default voice; choose another one first")
	ErrSharedVoice      = errors.New("this voice is not in MODEL_DIR; the package that installed it removes it")
	ErrOwnAccount       = errors.New("administrators cannot disable, delete or demote their own account here")
	errControl          = errors.New("sign in as an administrator, or send an API token made with --control (CONTROL_ACCESS=admin)")
	errNotPermitted     = errors.New("only administrators and API tokens made with --control may change this (CONTROL_ACCESS=admin)")
	errAnnouncementsOff = errors.New("announcements are disabled by NOTIFY_ACCESS=off")
	ErrTooManyRequests  = errors.New("too many requests from this address")
	ErrNoSignIn         = errors.New("unknown or expired sign-in")
	ErrNoPassphrase     = errors.New("this account signs in through an external provider and has no passphrase here")
	ErrNotWebSocket     = errors.New("websocket handshake required")
	ErrNotForm          = errors.New("Content-Type must be application/x-www-form-urlencoded")
	ErrMissingToken     = errors.New("refresh token required, in the cookie or in the body")
	ErrStopping         = errors.New("the server is stopping")
	errInterrupted      = errors.New("request interrupted")
)

// statuses maps each error to its HTTP status and to the code for programs. The
// error's own text, without its wrapping, is the detail that the client
// receives. An error that is not listed is internal: 500, logged, and not
// explained.
var statuses = []struct {
	err    error
	status int
	code   string
	retry  time.Duration // Retry-After; 0 means none
}{
	{errNotJSON, http.StatusBadRequest, "not_json", 0},
	{ErrNotWebSocket, http.StatusBadRequest, "not_websocket", 0},
	{ErrIdempotencyKey, http.StatusBadRequest, "bad_idempotency_key", 0},
	{errAccess, http.StatusUnauthorized, "unauthenticated", 0},
	{errTokenOnly, http.StatusUnauthorized, "unauthenticated", 0},
	{errControl, http.StatusUnauthorized, "unauthenticated", 0},
	{errNoSession, http.StatusUnauthorized, "unauthenticated", 0},
	{auth.ErrInvalidToken, http.StatusUnauthorized, "invalid_token", 0},
	{ErrMissingToken, http.StatusUnauthorized, "missing_token", 0},
	{errToken, http.StatusUnauthorized, "invalid_token", 0},
	{ErrCrossOrigin, http.StatusForbidden, "cross_origin", 0},
	{errNotPermitted, http.StatusForbidden, "not_permitted", 0},
	{errAnnouncementsOff, http.StatusForbidden, "switched_off", 0},
	{errNotAdministrator, http.StatusForbidden, "not_administrator", 0},
	{errNotAdmin, http.StatusForbidden, "not_administrator", 0},
	{errPlainHTTP, http.StatusForbidden, "https_required", 0},
	{errReauthenticate, http.StatusForbidden, "reauthentication_required", 0},
	{ErrFixedSetting, http.StatusConflict, "fixed_setting", 0},
	{ErrSettings, http.StatusConflict, "invalid_settings", 0},
	{ErrBackupFailed, http.StatusServiceUnavailable, "backup_failed", time.Minute},
	{ErrBackupDamaged, http.StatusInternalServerError, "backup_damaged", 0},
	{ErrCatalog, http.StatusServiceUnavailable, "catalog_unavailable", 30 * time.Second},
	{ErrInstalling, http.StatusConflict, "installing", 0},
	{ErrDefaultVoice, http.StatusConflict, "default_voice", 0},
	{ErrSharedVoice, http.StatusConflict, "shared_voice", 0},
	{ErrOwnAccount, http.StatusConflict, "own_account", 0},
	{ErrNotFound, http.StatusNotFound, "not_found", 0},
	{ErrNoPassphrase, http.StatusNotFound, "no_passphrase", 0},
	{ErrUnknownWebhook, http.StatusNotFound, "unknown_webhook", 0},
	{auth.ErrNotFound, http.StatusNotFound, "not_found", 0},
	{teams.ErrUnknown, http.StatusNotFound, "unknown_team", 0},
	{announce.ErrNotFound, http.StatusNotFound, "not_found", 0},
	{errMethodNotAllowed, http.StatusMethodNotAllowed, "method_not_allowed", 0},
	{auth.ErrTooManyTokens, http.StatusConflict, "too_many_tokens", 0},
	{auth.ErrTooManyInvites, http.StatusConflict, "too_many_invites", 0},
	{teams.ErrTooFewPlayers, http.StatusConflict, "incomplete_roster", 0},
	{control.ErrNoSchedule, http.StatusNotFound, "not_found", 0},
	{control.ErrManySchedules, http.StatusConflict, "too_many_schedules", 0},
	{control.ErrOwnSchedules, http.StatusConflict, "too_many_schedules", 0},
	{control.ErrUnavailable, http.StatusServiceUnavailable, "not_saved", 10 * time.Second},
	{announce.ErrEnded, http.StatusConflict, "already_ended", 0},
	{announce.ErrNotRepeated, http.StatusConflict, "not_repeated", 0},
	{announce.ErrNoText, http.StatusConflict, "no_text", 0},
	{ErrBodyTooLarge, http.StatusRequestEntityTooLarge, "body_too_large", 0},
	{ErrNotForm, http.StatusUnsupportedMediaType, "unsupported_media_type", 0},
	{ErrContentType, http.StatusUnsupportedMediaType, "unsupported_media_type", 0},
	{errHost, http.StatusMisdirectedRequest, "wrong_host", 0},
	{ErrTemplateFailed, http.StatusUnprocessableEntity, "template_failed", 0},
	{ErrBrokenTemplate, http.StatusInternalServerError, "broken_template", 0},
	{announce.ErrKeyReused, http.StatusUnprocessableEntity, "idempotency_key_reused", 0},
	{ErrTooManyRequests, http.StatusTooManyRequests, "too_many_requests", time.Second},
	{limits.ErrClientBusy, http.StatusTooManyRequests, "too_many_requests", 2 * time.Second},
	{announce.ErrFull, http.StatusServiceUnavailable, "queue_full", 5 * time.Second},
	{announce.ErrScheduleFull, http.StatusServiceUnavailable, "schedule_full", time.Minute},
	{announce.ErrRoomUnreachable, http.StatusServiceUnavailable, "room_unreachable", 10 * time.Second},
	{announce.ErrUnavailable, http.StatusServiceUnavailable, "not_accepting", 10 * time.Second},
	{teams.ErrUnavailable, http.StatusServiceUnavailable, "team_data_unavailable", 30 * time.Second},
	{limits.ErrBusy, http.StatusServiceUnavailable, "busy", 2 * time.Second},
	{voice.ErrNoSpeech, http.StatusUnprocessableEntity, announce.CodeNotSpeakable, 0},
	{voice.ErrUnreadable, http.StatusUnprocessableEntity, announce.CodeNotSpeakable, 0},
	{voice.ErrUnavailable, http.StatusServiceUnavailable, "speech_unavailable", 30 * time.Second},
	{ErrStopping, http.StatusServiceUnavailable, "stopping", 2 * time.Second},
	{errInterrupted, http.StatusServiceUnavailable, "interrupted", 2 * time.Second},
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

	retry time.Duration
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
	return fmt.Sprintf("%d violations, first at %s: %s", len(e.Violations), e.Violations[0].Path, e.Violations[0].Detail)
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

// NewProblem returns the problem that err is to the client.
func NewProblem(err error) Problem {
	p := Problem{
		Status: http.StatusInternalServerError,
		Code:   "internal",
		Detail: "internal error; the server's log has the cause under this request_id",
	}
	switch violations := ViolationsOf(err); {
	case len(violations) == 1:
		p.Status, p.Code, p.Detail = http.StatusUnprocessableEntity, violations[0].Code, violations[0].Detail
		p.Errors = violations
	case len(violations) > 1:
		p.Status, p.Code = http.StatusUnprocessableEntity, "invalid"
		p.Detail = fmt.Sprintf("%d violations in the request", len(violations))
		p.Errors = violations
	default:
		p.setStatus(err)
	}
	if refused, ok := errors.AsType[*draft.Error](err); ok {
		p.Example = refused.Example
	}
	if retryable, ok := errors.AsType[*RetryError](err); ok {
		p.retry = retryable.After
	}
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	return p
}

// setStatus sets status, code and detail for err, if it is a known error.
func (p *Problem) setStatus(err error) {
	if malformed, ok := errors.AsType[*draft.Error](err); ok {
		p.Status, p.Code, p.Detail = http.StatusBadRequest, malformed.Code, malformed.Reason
		if malformed.Position >= 0 {
			p.Detail += fmt.Sprintf("; at byte %d", malformed.Position)
		}
		if cause := malformed.Unwrap(); cause != nil {
			p.Detail += ": " + cause.Error()
		}
		return
	}
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		p.Status, p.Code, p.Detail = gameStatus(refused.Code), string(refused.Code), refused.Detail
		if p.Status == http.StatusServiceUnavailable {
			p.retry = 10 * time.Second
		}
		return
	}
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			p.Status, p.Code, p.Detail, p.retry = s.status, s.code, s.err.Error(), s.retry
			if detailed, ok := errors.AsType[*DetailedError](err); ok {
				p.Detail = detailed.Detail
			}
			if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
				p.Detail = fmt.Sprintf("%s; at byte %d: %v", p.Detail, syntax.ByteOffset, syntax.Err)
			}
			return
		}
	}
}

// gameStatus returns the HTTP status of a game's error code.
func gameStatus(code protocol.Code) int {
	switch code {
	case protocol.UnknownGame, protocol.UnknownPlayer, protocol.UnknownLeague:
		return http.StatusNotFound
	case protocol.Forbidden, protocol.NotYourSide:
		return http.StatusForbidden
	case protocol.Invalid, protocol.UnknownTeam, protocol.Malformed:
		return http.StatusUnprocessableEntity
	case protocol.Unavailable, protocol.StoreFull:
		return http.StatusServiceUnavailable
	case protocol.UnreadableGame:
		return http.StatusInternalServerError
	default:
		return http.StatusConflict // not in the current state of the game
	}
}

// ViolationsOf returns the violations of err; nil if it is not about a body.
func ViolationsOf(err error) []Violation {
	if body, ok := errors.AsType[*BodyError](err); ok {
		return body.Violations
	}
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		all := make([]Violation, len(refused.Errors))
		for i, v := range refused.Errors {
			all[i] = Violation{Path: v.Path, Code: string(v.Code), Detail: v.Detail}
		}
		return all
	}
	if refused, ok := errors.AsType[*draft.Error](err); ok {
		all := make([]Violation, len(refused.Violations))
		for i, v := range refused.Violations {
			all[i] = Violation{Path: "/" + v.Path, Code: v.Code, Detail: v.Detail}
			if v.Position >= 0 {
				all[i].Position = &v.Position
			}
		}
		return all
	}
	request, ok := errors.AsType[*announce.RequestError](err)
	if !ok {
		return nil
	}
	all := make([]Violation, len(request.Violations))
	for i, v := range request.Violations {
		all[i] = Violation{Path: "/" + v.Path, Code: v.Code, Detail: v.Detail}
	}
	return all
}

// writeProblem responds with the problem of err.
func writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	if ended := r.Context().Err(); ended != nil && errors.Is(err, ended) { // the client disconnected, or the request timed out
		err = errInterrupted
	}
	p := NewProblem(err)
	info := infoOf(r.Context())
	p.RequestID, info.code = info.id, p.Code
	if isOpenAI(r.URL.Path) {
		p.Error = newAPIError(p)
	}
	if p.Status >= http.StatusInternalServerError && err.Error() != p.Detail { // the client does not receive all of it
		info.err = err
	}
	h := w.Header()
	if p.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(int((p.retry+time.Second-1)/time.Second)))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", challenge(err))
	}
	for _, name := range []string{"Content-Length", "Content-Encoding", "ETag", "Location"} {
		h.Del(name) // of the response that the handler began
	}
	h.Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client may have disconnected
}
