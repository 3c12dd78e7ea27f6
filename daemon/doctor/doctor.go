// Package doctor checks everything that the server needs, and names a remedy for each
// problem.
//
// One law: it changes nothing.
package doctor

import (
	"context"
	"fmt"
	"io"
	"strings"

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
	account     *trust.Account  // the server's user, if doctor can act as that user
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
		account: serverAccount(host.StateDir),
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
		findings = finding("server", Failure, d.restartCommand(), "%s", oneLine(err))
	} else if public, ok := d.askHealth(ctx); ok {
		return Report{FromHealth, append(public, d.checkHost(ctx)...)}
	}
	return Report{FromDoctor, append(findings, d.checkAll(ctx)...)}
}

// checkAll checks what a server started now would find.
func (d Doctor) checkAll(ctx context.Context) []Finding {
	var findings []Finding
	for _, check := range []func(context.Context) []Finding{
		d.checkServer, d.checkSettings, d.checkPort, d.checkWyoming, d.checkMQTT, d.checkStore, d.checkDisk,
		d.checkVoices, d.checkLexicon, d.checkWebhooks, d.checkPhonemizer, d.checkRuntime, d.checkSound, d.checkHost,
	} {
		findings = append(findings, check(ctx)...)
	}
	return findings
}

// finding returns a list of one finding.
func finding(name, result, remedy, format string, args ...any) []Finding {
	return []Finding{{Name: name, Result: result, Detail: fmt.Sprintf(format, args...), Remedy: remedy}}
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
