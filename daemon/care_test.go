package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
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
