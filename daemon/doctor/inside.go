package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

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
	Started  settings.Config                 // the settings at the start
	Reloaded func() settings.Config          // the settings at the last reload
	Read     func() (settings.Config, error) // the current settings
	Store    *store.Store
	Voices   *library.Library
	// MissingSounds returns the sounds that are named but not there, with what names them.
	MissingSounds func() []string
	NamedVoices   func() []string // that favorites, schedules and what waits name; "" is the default voice
	Phonemizer    voice.Phonemizer
	Sink          *pulse.Sink
	Leagues       *leagues.Leagues
	Accounts      func(context.Context) ([]auth.Account, error)
	// Integrations are reported in their order.
	Integrations []health.Integration
	// Probe sends a request to the public origin; nil means that it is not checked.
	Probe func(ctx context.Context, client *http.Client, origin string) (web.Arrival, error)
}

// Findings checks everything.
func (s Inside) Findings(ctx context.Context) []Finding {
	accounts, _ := s.Accounts(ctx) // checkStore says why there are none
	findings := slices.Concat(
		s.checkSettings(), exposureFindings(s.Started), idleFindings(s.Started),
		openAccountFindings(s.Started, accounts), s.checkProxy(ctx),
		s.checkStore(), //nolint:contextcheck // the store's test write is short
		diskFindings(s.Started.StateDir), voiceFindings(s.Voices), goneFindings(s.Voices, s.NamedVoices()),
		missingFindings(s.MissingSounds()),
		lexiconFindings(s.Reloaded()),
		phonemizerFindings(ctx, s.Phonemizer), confinementFindings(confine.Missing()),
		runtimeFindings(s.Started.ONNXRuntimeLib), s.checkSound(ctx), leagueFindings(s.Leagues.Stored()),
	)
	for _, i := range s.Integrations {
		findings = append(findings, integrationFinding(i.Name, i.Report().Whole())...)
	}
	return findings
}

