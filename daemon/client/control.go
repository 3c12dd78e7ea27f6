package client

import (
	"fmt"
	"time"
)

// A Volume is the server's response to GET /volume.
type Volume struct {
	Volume int  `json:"volume"` // percent
	Muted  bool `json:"muted"`
	Set    bool `json:"set"` // by a client; otherwise the setting VOLUME applies
}

// String describes the volume.
func (v Volume) String() string {
	text := fmt.Sprintf("%d %%", v.Volume)
	if v.Muted {
		text += ", muted"
	}
	if v.Set {
		text += " (set)"
	}
	return text
}

// Quiet is the server's response to GET /quiet.
type Quiet struct {
	Active bool      `json:"active"`
	Until  time.Time `json:"until"` // zero means always, if it is active
	Mode   string    `json:"mode"`
	Reason string    `json:"reason"` // "hours" or "switch"
}

// String describes quiet.
func (q Quiet) String() string {
	if !q.Active {
		return "off"
	}
	text := q.Mode
	if !q.Until.IsZero() {
		text += " until " + q.Until.Local().Format("2006-01-02 15:04")
	}
	if q.Reason == "switch" {
		text += " (set)"
	}
	return text
}

// A Schedule is an announcement that recurs.
type Schedule struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Cron     string    `json:"cron"`
	TimeZone string    `json:"time_zone"`
	Enabled  bool      `json:"enabled"`
	Message  string    `json:"message"`
	NextAt   time.Time `json:"next_at"` // zero: it is disabled, or the clock is not set
}

// Times describes when the announcement is spoken.
func (s Schedule) Times() string {
	if s.TimeZone == "" {
		return s.Cron
	}
	return s.Cron + " " + s.TimeZone
}

// Due describes when the announcement is spoken next.
func (s Schedule) Due() string {
	switch {
	case !s.Enabled:
		return "disabled"
	case s.NextAt.IsZero():
		return "waits for the clock"
	default:
		return s.NextAt.Local().Format("2006-01-02 15:04")
	}
}
