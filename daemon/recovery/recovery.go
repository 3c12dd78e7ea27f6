// Package recovery opens the store, checks it after an unclean shutdown, replaces a
// damaged one by a backup, and makes the daily backups.
//
// One law: a store is renamed, never removed, and an interruption leaves the one that was
// there.
package recovery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"pressbox/daemon/exitcode"
	"pressbox/daemon/settings"
	"pressbox/daemon/systemd"
	"pressbox/daemon/trust"
	"pressbox/store"
	"pressbox/store/atomicfile"
	"pressbox/voice/sounds"
)

// checkTimeout limits the check of a store: enough to read every page of a large one on a
// slow memory card.
const checkTimeout = time.Minute

// CheckCommand is the name of the program's hidden command that calls [CheckStore].
const CheckCommand = "store-check"

// firstExit is the exit code of [CheckCommand] for the first of checkErrors. The others follow,
// and the code for an error that is none of them, such as that the store could not be read.
const firstExit = 10

//nolint:gochecknoglobals // a table
var checkErrors = []error{store.ErrCorrupt, store.ErrNewer, store.ErrOlder, store.ErrLocked}

// CheckStore checks the store at path. It may crash on a damaged store: [CheckInChild]
// calls it in a child process.
func CheckStore(path string) error {
	err := store.Check(path)
	if err == nil {
		return nil
	}
	code := firstExit
	for _, kind := range checkErrors {
		if errors.Is(err, kind) {
			break
		}
		code++
	}
	return exitcode.With(code, err)
}

// CheckInChild checks the store at path in a child process. It returns
// [store.ErrCorrupt] also if the child crashes; if the check is impossible, such as for
// lack of memory or time, it returns another error.
func CheckInChild(ctx context.Context, path string) error {
	ctx, stop := context.WithTimeout(ctx, checkTimeout)
	defer stop()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", CheckCommand, path) //nolint:gosec // this program
	cmd.Args[0] = "pressbox"
	// The signal is sent when the thread ends. The session has no terminal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.Env = append(os.Environ(), "GOTRACEBACK=none")
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	message := exitcode.Reason(string(out))
	failed, ok := errors.AsType[*exec.ExitError](err)
	if !ok || ctx.Err() != nil {
		return fmt.Errorf("check the store %s: %w", path, errors.Join(err, ctx.Err()))
	}
	switch i := failed.ExitCode() - firstExit; {
	case i >= 0 && i < len(checkErrors):
		return &childError{message, checkErrors[i]}
	case i == len(checkErrors):
		return errors.New(message)
	default: // a crash: a memory fault, or Go's own fatal error
		return fmt.Errorf("check the store %s: %w: its reader ended with %w", path, store.ErrCorrupt, failed)
	}
}

// checker returns [CheckInChild] in the form that package store calls.
func checker(ctx context.Context) func(path string) error {
	return func(path string) error { return CheckInChild(ctx, path) }
}

// A childError is the error message of a child process.
type childError struct {
	message string
	kind    error
}

func (e *childError) Error() string { return e.message }

// Unwrap returns the error of package store that the exit code stands for.
func (e *childError) Unwrap() error { return e.kind }

