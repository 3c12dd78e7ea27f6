package recovery

import (
	"context"
	"log/slog"
	"time"

	"pressbox/store"
)

// The schedule of backups.
const (
	Interval    = 24 * time.Hour
	retention   = 3 // backups
	retryDelay  = time.Hour
	startupWait = 10 * time.Minute // after the start, without a backup
)

// A Schedule makes a backup of the store once a day and removes all but the newest three.
type Schedule struct {
	Store *store.Store
	Dir   string // of the backups
	Log   *slog.Logger
}

// Run makes backups until ctx ends.
func (s Schedule) Run(ctx context.Context) error {
	for wait := max(startupWait, untilBackup(s.Dir, time.Now())); ; {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
		wait = s.backUp(ctx)
	}
}

// backUp makes one backup, unless ctx ends, and returns the time until the next.
func (s Schedule) backUp(ctx context.Context) (wait time.Duration) {
	b, err := s.Store.AddBackup(ctx, s.Dir, checker(ctx))
	if ctx.Err() != nil {
		return 0
	}
	if err != nil {
		s.Log.Error("backup failed", "err", err)
		return retryDelay
	}
	s.Log.Info("backup created", "backup", b.Path, "size", b.Size)
	if err := store.PruneBackups(s.Dir, retention); err != nil {
		s.Log.Error("backup removal failed", "err", err)
	}
	return Interval
}

// untilBackup returns the time until the next backup is due. A date in the future, from a
// wrong clock, counts as old.
func untilBackup(dir string, now time.Time) time.Duration {
	all, err := store.Backups(dir)
	if err != nil || len(all) == 0 {
		return 0
	}
	age := now.Sub(all[0].Made)
	if age < 0 {
		return 0
	}
	return Interval - age
}
