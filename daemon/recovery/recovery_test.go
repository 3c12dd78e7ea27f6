package recovery

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/daemon/exitcode"
	"pressbox/daemon/settings"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/store/killtest"
)

// TestMain is also the program of the child processes.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == CheckCommand {
		err := CheckStore(os.Args[2])
		if err == nil {
			os.Exit(0)
		}
		fmt.Fprintln(os.Stderr, err)
		code, _ := exitcode.Of(err)
		os.Exit(code)
	}
	killtest.Main(m, map[string]killtest.Child{"life": runLife, "opener": runOpener})
}

// One backup a day is made, the last three are retained, and a failed one is tried again in an hour.
func TestBackups(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := settings.Config{StateDir: t.TempDir()}
		var log bytes.Buffer // read when Run has ended
		st := check.Must(store.Open(cfg.StorePath(), store.Options{}))(t)
		defer st.Close()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		s := &Backups{Store: st, Dir: cfg.BackupDir(), Log: slog.New(slog.NewTextHandler(&log, nil))}
		go func() { ended <- s.Run(ctx) }()
		count := func(after time.Duration) int {
			time.Sleep(after)
			synctest.Wait()
			all, _ := store.Backups(cfg.BackupDir()) // it may not be a directory
			return len(all)
		}
		for _, tt := range []struct {
			after time.Duration
			want  int
		}{{startupWait - time.Second, 0}, {2 * time.Second, 1}, {Interval, 2}, {Interval, 3}, {Interval, 3}} {
			check.Equal(t, count(tt.after), tt.want, "%v later there", tt.after)
		}
		check.NoError(t, errors.Join(os.RemoveAll(cfg.BackupDir()), os.WriteFile(cfg.BackupDir(), nil, 0o600)))
		check.Equal(t, count(Interval), 0, "with a file in place of the directory")
		check.NoError(t, os.Remove(cfg.BackupDir()))
		check.Equal(t, count(retryDelay), 1, "an hour after that")
		stop()
		check.NoError(t, <-ended)
		check.Equal(t, strings.Count(log.String(), `level=ERROR msg="backup failed"`),
			1, "want one failed backup in the log:\n%s", &log)
	})
}

// An interrupted salvage changes nothing, and the next start begins it again.
func TestOpen_interruptedSalvage(t *testing.T) {
	t.Parallel()
	cfg := settings.Config{StateDir: t.TempDir()}
	path := cfg.StorePath()
	log := slog.New(slog.DiscardHandler)
	st, _, err := Open(t.Context(), cfg, log)
	check.NoError(t, err)
	backup, err := st.AddBackup(t.Context(), cfg.BackupDir(), nil)
	check.NoError(t, errors.Join(err, st.Close()))
	junk := strings.Repeat("This is no store. ", 2000)
	check.NoError(t, os.WriteFile(path, []byte(junk), 0o600))
	for _, unclean := range []bool{false, true} {
		if unclean {
			check.NoError(t, os.WriteFile(path+".open", nil, 0o600))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := Open(ctx, cfg, log)
		check.ErrorIs(t, err, exitcode.ErrInterrupted, "interrupted, unclean %t", unclean)
		check.Equal(t, string(check.Must(os.ReadFile(path))(t)), junk, "interrupted, unclean %t: the store", unclean)
		check.Equal(t, len(DamagedStores(cfg)), 0, "interrupted, unclean %t: damaged stores", unclean)
	}
	st, salvaged, err := Open(t.Context(), cfg, log)
	check.Require(t, err == nil && strings.Contains(salvaged, "restored backup: "+backup.Path),
		"the next start: %q, %v", salvaged, err)
	check.NoError(t, st.Close())
	damaged := DamagedStores(cfg)
	check.Require(t, len(damaged) == 1, "damaged stores: %v", damaged)
	check.Equal(t, string(check.Must(os.ReadFile(damaged[0]))(t)), junk, "the damaged store")
}

// A salvage is described at each start until the server was stopped.
func TestOpen_describesSalvageAgain(t *testing.T) {
	t.Parallel()
	cfg := settings.Config{StateDir: t.TempDir()}
	log := slog.New(slog.DiscardHandler)
	check.NoError(t, os.WriteFile(cfg.StorePath(), []byte("This is no store."), 0o600))
	st, first, err := Open(t.Context(), cfg, log)
	check.Require(t, err == nil && first != "", "salvaged %q, %v", first, err)
	mark, err := os.ReadFile(cfg.StorePath() + ".open")
	check.NoError(t, errors.Join(err, st.Close()))
	if err := os.WriteFile(cfg.StorePath()+".open", mark, 0o600); err != nil { // the process was killed instead
		t.Fatal(err)
	}
	for _, want := range []string{first, ""} {
		st, salvaged, err := Open(t.Context(), cfg, log)
		check.Require(t, err == nil && salvaged == want, "salvaged %q, %v; want %q", salvaged, err, want)
		check.NoError(t, st.Close())
	}
}

// A backup that could not be restored this time is not given up.
func TestUnusable(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		store.ErrCorrupt: true, store.ErrNewer: true, store.ErrOlder: true, syscall.EIO: true, fs.ErrPermission: true,
		syscall.ENOSPC: false, syscall.EROFS: false, syscall.ENOMEM: false, context.DeadlineExceeded: false,
	} {
		check.Equal(t, unusable(fmt.Errorf("restore: %w", err)), want, "%v", err)
	}
}

func TestUntilBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	wait := untilBackup(dir, now)
	check.That(t, wait <= 0, "without a backup: %v", wait)
	path := filepath.Join(dir, "pressbox-000007-20261121.db")
	check.NoError(t, os.WriteFile(path, nil, 0o600))
	for age, want := range map[time.Duration]time.Duration{
		time.Hour: 23 * time.Hour, 30 * time.Hour: -6 * time.Hour,
		-time.Hour: 0, // from a wrong clock
	} {
		check.NoError(t, os.Chtimes(path, now.Add(-age), now.Add(-age)))
		check.Equal(t, untilBackup(dir, now), want, "%v after the last backup", age)
	}
}

// A page of cyclic.db refers to a page above it, so that the check of its pages has no
// end. It is a state of TestAll_powerCutSyncsIgnored.
func TestCheckInChild_cyclicPages(t *testing.T) {
	t.Parallel()
	file := check.Must(os.Open("testdata/cyclic.db.gz"))(t)
	defer check.Close(t, file)
	unpacked := check.Must(gzip.NewReader(file))(t)
	path := filepath.Join(t.TempDir(), "pressbox.db")
	check.NoError(t, os.WriteFile(path, check.Must(io.ReadAll(unpacked))(t), 0o600))
	check.ErrorIs(t, CheckInChild(t.Context(), path), store.ErrCorrupt, "a store whose pages are cyclic")
}
