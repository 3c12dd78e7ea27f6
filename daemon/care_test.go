package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"pressbox/store"
)

// A page is what was logged; it may be read meanwhile.
type page struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *page) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(text)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// One backup a day, the last three kept; one that cannot be made is tried again in
// an hour.
func TestBackupsAreMadeDaily(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		backups := filepath.Join(dir, backupFolder)
		var log page
		kept, err := store.Open(filepath.Join(dir, storeName), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer kept.Close()
		h := &house{launch: launch{cfg: Config{StateDir: dir}, log: slog.New(slog.NewTextHandler(&log, nil))}, store: kept}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- h.backups(ctx) }()
		count := func(after time.Duration) int {
			time.Sleep(after)
			synctest.Wait()
			all, _ := store.Backups(backups) // it may be no folder
			return len(all)
		}
		for _, tt := range []struct {
			after time.Duration
			want  int
		}{{backupCalm - time.Second, 0}, {2 * time.Second, 1}, {backupEvery, 2}, {backupEvery, 3}, {backupEvery, 3}} {
			if got := count(tt.after); got != tt.want {
				t.Errorf("%v later there are %d backups, want %d\n%s", tt.after, got, tt.want, &log)
			}
		}
		if err := os.RemoveAll(backups); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(backups, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := count(backupEvery); got != 0 || !strings.Contains(log.String(), `level=ERROR msg="no backup was made"`) {
			t.Errorf("where there can be none: %d\n%s", got, &log)
		}
		if err := os.Remove(backups); err != nil {
			t.Fatal(err)
		}
		if got := count(backupRetry); got != 1 {
			t.Errorf("an hour after that: %d\n%s", got, &log)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A salvage that is cut off has changed nothing, and the next start makes it.
func TestASalvageThatIsCutOffIsBegunAgain(t *testing.T) {
	t.Parallel()
	cfg := Config{StateDir: t.TempDir()}
	path := filepath.Join(cfg.StateDir, storeName)
	log := slog.New(slog.DiscardHandler)
	kept, _, err := openStore(t.Context(), cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	backup, err := kept.AddBackup(t.Context(), filepath.Join(cfg.StateDir, backupFolder), nil)
	if err := errors.Join(err, kept.Close()); err != nil {
		t.Fatal(err)
	}
	junk := bytes.Repeat([]byte("This is no store. "), 2000)
	if err := os.WriteFile(path, junk, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, unclean := range []bool{false, true} {
		if unclean {
			if err := os.WriteFile(path+".open", nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if _, _, err := openStore(ended, cfg, log); !errors.Is(err, errInterrupted) {
			t.Errorf("cut off, unclean %t: %v", unclean, err)
		}
		if is, err := os.ReadFile(path); !bytes.Equal(is, junk) {
			t.Errorf("cut off, unclean %t: the store was changed: %v", unclean, err)
		}
		if aside, _ := filepath.Glob(path + ".damaged-*"); len(aside) > 0 {
			t.Errorf("cut off, unclean %t: %v is left", unclean, aside)
		}
	}
	kept, salvaged, err := openStore(t.Context(), cfg, log)
	if err != nil || !strings.Contains(salvaged, "is now the backup "+backup.Path) {
		t.Fatalf("the next start: %q, %v", salvaged, err)
	}
	if err := kept.Close(); err != nil {
		t.Error(err)
	}
	aside, _ := filepath.Glob(path + ".damaged-*")
	if len(aside) != 1 {
		t.Fatalf("set aside: %v", aside)
	}
	if is, err := os.ReadFile(aside[0]); !bytes.Equal(is, junk) {
		t.Errorf("what was set aside is something else: %v", err)
	}
}

// Neither the check nor the copying of a large store is ended by the service manager.
func TestTheServiceManagerWaitsForACheck(t *testing.T) {
	t.Parallel()
	m := newManager(t)
	dir := t.TempDir()
	inState(t, dir, storeName, strings.Repeat("This is no store. ", 2000))
	inState(t, dir, storeName+".open", "")
	inState(t, dir, backupFolder+"/pressbox-000001-20261121.db", "nor is this")
	runProcess(t, dir, append(environment(t), "PULSE_SERVER=unix:/nowhere", "NOTIFY_SOCKET="+m.path))
	m.await(`^EXTEND_TIMEOUT_USEC=300000000$`) // the check
	m.await(`^EXTEND_TIMEOUT_USEC=300000000$`) // the backup
	m.await(`^READY=1\n`)
}

// What kept a backup from being restored this time is no reason to begin anew.
func TestABackupIsGivenUpOnlyForItsOwnFaults(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		store.ErrCorrupt: true, store.ErrNewer: true, syscall.EIO: true, fs.ErrPermission: true,
		syscall.ENOSPC: false, syscall.EROFS: false, syscall.ENOMEM: false, context.DeadlineExceeded: false,
	} {
		if got := useless(fmt.Errorf("restore: %w", err)); got != want {
			t.Errorf("%v: %t, want %t", err, got, want)
		}
	}
}

func TestTheNextBackupIsADayAfterTheLast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	if wait := untilBackup(dir, now); wait > 0 {
		t.Errorf("without a backup it waits %v", wait)
	}
	path := filepath.Join(dir, "pressbox-000007-20261121.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for age, want := range map[time.Duration]time.Duration{
		time.Hour: 23 * time.Hour, 30 * time.Hour: -6 * time.Hour,
		-time.Hour: 0, // of a clock that was wrong
	} {
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		if got := untilBackup(dir, now); got != want {
			t.Errorf("%v after the last backup it waits %v, want %v", age, got, want)
		}
	}
}

// Prometheus' own linter finds nothing.
func TestFiguresAreAsPrometheusWantsThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := runProcess(t, dir, append(environment(t), "PULSE_SERVER=unix:/nowhere", "METRICS=on"))
	resp, err := http.Get(p.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	problems, err := promlint.New(resp.Body).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}
