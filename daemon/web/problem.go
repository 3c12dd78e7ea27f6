package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"pressbox/auth"
	"pressbox/game/protocol"
	"pressbox/game/teams"
	"pressbox/voice/announce"
)

// What a client can do wrong, besides what the rooms below object to.
var (
	errNotJSON          = errors.New("the body must be exactly one JSON object")
	ErrNotFound         = errors.New("there is nothing at this address")
	errMethodNotAllowed = errors.New("this address does not know that method")
	ErrBodyTooLarge     = errors.New("the body may have 64 KiB")
	ErrContentType      = errors.New("send the body as Content-Type: application/json")
	ErrIdempotencyKey   = errors.New("an Idempotency-Key has 1 to 255 visible ASCII characters, and stands in one header")
	errHost             = errors.New("this appliance does not answer to that host name; add it to ALLOWED_HOSTS if it should")
	ErrCrossOrigin      = errors.New("a page of another site may not do this")
	errAccess           = errors.New("this needs a token, or to be asked from the local network")
	errTokenOnly        = errors.New("this needs a token")
	errToken            = errors.New("the token is not valid here")
	errNoSession        = errors.New("sign in first: this needs a session, by its cookie or its access token")
	errNotAdministrator = errors.New("only root, the daemon's user and the group of the administrator's socket may administer; SocketGroup= in a drop-in of pressbox-admin.socket names another group")
	errAnnouncementsOff = errors.New("announcements are switched off on this appliance")
	ErrTooManyRequests  = errors.New("too many requests from this address")
	ErrBusy             = errors.New("as much speech as possible is being made already")
	ErrNoSignIn         = errors.New("this is no sign-in that was begun here")
	ErrNoPassphrase     = errors.New("this appliance keeps no passphrase of the account: somebody else vouches for it")
	ErrNotWebSocket     = errors.New("this address is for websockets")
	ErrNotForm          = errors.New("send the form as a browser does")
	ErrMissingToken     = errors.New("a refresh token is needed, in the cookie or in the body")
	ErrStopping         = errors.New("the appliance is stopping")
	errInterrupted      = errors.New("the request was cut off before it could be answered")
)

// statuses says what each error means in HTTP, and which code programs see.
// The error's own text, without the context that it was wrapped in, is what
// the client is told. An error that is not here is our fault: 500, logged,
// and not explained.
var statuses = []struct {
	err    error
	status int
	code   string
	retry  time.Duration // when to ask again; 0 means that it does not help
}{
	{errNotJSON, http.StatusBadRequest, "not_json", 0},
	{ErrNotWebSocket, http.StatusBadRequest, "not_websocket", 0},
	{ErrIdempotencyKey, http.StatusBadRequest, "bad_idempotency_key", 0},
	{errAccess, http.StatusUnauthorized, "unauthenticated", 0},
	{errTokenOnly, http.StatusUnauthorized, "unauthenticated", 0},
	{errNoSession, http.StatusUnauthorized, "unauthenticated", 0},
	{auth.ErrInvalidToken, http.StatusUnauthorized, "invalid_token", 0},
	{ErrMissingToken, http.StatusUnauthorized, "missing_token", 0},
	{errToken, http.StatusUnauthorized, "invalid_token", 0},
	{ErrCrossOrigin, http.StatusForbidden, "cross_origin", 0},
	{errAnnouncementsOff, http.StatusForbidden, "switched_off", 0},
	{errNotAdministrator, http.StatusForbidden, "not_administrator", 0},
	{ErrNotFound, http.StatusNotFound, "not_found", 0},
	{ErrNoPassphrase, http.StatusNotFound, "no_passphrase", 0},
	{auth.ErrNotFound, http.StatusNotFound, "not_found", 0},
	{teams.ErrUnknown, http.StatusNotFound, "unknown_team", 0},
	{announce.ErrNotFound, http.StatusNotFound, "not_found", 0},
	{errMethodNotAllowed, http.StatusMethodNotAllowed, "method_not_allowed", 0},
	{teams.ErrTooFewPlayers, http.StatusConflict, "incomplete_roster", 0},
	{announce.ErrEnded, http.StatusConflict, "already_ended", 0},
	{ErrBodyTooLarge, http.StatusRequestEntityTooLarge, "body_too_large", 0},
	{ErrNotForm, http.StatusUnsupportedMediaType, "unsupported_media_type", 0},
	{ErrContentType, http.StatusUnsupportedMediaType, "unsupported_media_type", 0},
	{errHost, http.StatusMisdirectedRequest, "wrong_host", 0},
	{announce.ErrKeyReused, http.StatusUnprocessableEntity, "idempotency_key_reused", 0},
	{ErrTooManyRequests, http.StatusTooManyRequests, "too_many_requests", time.Second},
	{announce.ErrFull, http.StatusServiceUnavailable, "queue_full", 5 * time.Second},
	{announce.ErrUnavailable, http.StatusServiceUnavailable, "not_accepting", 10 * time.Second},
	{teams.ErrUnavailable, http.StatusServiceUnavailable, "team_data_unavailable", 30 * time.Second},
	{ErrBusy, http.StatusServiceUnavailable, "busy", 2 * time.Second},
	{ErrStopping, http.StatusServiceUnavailable, "stopping", 2 * time.Second},
	{errInterrupted, http.StatusServiceUnavailable, "interrupted", 2 * time.Second},
}

