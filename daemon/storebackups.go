package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"pressbox/daemon/recovery"
	"pressbox/daemon/web"
	"pressbox/daemon/web/admin"
	"pressbox/store"
)

// storeBackups is [admin.Backups] over the directory of the daily backups.
type storeBackups struct{ *recovery.Backups }

func newBackup(b store.Backup) admin.Backup {
	return admin.Backup{Name: filepath.Base(b.Path), Created: web.Timestamp{Time: b.Made}, Size: b.Size}
}

// List returns the backups, newest first.
func (s storeBackups) List() ([]admin.Backup, error) {
	all, err := s.Backups.List()
	list := []admin.Backup{}
	for _, b := range all {
		list = append(list, newBackup(b))
	}
	return list, err
}

// Create makes a backup and checks it.
func (s storeBackups) Create(ctx context.Context) (admin.Backup, error) {
	b, err := s.Backups.Create(ctx)
	if err != nil {
		return admin.Backup{}, fmt.Errorf("%w: %w", web.ErrBackupFailed, err)
	}
	return newBackup(b), nil
}

// Open checks a backup again and opens it.
func (s storeBackups) Open(ctx context.Context, name string) (*os.File, error) {
	f, err := s.Backups.Open(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%w: %w", web.ErrNotFound, err)
	case errors.Is(err, store.ErrCorrupt):
		err = fmt.Errorf("%w: %w", web.ErrBackupDamaged, err)
	}
	return f, err
}
