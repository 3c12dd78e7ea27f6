package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"pressbox/store"
)

func newBackupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the store into a file",
		Long: "Backup copies the store as it is now into a new file, while the daemon goes on, and\n" +
			"checks the copy. Without a daemon it copies the store itself. It holds everything that\n" +
			"is kept, accounts among it, so keep it as safe.",
		Args: cobra.ExactArgs(1),
	}
	folder := cmd.Flags().String("state-dir", "", "folder in which the daemon keeps its store [STATE_DIR]")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path := args[0]
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fmt.Errorf("the file %s is there already", path), err)
		}
		cfg, err := administeredConfig(*folder)
		if err != nil {
			return &exitError{exitUsage, err}
		}
		size, err := backupOf(cmd.Context(), cfg, path, newLog(cmd.ErrOrStderr(), slog.LevelWarn))
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s, %d bytes, checked\n", path, size)
		return err
	}
	return cmd
}

// backupOf writes a backup of the store of a daemon that runs, or does not.
func backupOf(ctx context.Context, cfg Config, path string, log *slog.Logger) (size int64, err error) {
	socket, err := adminSocketOf(cfg)
	if err != nil {
		return 0, err
	}
	if socket != "" {
		c := socketClient(socket)
		return store.WriteAtomic(path, func(w io.Writer) error { return c.backupTo(ctx, w) }, checker(ctx))
	}
	if _, err := os.Stat(filepath.Join(cfg.StateDir, storeName)); err != nil {
		return 0, &exitError{exitNoDaemon, fmt.Errorf("no daemon runs, and there is no store in STATE_DIR=%s: %w", cfg.StateDir, err)}
	}
	kept, _, err := openStore(ctx, cfg, log)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	return store.WriteAtomic(path, kept.Backup, checker(ctx))
}

func newRestoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup in the place of the store",
		Long: "Restore checks a backup and puts it in the place of the store, while no daemon runs:\n\n" +
			"  systemctl stop pressbox.socket pressbox-admin.socket pressbox\n" +
			"  pressbox restore FILE\n" +
			"  systemctl start pressbox\n\n" +
			"The store that was there is renamed, not removed. The daemon's own backups are in the\n" +
			"folder backups beside it. A backup that a newer pressbox made is refused.",
		Args: cobra.ExactArgs(1),
	}
	folder := cmd.Flags().String("state-dir", "", "folder in which the daemon keeps its store [STATE_DIR]")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := administeredConfig(*folder)
		if err != nil {
			return &exitError{exitUsage, err}
		}
		aside, err := restore(cmd.Context(), cfg, args[0])
		if err != nil {
			return err
		}
		if aside == "" {
			aside = "none"
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "restored %s; the store before: %s\n", args[0], aside)
		return err
	}
	return cmd
}

// restore puts a backup in the place of the store, and returns where that is now.
func restore(ctx context.Context, cfg Config, backup string) (aside string, err error) {
	socket, err := adminSocketOf(cfg)
	if err != nil {
		return "", err
	}
	if socket != "" {
		return "", &exitError{exitInUse, errors.New("a daemon runs: first stop it, with \"systemctl stop pressbox.socket pressbox-admin.socket pressbox\"")}
	}
	if err := checkInChild(ctx, backup); err != nil { // before anything is touched
		return "", err
	}
	path := filepath.Join(cfg.StateDir, storeName)
	if err := os.MkdirAll(cfg.StateDir, 0o700); err != nil {
		return "", fmt.Errorf("restore %s: %w", backup, err)
	}
	if _, err := os.Stat(path); err == nil {
		if err := checkInChild(ctx, path); errors.Is(err, store.ErrLocked) {
			return "", &exitError{exitInUse, fmt.Errorf("restore %s: %w", backup, err)}
		}
		if aside, err = store.SetAside(path, "replaced", time.Now().UTC().Format("20060102T150405Z")); err != nil {
			return "", fmt.Errorf("restore %s: keep the store that is there: %w", backup, err)
		}
	}
	if err := store.Restore(path, backup, checker(ctx)); err != nil {
		if aside != "" {
			err = errors.Join(err, store.PutBack(path, aside))
		}
		return "", err
	}
	return aside, nil
}

// backupTo asks the daemon for a backup and copies it to w.
func (c *client) backupTo(ctx context.Context, w io.Writer) error {
	resp, err := c.open(ctx, http.MethodGet, "/admin/backup", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("read the backup: %w", err)
	}
	return nil
}