// Open opens the store, and locks it for this process. After an unclean shutdown it checks
// the store first, and counts the sizes of its buckets again. A damaged store is renamed and
// replaced by the newest intact backup; salvaged then describes that, also at the next start if
// this one ends uncleanly.
//
// Root's process becomes that of the user who controls STATE_DIR before.
func Open(ctx context.Context, cfg settings.Config, log *slog.Logger) (st *store.Store, salvaged string, err error) {
	if err := trust.Enter(cfg.StateDir); err != nil {
		return nil, "", fmt.Errorf("open STATE_DIR=%s: %w", cfg.StateDir, err)
	}
	path := cfg.StorePath()
	unclean := store.UncleanShutdown(path)
	if unclean {
		if salvaged, err = afterUncleanShutdown(ctx, path, cfg.BackupDir(), log); err != nil {
			return nil, "", err
		}
	}
	open := func() (*store.Store, error) { //nolint:contextcheck // a migration is not interrupted
		return store.Open(path, store.Options{
			MaxSize: cfg.StoreMaxSize, Recount: unclean, Beside: sounds.Archive{StateDir: cfg.StateDir}, Log: log,
		})
	}
	st, err = open()
	if errors.Is(err, store.ErrCorrupt) { // a disk may fail to read once
		st, err = open()
	}
	if errors.Is(err, store.ErrCorrupt) && salvaged == "" {
		if salvaged, err = salvage(ctx, path, cfg.BackupDir(), err, log); err != nil {
			return nil, "", err
		}
		st, err = open()
	}
	if errors.Is(err, store.ErrLocked) {
		return nil, "", exitcode.With(exitcode.InUse, fmt.Errorf("%w; use another STATE_DIR or --state-dir", err))
	}
	return st, salvaged, err
}

// afterUncleanShutdown checks the store and replaces a damaged one. If the check is
// impossible, opening the store decides.
func afterUncleanShutdown(ctx context.Context, path, backups string, log *slog.Logger) (salvaged string, err error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return checked(path, log)
	}
	extendStart(log)
	err = CheckInChild(ctx, path)
	if errors.Is(err, store.ErrCorrupt) { // a disk may fail to read once
		err = CheckInChild(ctx, path)
	}
	switch {
	case ctx.Err() != nil:
		return "", exitcode.ErrInterrupted
	case errors.Is(err, store.ErrLocked): // the other process still runs
		return "", nil
	case errors.Is(err, store.ErrCorrupt):
		log.Warn("unclean shutdown, store checked", "result", "damaged")
		return salvage(ctx, path, backups, err, log)
	case err != nil:
		log.Warn("unclean shutdown, store checked", "result", err.Error())
		return "", nil
	default:
		log.Warn("unclean shutdown, store checked", "result", "intact")
		return checked(path, log)
	}
}

// checked removes the mark of an unclean shutdown, unless a salvage was begun before: then the
// mark stays until the store is closed, and salvaged describes the salvage.
func checked(path string, log *slog.Logger) (salvaged string, err error) {
	salvaged, err = store.Salvage(path)
	if err != nil || salvaged == "" {
		return "", errors.Join(err, store.MarkChecked(path))
	}
	log.Error("store salvaged before an unclean shutdown", "salvage", salvaged)
	return salvaged, nil
}

// extendStart asks the service manager, which ends a server that is not ready in time, for
// more time.
func extendStart(log *slog.Logger) {
	if err := systemd.Starting(5 * checkTimeout); err != nil {
		log.Warn("sd_notify failed", "err", err)
	}
}

// salvage renames the damaged store at path and restores the newest intact backup; without
// one, the next store is empty. The damaged store stays at path until the end, so that an
// interrupted salvage begins again at the next start. The mark of the open store describes the
// salvage before the store is replaced.
func salvage(ctx context.Context, path, backups string, cause error, log *slog.Logger) (salvaged string, err error) {
	aside, err := store.SetAside(path, "damaged", timestamp())
	if err != nil {
		return "", errors.Join(cause, err)
	}
	mark := func(from string) error {
		salvaged = fmt.Sprintf("the store was damaged; restored backup: %s; damaged store: %s", from, aside)
		return store.MarkSalvage(path, salvaged)
	}
	from, err := restoreNewest(ctx, path, backups, mark, log)
	if err != nil && ctx.Err() != nil {
		err = exitcode.ErrInterrupted
	}
	if err != nil {
		return "", errors.Join(cause, err, store.PutBack(path, aside), store.MarkSalvage(path, ""))
	}
	log.Error("store damaged, backup restored", "err", cause, "aside", aside, "backup", from)
	return salvaged, nil
}

