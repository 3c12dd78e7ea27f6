package client

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"pressbox/daemon/health"
	"pressbox/daemon/settings"
)

// A Status is the server's response to GET /admin/status.
type Status struct {
	Health Health `json:"health"`
	Queue  struct {
		Queue []struct {
			Status  string `json:"status"`
			Message string `json:"message"`
		} `json:"queue"`
	} `json:"queue"`
	Versions map[string]string `json:"versions"`
	Counts   map[string]int    `json:"counts"`
	Volume   Volume            `json:"volume"`
	Quiet    Quiet             `json:"quiet"`
}

// Playing returns the beginning of the announcement that is being played; "" if there is
// none, or no audio output.
func (s Status) Playing() string {
	const maxLength = 60 // characters
	if len(s.Queue.Queue) == 0 || s.Queue.Queue[0].Status == "queued" || s.Health.Checks.Audio.Sink == "" {
		return ""
	}
	text := []rune(strings.Join(strings.Fields(s.Queue.Queue[0].Message), " "))
	if len(text) > maxLength {
		text = append(text[:maxLength-1], '…')
	}
	return string(text)
}

// Health is the server's response to GET /health.
type Health struct {
	Status  string `json:"status"`
	Version string `json:"version"`
	Uptime  int64  `json:"uptime_seconds"`
	Checks  struct {
		Store  StoreCheck  `json:"store"`
		Audio  AudioCheck  `json:"audio"`
		Voices VoicesCheck `json:"voices"`
		Queue  struct {
			Check
			Waiting int `json:"waiting"`
			Max     int `json:"max"`
		} `json:"queue"`
	} `json:"checks"`
	Integrations map[string]health.IntegrationState `json:"integrations"`
}

// A Check is the health of one component.
type Check struct {
	Detail string `json:"detail"` // the problem; "" means none
}

// A StoreCheck is the health of the store.
type StoreCheck struct {
	Check
	Size int64 `json:"size_bytes"`
	Free int64 `json:"free_bytes"`
	Max  int64 `json:"max_bytes"`
}

// Summary describes the store's size.
func (c StoreCheck) Summary() string { return SizeOf(c.Size-c.Free, c.Max) }

// SizeOf describes a size and its limit in bytes.
func SizeOf(size, limit int64) string {
	return fmt.Sprintf("%.1f of %.0f MiB", float64(size)/(1<<20), float64(limit)/(1<<20))
}

// An AudioCheck is the health of the audio output.
type AudioCheck struct {
	Check
	Server string `json:"server"`
	Sink   string `json:"sink"`
	Name   string `json:"sink_name"`
	State  string `json:"state"`
	Muted  bool   `json:"muted"`
	Volume int    `json:"volume"`
}

// Summary describes the sink; "" while there is none.
func (c AudioCheck) Summary() string {
	if c.Sink == "" {
		return ""
	}
	text := fmt.Sprintf("%s; %s, %s, volume %d %%", c.Server, cmp.Or(c.Name, c.Sink), c.State, c.Volume)
	if c.Muted {
		text += ", muted"
	}
	return text
}

// A VoicesCheck is the health of the voices.
type VoicesCheck struct {
	Check
	Default   string `json:"default"`
	Installed int    `json:"installed"`
	Broken    int    `json:"broken"`
}

// Summary describes the voices.
func (c VoicesCheck) Summary() string {
	return fmt.Sprintf("%d installed, %d broken; default %s", c.Installed, c.Broken, c.Default)
}

// Status returns the server's status; the client must be an administrator's.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	err := c.Call(ctx, http.MethodGet, "/admin/status", nil, &s)
	return s, err
}

// healthTimeout is the time for which [HealthAt] waits.
const healthTimeout = 5 * time.Second

// HealthAt returns the health of the server at origin, also while it is failing.
func HealthAt(ctx context.Context, origin string) (h Health, err error) {
	ctx, stop := context.WithTimeout(ctx, healthTimeout)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+"/health", http.NoBody)
	if err != nil {
		return h, err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		return h, err
	}
	defer resp.Body.Close()
	if err := decode(resp, &h); err != nil {
		return h, fmt.Errorf("decode the health of the server at %s: %w", origin, err)
	}
	if h.Version == "" || h.Status == "" {
		return h, fmt.Errorf("the server at %s is not Pressbox", origin)
	}
	return h, nil
}

// PageSettings returns the settings that administrators have set on the page, by name; the
// client must be an administrator's.
func (c *Client) PageSettings(ctx context.Context) (map[string]string, error) {
	var list struct {
		Settings []struct{ Name, Value, Origin string } `json:"settings"`
	}
	if err := c.Call(ctx, http.MethodGet, "/admin/settings", nil, &list); err != nil {
		return nil, err
	}
	values := make(map[string]string)
	for _, s := range list.Settings {
		if s.Origin == settings.OriginPage {
			values[s.Name] = s.Value
		}
	}
	return values, nil
}

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
