package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"pressbox/daemon/web"
)

// A finding is what doctor says of one thing, or the daemon when doctor asks it.
type finding = web.Finding

// The results of findings, from good to bad.
const (
	well     = "ok"
	doubtful = "warning" // it works, but not as it should, or cannot be seen
	broken   = "failure"
)

// An examination is what was found, and who looked.
type examination struct {
	Looked   looked    `json:"looked"`
	Findings []finding `json:"findings"`
}

// looked says who looked at settings, store, voices and sound.
type looked string

// Who may look, from whom it is best known.
const (
	byDaemon looked = "daemon" // the one that runs, at its own
	byHealth looked = "health" // nobody: it is what the daemon tells everyone
	byDoctor looked = "doctor" // doctor, at what a daemon would find that is started in its place
)

// errFindings is what doctor ends with when it has found something that does not work.
var errFindings = errors.New("something does not work")

func newDoctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find what does not work, and say how to mend it",
		Long: "Doctor looks at everything that the daemon needs: its settings, its port, its store,\n" +
			"its voices and what they need, the sound server and the machine. A daemon that runs is\n" +
			"asked to look for itself, as it may have other settings and another sound server than\n" +
			"this command. Where none does, doctor looks as one would that is started here and now:\n" +
			"as root, with the eyes of the user pressbox. It says which of the two it did, changes\n" +
			"nothing, and ends with 1 when something does not work.",
		Args: cobra.NoArgs,
	}
	folder := cmd.Flags().String("state-dir", "", "folder in which the daemon keeps its store [STATE_DIR]")
	asJSON := cmd.Flags().Bool("json", false, "print the findings as JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		e := newPatient(*folder).examine(cmd.Context())
		var err error
		if *asJSON {
			err = printJSON(cmd, e)
		} else {
			err = e.print(cmd.OutOrStdout())
		}
		if err == nil && worstOf(e.Findings) == broken {
			err = errFindings
		}
		return err
	}
	return cmd
}

// A patient is what doctor looks at: the daemon that runs, or what one would meet that
// is started here.
type patient struct {
	cfg      Config   // of this environment, which need not be the daemon's
	settings error    // why the settings cannot be used; cfg is then the defaults
	socket   string   // where the daemon is administered; "" when none runs, or refused says why
	refused  error    // why this user may not ask it; nil otherwise
	asUser   *account // whom the daemon runs as, where we may look at things as that user; nil otherwise
}

func newPatient(folder string) patient {
	p := patient{}
	p.cfg, p.settings = administeredConfig(folder)
	if p.settings != nil {
		p.cfg, _ = defaultConfig(folder) // the defaults are right
	}
	p.socket, p.refused = adminSocketOf(p.cfg)
	p.asUser = serviceAccount(p.cfg.StateDir)
	return p
}

// examine asks the daemon, else what it tells everyone, and looks itself only where none
// answers.
func (p patient) examine(ctx context.Context) examination {
	var found []finding
	if p.socket != "" {
		inside, err := p.askDaemon(ctx)
		if err == nil {
			return examination{byDaemon, append(inside, p.lookAtMachine(ctx)...)}
		}
		found = one("daemon", broken, p.restart(), "%s", oneLine(err))
	} else if told, ok := p.askHealth(ctx); ok {
		return examination{byHealth, append(told, p.lookAtMachine(ctx)...)}
	}
	return examination{byDoctor, append(found, p.lookAround(ctx)...)}
}

// lookAround looks at what a daemon would find that is started here and now.
func (p patient) lookAround(ctx context.Context) []finding {
	var found []finding
	for _, look := range []func(context.Context) []finding{
		p.lookAtDaemon, p.lookAtSettings, p.lookAtPort, p.lookAtStore, p.lookAtDisk,
		p.lookAtVoices, p.lookAtPhonemes, p.lookAtRuntime, p.lookAtSound, p.lookAtMachine,
	} {
		found = append(found, look(ctx)...)
	}
	return found
}

// one is a single finding, as a list.
func one(name, result, mend, format string, args ...any) []finding {
	return []finding{{Name: name, Result: result, Detail: fmt.Sprintf(format, args...), Remedy: mend}}
}

func worstOf(found []finding) string {
	worst := well
	for _, f := range found {
		if f.Result == broken || f.Result == doubtful && worst == well {
			worst = f.Result
		}
	}
	return worst
}

// print writes the findings for people.
func (e examination) print(w io.Writer) error {
	var b strings.Builder
	b.WriteString(map[looked]string{
		byDaemon: "The daemon that runs has looked at itself:\n",
		byHealth: "A daemon runs, and this is what it tells everyone:\n",
		byDoctor: "No daemon answers. This is what one would find that is started here:\n",
	}[e.Looked])
	for _, f := range e.Findings {
		mark := map[string]string{well: "ok  ", doubtful: "warn", broken: "FAIL"}[f.Result]
		fmt.Fprintf(&b, "%s  %-10s %s\n", mark, f.Name, f.Detail)
		if f.Remedy != "" {
			fmt.Fprintf(&b, "                 → %s\n", f.Remedy)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
