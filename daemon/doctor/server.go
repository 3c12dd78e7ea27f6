package doctor

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"pressbox/daemon/client"
	"pressbox/daemon/health"
	"pressbox/daemon/settings"
	"pressbox/daemon/trust"
)

// How long doctor waits for a server's status, and for its check of itself.
const (
	statusTimeout = 10 * time.Second
	insideTimeout = client.ResponseTimeout
)

// startedByHand reports whether the running server is another one than the package's.
func (d Doctor) startedByHand() bool { return d.socket != "" && d.socket != settings.SharedAdmin }

// restartCommand returns how to restart the running server.
func (d Doctor) restartCommand() string {
	if d.startedByHand() {
		return "stop the server and start it again"
	}
	return "systemctl restart pressbox"
}

// deniedRemedy returns how to use the admin socket that this user may not use.
func (d Doctor) deniedRemedy() string {
	if errors.Is(d.denied, trust.ErrPeer) {
		return "run doctor as the server's user"
	}
	return "run doctor as root"
}

// askServer returns the findings of the running server.
func (d Doctor) askServer(ctx context.Context) ([]Finding, error) {
	c := client.ForSocket(d.socket)
	defer c.HTTP.CloseIdleConnections()
	statusCtx, stop := context.WithTimeout(ctx, statusTimeout)
	defer stop()
	s, err := c.Status(statusCtx)
	if err != nil {
		return nil, err
	}
	if running := s.Versions["pressbox"]; running != d.version { // its checks may differ, or not exist
		other := finding("server", Warning, d.restartCommand(),
			"version %s is running, and this program is version %s", running, d.version)
		return append(other, healthFindings(s.Health)...), nil
	}
	ctx, stop = context.WithTimeout(ctx, insideTimeout)
	defer stop()
	var inside Report
	if err := c.Call(ctx, http.MethodGet, "/admin/examination", nil, &inside); err != nil {
		return nil, err
	}
	return append(finding("server", OK, "", "version %s is running", d.version), inside.Findings...), nil
}

// askHealth returns the public health of the server at the settings' address; ok reports
// whether there is one.
func (d Doctor) askHealth(ctx context.Context) (findings []Finding, ok bool) {
	origin, err := client.Origin(d.cfg)
	if err != nil {
		return nil, false
	}
	h, err := client.HealthAt(ctx, origin)
	if err != nil {
		return nil, false
	}
	why, remedy := "its STATE_DIR is not "+d.cfg.StateDir,
		"run doctor with --state-dir and that server's directory, to check more"
	if d.denied != nil {
		why, remedy = oneLine(d.denied), d.deniedRemedy()+", to check more"
	}
	findings = finding("server", Warning, remedy, "version %s answers at %s; %s", h.Version, origin, why)
	return append(findings, healthFindings(h)...), true
}

// healthFindings converts a server's health.
func healthFindings(h client.Health) []Finding {
	c := h.Checks
	findings := checkFinding(c.Store.Check, "store", c.Store.Summary())
	findings = append(findings, checkFinding(c.Voices.Check, "voices", c.Voices.Summary())...)
	findings = append(findings, checkFinding(c.Audio.Check, "sound", c.Audio.Summary())...)
	for _, name := range slices.Sorted(maps.Keys(h.Integrations)) {
		findings = append(findings, integrationFinding(name, h.Integrations[name])...)
	}
	return findings
}

// integrationFinding converts the state of an integration.
func integrationFinding(name string, i health.IntegrationState) []Finding {
	if i.Detail != "" {
		return finding(name, Warning, i.Remedy, "%s", strings.Join(strings.Fields(i.Detail), " "))
	}
	return finding(name, OK, "", "%s", i)
}

// checkFinding converts the health of one component.
func checkFinding(c client.Check, name, summary string) []Finding {
	if c.Detail != "" {
		return finding(name, Failure, "", "%s", strings.Join(strings.Fields(c.Detail), " "))
	}
	return finding(name, OK, "", "%s", summary)
}