// A Problem is the body of every refusal (RFC 9457). Its type is always
// "about:blank", so its title is the status in words; Code tells programs more.
type Problem struct {
	Type      string      `json:"type"`
	Title     string      `json:"title"`
	Status    int         `json:"status"`
	Detail    string      `json:"detail"`
	Code      string      `json:"code"`
	Errors    []Violation `json:"errors,omitempty"`
	RequestID string      `json:"request_id"`

	retry time.Duration
}

// A Violation is one thing that is wrong with a body. Path is a JSON pointer
// (RFC 6901) into it.
type Violation struct {
	Path   string `json:"path"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// A BodyError lists everything that is wrong with the shape of a body.
type BodyError struct{ Violations []Violation }

func (e *BodyError) Error() string {
	return fmt.Sprintf("%d violations, first at %s: %s", len(e.Violations), e.Violations[0].Path, e.Violations[0].Detail)
}

// With adds what else is wrong, about members of which nothing was said yet.
func (e *BodyError) With(more []Violation) error {
	all := slices.Clone(e.Violations)
	for _, v := range more {
		if !slices.ContainsFunc(e.Violations, func(said Violation) bool { return said.Path == v.Path }) {
			all = append(all, v)
		}
	}
	return &BodyError{all}
}

// A RetryError is an error with the time after which to try again.
type RetryError struct {
	Err   error
	After time.Duration
}

func (e *RetryError) Error() string { return e.Err.Error() }

func (e *RetryError) Unwrap() error { return e.Err }

// NewProblem says what err means to the client.
func NewProblem(err error) Problem {
	p := Problem{
		Status: http.StatusInternalServerError,
		Code:   "internal",
		Detail: "something went wrong in the appliance; its log says more under this request_id",
	}
	switch violations := ViolationsOf(err); {
	case len(violations) == 1:
		p.Status, p.Code, p.Detail = http.StatusUnprocessableEntity, violations[0].Code, violations[0].Detail
		p.Errors = violations
	case len(violations) > 1:
		p.Status, p.Code = http.StatusUnprocessableEntity, "invalid"
		p.Detail = fmt.Sprintf("%d things are wrong with the body", len(violations))
		p.Errors = violations
	default:
		p.look(err)
	}
	if late, ok := errors.AsType[*RetryError](err); ok {
		p.retry = late.After
	}
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	return p
}

// look finds what err means, if it is known.
func (p *Problem) look(err error) {
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
			if where, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
				p.Detail = fmt.Sprintf("%s; at byte %d: %v", p.Detail, where.ByteOffset, where.Err)
			}
			return
		}
	}
}

// gameStatus says what it means in HTTP that a game refused something.
func gameStatus(code protocol.Code) int {
	switch code {
	case protocol.UnknownGame:
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
		return http.StatusConflict // it is not the moment
	}
}

// ViolationsOf returns everything that err finds wrong with a body; nil when
// it is about something else.
func ViolationsOf(err error) []Violation {
	if shape, ok := errors.AsType[*BodyError](err); ok {
		return shape.Violations
	}
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		all := make([]Violation, len(refused.Errors))
		for i, v := range refused.Errors {
			all[i] = Violation{Path: v.Path, Code: string(v.Code), Detail: v.Detail}
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

// writeProblem answers with the problem that err is.
func (s *Server) writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	if gone := r.Context().Err(); gone != nil && errors.Is(err, gone) { // the client has gone, or its time was up
		err = errInterrupted
	}
	p := NewProblem(err)
	info := infoOf(r.Context())
	p.RequestID, info.code = info.id, p.Code
	if p.Status >= http.StatusInternalServerError && err.Error() != p.Detail { // there is more to it than the client is told
		info.err = err
	}
	h := w.Header()
	if p.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(int((p.retry+time.Second-1)/time.Second)))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", challenge(err))
	}
	for _, of := range []string{"Content-Length", "Content-Encoding", "ETag", "Location"} {
		h.Del(of) // what was to be answered
	}
	h.Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client has gone; there is no one to tell
}

// WriteJSON answers with v as JSON.
func WriteJSON(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client has gone; there is no one to tell
	return nil
}
