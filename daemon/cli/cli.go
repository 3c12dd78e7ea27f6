// Package cli defines the commands of the program.
//
// One law: a command reads flags, calls one function and prints its result. Only here are
// exit codes set.
package cli

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"pressbox/daemon/exitcode"
	"pressbox/daemon/logging"
	"pressbox/daemon/settings"
	"pressbox/store"
	"pressbox/voice/control/boolean"
)

// A Program holds what the commands call and package main builds.
type Program struct {
	Build Build
	// Serve runs the server until ctx ends.
	Serve func(ctx context.Context, o ServeOptions) error
	// Administration returns the handler of the administration of a store that no server uses.
	Administration func(cfg settings.Config, st *store.Store, log *slog.Logger) (http.Handler, error)
	// Confine is the command that runs espeak-ng confined.
	Confine []string
	// OpenAPI returns the OpenAPI document.
	OpenAPI func() ([]byte, error)
}

// ServeOptions are the settings and the log of a server.
type ServeOptions struct {
	Config settings.Config
	Read   func() (*settings.Sources, error) // reads the settings again
	Log    *slog.Logger
	Level  *slog.LevelVar // of Log
	// Confine is the command that runs espeak-ng confined; without one it is not.
	Confine []string
}

// Execute runs the command that args name and returns the exit code.
func (p Program) Execute(ctx context.Context, args []string) int {
	started := false
	root := p.Command(&started) //nolint:contextcheck // cobra passes ctx to the command
	code, ok := run(ctx, root, args)
	if !ok && !started { // cobra refused the command line
		return exitcode.Usage
	}
	return code
}

// run runs the command that args name, prints its error, and returns its exit code, 0 without an error; ok reports
// whether it has one.
func run(ctx context.Context, root *cobra.Command, args []string) (code int, ok bool) {
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0, true
	}
	for line := range strings.Lines(err.Error()) {
		root.PrintErrln("pressbox:", strings.TrimSpace(line))
	}
	return exitcode.Of(err)
}

// Command returns the tree of commands; it sets started when the command line is valid and
// its command begins.
func (p Program) Command(started *bool) *cobra.Command {
	root := &cobra.Command{
		Use:   "pressbox",
		Short: "Speak announcements and host baseball games",
		Long: "Pressbox speaks announcements that clients on the network POST to it, " +
			"and hosts games of\nbaseball.\n\n" + exitcode.Help,
		SilenceErrors:    true,
		SilenceUsage:     true,
		PersistentPreRun: func(*cobra.Command, []string) { *started = true },
	}
	root.SetOut(&terminalWriter{w: os.Stdout})
	root.SetErr(&terminalWriter{w: os.Stderr})
	root.AddCommand(
		p.serveCommand(), sayCommand(), helloCommand(),
		queueCommand(), againCommand(), acknowledgeCommand(), favoritesCommand(), roomsCommand(),
		stopCommand(), volumeCommand(), quietCommand(), schedulesCommand(), soundsCommand(), voicesCommand(),
		configCommand(), p.versionCommand(), p.openAPICommand(),
		p.tokensCommand(), p.usersCommand(), p.gamesCommand(), p.leaguesCommand(), p.teamsCommand(),
		p.statusCommand(), logLevelCommand(), backupCommand(),
		restoreCommand(), storeCheckCommand(), p.tryUpgradeCommand(),
		p.doctorCommand(), p.ownCheckCommand(), setupAudioCommand(),
		setPortCommand(), setupKioskCommand(), kioskSessionCommand(), p.firstStartCommand(), p.adminCodeCommand(),
	)
	acceptBooleans(root)
	return root
}

// acceptBooleans does what [settings.AcceptBooleans] does for the flags of cmd and of the commands below it.
func acceptBooleans(cmd *cobra.Command) {
	settings.AcceptBooleans(cmd.Flags())
	for _, child := range cmd.Commands() {
		acceptBooleans(child)
	}
}

// settingsFlags adds a flag for every setting to cmd and returns the function that reads them.
func settingsFlags(cmd *cobra.Command) func() (*settings.Sources, error) {
	settings.AddFlags(cmd.Flags())
	file := cmd.Flags().String("config", settings.SystemFile, "settings `file`")
	return func() (*settings.Sources, error) {
		s, err := settings.Read(cmd.Flags(), *file)
		if err != nil {
			return nil, exitcode.With(exitcode.Usage, err)
		}
		return s, nil
	}
}

func (p Program) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: "Serve runs the server until it receives SIGTERM or Ctrl-C. It then finishes the current\n" +
			"sentence, within five seconds.\n\n" +
			"Every flag is also a setting, with the name in brackets. In order of precedence: flags,\n" +
			"the environment, .env in the working directory, and\n" + settings.SystemFile + ". Root's other\n" +
			"commands, except config, ignore a .env that another user could have written.\n\n" +
			"A boolean is " + boolean.Expects + ".",
		Args: cobra.NoArgs,
	}
	sources := settingsFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := sources()
		if err != nil {
			return err
		}
		cfg, err := s.Config()
		if err != nil {
			return exitcode.With(exitcode.Usage, err)
		}
		level := new(slog.LevelVar)
		level.Set(cfg.LogLevel)
		log := logging.New(cmd.ErrOrStderr(), level)
		for _, unknown := range s.Unknown {
			log.Warn("unknown setting in .env", "line", unknown)
		}
		return p.Serve(cmd.Context(), ServeOptions{
			Config: cfg, Read: sources, Log: log, Level: level, Confine: p.Confine,
		})
	}
	return cmd
}

func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print every setting, its value and the value's origin",
		Long: "Config prints the settings of \"pressbox serve\" with the same flags. Secrets are masked. It\n" +
			"fails if a setting is invalid; invalid lines of LEXICON_FILE are named. What\n" +
			"administrators have set on the page of the running server has the origin \"page\", and what was\n" +
			"set in place of VOLUME and QUIET_MODE the origin \"set\".",
		Args: cobra.NoArgs,
	}
	sources := settingsFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := sources()
		if err != nil {
			return err
		}
		for _, unknown := range s.Unknown {
			cmd.PrintErrln("pressbox:", unknown)
		}
		values, err := s.Values()
		if err != nil {
			return exitcode.With(exitcode.Usage, err)
		}
		if cfg, err := s.Config(); err == nil {
			if _, err := cfg.Lexicon(); err != nil {
				cmd.PrintErrln("pressbox:", err)
			}
			replaceSet(cmd.Context(), settings.Host{Config: cfg, Chosen: cmd.Flags().Changed("state-dir")}, values)
		}
		return printTable(cmd, values, func(v settings.Value) []any { return []any{v.Name, v, v.Origin} })
	}
	return cmd
}

func (p Program) openAPICommand() *cobra.Command {
	return &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI document of the HTTP API",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			document, err := p.OpenAPI()
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(document)
			return err
		},
	}
}
