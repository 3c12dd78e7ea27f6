package doctor

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"pressbox/audio/pulse"
	"pressbox/auth"
	"pressbox/daemon/client"
	"pressbox/daemon/health"
	"pressbox/daemon/settings"
	"pressbox/daemon/web"
	"pressbox/game/leagues"
	"pressbox/store"
	"pressbox/voice"
	"pressbox/voice/espeak/confine"
	"pressbox/voice/library"
)

// An Inside checks a running server in its own process: its settings, its environment and
// its privileges.
type Inside struct {
	Started    settings.Config                 // the settings at the start
	Reloaded   func() settings.Config          // the settings at the last reload
	Read       func() (settings.Config, error) // the current settings
	Store      *store.Store
	Voices     *library.Library
	Phonemizer voice.Phonemizer
	Sink       *pulse.Sink
	Leagues    *leagues.Leagues
	Accounts   func(context.Context) ([]auth.Account, error)
	// Integrations are reported in their order.
	Integrations []health.Integration
	// Probe sends a request to the public origin; nil means that it is not checked.
	Probe func(ctx context.Context, client *http.Client, origin string) (web.Arrival, error)
}

// Findings checks everything.
func (s Inside) Findings(ctx context.Context) []Finding {
	findings := s.checkSettings()
	findings = append(findings, exposureFindings(s.Started)...)
	accounts, _ := s.Accounts(ctx) // checkStore says why there are none
	findings = append(findings, openAccountFindings(s.Started, accounts)...)
	findings = append(findings, s.checkProxy(ctx)...)
	findings = append(findings, s.checkStore()...) //nolint:contextcheck // the store's test write is short
	findings = append(findings, diskFindings(s.Started.StateDir)...)
	findings = append(findings, voiceFindings(s.Voices)...)
	findings = append(findings, lexiconFindings(s.Reloaded())...)
	findings = append(findings, phonemizerFindings(ctx, s.Phonemizer)...)
	findings = append(findings, confinementFindings(confine.Missing())...)
	findings = append(findings, runtimeFindings(s.Started.ONNXRuntimeLib)...)
	findings = append(findings, s.checkSound(ctx)...)
	findings = append(findings, leagueFindings(s.Leagues.Stored())...)
	for _, i := range s.Integrations {
		findings = append(findings, integrationFinding(i.Name, i.Report())...)
	}
	return findings
}

// leagueFindings reports the leagues that cannot advance.
func leagueFindings(all []leagues.StoredLeague) []Finding {
	var findings []Finding
	for _, l := range all {
		if l.Stalled != "" {
			findings = append(findings, finding("leagues",
				Warning, "it is tried again within ten minutes; to give it up: pressbox leagues remove "+l.ID,
				"%s %q cannot go on: %s", l.Kind, l.Name, l.Stalled)...)
		}
	}
	return findings
}

// checkSettings checks whether the server would start again, and whether a reload or a
// restart is due.
func (s Inside) checkSettings() []Finding {
	next, err := s.Read()
	if err != nil {
		return finding("settings", Failure, correctSettings, "the server would not start again: %s", oneLine(err))
	}
	var findings []Finding
	if names := settings.Changed(s.Started, next, false); len(names) > 0 {
		findings = finding("settings", Warning, "systemctl restart pressbox",
			"changed since the start and not applied: %s", strings.Join(names, ", "))
	}
	if names := settings.Changed(s.Reloaded(), next, true); len(names) > 0 {
		findings = append(findings, finding("settings",
			Warning, "systemctl reload pressbox", "changed since the last reload: %s", strings.Join(names, ", "))...)
	}
	if findings == nil {
		return finding("settings", OK, "", "valid and applied")
	}
	return findings
}

func (s Inside) checkStore() []Finding {
	path := s.Started.StorePath()
	stats, err := s.Store.Stats()
	err = cmp.Or(s.Store.Health(), err)
	size := client.SizeOf(stats.Size-stats.Free, stats.Max)
	findings := finding("store", OK, "", "%s is in use, %s", path, size)
	const increase = "increase STORE_MAX_SIZE"
	switch {
	case errors.Is(err, store.ErrFull):
		findings = finding("store", Failure, increase, "%s", oneLine(err))
	case errors.Is(err, store.ErrCorrupt):
		findings = finding("store", Failure, "systemctl restart pressbox: the server restores the newest intact backup",
			"%s", oneLine(err))
	case err != nil:
		findings = finding("store", Failure, "free disk space, or replace a broken disk (see: journalctl -k)",
			"%s", oneLine(err))
	case stats.NearlyFull() != "":
		findings = finding("store", Warning, increase, "%s is nearly full (%s), %s", path, stats.NearlyFull(), size)
	}
	return append(findings, backupFindings(s.Started, true)...)
}

// checkSound inspects the sound server over a connection of its own.
func (s Inside) checkSound(ctx context.Context) []Finding {
	report, err := pulse.Inspect(ctx, PulseConfig(s.Started))
	if err != nil {
		return finding("sound", Failure, "correct PULSE_SERVER", "%s", oneLine(err))
	}
	cfg := s.Started
	cfg.Volume = s.Reloaded().Volume
	findings := soundFindings(report, cfg)
	if lost := s.Sink.Health(); lost != nil && Worst(findings) != Failure {
		findings = append(findings, finding("sound",
			Warning, "", "the sound server answers, but the server is not connected to it yet: %s", oneLine(lost))...)
	}
	return findings
}
