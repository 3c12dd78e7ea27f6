// Package control serves the volume, quiet, schedules and favorites: reading to clients that NOTIFY_ACCESS
// permits, changing to those that CONTROL_ACCESS permits.
//
// One law: each change is logged with its sender.
package control

import (
	"net/http"
	"slices"
	"time"

	"pressbox/daemon/limits"
	"pressbox/daemon/web"
	"pressbox/voice/announce"
	"pressbox/voice/announce/policy"
	"pressbox/voice/control"
)

// A Config holds what the routes of this package serve.
type Config struct {
	Controls  *control.Controls
	Schedules *control.Schedules
	// Check returns a [*announce.RequestError] if an announcement would not be accepted.
	Check func(announce.Request) (announce.Announcement, error)
}

// handlers has the handlers of this package.
type handlers struct {
	*web.Server
	Config
	reads *limits.Limiter // by address
}

// Requests per minute of one address.
const (
	readRate = 600
)

// Routes returns the routes of this package.
func Routes(s *web.Server, cfg Config) []web.Route {
	h := &handlers{
		Server: s, Config: cfg,
		reads: s.NewLimiter(readRate, readRate/2),
	}
	routes := slices.Concat(h.volumeRoutes(), h.quietRoutes(), h.scheduleRoutes(), h.favoriteRoutes())
	return slices.Concat(routes, web.UnderAPI(routes))
}

const tag = "control"

// read returns a route that reads.
func (h *handlers) read(path string, handle web.Handler, op web.Operation) web.Route {
	op.Tag, op.Problems = tag, append(op.Problems, http.StatusTooManyRequests)
	return web.NewRoute(http.MethodGet, path, web.NotifyAccess, h.Limited(h.reads, handle), op)
}

// change returns a route that changes something.
func (h *handlers) change(method, path string, handle web.Handler, op web.Operation) web.Route {
	op.Tag, op.Problems = tag, append(op.Problems, http.StatusTooManyRequests, http.StatusServiceUnavailable)
	return web.NewRoute(method, path, web.ControlAccess, handle, op)
}

// logChange logs a change of a client.
func (h *handlers) logChange(r *http.Request, what string, to any) {
	sender := h.Sender(r)
	h.Log().Info("control changed", "control", what, "to", to, "sender", string(sender.Kind)+" "+sender.Name)
}

// ok describes a response with an object.
func ok(description string, body any) []web.Response {
	return []web.Response{{Status: http.StatusOK, Description: description, Body: body}}
}

func (h *handlers) volumeRoutes() []web.Route {
	return []web.Route{
		h.read("/volume", h.volume, web.Operation{
			ID: "getVolume", Summary: "Get the volume", Responses: ok("The volume.", VolumeReply{}),
		}),
		h.change(http.MethodPut, "/volume", h.setVolume, web.Operation{
			ID: "setVolume", Summary: "Set the volume, the mute, or both", Request: volumeChange{},
			Description: "It applies over restarts, until the setting VOLUME is changed. Urgent announcements are " +
				"spoken at URGENT_MIN_VOLUME at least.",
			Responses: ok("The volume.", VolumeReply{}),
		}),
	}
}

// A VolumeReply is the volume of announcements.
type VolumeReply struct {
	Volume int  `json:"volume" minimum:"0" maximum:"100"` // percent
	Muted  bool `json:"muted"`
	Set    bool `json:"set"` // it was set by a client; otherwise the setting VOLUME applies
}

func (h *handlers) volume(w http.ResponseWriter, _ *http.Request) error {
	return web.WriteJSON(w, http.StatusOK, VolumeReply(h.Controls.Volume()))
}

// A volumeChange sets the volume, the mute, or both.
//
//	{"volume": 60}
//
// Or:
//
//	{"muted": false}
type volumeChange struct {
	Volume *int     `json:"volume" minimum:"0" maximum:"100"`
	Muted  *bool    `json:"muted"`
	_      struct{} `minProperties:"1"`
}

