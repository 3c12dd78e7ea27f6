// Package monitor checks the server's components for GET /health and "systemctl status",
// and detects an idle server.
//
// One law: a check reads states in memory; it never waits.
package monitor

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"pressbox/audio/pulse"
	"pressbox/daemon/health"
	"pressbox/store"
	"pressbox/voice/announce/announcer"
	"pressbox/voice/library"
)

// A Monitor checks the components that it holds.
type Monitor struct {
	Store     *store.Store
	Sink      *pulse.Sink
	Voices    *library.Library
	Announcer *announcer.Announcer
	Lexicon   func() error // why the lexicon is incomplete; nil if it is complete
	Log       *slog.Logger

	Integrations []health.Integration
	// Salvaged describes how a damaged store was replaced at the start; "" means that it
	// was not damaged.
	Salvaged string
	// Addresses are the URLs at which the server listens.
	Addresses []string
}

// Checks returns the checks of GET /health.
func (m *Monitor) Checks() []health.Check {
	return []health.Check{
		{Name: "store", Report: m.store},
		{Name: "audio", Report: m.Sound},
		{Name: "voices", Report: m.voices},
		{Name: "lexicon", Report: m.lexicon},
		{Name: "queue", Report: m.queue},
	}
}

// Worst returns the health of the component that is worst.
func (m *Monitor) Worst() health.Health {
	worst := health.OK
	for _, check := range m.Checks() {
		worst = health.Worse(worst, check.Report().Health)
	}
	for _, integration := range m.Integrations {
		worst = health.Worse(worst, integration.Report().Health())
	}
	return worst
}

// condition returns a condition that is bad if err is not nil.
func condition(err error, bad health.Health, facts map[string]any) health.Condition {
	if err != nil {
		return health.Condition{Health: bad, Detail: err.Error(), Facts: facts}
	}
	return health.Condition{Facts: facts}
}

func (m *Monitor) store() health.Condition {
	err := m.Store.Health()
	stats, statsErr := m.Store.Stats()
	bad := health.Failing
	switch err = errors.Join(err, statsErr); {
	case err != nil:
	case m.Salvaged != "":
		err, bad = errors.New(m.Salvaged), health.Degraded
	case stats.NearlyFull() != "":
		err, bad = nearlyFullError(stats), health.Degraded
	}
	facts := map[string]any{
		"size_bytes": stats.Size, "free_bytes": stats.Free, "max_bytes": stats.Max, "commits": stats.Commits,
	}
	for _, share := range stats.Shares {
		name := strings.ReplaceAll(share.Name, "-", "_")
		facts[name+"_bytes"], facts[name+"_max_bytes"] = share.Used, share.Max
	}
	return condition(err, bad, facts)
}

// nearlyFullError describes the share of the store that is nearly full.
func nearlyFullError(stats store.Stats) error {
	for _, share := range stats.Shares {
		if share.Name == stats.NearlyFull() {
			return fmt.Errorf("the store is nearly full: %s use %d of %d bytes; "+
				"the oldest are deleted where that is possible; increase STORE_MAX_SIZE",
				share.Name, share.Used, share.Max)
		}
	}
	return fmt.Errorf("the store is nearly full: %d of %d bytes are used; increase STORE_MAX_SIZE",
		stats.Size-stats.Free, stats.Max)
}

// Sound returns the condition of the audio output.
func (m *Monitor) Sound() health.Condition {
	return audioCondition(m.Sink.Status(), m.Sink.Health())
}

// audioCondition returns the condition of a sink; err is why nothing can be played. Muting
// Pressbox does not affect it.
func audioCondition(s pulse.Status, err error) health.Condition {
	if silent, remedy := s.Silence(s.Address); err == nil && silent != "" {
		err = fmt.Errorf("%s: no announcement can be heard; run: %s", silent, remedy)
	}
	return condition(err, health.Degraded, map[string]any{
		"server": s.Server, "sink": s.Name, "sink_name": s.Description,
		"state": s.State, "muted": s.Muted, "volume": s.Volume,
	})
}

func (m *Monitor) voices() health.Condition {
	installed, broken := 0, 0
	for _, v := range m.Voices.Voices() {
		if installed++; v.Error != "" {
			broken++
		}
	}
	return condition(m.Voices.Health(), health.Degraded, map[string]any{
		"default": m.Voices.Default(), "installed": installed, "broken": broken,
	})
}

func (m *Monitor) lexicon() health.Condition {
	return condition(m.Lexicon(), health.Degraded, nil)
}

func (m *Monitor) queue() health.Condition {
	s := m.Announcer.Stats()
	return condition(nil, health.Degraded, map[string]any{
		"waiting": s.Waiting, "max": s.Max, "speaking": s.Current != "", "unsaved": s.Unsaved,
	})
}
