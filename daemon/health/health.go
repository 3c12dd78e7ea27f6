// Package health checks the server's components for GET /health and "systemctl status",
// and detects an idle server.
//
// One law: a check reads states in memory; it never waits.
package health

import (
	"errors"
	"fmt"
	"log/slog"

	"pressbox/audio/pulse"
	"pressbox/daemon/web"
	"pressbox/store"
	"pressbox/voice/announce"
	"pressbox/voice/library"
)

// A Monitor checks the components that it holds.
type Monitor struct {
	Store     *store.Store
	Sink      *pulse.Sink
	Voices    *library.Library
	Announcer *announce.Announcer
	Log       *slog.Logger

	// Salvaged describes how a damaged store was replaced at the start; "" means that it
	// was not damaged.
	Salvaged string
	// Addresses are the URLs at which the server listens.
	Addresses []string
}

// Checks returns the checks of GET /health.
func (m *Monitor) Checks() []web.Check {
	return []web.Check{
		{Name: "store", Report: m.store},
		{Name: "audio", Report: m.audio},
		{Name: "voices", Report: m.voices},
		{Name: "queue", Report: m.queue},
	}
}

// Worst returns the health of the component that is worst.
func (m *Monitor) Worst() web.Health {
	worst := web.OK
	for _, check := range m.Checks() {
		c := check.Report()
		if c.Health == web.Failing || c.Health == web.Degraded && worst == web.OK {
			worst = c.Health
		}
	}
	return worst
}

// condition returns a condition that is bad if err is not nil.
func condition(err error, bad web.Health, facts map[string]any) web.Condition {
	if err != nil {
		return web.Condition{Health: bad, Detail: err.Error(), Facts: facts}
	}
	return web.Condition{Facts: facts}
}

func (m *Monitor) store() web.Condition {
	err := m.Store.Health()
	stats, statsErr := m.Store.Stats()
	bad := web.Failing
	switch err = errors.Join(err, statsErr); {
	case err != nil:
	case m.Salvaged != "":
		err, bad = errors.New(m.Salvaged), web.Degraded
	case stats.NearlyFull():
		err, bad = fmt.Errorf("the store is nearly full (%d of %d bytes): the oldest finished private games are deleted; increase STORE_MAX_SIZE",
			stats.Size-stats.Free, stats.Max), web.Degraded
	}
	return condition(err, bad, map[string]any{
		"size_bytes": stats.Size, "free_bytes": stats.Free, "max_bytes": stats.Max, "commits": stats.Commits,
	})
}

func (m *Monitor) audio() web.Condition {
	s := m.Sink.Status()
	return condition(m.Sink.Health(), web.Degraded, map[string]any{
		"server": s.Server, "sink": s.Sink, "sink_name": s.Description, "state": s.State, "muted": s.Muted, "volume": s.Volume,
	})
}

func (m *Monitor) voices() web.Condition {
	installed, broken := 0, 0
	for _, v := range m.Voices.Voices() {
		if installed++; v.Error != "" {
			broken++
		}
	}
	return condition(m.Voices.Health(), web.Degraded, map[string]any{
		"default": m.Voices.Default(), "installed": installed, "broken": broken,
	})
}

func (m *Monitor) queue() web.Condition {
	s := m.Announcer.Stats()
	return condition(nil, web.Degraded, map[string]any{"waiting": s.Waiting, "max": s.Max, "speaking": s.Current != "", "unkept": s.Unsaved})
}
