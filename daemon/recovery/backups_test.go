package recovery

import (
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
		made.Go(func() { check.ErrorIs(t, check.Err(b.Create(t.Context())), nil, "create") })
	}
	made.Wait()
	check.ErrorIs(t, check.Err(os.Stat(older)), fs.ErrNotExist, "the copy before an old migration")
	all := check.Must(b.List())(t)
	check.Require(t, len(all) == 2 && all[0].Number == 2 && all[1].Number == 1, "the backups: %+v", all)
	name := filepath.Base(all[0].Path)
	f := check.Must(b.Open(t.Context(), name))(t)
	check.Equal(t, check.Must(f.Stat())(t).Size(), all[0].Size, "bytes")
	check.NoError(t, f.Close())
	for _, missing := range []string{"pressbox-000009-20261121.db", "../pressbox.db", ""} {
		check.ErrorIs(t, check.Err(b.Open(t.Context(), missing)), fs.ErrNotExist, "open %q", missing)
	}
	check.NoError(t, os.Truncate(all[0].Path, all[0].Size/2))
	check.ErrorIs(t, check.Err(b.Open(t.Context(), name)), store.ErrCorrupt, "open a damaged backup")
}
