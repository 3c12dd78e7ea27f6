package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"pressbox/daemon/systemd"
	"pressbox/store"
)

const (
	storeName     = "pressbox.db"
	backupFolder  = "backups"
	backupsKept   = 3
	backupEvery   = 24 * time.Hour
	backupRetry   = time.Hour
	backupCalm    = 10 * time.Minute // after the start, in which there is no backup
	checkPatience = time.Minute      // for reading every page of a large store on a slow card
)

// The exit codes of the child that checks a store.
const (
	checkedDamaged = 10 + iota
	checkedNewer
	checkedLocked
	checkedUnknown // it could not be read
)

// newStoreCheckCommand is the child: it may die of what it reads.
func newStoreCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "store-check FILE",
		Short:  "Check a store, as the daemon does after an unclean stop",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			err := store.Check(args[0])
			switch {
			case err == nil:
				return nil
			case errors.Is(err, store.ErrCorrupt):
				return &exitError{checkedDamaged, err}
			case errors.Is(err, store.ErrNewer):
				return &exitError{checkedNewer, err}
			case errors.Is(err, store.ErrLocked):
				return &exitError{checkedLocked, err}
			default:
				return &exitError{checkedUnknown, err}
			}
		},
	}
}

// checkInChild checks the store at path in a process of its own. It returns
// [store.ErrCorrupt] also when that dies of what it reads; what it cannot find out,
// such as for want of memory or time, is another error.
func checkInChild(ctx context.Context, path string) error {
	ctx, stop := context.WithTimeout(ctx, checkPatience)
	defer stop()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "store-check", path) //nolint:gosec // it is this program
	cmd.Args[0] = "pressbox"
	cmd.Env = append(os.Environ(), "GOTRACEBACK=none")
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	said := strings.TrimPrefix(strings.TrimSpace(string(out)), "pressbox: ")
	failed, ok := errors.AsType[*exec.ExitError](err)
	if !ok || ctx.Err() != nil {
		return fmt.Errorf("check the store %s: %w", path, errors.Join(err, ctx.Err()))
	}
	switch failed.ExitCode() {
	case checkedDamaged:
		return &childError{said, store.ErrCorrupt}
	case checkedNewer:
		return &childError{said, store.ErrNewer}
	case checkedLocked:
		return &childError{said, store.ErrLocked}
	case checkedUnknown:
		return errors.New(said)
	default: // it died: of a fault in memory, or Go's own last resort
		return fmt.Errorf("check the store %s: %w: its reader ended with %w", path, store.ErrCorrupt, failed)
	}
}

// checker is checkInChild for the store, which knows of no context.
func checker(ctx context.Context) func(path string) error {
	return func(path string) error { return checkInChild(ctx, path) }
}

// A childError is what the child said.
type childError struct {
	said string
	kind error
}

func (e *childError) Error() string { return e.said }
func (e *childError) Unwrap() error { return e.kind }

// openStore opens the store, which makes this process the one daemon of its
// folder. After an unclean stop it is checked before; what is damaged is set aside,
// and the newest good backup takes its place. salvaged says so.
func openStore(ctx context.Context, cfg Config, log *slog.Logger) (kept *store.Store, salvaged string, err error) {
	path := filepath.Join(cfg.StateDir, storeName)
	if store.UncleanShutdown(path) {
		if salvaged, err = afterUncleanStop(ctx, path, log); err != nil {
			return nil, "", err
		}
	}
	options := store.Options{MaxSize: cfg.StoreMaxSize, Log: log}
	kept, err = store.Open(path, options) //nolint:contextcheck // what it changes is not cut off
	if errors.Is(err, store.ErrCorrupt) && salvaged == "" {
		if salvaged, err = salvage(ctx, path, err, log); err != nil {
			return nil, "", err
		}
		kept, err = store.Open(path, options) //nolint:contextcheck // as above
	}
	if errors.Is(err, store.ErrLocked) {
		return nil, "", &exitError{exitInUse, fmt.Errorf("%w; STATE_DIR or --state-dir gives this one a folder of its own", err)}
	}
	return kept, salvaged, err
}

