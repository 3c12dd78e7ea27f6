// Package health has the values in which the server reports on itself: the health of its
// components, the ways in which other programs use it, and the findings of "pressbox doctor".
//
// One law: a value knows nothing of what it reports on.
package health

import (
	"cmp"
	"encoding/json"
	"maps"
)

// A Health is the health of a component or of the server.
type Health string

// The values of Health, from good to bad.
const (
	OK       Health = "ok"
	Degraded Health = "degraded" // a component does not work; announcements are accepted
	Failing  Health = "failing"  // announcements cannot be accepted
)

// Worse returns the worse one of two.
func Worse(a, b Health) Health {
	for _, h := range []Health{Failing, Degraded} {
		if a == h || b == h {
			return h
		}
	}
	return OK
}

// A Check reports the health of one component.
type Check struct {
	Name   string           // such as "store"
	Report func() Condition // must not block
}

// A Condition is the health of a component with additional facts.
type Condition struct {
	Health Health         `json:"status"`
	Detail string         `json:"detail,omitempty"` // reason for a status other than ok
	Facts  map[string]any `json:"-"`                // additional members of the JSON object; nil means none
	_      struct{}       `additionalProperties:"true"`
}

// MarshalJSON returns one object with status, detail and the facts.
func (c Condition) MarshalJSON() ([]byte, error) {
	all := map[string]any{"status": cmp.Or(c.Health, OK)}
	if c.Detail != "" {
		all["detail"] = c.Detail
	}
	maps.Copy(all, c.Facts)
	return json.Marshal(all)
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
	// What administrators see instead, if it names what others must not know; nil: the same.
	Private *IntegrationState `json:"-"`
}

// Whole returns what administrators see.
func (s IntegrationState) Whole() IntegrationState {
	if s.Private != nil {
		return *s.Private
	}
	return s
}

// Health returns Degraded for an integration that does not work.
func (s IntegrationState) Health() Health {
	if s.Detail != "" {
		return Degraded
	}
	return OK
}

// String describes an integration that is on or off.
func (s IntegrationState) String() string {
	if s.On {
		return s.Summary
	}
	return "off: " + s.Summary
}

// A Finding is the result of one check of "pressbox doctor".
type Finding struct {
	Name   string `json:"name"`           // component
	Code   string `json:"code,omitempty"` // what is wrong with it, absent if nothing is
	Result string `json:"result" enum:"ok,warning,failure"`
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"` // how to fix it, usually a command
}