// leagueFindings reports the leagues that cannot advance.
func leagueFindings(all []leagues.StoredLeague) []Finding {
	var findings []Finding
	for _, l := range all {
		if l.Stalled != "" {
			findings = append(findings, finding("leagues.stalled",
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
		return finding("settings.invalid", Failure, correctSettings,
			"the server would not start again: %s", oneLine(err))
	}
	var findings []Finding
	if names := settings.Changed(s.Started, next, false); len(names) > 0 {
		findings = finding("settings.not_applied", Warning, "systemctl restart pressbox",
			"changed since the start and not applied: %s", strings.Join(names, ", "))
	}
	if names := settings.Changed(s.Reloaded(), next, true); len(names) > 0 {
		findings = append(findings, finding("settings.not_reloaded",
			Warning, "systemctl reload pressbox", "changed since the last reload: %s", strings.Join(names, ", "))...)
	}
	if findings == nil {
		return fine("settings", "valid and applied")
	}
	return findings
}

func (s Inside) checkStore() []Finding {
	path := s.Started.StorePath()
	stats, err := s.Store.Stats()
	err = cmp.Or(s.Store.Health(), err)
	findings := storeFindings(path, stats, err)
	return slices.Concat(findings, ownerFindings(s.Started.StateDir), backupFindings(s.Started, true))
}

// storeFindings judges a store that is in use by its size, and by the error of its last write.
func storeFindings(path string, stats store.Stats, err error) []Finding {
	size := client.SizeOf(stats.Size-stats.Free, stats.Max)
	findings := fine("store", "%s is in use, %s", path, size)
	const increase = "increase STORE_MAX_SIZE"
	switch {
	case errors.Is(err, syscall.ENOSPC):
		findings = finding("store.disk_full", Failure, freeDisk, "%s", oneLine(err))
	case errors.Is(err, store.ErrFull):
		findings = finding("store.full", Failure, increase, "%s", oneLine(err))
	case errors.Is(err, store.ErrCorrupt):
		findings = finding("store.damaged", Failure,
			"systemctl restart pressbox: the server restores the newest intact backup",
			"%s", oneLine(err))
	case err != nil:
		findings = finding("store.not_writable", Failure,
			"free disk space, or replace a broken disk (see: journalctl -k)",
			"%s", oneLine(err))
	case stats.NearlyFull() != "":
		findings = finding("store.nearly_full", Warning, increase,
			"%s is nearly full (%s), %s", path, stats.NearlyFull(), size)
	}
	return findings
}

// checkSound inspects the sound server over a connection of its own.
func (s Inside) checkSound(ctx context.Context) []Finding {
	report, err := pulse.Inspect(ctx, PulseConfig(s.Started))
	if err != nil {
		return finding("sound.address", Failure, "correct PULSE_SERVER", "%s", oneLine(err))
	}
	cfg := s.Started
	cfg.Volume = s.Reloaded().Volume
	findings := soundFindings(report, cfg)
	if lost := s.Sink.Health(); lost != nil && Worst(findings) != Failure {
		findings = append(findings, finding("sound.reconnecting",
			Warning, "", "the sound server answers, but the server is not connected to it yet: %s", oneLine(lost))...)
	}
	return findings
}

// probeTimeout is the time for a request through PUBLIC_URL.
const probeTimeout = 5 * time.Second

// idleFindings tells where EXIT_ON_IDLE has no effect.
func idleFindings(cfg settings.Config) []Finding {
	if cfg.ExitOnIdle == 0 || cfg.ESPHomeOff() != "" {
		return nil
	}
	return fine("idle", "EXIT_ON_IDLE has no effect beside Home Assistant: its connection stays open")
}

// exposureFindings names settings that open the server to the internet.
func exposureFindings(cfg settings.Config) []Finding {
	permitted := cfg.Exposed()
	if permitted == "" {
		return nil
	}
	return finding("access.exposed", Warning,
		"unless this is intended, set NOTIFY_ACCESS=lan or NOTIFY_ACCESS=token",
		"every client that reaches the server through its proxy or public address may %s", permitted)
}

// openAccountFindings names the accounts whose sessions NOTIFY_ACCESS=token does not admit.
func openAccountFindings(cfg settings.Config, all []auth.Account) []Finding {
	var names []string
	for _, a := range all {
		if a.Open && !a.Admin && !a.Disabled {
			names = append(names, a.Name)
		}
	}
	if cfg.NotifyAccess != string(web.Token) || len(names) == 0 {
		return nil
	}
	return finding("access.uninvited", Warning,
		"\"pressbox users invite\" makes a link by which one can sign in, and may then; "+
			"SIGN_UP=invite asks new accounts for it",
		"made without an invite, %d accounts may not announce (NOTIFY_ACCESS=token): %s",
		len(names), strings.Join(names[:min(len(names), 5)], ", "))
}

// checkProxy sends a request through PUBLIC_URL and checks what the proxy sends about the
// client. It checks nothing without PUBLIC_URL.
func (s Inside) checkProxy(ctx context.Context) []Finding {
	origin := s.Started.PublicURL
	if origin == "" || s.Probe == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, probeTimeout)
	defer stop()
	transport := &http.Transport{
		// The proxy's authority may be its own, and nothing secret is sent.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
	}
	defer transport.CloseIdleConnections()
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	arrival, err := s.Probe(ctx, &http.Client{Transport: transport, CheckRedirect: noRedirect}, origin)
	return proxyFindings(origin, arrival, err)
}

// proxyFindings judges how a request through PUBLIC_URL arrived.
func proxyFindings(origin string, a web.Arrival, err error) []Finding {
	const correctProxy = "have the proxy send X-Forwarded-For (see /usr/share/doc/pressbox/https.md)"
	switch {
	case errors.Is(err, web.ErrNotThisServer):
		return finding("proxy.other_server", Warning, "correct PUBLIC_URL or the proxy",
			"%s is answered by another server", origin)
	case err != nil:
		return finding("proxy.unreachable", Warning, "correct PUBLIC_URL or the proxy",
			"%s cannot be reached from this host: %s", origin, oneLine(err))
	case a.Direct:
		return fine("proxy", "%s leads here without a proxy", origin)
	case !a.Forwarded && a.Peer.IsLoopback():
		return finding("proxy.no_client", Warning, correctProxy,
			"the proxy at %s does not send the client's address: every client counts as local and has no limits",
			origin)
	case !a.Forwarded:
		return finding("proxy.no_client", Warning, correctProxy,
			"the proxy at %s does not send the client's address: its clients are unknown, or all count as the proxy",
			origin)
	case !a.Trusted:
		return finding("proxy.untrusted", Warning, "add "+a.Peer.String()+" to TRUSTED_PROXIES",
			"the proxy at %s is not trusted: all its clients are unknown", origin)
	default:
		return fine("proxy", "the proxy at %s sends the client's address", origin)
	}
}
