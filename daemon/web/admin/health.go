package admin

import (
	"encoding/json"
	"maps"
	"net/http"
	"time"

	"pressbox/daemon/web"
)

// A Health is how a part of the appliance is, or all of it.
type Health string

// The healths, from good to bad.
const (
	OK       Health = "ok"
	Degraded Health = "degraded" // something does not work; announcements are accepted
	Failing  Health = "failing"  // announcements cannot be accepted
)

// A Check is one part of the appliance that tells how it is.
type Check struct {
	Name   string           // such as "store"
	Report func() Condition // must not wait for anything
}

// A Condition is what a part of the appliance says of itself.
type Condition struct {
	Health Health         // "" means OK
	Detail string         // why it is not OK; "" otherwise
	Facts  map[string]any // further members of its JSON object; nil means none
}

// MarshalJSON writes one object: status, detail and the facts.
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

// A healthReply is the body of GET /health.
type healthReply struct {
	Status  Health               `json:"status"`
	Version string               `json:"version"`
	Uptime  int64                `json:"uptime_seconds"`
	Checks  map[string]Condition `json:"checks"`
}

func (h *handlers) healthRoutes() []web.Route {
	return []web.Route{web.NewRoute(http.MethodGet, "/health", web.Public, h.health, web.Operation{
		ID: "getHealth", Tag: "appliance", Summary: "How the appliance is",
		Responses: []web.Response{
			{Status: http.StatusOK, Description: "Announcements are accepted.", Schema: "Health"},
			{Status: http.StatusServiceUnavailable, Description: "Announcements cannot be accepted.", Schema: "Health"},
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

// healthReply asks every part; the whole is as well as the worst of them.
func (h *handlers) healthReply() healthReply {
	reply := healthReply{
		Status:  OK,
		Version: h.Version(),
		Uptime:  int64(time.Since(h.started) / time.Second),
		Checks:  map[string]Condition{},
	}
	for _, check := range h.Checks {
		c := check.Report()
		reply.Checks[check.Name] = c
		if c.health() == Failing || reply.Status == OK {
			reply.Status = c.health()
		}
	}
	return reply
}
