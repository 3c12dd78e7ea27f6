package control

import (
	"net/http"
	"time"

	"pressbox/daemon/web"
	"pressbox/voice/control"
)

var statuses = web.Statuses{
	web.NewStatus(control.ErrNoSchedule, http.StatusNotFound, "not_found", 0),
	web.NewStatus(control.ErrNoFavorite, http.StatusNotFound, "not_found", 0),
	web.NewStatus(control.ErrNothingToSkip, http.StatusConflict, "nothing_to_skip", 0),
	web.NewStatus(control.ErrManySchedules, http.StatusConflict, "too_many_schedules", 0),
	web.NewStatus(control.ErrOwnSchedules, http.StatusConflict, "too_many_schedules", 0),
	web.NewStatus(control.ErrUnavailable, http.StatusServiceUnavailable, "not_saved", 10*time.Second),
}

// Problem returns the problem that an error of these routes is to the client.
func Problem(err error) (web.Problem, bool) { return statuses.Problem(err) }
