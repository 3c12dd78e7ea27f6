package admin

import (
	"encoding/json"
	"maps"
	"net/http"
	"time"

	"pressbox/daemon/web"
)

// A Health is the health of a component or of the server.
type Health string

// The values of Health, from good to bad.
const (
	OK       Health = "ok"
	Degraded Health = "degraded" // a component does not work; announcements are accepted
	Failing  Health = "failing"  // announcements cannot be accepted
)

// A Check reports the health of one component.
type Check struct {
	Name   string           // such as "store"
	Report func() Condition // must not block
}

// A Condition is the health of a component with additional facts.
type Condition struct {
	Health Health         `json:"status"`
	Detail string         `json:"detail,omitempty"` // reason for a status other than ok
	Facts  map[string]any `json:"-"`                // additional members; nil means none
	_      struct{}       `additionalProperties:"true"`
}

// MarshalJSON returns one object with status, detail and the facts.
func (c Condition) MarshalJSON() ([]byte, error) {
	all := map[string]any{"status": c.health()}
	if c.Detail != "" {
		all["detail"] = c.Detail
	}
	maps.Copy(all, c.Facts)
	return json.Marshal(all)
}

func (c Condition) health() Health {
	if c.Health == "" {
		return OK
	}
	return c.Health
}

// An Integration reports on one way in which other programs use the server, and which can be
// switched off.
type Integration struct {
	Name   string                  // such as "wyoming"
	Report func() IntegrationState // must not block
}

// An IntegrationState is the state of an [Integration].
type IntegrationState struct {
	On      bool   `json:"on"`               // false if it is switched off
	Summary string `json:"summary"`          // where it is reached, or the setting by which it is off
	Detail  string `json:"detail,omitempty"` // reason for a status other than ok
	Remedy  string `json:"remedy,omitempty"`
}

func (s IntegrationState) health() Health {
	if s.Detail != "" {
		return Degraded
	}
	return OK
}

// An integrationReply is the state of a way in which other programs use the server.
type integrationReply struct {
	Status Health `json:"status"`
	IntegrationState
}

// A healthReply is the body of GET /health.
type healthReply struct {
	Status  Health               `json:"status"`
	Version string               `json:"version"`
	Uptime  int64                `json:"uptime_seconds" minimum:"0"`
	Checks  map[string]Condition `json:"checks"`

	Integrations map[string]integrationReply `json:"integrations"` // ways in which other programs use the server, by name
}

func (h *handlers) healthRoutes() []web.Route {
	return []web.Route{web.NewRoute(http.MethodGet, "/health", web.Public, h.health, web.Operation{
		ID: "getHealth", Tag: "server", Summary: "Get the health of the server and its components",
		Responses: []web.Response{
			{Status: http.StatusOK, Description: "Announcements are accepted.", Body: healthReply{}},
			{Status: http.StatusServiceUnavailable, Description: "Announcements cannot be accepted.", Body: healthReply{}},
		},
	})}
}

func (h *handlers) health(w http.ResponseWriter, _ *http.Request) error {
	all := h.healthReply()
	if all.Status == Failing {
		w.Header().Set("Retry-After", "10")
		return web.WriteJSON(w, http.StatusServiceUnavailable, all)
	}
	return web.WriteJSON(w, http.StatusOK, all)
}

// healthReply runs every check; the status is that of the worst one.
func (h *handlers) healthReply() healthReply {
	reply := healthReply{
		Status:  OK,
		Version: h.Version(),
		Uptime:  int64(time.Since(h.started) / time.Second),
		Checks:  map[string]Condition{},

		Integrations: map[string]integrationReply{},
	}
	for _, check := range h.Checks {
		c := check.Report()
		reply.Checks[check.Name] = c
		if c.health() == Failing || reply.Status == OK {
			reply.Status = c.health()
		}
	}
	for _, integration := range h.Integrations {
		state := integration.Report()
		reply.Integrations[integration.Name] = integrationReply{state.health(), state}
		if reply.Status == OK {
			reply.Status = state.health()
		}
	}
	return reply
}
