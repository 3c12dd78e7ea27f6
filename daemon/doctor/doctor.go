// Package doctor checks everything that the server needs, and names a remedy for each
// problem.
//
// One law: it changes nothing.
package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pressbox/daemon/client"
	"pressbox/daemon/health"
	"pressbox/daemon/settings"
	"pressbox/daemon/trust"
)

// A Finding is the result of one check.
type Finding = health.Finding

// The results of findings, from good to bad.
const (
	OK      = "ok"
	Warning = "warning" // works with limitations, or could not be checked
	Failure = "failure"
)

// A Report is what doctor found.
type Report struct {
	Source   Source    `json:"source"`
	Findings []Finding `json:"findings"`
}

// A Source is the origin of the findings about settings, store, voices and sound.
type Source string

// The sources, the most reliable first.
const (
	FromServer Source = "server" // the running server checked itself
	FromHealth Source = "health" // the running server's public health
	FromDoctor Source = "doctor" // doctor checked what a new server would find
)

// A Doctor checks the running server, or what a server started now would find.
type Doctor struct {
	version     string
	released    string          // the date of the version, such as 2026-11-20; "" if unknown
	cfg         settings.Config // of this environment; the running server's may differ
	settingsErr error           // why the settings are invalid; cfg is the defaults then
	socket      string          // the admin socket; "" if no server runs, or denied is not nil
	denied      error           // why this user may not use the admin socket
	confine     []string        // the command that runs espeak-ng confined
	account     trust.Account   // the server's user, if doctor is root's and the user is another one
}

// A Program is the program of this process.
type Program struct {
	Version  string
	Released string   // the date of the version, such as 2026-11-20; "" if unknown
	Confine  []string // the command that runs espeak-ng confined
}

// New returns a Doctor for the server of this host, by its settings; err is the reason why
// they are invalid.
func New(ctx context.Context, host settings.Host, err error, p Program) Doctor {
	d := Doctor{
		version: p.Version, released: p.Released, confine: p.Confine, cfg: host.Config, settingsErr: err,
	}
	if os.Geteuid() == 0 {
		d.account, _ = trust.Controller(host.StateDir) // nobody's otherwise: root's
	}
	d.socket, d.denied = client.FindSocket(ctx, host)
	return d
}

// Run asks the server to check itself, else for its health, and checks by itself only if
// no server answers.
func (d Doctor) Run(ctx context.Context) Report {
	var findings []Finding
	if d.socket != "" {
		inside, err := d.askServer(ctx)
		if err == nil {
			return Report{FromServer, append(inside, d.checkHost(ctx)...)}
		}
		remedy := d.restartCommand()
		if Worst(d.checkPort()) == Failure { // for which a restart would fail
			remedy = "free the port first, see port"
		}
		findings = finding("server.silent", Failure, remedy, "%s", oneLine(err))
	} else if public, ok := d.askHealth(ctx); ok {
		return Report{FromHealth, append(public, d.checkHost(ctx)...)}
	}
	return Report{FromDoctor, append(findings, d.checkAll(ctx)...)}
}

// checkAll checks what a server started now would find.
func (d Doctor) checkAll(ctx context.Context) []Finding {
	return slices.Concat(d.checkServer(), d.checkSettings(), d.checkPort(), d.checkSides(),
		d.checkAsServer(ctx), d.checkHost(ctx))
}

// OwnCommand is the name of the program's hidden command that prints [Doctor.Own] as JSON.
const OwnCommand = "own-check"

// checkAsServer returns what the server's user finds; for root, in a child process of that user.
func (d Doctor) checkAsServer(ctx context.Context) []Finding {
	if d.account == (trust.Account{}) {
		return d.Own(ctx)
	}
	ctx, stop := context.WithTimeout(ctx, insideTimeout)
	defer stop()
	dir, err := filepath.Abs(d.cfg.StateDir)
	var findings []Finding
	if err == nil {
		var out []byte
		out, err = d.account.Command(ctx, settings.Environment(), OwnCommand, "--state-dir", dir).Output()
		err = cmp.Or(err, json.Unmarshal(out, &findings))
	}
	if err != nil {
		return finding("server.not_checked", Warning, "", "not checked as %s: %s", d.account.Name(), oneLine(err))
	}
	for i, f := range findings { // root is told what to do
		if f.Remedy == asRoot {
			findings[i].Remedy = giveBack(d.cfg.StateDir, d.account)
		}
	}
	return findings
}