// timestamp returns the part of a renamed store's name that makes it unique.
func timestamp() string { return time.Now().UTC().Format("20060102T150405Z") }

// restoreNewest restores the newest intact backup to path and returns its name, or removes
// path and returns "none". It calls mark with the name before it changes path. An error leaves
// the choice to the next start: a backup that could not be read or written this time may be
// restored then.
func restoreNewest(
	ctx context.Context, path, backups string, mark func(from string) error, log *slog.Logger,
) (from string, err error) {
	all, err := store.Backups(backups)
	if err != nil {
		return "", err
	}
	for _, b := range all {
		extendStart(log)
		if err := mark(b.Path); err != nil {
			return "", err
		}
		err := restoreFile(ctx, path, b.Path)
		if unusable(err) { // a disk may fail to read once
			err = restoreFile(ctx, path, b.Path)
		}
		if err == nil {
			return b.Path, nil
		}
		if !unusable(err) {
			return "", err
		}
		log.Error("damaged backup skipped", "backup", b.Path, "err", err)
	}
	if err := mark("none"); err != nil {
		return "", err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("remove the damaged store: %w", err)
	}
	return "none", nil
}

// restoreFile replaces the store at path by a backup.
func restoreFile(ctx context.Context, path, backup string) error {
	f, err := atomicfile.Open(backup, os.O_RDONLY, 0)
	if err == nil {
		err = errors.Join(store.Restore(path, f, checker(ctx)), f.Close())
	}
	if err != nil {
		return fmt.Errorf("restore %s: %w", backup, err)
	}
	return nil
}

// unusable reports whether err, from restoring a backup, is permanent.
func unusable(err error) bool {
	return slices.ContainsFunc([]error{
		store.ErrCorrupt, store.ErrNewer, store.ErrOlder, fs.ErrNotExist, fs.ErrPermission, syscall.EIO,
		atomicfile.ErrNotRegular,
	}, func(kind error) bool { return errors.Is(err, kind) })
}

// Backup copies a store that no server uses to w.
func Backup(ctx context.Context, cfg settings.Config, w io.Writer, log *slog.Logger) error {
	st, _, err := Open(ctx, cfg, log)
	if err != nil {
		return err
	}
	return errors.Join(st.Backup(w), st.Close())
}

// WriteBackup writes a new file at path by write, and checks it.
func WriteBackup(ctx context.Context, path string, write func(io.Writer) error) (size int64, err error) {
	return store.WriteAtomic(path, write, checker(ctx))
}

// Restore replaces the store, which no server may use, by a backup, when a copy of it was checked. It returns the new
// name of the earlier store; "" if there was none. As [Open], it gives up root's privileges.
func Restore(ctx context.Context, cfg settings.Config, backup io.Reader) (aside string, err error) {
	path := cfg.StorePath()
	err = trust.Enter(cfg.StateDir)
	if err == nil {
		err = atomicfile.MkdirAll(cfg.StateDir, 0o700)
	}
	if err != nil {
		return "", err
	}
	err = store.Restore(path, backup, func(copied string) error {
		if err := CheckInChild(ctx, copied); err != nil {
			return err
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err := CheckInChild(ctx, path); errors.Is(err, store.ErrLocked) {
			return exitcode.With(exitcode.InUse, err)
		}
		if aside, err = store.SetAside(path, "replaced", timestamp()); err != nil {
			return fmt.Errorf("rename the current store: %w", err)
		}
		return nil
	})
	if err == nil {
		return aside, store.MarkChecked(path)
	}
	if aside != "" {
		err = errors.Join(err, store.PutBack(path, aside))
	}
	return "", err
}

// DamagedStores returns the damaged stores that were renamed, oldest first.
func DamagedStores(cfg settings.Config) []string {
	paths, _ := filepath.Glob(cfg.StorePath() + ".damaged-*") // the pattern is valid
	return paths
}
