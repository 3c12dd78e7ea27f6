package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressbox/store/atomicfile"
)

const (
	backupPrefix = "pressbox-"
	backupSuffix = ".db"

	partMaxAge = 24 * time.Hour // an older unfinished file has no writer any more
)

// A Backup describes a copy of the store.
type Backup struct {
	Path   string
	Number int // counts the backups
	Made   time.Time
	Size   int64 // bytes
}

// Backups returns the backups in a folder, newest first; none if the folder does
// not exist.
func Backups(dir string) ([]Backup, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the backups: %w", err)
	}
	var all []Backup
	for _, f := range files {
		number, ok := backupNumber(f.Name())
		info, err := f.Info()
		if !ok || err != nil {
			continue
		}
		all = append(all, Backup{filepath.Join(dir, f.Name()), number, info.ModTime(), info.Size()})
	}
	slices.SortFunc(all, func(a, b Backup) int { return cmp.Compare(b.Number, a.Number) })
	return all, nil
}

// backupNumber parses pressbox-N-DATE.db.
func backupNumber(name string) (int, bool) {
	rest, ok := strings.CutPrefix(name, backupPrefix)
	if !ok || !strings.HasSuffix(name, backupSuffix) {
		return 0, false
	}
	digits, _, _ := strings.Cut(rest, "-")
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0
}

// AddBackup writes a new backup into a folder, which it creates. The backup gets
// its name when it is on disk and check has returned nil for the file. AddBackup
// writes nothing if ctx ends.
func (s *Store) AddBackup(ctx context.Context, dir string, check func(path string) error) (Backup, error) {
	all, err := Backups(dir)
	if err != nil {
		return Backup{}, err
	}
	number := 1
	if len(all) > 0 {
		number = all[0].Number + 1
	}
	now := time.Now().UTC()
	b := Backup{Number: number, Made: now}
	b.Path = filepath.Join(dir, fmt.Sprintf("%s%06d-%s%s", backupPrefix, number, now.Format("20060102"), backupSuffix))
	if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
		return Backup{}, fmt.Errorf("back up the store: %w", err)
	}
	if err := removeParts(dir, now); err != nil {
		return Backup{}, fmt.Errorf("remove unfinished backups: %w", err)
	}
	untilDone := func(w io.Writer) error {
		return s.Backup(writerFunc(func(data []byte) (int, error) {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			return w.Write(data)
		}))
	}
	if b.Size, err = WriteAtomic(b.Path, untilDone, check); err != nil {
		return Backup{}, errors.Join(err, ctx.Err())
	}
	return b, nil
}

// A writerFunc is a function that implements [io.Writer].
type writerFunc func(data []byte) (int, error)

func (w writerFunc) Write(data []byte) (int, error) { return w(data) }

// removeParts removes the unfinished files that a crash of [WriteAtomic] left in a
// folder.
func removeParts(dir string, now time.Time) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), partPrefix) {
			continue
		}
		info, err := f.Info()
		if err == nil && now.Sub(info.ModTime()) > partMaxAge {
			err = os.Remove(filepath.Join(dir, f.Name()))
		}
		errs = append(errs, ignoreMissing(err))
	}
	return errors.Join(errs...)
}

// PruneBackups removes all backups of a folder but the n newest.
func PruneBackups(dir string, n int) error {
	all, err := Backups(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, b := range all[min(n, len(all)):] {
		errs = append(errs, os.Remove(b.Path))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove old backups: %w", err)
	}
	return nil
}

// SetAside gives the store at path a second name, which it keeps when another
// file replaces it at path, and returns that name. The stamp is that of an earlier
// one if the host's clock was never set.
func SetAside(path, why, stamp string) (aside string, err error) {
	name := path + "." + why + "-" + stamp
	aside = name
	for n := 2; ; n++ {
		err := os.Link(path, aside)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("set the store aside: %w", err)
		}
		if err == nil || sameFile(path, aside) { // since an interruption
			return aside, syncDir(filepath.Dir(path))
		}
		aside = fmt.Sprintf("%s-%d", name, n)
	}
}

// sameFile reports whether two paths are names of one file.
func sameFile(a, b string) bool {
	first, err := os.Lstat(a)
	if err != nil {
		return false
	}
	second, err := os.Lstat(b)
	return err == nil && os.SameFile(first, second)
}

// PutBack undoes [SetAside].
func PutBack(path, aside string) error {
	// A rename to another name of the same file does nothing.
	err := errors.Join(os.Rename(aside, path), ignoreMissing(os.Remove(aside)))
	if err != nil {
		return fmt.Errorf("put the store back: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

// Restore replaces the file at path by what a backup has, for a copy of which check must
// return nil. No process may have the store at path open. The mark of an unclean
// shutdown stays, see [MarkChecked].
func Restore(path string, backup io.Reader, check func(path string) error) error {
	_, err := WriteAtomic(path, func(w io.Writer) error {
		_, err := io.Copy(w, backup)
		return err
	}, check)
	return err
}
