package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// For how long doctor waits for a daemon: to tell everyone its health, to tell the
// administrator how it is, and to look at itself.
const (
	healthPatience      = 5 * time.Second
	statusPatience      = 10 * time.Second
	examinationPatience = answerPatience
)

// byHand says whether the daemon that runs is one that somebody started in a folder, and
// not the package's.
func (p patient) byHand() bool { return p.socket != "" && p.socket != sharedAdminSocket }

// restart is how the daemon is started again.
func (p patient) restart() string {
	if p.byHand() {
		return "end it and start it again, as it was started"
	}
	return "systemctl restart pressbox"
}

// askDaemon has the daemon look at itself.
func (p patient) askDaemon(ctx context.Context) ([]finding, error) {
	c := socketClient(p.socket)
	defer c.http.CloseIdleConnections()
	soon, stop := context.WithTimeout(ctx, statusPatience)
	defer stop()
	var s daemonStatus
	if err := c.call(soon, http.MethodGet, "/admin/status", nil, &s); err != nil {
		return nil, err
	}
	if runs := s.Versions["pressbox"]; runs != version { // it may look at itself in another way, or not at all
		other := one("daemon", doubtful, p.restart(), "runs as version %s, and this program is %s", runs, version)
		return append(other, s.Health.findings()...), nil
	}
	ctx, stop = context.WithTimeout(ctx, examinationPatience)
	defer stop()
	var inside examination
	if err := c.call(ctx, http.MethodGet, "/admin/examination", nil, &inside); err != nil {
		return nil, err
	}
	return append(one("daemon", well, "", "runs, version %s", version), inside.Findings...), nil
}

// askHealth asks what a daemon tells everyone; ok says whether one answers.
func (p patient) askHealth(ctx context.Context) (found []finding, ok bool) {
	base, err := addressOf(p.cfg)
	if err != nil {
		return nil, false
	}
	h, err := healthAt(ctx, base)
	if err != nil {
		return nil, false
	}
	why, mend := "its folder is not "+p.cfg.StateDir, "run doctor with --state-dir and the folder of that daemon; it then sees more"
	if p.refused != nil {
		why, mend = oneLine(p.refused), "run doctor as root; it then sees more"
	}
	found = one("daemon", doubtful, mend, "version %s answers at %s; %s", h.Version, base, why)
	return append(found, h.findings()...), true
}

// healthAt asks for a daemon's health, which it tells also when that is bad.
func healthAt(ctx context.Context, base string) (h daemonHealth, err error) {
	ctx, stop := context.WithTimeout(ctx, healthPatience)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/health", http.NoBody)
	if err != nil {
		return h, err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		return h, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&h); err != nil {
		return h, fmt.Errorf("read the health of the daemon at %s: %w", base, err)
	}
	if h.Version == "" || h.Status == "" {
		return h, fmt.Errorf("what answers at %s is no pressbox", base)
	}
	return h, nil
}

// findings are what a daemon's health says of its parts.
func (h daemonHealth) findings() []finding {
	c := h.Checks
	found := c.Store.finding("store", c.Store.said())
	found = append(found, c.Voices.finding("voices", c.Voices.said())...)
	found = append(found, c.Audio.finding("sound", c.Audio.said())...)
	if c.Audio.Muted {
		found = append(found, one("sound", broken, "unmute it", "the sink %s is muted", c.Audio.Sink)...)
	}
	return found
}

// finding is why the part does not work, or what is said of it when it does.
func (c checkResult) finding(name, said string) []finding {
	if c.Detail != "" {
		return one(name, broken, "", "%s", strings.Join(strings.Fields(c.Detail), " "))
	}
	return one(name, well, "", "%s", said)
}