// Own checks what only the server's user sees as the server does.
func (d Doctor) Own(ctx context.Context) []Finding {
	return slices.Concat(
		mqttFindings(d.cfg), d.checkStore(ctx), ownerFindings(d.cfg.StateDir), diskFindings(d.cfg.StateDir),
		d.checkVoices(), lexiconFindings(d.cfg), webhookFindings(d.cfg), d.checkPhonemizer(ctx),
		runtimeFindings(d.cfg.ONNXRuntimeLib), d.checkSound(ctx),
	)
}

// fine returns a list of one finding of a component that works.
func fine(name, format string, args ...any) []Finding {
	return []Finding{{Name: name, Result: OK, Detail: fmt.Sprintf(format, args...)}}
}

// finding returns a list of one finding. What is the name of a component and a code for what is wrong with it, such as
// "port.in_use".
func finding(what, result, remedy, format string, args ...any) []Finding {
	name, code, _ := strings.Cut(what, ".")
	return []Finding{{Name: name, Code: code, Result: result, Detail: fmt.Sprintf(format, args...), Remedy: remedy}}
}

// oneLine returns an error's text without line breaks.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// Worst returns the worst result of the findings.
func Worst(findings []Finding) string {
	worst := OK
	for _, f := range findings {
		if f.Result == Failure || f.Result == Warning && worst == OK {
			worst = f.Result
		}
	}
	return worst
}

// Print writes the report as text.
func (r Report) Print(w io.Writer) error {
	var b strings.Builder
	b.WriteString(map[Source]string{
		FromServer: "The running server checked itself:\n",
		FromHealth: "A server is running; its public health is:\n",
		FromDoctor: "No server is running; a server started now would find:\n",
	}[r.Source])
	for _, f := range r.Findings {
		mark := map[string]string{OK: "ok  ", Warning: "warn", Failure: "FAIL"}[f.Result]
		fmt.Fprintf(&b, "%s  %-10s %s\n", mark, f.Name, f.Detail)
		if f.Remedy != "" {
			fmt.Fprintf(&b, "                 → %s\n", f.Remedy)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

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
	return asRoot
}

// asRoot is the remedy for what only root may see.
const asRoot = "run doctor as root"

// runAsRoot returns asRoot, and "" for root.
func runAsRoot() string {
	if os.Geteuid() == 0 {
		return ""
	}
	return asRoot
}

// accessRemedy returns the remedy for a file in STATE_DIR that doctor may not read: that of the server's user is
// another one than that of a stranger.
func accessRemedy(dir string) string {
	owner, err := trust.Controller(dir)
	if uid := os.Geteuid(); uid != 0 && (err != nil || int(owner.UID) != uid) {
		return runAsRoot()
	}
	return giveBack(dir, owner)
}

// giveBack returns the command that gives everything in STATE_DIR to its owner.
func giveBack(dir string, owner trust.Account) string { return "chown -R " + owner.Name() + ": " + dir }

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
		other := finding("server.other_version", Warning, d.restartCommand(),
			"version %s is running, and this program is version %s", running, d.version)
		return append(other, healthFindings(s.Health)...), nil
	}
	ctx, stop = context.WithTimeout(ctx, insideTimeout)
	defer stop()
	var inside Report
	if err := c.Call(ctx, http.MethodGet, "/admin/examination", nil, &inside); err != nil {
		return nil, err
	}
	return append(fine("server", "version %s is running", d.version), inside.Findings...), nil
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
	findings = finding("server.other_directory", Warning, remedy,
		"version %s answers at %s; %s", h.Version, origin, why)
	return append(findings, healthFindings(h)...), true
}

// healthFindings converts a server's health.
func healthFindings(h client.Health) []Finding {
	c := h.Checks
	findings := slices.Concat(checkFinding(c.Store.Check, "store", c.Store.Summary()),
		checkFinding(c.Voices.Check, "voices", c.Voices.Summary()),
		checkFinding(c.Audio.Check, "sound", c.Audio.Summary()))
	for _, name := range slices.Sorted(maps.Keys(h.Integrations)) {
		findings = append(findings, integrationFinding(name, h.Integrations[name])...)
	}
	return findings
}

// integrationFinding converts the state of an integration.
func integrationFinding(name string, i health.IntegrationState) []Finding {
	if i.Detail != "" {
		return finding(name+".not_working", Warning, i.Remedy, "%s", oneLine(errors.New(i.Detail)))
	}
	return fine(name, "%s", i)
}

// checkFinding converts the health of one component.
func checkFinding(c client.Check, name, summary string) []Finding {
	if c.Detail != "" {
		return finding(name+".not_working", Failure, "", "%s", oneLine(errors.New(c.Detail)))
	}
	return fine(name, "%s", summary)
}
