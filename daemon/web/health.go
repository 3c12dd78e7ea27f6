package web

import (
	"encoding/json"
	"maps"
	"net/http"
	"time"
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

func (s *Server) healthRoutes() []route {
	return []route{{http.MethodGet, "/health", everyone, s.health, operation{
		id: "getHealth", tag: "appliance", summary: "How the appliance is",
		answers: []success{
			{status: http.StatusOK, description: "Announcements are accepted.", schema: "Health"},
			{status: http.StatusServiceUnavailable, description: "Announcements cannot be accepted.", schema: "Health"},
		},
	}}}
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	h := s.healthReply()
	if h.Status == Failing {
		w.Header().Set("Retry-After", "10")
		return reply(w, http.StatusServiceUnavailable, h)
	}
	return reply(w, http.StatusOK, h)
}

// healthReply asks every part; the whole is as well as the worst of them.
func (s *Server) healthReply() healthReply {
	h := healthReply{
		Status:  OK,
		Version: s.cfg.Version,
		Uptime:  int64(time.Since(s.started) / time.Second),
		Checks:  map[string]Condition{},
	}
	for _, check := range s.cfg.Checks {
		c := check.Report()
		h.Checks[check.Name] = c
		if c.health() == Failing || h.Status == OK {
			h.Status = c.health()
		}
	}
	return h
}