// afterUncleanStop checks the store and mends what is damaged. What the check
// cannot find out is left to opening it.
func afterUncleanStop(ctx context.Context, path string, log *slog.Logger) (salvaged string, err error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "", store.MarkChecked(path)
	}
	takeTime(log)
	err = checkInChild(ctx, path)
	switch {
	case ctx.Err() != nil:
		return "", errInterrupted
	case errors.Is(err, store.ErrLocked): // it is no stop at all
		return "", nil
	case errors.Is(err, store.ErrCorrupt):
		log.Warn("the store was not closed properly and is checked", "result", "damaged")
		return salvage(ctx, path, err, log)
	case err != nil:
		log.Warn("the store was not closed properly and is checked", "result", err.Error())
		return "", nil
	default:
		log.Warn("the store was not closed properly and is checked", "result", "good")
		return "", store.MarkChecked(path)
	}
}

// takeTime tells the service manager, which would end a daemon that is not ready in time,
// that a store is being copied and checked.
func takeTime(log *slog.Logger) {
	if err := systemd.Starting(5 * checkPatience); err != nil {
		log.Warn("the service manager does not listen", "err", err)
	}
}

// salvage sets the damaged store at path aside and restores the newest good
// backup; without any the daemon begins anew. The damaged one stays in its place
// until then: whatever cuts this off, the next start begins with it again.
func salvage(ctx context.Context, path string, why error, log *slog.Logger) (salvaged string, err error) {
	aside, err := store.SetAside(path, "damaged", time.Now().UTC().Format("20060102T150405Z"))
	if err != nil {
		return "", errors.Join(why, err)
	}
	from, err := restoreNewest(ctx, path, log)
	if err != nil && ctx.Err() != nil {
		err = errInterrupted
	}
	if err != nil {
		return "", errors.Join(why, err, store.PutBack(path, aside))
	}
	log.Error("the store was damaged: it was set aside", "err", why, "aside", aside, "backup", from)
	return fmt.Sprintf("the store was damaged and is now the backup %s; what was set aside is %s", from, aside), nil
}

// restoreNewest puts the newest good backup in the place of the store at path, and
// says which; "none" when there is none, and then nothing is there. An error is no
// word about the backups: what could not be found out or written this time may be
// the next.
func restoreNewest(ctx context.Context, path string, log *slog.Logger) (from string, err error) {
	all, err := store.Backups(filepath.Join(filepath.Dir(path), backupFolder))
	if err != nil {
		return "", err
	}
	for _, b := range all {
		takeTime(log)
		err := store.Restore(path, b.Path, checker(ctx))
		if err == nil {
			return b.Path, nil
		}
		if !useless(err) {
			return "", err
		}
		log.Error("a backup is damaged", "backup", b.Path, "err", err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("begin anew: %w", err)
	}
	return "none", store.MarkChecked(path)
}

// useless says whether a backup that could not be restored never will be.
func useless(err error) bool {
	for _, kind := range []error{store.ErrCorrupt, store.ErrNewer, fs.ErrNotExist, fs.ErrPermission, syscall.EIO} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// backups makes a backup each day, and keeps the last ones.
func (h *house) backups(ctx context.Context) error {
	dir := filepath.Join(h.cfg.StateDir, backupFolder)
	for wait := max(backupCalm, untilBackup(dir, time.Now())); ; {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
		wait = h.backUp(ctx, dir)
	}
}

// backUp makes one backup now, unless ctx ends, and returns how long there is time
// until the next.
func (h *house) backUp(ctx context.Context, dir string) (wait time.Duration) {
	made, err := h.store.AddBackup(ctx, dir, checker(ctx))
	if ctx.Err() != nil {
		return 0
	}
	if err != nil {
		h.log.Error("no backup was made", "err", err)
		return backupRetry
	}
	h.log.Info("backup made", "backup", made.Path, "size", made.Size)
	if err := store.PruneBackups(dir, backupsKept); err != nil {
		h.log.Error("an old backup was not removed", "err", err)
	}
	return backupEvery
}

// untilBackup is how long there is time until the next backup. One whose date lies
// ahead, of a clock that was wrong, counts as old.
func untilBackup(dir string, now time.Time) time.Duration {
	all, err := store.Backups(dir)
	if err != nil || len(all) == 0 {
		return 0
	}
	age := now.Sub(all[0].Made)
	if age < 0 {
		return 0
	}
	return backupEvery - age
}
