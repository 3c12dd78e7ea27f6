package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// A finding is what doctor says of one thing.
type finding struct {
	Name   string `json:"name"`
	Result result `json:"result"`
	Detail string `json:"detail"`
	Mend   string `json:"mend,omitempty"` // what to do, usually a command
}

// A result is how a thing is.
type result string

// The results, from good to bad.
const (
	well     result = "ok"
	doubtful result = "warning" // it works, but not as it should, or cannot be seen
	broken   result = "failure"
)

// A patient is the machine that doctor looks at.
type patient struct {
	cfg      Config
	settings error // why the settings cannot be used; cfg is then the defaults
	socket   string
	asUser   *account // whom the daemon runs as, where we may look at things as that user; nil otherwise
}

// errFindings is what doctor ends with when it has found something that does not work.
var errFindings = errors.New("something does not work")

func newDoctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find what does not work, and say how to mend it",
		Long: "Doctor looks at everything that the daemon needs: its settings, its port, its store,\n" +
			"its voices and what they need, the sound server and the machine; also when no daemon\n" +
			"runs. As root it sees more, and looks as the user pressbox would. It changes nothing.\n" +
			"It ends with 1 when something does not work.",
		Args: cobra.NoArgs,
	}
	folder := cmd.Flags().String("state-dir", "", "folder in which the daemon keeps its store [STATE_DIR]")
	asJSON := cmd.Flags().Bool("json", false, "print the findings as JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		found := newPatient(*folder).examine(cmd.Context())
		var err error
		if *asJSON {
			err = printJSON(cmd, map[string]any{"findings": found})
		} else {
			err = printFindings(cmd.OutOrStdout(), found)
		}
		if err == nil && worstOf(found) == broken {
			err = errFindings
		}
		return err
	}
	return cmd
}

func newPatient(folder string) patient {
	p := patient{}
	p.cfg, p.settings = administeredConfig(folder)
	if p.settings != nil {
		p.cfg, _ = defaultConfig(folder) // the defaults are right
	}
	p.socket, _ = adminSocketOf(p.cfg) // lookAtDaemon says why not
	p.asUser = serviceAccount(p.cfg.StateDir)
	return p
}

// examine looks at everything.
func (p patient) examine(ctx context.Context) []finding {
	var found []finding
	for _, look := range []func(context.Context) []finding{
		p.lookAtSettings, p.lookAtDaemon, p.lookAtPort, p.lookAtStore, p.lookAtDisk,
		p.lookAtVoices, p.lookAtPhonemes, p.lookAtRuntime, p.lookAtArrangement, p.lookAtSound, p.lookAtMachine,
	} {
		found = append(found, look(ctx)...)
	}
	return found
}

// one is a single finding, as a list.
func one(name string, r result, mend, format string, args ...any) []finding {
	return []finding{{name, r, fmt.Sprintf(format, args...), mend}}
}

func worstOf(found []finding) result {
	worst := well
	for _, f := range found {
		if f.Result == broken || f.Result == doubtful && worst == well {
			worst = f.Result
		}
	}
	return worst
}

// printFindings writes the findings for people.
func printFindings(w io.Writer, found []finding) error {
	var b strings.Builder
	for _, f := range found {
		mark := map[result]string{well: "ok  ", doubtful: "warn", broken: "FAIL"}[f.Result]
		fmt.Fprintf(&b, "%s  %-10s %s\n", mark, f.Name, f.Detail)
		if f.Mend != "" {
			fmt.Fprintf(&b, "                 → %s\n", f.Mend)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
