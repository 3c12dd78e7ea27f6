package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// The exit codes of every command; "pressbox --help" lists them.
const (
	exitFailure  = 1 // of any other kind
	exitUsage    = 2 // the command line or a setting is wrong
	exitNoDaemon = 3 // no daemon answers
	exitRefused  = 4 // the daemon refused
	exitUnspoken = 5 // the announcement ended without having been spoken
	exitInUse    = 6 // another process has the port or the store
)

const exitCodes = `Exit codes:
  0  done
  1  it failed
  2  the command line or a setting is wrong
  3  no daemon answers
  4  the daemon refused
  5  the announcement ended without having been spoken
  6  another process has the port or the store`

// An exitError is an error with the exit code that it should end the program
// with.
type exitError struct {
	code int
	error
}

func (e *exitError) Unwrap() error { return e.error }

// execute runs the command that args ask for and returns the exit code.
func execute(ctx context.Context, args []string) int {
	ran := false
	cmd := newCommand(&ran) //nolint:contextcheck // cobra hands ctx to the command that runs
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	for line := range strings.Lines(err.Error()) {
		cmd.PrintErrln("pressbox:", strings.TrimSpace(line))
	}
	if exit, ok := errors.AsType[*exitError](err); ok {
		return exit.code
	}
	if !ran { // cobra refused the command line
		return exitUsage
	}
	return exitFailure
}

// newCommand makes the tree of commands; ran becomes true when the command
// line was understood and its command begins.
func newCommand(ran *bool) *cobra.Command {
	root := &cobra.Command{
		Use:              "pressbox",
		Short:            "Speak announcements that the network posts",
		Long:             "Pressbox speaks announcements that clients on the network post to it, and hosts games of\nbaseball.\n\n" + exitCodes,
		SilenceErrors:    true,
		SilenceUsage:     true,
		PersistentPreRun: func(*cobra.Command, []string) { *ran = true },
	}
	root.AddCommand(
		newServeCommand(), newSayCommand(), newVoicesCommand(),
		newConfigCommand(), newVersionCommand(), newOpenAPICommand(),
		newTokensCommand(), newUsersCommand(),
		newStatusCommand(), newLogLevelCommand(), newBackupCommand(), newRestoreCommand(), newStoreCheckCommand(),
		newDoctorCommand(), newSoundCheckCommand(), newSetupAudioCommand(), newSetPortCommand(),
	)
	return root
}

// useSettings gives cmd a flag for every setting and returns how to read them.
func useSettings(cmd *cobra.Command) func() (*settings, error) {
	addFlags(cmd.Flags(), keys())
	system := cmd.Flags().String("config", systemFile, "file of settings")
	return func() (*settings, error) {
		s, err := newSettings(keys(), cmd.Flags(), *system)
		if err != nil {
			return nil, &exitError{exitUsage, err}
		}
		return s, nil
	}
}

func newServeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon",
		Long: "Serve runs the daemon until it is told to end (SIGTERM or Ctrl-C); it then\n" +
			"finishes the sentence that it speaks, for at most five seconds.\n\n" +
			"Every flag is also a setting, with the name that stands in brackets. In order of\n" +
			"precedence: flags, the environment, .env in the working directory, and\n" + systemFile + ".",
		Args: cobra.NoArgs,
	}
	read := useSettings(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := read()
		if err != nil {
			return err
		}
		cfg, err := s.configure()
		if err != nil {
			return &exitError{exitUsage, err}
		}
		level := new(slog.LevelVar)
		level.Set(cfg.LogLevel)
		log := newLog(cmd.ErrOrStderr(), level)
		for _, unknown := range s.unknown {
			log.Warn("a line of .env is ignored", "line", unknown)
		}
		return run(cmd.Context(), launch{cfg: cfg, log: log, level: level, reread: read})
	}
	return cmd
}

func newConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the settings that hold, and where each comes from",
		Long:  "Config prints what \"pressbox serve\" with the same flags would go by. Secrets are\nmasked. It fails where serve would refuse to start.",
		Args:  cobra.NoArgs,
	}
	read := useSettings(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := read()
		if err != nil {
			return err
		}
		for _, unknown := range s.unknown {
			cmd.PrintErrln("pressbox:", unknown)
		}
		all, err := s.all()
		if err != nil {
			return &exitError{exitUsage, err}
		}
		table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		for _, set := range all {
			if _, err := fmt.Fprintf(table, "%s\t%s\t%s\n", set.name, set.shown(), set.origin); err != nil {
				return err
			}
		}
		return table.Flush()
	}
	return cmd
}
