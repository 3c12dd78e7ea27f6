package recovery

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pressbox/daemon/settings"
	"pressbox/packaging/check"
	"pressbox/store"
)

// Backups that are made at the same time are two, which can be opened; a damaged one, and files
// that are no backups, cannot.
func TestBackups_open(t *testing.T) {
	t.Parallel()
	cfg := settings.Config{StateDir: t.TempDir()}
	st := check.Must(store.Open(cfg.StorePath(), store.Options{}))(t)
	check.Close(t, st)
	b := &Backups{Store: st, Dir: cfg.BackupDir(), Log: slog.New(slog.DiscardHandler)}
	older := cfg.StorePath() + ".schema-1"
	check.NoError(t, os.WriteFile(older, nil, 0o600))
	check.NoError(t, os.Chtimes(older, time.Time{}, time.Now().Add(-2*copyRetention)))
	var made sync.WaitGroup
	for range 2 {
		made.Go(func() {
			if _, err := b.Create(t.Context()); err != nil {
				t.Errorf("create: %v", err)
			}
		})
	}
	made.Wait()
	if _, err := os.Stat(older); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy before an old migration: %v", err)
	}
	all := check.Must(b.List())(t)
	if len(all) != 2 || all[0].Number != 2 || all[1].Number != 1 {
		t.Fatalf("the backups: %+v", all)
	}
	name := filepath.Base(all[0].Path)
	f := check.Must(b.Open(t.Context(), name))(t)
	if info := check.Must(f.Stat())(t); info.Size() != all[0].Size {
		t.Errorf("%d bytes, want %d", info.Size(), all[0].Size)
	}
	check.NoError(t, f.Close())
	for _, missing := range []string{"pressbox-000009-20261121.db", "../pressbox.db", ""} {
		if _, err := b.Open(t.Context(), missing); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open %q: %v", missing, err)
		}
	}
	check.NoError(t, os.Truncate(all[0].Path, all[0].Size/2))
	if _, err := b.Open(t.Context(), name); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("open a damaged backup: %v", err)
	}
}
