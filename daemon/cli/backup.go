package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"pressbox/daemon/client"
	"pressbox/daemon/exitcode"
	"pressbox/daemon/logging"
	"pressbox/daemon/recovery"
	"pressbox/daemon/settings"
)

func backupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the store to a new file",
		Long: "Backup copies the store to a new file and checks the copy, also while the server runs. The\n" +
			"copy contains all data, including accounts: protect it like the store.",
		Args: cobra.ExactArgs(1),
	}
	find := runningFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path := args[0]
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fmt.Errorf("the file %s already exists", path), err)
		}
		host, c, err := find()
		if err != nil {
			return err
		}
		size, err := backUp(cmd.Context(), host, c, path, logging.New(cmd.ErrOrStderr(), slog.LevelWarn))
		if err != nil {
			return err
		}
		return printf(cmd, "%s, %d bytes, checked\n", path, size)
	}
	return cmd
}

// backUp copies the store of the running server c, or without one that in STATE_DIR, to path.
func backUp(ctx context.Context, host settings.Host,
	c *client.Client, path string, log *slog.Logger,
) (size int64, err error) {
	if c != nil {
		return recovery.WriteBackup(ctx, path, func(w io.Writer) error { return c.Backup(ctx, w) })
	}
	if _, err := os.Stat(host.StorePath()); err != nil {
		return 0, exitcode.With(exitcode.Unreachable,
			fmt.Errorf("no server is running, and there is no store in STATE_DIR=%s: %w", host.StateDir, err))
	}
	return recovery.Backup(ctx, host.Config, path, log)
}

func restoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Replace the store by a backup",
		Long: "Restore checks a backup and replaces the store by it. The server must not run:\n\n" +
			"  systemctl stop pressbox.socket pressbox-admin.socket pressbox-wyoming.socket pressbox\n" +
			"  pressbox restore FILE\n" +
			"  systemctl start pressbox\n\n" +
			"The earlier store is renamed, not removed. The server's daily backups are in the directory\n" +
			"backups beside it. A backup of a newer version is refused.",
		Args: cobra.ExactArgs(1),
	}
	find := runningFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		host, c, err := find()
		if err != nil {
			return err
		}
		if c != nil {
			return exitcode.With(exitcode.InUse,
				errors.New("the server is running: stop it first, with \"systemctl stop pressbox.socket "+
					"pressbox-admin.socket pressbox-wyoming.socket pressbox\""))
		}
		aside, err := recovery.Restore(cmd.Context(), host.Config, args[0])
		if err != nil {
			return err
		}
		if aside == "" {
			aside = "none"
		}
		return printf(cmd, "restored %s; the earlier store: %s\n", args[0], aside)
	}
	return cmd
}

// storeCheckCommand returns the command of the child process that checks a store.
func storeCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:    recovery.CheckCommand + " FILE",
		Short:  "Check a store",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE:   func(_ *cobra.Command, args []string) error { return recovery.CheckStore(args[0]) },
	}
}
