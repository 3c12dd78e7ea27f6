package play

import (
	"errors"
	"net/http"
	"time"

	"pressbox/daemon/web"
	"pressbox/game/protocol"
	"pressbox/game/teams"
)

// The errors of websockets that clients can cause.
var (
	errNotWebSocket = errors.New("websocket handshake required")
	errStopping     = errors.New("the server is stopping")
)

var statuses = web.Statuses{
	web.NewStatus(errNotWebSocket, http.StatusBadRequest, "not_websocket", 0),
	web.NewStatus(errStopping, http.StatusServiceUnavailable, "stopping", 2*time.Second),
	web.NewStatus(teams.ErrUnknown, http.StatusNotFound, "unknown_team", 0),
	web.NewStatus(teams.ErrTooFewPlayers, http.StatusConflict, "incomplete_roster", 0),
	web.NewStatus(teams.ErrUnavailable, http.StatusServiceUnavailable, "team_data_unavailable", 30*time.Second),
}

// Problem returns the problem that an error about games is to the client.
func Problem(err error) (web.Problem, bool) {
	refused, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		return statuses.Problem(err)
	}
	if len(refused.Errors) > 0 {
		all := make([]web.Violation, len(refused.Errors))
		for i, v := range refused.Errors {
			all[i] = web.Violation{Path: v.Path, Code: string(v.Code), Detail: v.Detail}
		}
		return web.Invalid(all), true
	}
	p := web.Problem{Status: statusOf(refused.Code), Code: string(refused.Code), Detail: refused.Detail}
	if p.Status == http.StatusServiceUnavailable {
		p.Retry = 10 * time.Second
	}
	return p, true
}

// statusOf returns the HTTP status of a game's error code.
func statusOf(code protocol.Code) int {
	switch code {
	case protocol.UnknownGame, protocol.UnknownPlayer, protocol.UnknownLeague, protocol.UnknownLineup:
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
