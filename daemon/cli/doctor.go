package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"pressbox/audio/pulse"
	"pressbox/daemon/doctor"
	"pressbox/daemon/exitcode"
)

// errFailures is the error of doctor if it found a failure.
var errFailures = errors.New("a component does not work")

func (p Program) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find problems and their remedies",
		Long: "Doctor checks everything that the server needs: its settings, port, store, voices and what\n" +
			"they need, the sound server and the host. A running server checks itself, as its settings\n" +
			"and its sound server may differ from those of this command. If no server is running,\n" +
			"doctor checks what a server started now would find: as root, as user pressbox. It prints\n" +
			"which of the two it did, changes nothing, and exits with 1 if a component does not work.",
		Args: cobra.NoArgs,
	}
	dir := cmd.Flags().String("state-dir", "", "`directory` of the store [STATE_DIR]")
	asJSON := cmd.Flags().Bool("json", false, "print the findings as JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		host, err := hostSettings(cmd, *dir) // doctor reports an error
		report := doctor.New(cmd.Context(), host, err,
			doctor.Program{Version: p.Build.Version, Released: p.Build.Released, Confine: p.Confine}).Run(cmd.Context())
		if *asJSON {
			err = printJSON(cmd, report)
		} else {
			err = report.Print(cmd.OutOrStdout())
		}
		if err == nil && doctor.Worst(report.Findings) == doctor.Failure {
			err = errFailures
		}
		return err
	}
	return cmd
}

// soundCheckCommand returns the command of the child process that inspects a sound server as
// another user.
func soundCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:    doctor.SoundCommand + " SERVER",
		Short:  "Inspect a sound server",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := pulse.Inspect(cmd.Context(), pulse.Config{Server: args[0]})
			if err != nil {
				return exitcode.With(exitcode.Usage, err)
			}
			return printJSON(cmd, report)
		},
	}
}