func (h *handlers) setVolume(w http.ResponseWriter, r *http.Request) error {
	var body volumeChange
	if err := h.Decode(w, r, &body); err != nil {
		return err
	}
	v, err := h.Controls.SetVolume(r.Context(), body.Volume, body.Muted)
	if err != nil {
		return err
	}
	h.logChange(r, "volume", VolumeReply(v))
	return web.WriteJSON(w, http.StatusOK, VolumeReply(v))
}

func (h *handlers) quietRoutes() []web.Route {
	return []web.Route{
		h.read("/quiet", h.quiet, web.Operation{
			ID: "getQuiet", Summary: "Get whether it is quiet", Responses: ok("Quiet, now.", QuietReply{}),
		}),
		h.change(http.MethodPut, "/quiet", h.switchOn, web.Operation{
			ID: "setQuiet", Summary: "Make it quiet for at most 24 hours", Request: quietRequest{},
			Description: "It ends by itself, and when a setting QUIET_* is changed. Urgent announcements are spoken " +
				"nevertheless.",
			Responses: ok("Quiet, now.", QuietReply{}),
		}),
		h.change(http.MethodDelete, "/quiet", h.switchOff, web.Operation{
			ID: "endQuiet", Summary: "End quiet", Description: "During QUIET_HOURS, these are suspended until their " +
				"end.",
			Responses: []web.Response{{Status: http.StatusNoContent, Description: "It is not quiet."}},
		}),
	}
}

// A QuietReply says whether it is quiet.
type QuietReply struct {
	Active bool          `json:"active"`
	Until  web.Timestamp `json:"until,omitzero"` // absent if it is not quiet, or always
	Mode   policy.Mode   `json:"mode"`
	Reason policy.Reason `json:"reason,omitempty"`
}

// NewQuiet returns the JSON of quiet.
func NewQuiet(q policy.Quiet) QuietReply {
	return QuietReply{q.Active, web.Timestamp{Time: q.Until}, q.Mode, q.Reason}
}

func (h *handlers) quiet(w http.ResponseWriter, _ *http.Request) error {
	return web.WriteJSON(w, http.StatusOK, NewQuiet(h.Controls.Quiet(time.Now())))
}

// A quietRequest makes it quiet: for a time, or until one.
//
//	{"for": 3600, "mode": "soft"}
type quietRequest struct {
	For   int         `json:"for" minimum:"1" maximum:"86400"` // seconds
	Until string      `json:"until"`                           // RFC 3339, at most 24 hours ahead
	Mode  policy.Mode `json:"mode"`                            // default QUIET_MODE
}

// duration returns for how long it shall be quiet.
func (q quietRequest) duration(now time.Time) (time.Duration, error) {
	refuse := func(path, code, detail string) error {
		return &web.BodyError{Violations: []web.Violation{{Path: path, Code: code, Detail: detail}}}
	}
	switch {
	case (q.For == 0) == (q.Until == ""):
		return 0, refuse("/for", "required", "either for or until is required")
	case q.For != 0:
		return time.Duration(q.For) * time.Second, nil
	}
	until, err := time.Parse(time.RFC3339, q.Until)
	if err != nil {
		return 0, refuse("/until", "invalid", "must be a date and time of RFC 3339, such as 2026-11-22T18:30:00+01:00")
	}
	left := until.Sub(now)
	if left <= 0 || left > control.MaxQuiet {
		return 0, refuse("/until", announce.CodeOutOfRange, "must be later than now, by at most 24 hours")
	}
	return left, nil
}

func (h *handlers) switchOn(w http.ResponseWriter, r *http.Request) error {
	var body quietRequest
	if err := h.Decode(w, r, &body); err != nil {
		return err
	}
	duration, err := body.duration(time.Now())
	if err != nil {
		return err
	}
	q, err := h.Controls.SwitchOn(r.Context(), duration, body.Mode)
	if err != nil {
		return err
	}
	h.logChange(r, "quiet", NewQuiet(q))
	return web.WriteJSON(w, http.StatusOK, NewQuiet(q))
}

func (h *handlers) switchOff(w http.ResponseWriter, r *http.Request) error {
	if err := h.Controls.SwitchOff(r.Context()); err != nil {
		return err
	}
	h.logChange(r, "quiet", "off")
	w.WriteHeader(http.StatusNoContent)
	return nil
}
