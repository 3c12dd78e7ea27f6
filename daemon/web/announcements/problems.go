package announcements

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"pressbox/daemon/web"
	"pressbox/voice"
	"pressbox/voice/announce"
	"pressbox/voice/announce/draft"
)

var statuses = web.Statuses{
	web.NewStatus(announce.ErrNotFound, http.StatusNotFound, "not_found", 0),
	web.NewStatus(announce.ErrEnded, http.StatusConflict, "already_ended", 0),
	web.NewStatus(announce.ErrNotRepeated, http.StatusConflict, "not_repeated", 0),
	web.NewStatus(announce.ErrNoText, http.StatusConflict, "no_text", 0),
	web.NewStatus(announce.ErrKeyReused, http.StatusUnprocessableEntity, "idempotency_key_reused", 0),
	web.NewStatus(announce.ErrFull, http.StatusServiceUnavailable, "queue_full", 5*time.Second),
	web.NewStatus(announce.ErrScheduleFull, http.StatusServiceUnavailable, "schedule_full", time.Minute),
	web.NewStatus(announce.ErrRoomUnreachable, http.StatusServiceUnavailable, "room_unreachable", 10*time.Second),
	web.NewStatus(announce.ErrUnavailable, http.StatusServiceUnavailable, "not_accepting", 10*time.Second),
	web.NewStatus(voice.ErrNoSpeech, http.StatusUnprocessableEntity, announce.CodeNotSpeakable, 0),
	web.NewStatus(voice.ErrUnreadable, http.StatusUnprocessableEntity, announce.CodeNotSpeakable, 0),
	web.NewStatus(voice.ErrUnavailable, http.StatusServiceUnavailable, "speech_unavailable", 30*time.Second),
}

// Problem returns the problem that an error about an announcement is to the client.
func Problem(err error) (web.Problem, bool) {
	if refused, ok := errors.AsType[*draft.Error](err); ok {
		return draftProblem(refused), true
	}
	if share, ok := errors.AsType[*announce.ShareError](err); ok {
		p, _ := statuses.Problem(share.Err)
		p.Detail = share.Error()
		p.Errors = []web.Violation{{Path: "/sender", Code: p.Code, Detail: p.Detail}}
		return p, true
	}
	if request, ok := errors.AsType[*announce.RequestError](err); ok {
		var all []draft.Violation
		for _, v := range request.Violations {
			all = append(all, draft.Violation{Violation: v, Position: -1})
		}
		return invalid(all), true
	}
	return statuses.Problem(err)
}

// draftProblem returns the problem of a draft: of its violations, or of a body that cannot be read.
func draftProblem(refused *draft.Error) web.Problem {
	if len(refused.Violations) == 0 {
		p := web.Problem{
			Status: http.StatusBadRequest, Code: refused.Code, Detail: refused.Reason, Example: refused.Example,
		}
		if refused.Position >= 0 {
			p.Detail += fmt.Sprintf("; at byte %d", refused.Position)
		}
		if cause := refused.Unwrap(); cause != nil {
			p.Detail += ": " + cause.Error()
		}
		return p
	}
	p := invalid(refused.Violations)
	p.Example = refused.Example
	return p
}

// invalid returns the problem of a request with violations.
func invalid(violations []draft.Violation) web.Problem {
	all := make([]web.Violation, len(violations))
	for i, v := range violations {
		all[i] = web.Violation{Path: "/" + v.Path, Code: v.Code, Detail: v.Detail}
		if v.Position >= 0 {
			all[i].Position = &v.Position
		}
	}
	return web.Invalid(all)
}
