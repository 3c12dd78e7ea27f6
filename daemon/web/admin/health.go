package admin

import (
	"net/http"
	"time"

	"pressbox/daemon/health"
	"pressbox/daemon/web"
)

// An integrationReply is the state of a way in which other programs use the server.
type integrationReply struct {
	Status health.Health `json:"status"`
	health.IntegrationState
}

// A healthReply is the health of the server.
type healthReply struct {
	Status  health.Health               `json:"status"`
	Version string                      `json:"version"`
	Uptime  int64                       `json:"uptime_seconds" minimum:"0"`
	Checks  map[string]health.Condition `json:"checks"`

	// Ways in which other programs use the server, by name.
	Integrations map[string]integrationReply `json:"integrations"`
}

func (h *handlers) healthRoutes() []web.Route {
	return []web.Route{web.NewRoute(http.MethodGet, "/health", web.Public, h.health, web.Operation{
		ID: "getHealth", Tag: "server", Summary: "Get the health of the server and its components",
		Responses: []web.Response{
			{Status: http.StatusOK, Description: "Announcements are accepted.", Body: healthReply{}},
			{
				Status: http.StatusServiceUnavailable, Body: healthReply{},
				Description: "Announcements cannot be accepted.",
			},
		},
	})}
}

func (h *handlers) health(w http.ResponseWriter, _ *http.Request) error {
	all := h.healthReply(false)
	if all.Status == health.Failing {
		w.Header().Set("Retry-After", "10")
		return web.WriteJSON(w, http.StatusServiceUnavailable, all)
	}
	return web.WriteJSON(w, http.StatusOK, all)
}

// healthReply runs every check; the status is that of the worst one. private is true for administrators.
func (h *handlers) healthReply(private bool) healthReply {
	reply := healthReply{
		Status:  health.OK,
		Version: h.Version(),
		Uptime:  int64(time.Since(h.started) / time.Second),
		Checks:  map[string]health.Condition{},

		Integrations: map[string]integrationReply{},
	}
	for _, check := range h.Checks {
		c := check.Report()
		reply.Checks[check.Name] = c
		reply.Status = health.Worse(reply.Status, c.Health)
	}
	for _, integration := range h.Integrations {
		state := integration.Report()
		if private {
			state = state.Whole()
		}
		reply.Integrations[integration.Name] = integrationReply{state.Health(), state}
		reply.Status = health.Worse(reply.Status, state.Health())
	}
	return reply
}
