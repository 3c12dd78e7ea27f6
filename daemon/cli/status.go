package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pressbox/daemon/client"
	"pressbox/daemon/doctor"
	"pressbox/daemon/settings"
)

// errNotOK is the error of status if a component does not work; status has printed which.
var errNotOK = errors.New("a component does not work; find the remedy with \"pressbox doctor\"")

func (p Program) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Print the status of the server",
		Long: "Status prints the current announcement, the length of the queue, and the state of sound,\n" +
			"voices, store, games and integrations. It exits with 0 if everything works, with 1 if a component does\n" +
			"not work, and with 3 if no server is running.",
		Args: cobra.NoArgs,
	}
	asJSON := cmd.Flags().Bool("json", false, "print the server's response as JSON")
	return runWith(cmd, adminFlag(cmd), func(cmd *cobra.Command, c *client.Client, _ []string) error {
		s, err := get(cmd, c, "/admin/status", *asJSON, printStatus)
		if err == nil && s.Health.Status != "ok" {
			err = errNotOK
		}
		return err
	})
}

// printStatus prints a server's status as text.
func printStatus(cmd *cobra.Command, s client.Status) error {
	table := newTable(cmd)
	row := func(name, text, problem string) {
		separator := ""
		if text != "" && problem != "" {
			separator = "\n\t"
		}
		// Flush returns the error.
		_, _ = fmt.Fprintf(table, "%s\t%s%s%s\n", oneLine(name), oneLine(text), separator, oneLine(problem))
	}
	checks := s.Health.Checks
	row("pressbox", fmt.Sprintf("%s, %s, up %s", s.Versions["pressbox"],
		s.Health.Status, time.Duration(s.Health.Uptime)*time.Second), "")
	row("playing", cmp.Or(s.Playing(), "nothing"), "")
	row("queue", fmt.Sprintf("%d of %d waiting", checks.Queue.Waiting, checks.Queue.Max), checks.Queue.Detail)
	row("sound", checks.Audio.Summary(), checks.Audio.Detail)
	row("volume", s.Volume.String(), "")
	row("quiet", s.Quiet.String(), "")
	row("voices", checks.Voices.Summary(), checks.Voices.Detail)
	row("store", checks.Store.Summary(), checks.Store.Detail)
	for _, name := range slices.Sorted(maps.Keys(s.Health.Integrations)) {
		integration := s.Health.Integrations[name]
		row(name, integration.String(), integration.Detail)
	}
	for _, kind := range []string{"games", "leagues"} {
		row(kind, fmt.Sprintf("%d active, %d pending, %d finished",
			s.Counts[kind+"_active"], s.Counts[kind+"_pending"], s.Counts[kind+"_finished"]), "")
	}
	row("accounts", fmt.Sprintf("%d accounts, %d sessions", s.Counts["accounts"], s.Counts["sessions"]), "")
	row("build", fmt.Sprintf("%s, %s", s.Versions["go"], Build{Revision: s.Versions["revision"]}.commitText()), "")
	return table.Flush()
}

func logLevelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log-level [LEVEL]",
		Short: "Print or change the log level of the running server",
		Long: "Log-level prints the minimum level of log messages, or changes it until the next reload or\n" +
			"restart: DEBUG, INFO, WARN or ERROR. The setting LOG_LEVEL changes it permanently.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && settings.CheckLevel(args[0]) != nil {
				return fmt.Errorf("the level %w", settings.CheckLevel(args[0]))
			}
			return cobra.MaximumNArgs(1)(nil, args)
		},
		ValidArgs: []string{"DEBUG", "INFO", "WARN", "ERROR"},
	}
	return runWith(cmd, adminFlag(cmd), func(cmd *cobra.Command, c *client.Client, args []string) error {
		method, body := http.MethodGet, any(nil)
		if len(args) > 0 {
			method, body = http.MethodPut, map[string]string{"level": strings.ToUpper(args[0])}
		}
		var response struct {
			Level string `json:"level"`
		}
		if err := c.Call(cmd.Context(), method, "/admin/log-level", body, &response); err != nil {
			return err
		}
		return printf(cmd, "%v\n", response.Level)
	})
}

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
	config := stateDirFlag(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print the findings as JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		host, err := config() // doctor reports an error
		report := p.doctor(cmd, host, err).Run(cmd.Context())
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

// ownCheckCommand returns the command of the child process that checks as the server's user.
func (p Program) ownCheckCommand() *cobra.Command {
	cmd := &cobra.Command{Use: doctor.OwnCommand, Short: "Check as the server's user", Args: cobra.NoArgs, Hidden: true}
	config := stateDirFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		host, err := config()
		return printJSON(cmd, p.doctor(cmd, host, err).Own(cmd.Context()))
	}
	return cmd
}

// doctor returns a Doctor for the server of this host; err is the reason why its settings are invalid.
func (p Program) doctor(cmd *cobra.Command, host settings.Host, err error) doctor.Doctor {
	return doctor.New(cmd.Context(), host, err,
		doctor.Program{Version: p.Build.Version, Released: p.Build.Released, Confine: p.Confine})
}
