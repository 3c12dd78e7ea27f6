package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"pressbox/daemon/exitcode"
	"pressbox/daemon/logging"
	"pressbox/daemon/recovery"
	"pressbox/daemon/settings"
	"pressbox/daemon/trust"
)

func backupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the store to a new file",
		Long: "Backup copies the store to a new file and checks the copy, also while the server runs. The\n" +
			"copy contains all data, including accounts: protect it like the store. \"-\" is the standard\n" +
			"output, and what it gets is not checked.",
		Args: cobra.ExactArgs(1),
	}
	find := runningFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, path := cmd.Context(), args[0]
		if _, err := os.Lstat(path); path != standard && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fmt.Errorf("the file %s already exists", path), err)
		}
		host, c, err := find()
		if err != nil {
			return err
		}
		if c == nil {
			if _, err := os.Stat(host.StorePath()); err != nil {
				return exitcode.With(exitcode.Unreachable,
					fmt.Errorf("no server is running, and there is no store in STATE_DIR=%s: %w", host.StateDir, err))
			}
		}
		write := func(w io.Writer) error {
			switch {
			case c != nil:
				return c.Backup(ctx, w)
			case path == standard:
				return recovery.Backup(ctx, host.Config, w, logging.New(cmd.ErrOrStderr(), slog.LevelWarn))
			default: // the file may be in a directory of root's
				return asOwner(cmd, host, nil, w, "backup", standard) //nolint:contextcheck // the command's
			}
		}
		if path == standard {
			return write(os.Stdout) // as it is
		}
		size, err := recovery.WriteBackup(ctx, path, write)
		if err != nil {
			return err
		}
		return printf(cmd, "%s, %d bytes, checked\n", path, size)
	}
	return cmd
}

// standard is the name of the standard input or output in place of a file's.
const standard = "-"

func restoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Replace the store by a backup",
		Long: "Restore checks a backup and replaces the store by it. The server must not run:\n\n" +
			"  systemctl stop 'pressbox*.socket' pressbox\n" +
			"  pressbox restore FILE\n" +
			"  systemctl start pressbox\n\n" +
			"The earlier store is renamed, not removed. The server's daily backups are in the directory\n" +
			"backups beside it. A backup of a newer version is refused. \"-\" is the standard input.",
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
				errors.New("the server is running: stop it first, with \"systemctl stop 'pressbox*.socket' pressbox\""))
		}
		if args[0] == standard {
			aside, err := recovery.Restore(cmd.Context(), host.Config, os.Stdin)
			if err != nil {
				return err
			}
			return printf(cmd, "%s\n", cmp.Or(aside, "none"))
		}
		from, err := trust.Open(args[0])
		if err != nil {
			return fmt.Errorf("restore %s: %w", args[0], err)
		}
		defer from.Close() //nolint:errcheck // it was only read
		aside, err := restore(cmd, host, from)
		if err != nil {
			return fmt.Errorf("restore %s: %w", args[0], err)
		}
		return printf(cmd, "restored %s; the earlier store: %s\n", args[0], aside)
	}
	return cmd
}

// restore replaces the store in STATE_DIR by a backup and returns the new name of the earlier one, or "none".
func restore(cmd *cobra.Command, host settings.Host, backup io.Reader) (aside string, err error) {
	var out strings.Builder
	err = asOwner(cmd, host, backup, &out, "restore", standard)
	return strings.TrimSpace(out.String()), err
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
