package recovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"pressbox/store"
	"pressbox/store/atomicfile"
)

// The schedule of backups.
const (
	Interval    = 24 * time.Hour
	retention   = 3 // backups
	retryDelay  = time.Hour
	startupWait = 10 * time.Minute // after the start, without a backup

	copyRetention = 30 * 24 * time.Hour // of the store before its last migration
)

// Backups makes a backup of the store once a day, and others on request, and removes all but
// the newest three; and the copies of migrations that are not needed any more.
type Backups struct {
	Store *store.Store
	Dir   string // of the backups
	Log   *slog.Logger

	making sync.Mutex // held while a backup is made, which gets the next number
}

// Run makes backups until ctx ends.
func (s *Backups) Run(ctx context.Context) error {
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
func (s *Backups) backUp(ctx context.Context) (wait time.Duration) {
	_, err := s.Create(ctx)
	switch {
	case ctx.Err() != nil:
		return 0
	case err != nil:
		s.Log.Error("backup failed", "err", err)
		return retryDelay
	default:
		return Interval
	}
}

// Create makes a backup, checks it, and removes the oldest ones.
func (s *Backups) Create(ctx context.Context) (store.Backup, error) {
	s.making.Lock()
	defer s.making.Unlock()
	b, err := s.Store.AddBackup(ctx, s.Dir, checker(ctx))
	if err != nil {
		return store.Backup{}, err
	}
	s.Log.Info("backup created", "backup", b.Path, "size", b.Size)
	copies := s.Store.PruneCopies(time.Now().Add(-copyRetention))
	if err := errors.Join(store.PruneBackups(s.Dir, retention), copies); err != nil {
		s.Log.Error("backup removal failed", "err", err)
	}
	return b, nil
}

// List returns the backups, newest first.
func (s *Backups) List() ([]store.Backup, error) { return store.Backups(s.Dir) }

// Open checks the backup with a file name again, as a disk may have damaged it since, and opens
// it. It returns [fs.ErrNotExist] if there is none, or [store.ErrCorrupt].
func (s *Backups) Open(ctx context.Context, name string) (*os.File, error) {
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(b store.Backup) bool { return filepath.Base(b.Path) == name })
	if at < 0 {
		return nil, fmt.Errorf("backup %s: %w", name, fs.ErrNotExist)
	}
	if err := CheckInChild(ctx, all[at].Path); err != nil {
		return nil, err
	}
	return atomicfile.Open(all[at].Path, os.O_RDONLY, 0)
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
