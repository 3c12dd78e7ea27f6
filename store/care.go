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

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// What care is taken of a store whose disk is a memory card, beside it:
//
//	pressbox.db.open              is there while the store is open, and after it was not closed
//	pressbox.db.damaged-TIME      what was set aside
//	backups/pressbox-N-DATE.db    the last backups; N counts them
//
// The sign of an unclean stop is a file of its own: one in the store could be read
// only by opening what may be damaged.

const (
	openSuffix   = ".open"
	backupPrefix = "pressbox-"
	backupSuffix = ".db"

	leftFor = 24 * time.Hour // after which nobody writes a file any more that was not finished
)

// UncleanShutdown says whether the store at path was open when its last owner ended.
func UncleanShutdown(path string) bool {
	_, err := os.Lstat(path + openSuffix)
	return err == nil
}

// MarkChecked notes that the store at path was checked since then.
func MarkChecked(path string) error {
	if err := os.Remove(path + openSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("note that the store was checked: %w", err)
	}
	return nil
}

// mark leaves the sign that the store is open. A sign that is there already, of an
// owner that ended, stays after this one too, until somebody has checked.
func (s *Store) mark() error {
	f, err := os.OpenFile(s.path+openSuffix, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	s.marked = true
	if err := f.Close(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(s.path))
}

// unmark takes the sign away, after the store was closed well.
func (s *Store) unmark() error {
	if !s.marked {
		return nil
	}
	return MarkChecked(s.path)
}

// Check reads every page of the store at path and returns what is wrong with it:
// [ErrCorrupt], [ErrNewer], [ErrLocked] while somebody has it open, or that it
// cannot be read. What is damaged may end the process, by memory that is not
// there or a search without an end: check in a process of its own.
func Check(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("check the store: %w", err)
	}
	if info.Size() < 4*pageSize {
		return fmt.Errorf("check the store %s: %w: it has only %d bytes", path, ErrCorrupt, info.Size())
	}
	if err := guard(func() error { return check(path) }); err != nil {
		return fmt.Errorf("check the store %s: %w", path, err)
	}
	return nil
}

func check(path string) error {
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, Timeout: time.Millisecond})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return ErrLocked
	case errors.Is(err, fs.ErrPermission):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	defer db.Close() //nolint:errcheck // it was only read
	return db.View(func(tx *bolt.Tx) error {
		var wrong []error
		for err := range tx.Check() { // to its end: it reads in a goroutine of its own
			wrong = append(wrong, err)
		}
		if len(wrong) > 0 {
			return fmt.Errorf("%w: %d pages or more: %w", ErrCorrupt, len(wrong), wrong[0])
		}
		at := schema(tx)
		if at > uint64(len(migrations)) {
			return fmt.Errorf("%w: its schema is %d, this one knows up to %d", ErrNewer, at, len(migrations))
		}
		if at == 0 && tx.Bucket(metaBucket) != nil {
			return fmt.Errorf("%w: it has no schema", ErrCorrupt)
		}
		return nil
	})
}

// A Backup is a copy of the store.
type Backup struct {
	Path   string
	Number int // counts them
	Made   time.Time
	Size   int64 // bytes
}

// Backups returns the backups in a folder, newest first. A folder that is not
// there has none.
func Backups(dir string) ([]Backup, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for backups: %w", err)
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

// backupNumber reads pressbox-N-DATE.db.
func backupNumber(name string) (int, bool) {
	rest, ok := strings.CutPrefix(name, backupPrefix)
	if !ok || !strings.HasSuffix(name, backupSuffix) {
		return 0, false
	}
	digits, _, _ := strings.Cut(rest, "-")
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0
}

// AddBackup writes a further backup into a folder, which it makes. It is good, and
// on the disk, before it has its name: check is asked about the file first. When ctx
// ends there is none.
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
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Backup{}, fmt.Errorf("back up the store: %w", err)
	}
	if err := removeParts(dir, now); err != nil {
		return Backup{}, fmt.Errorf("remove what earlier backups left: %w", err)
	}
	whileWanted := func(w io.Writer) error {
		return s.Backup(writer(func(data []byte) (int, error) {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			return w.Write(data)
		}))
	}
	if b.Size, err = WriteAtomic(b.Path, whileWanted, check); err != nil {
		return Backup{}, errors.Join(err, ctx.Err())
	}
	return b, nil
}

// A writer is a function that writes.
type writer func(data []byte) (int, error)

func (w writer) Write(data []byte) (int, error) { return w(data) }

// removeParts removes from a folder what [WriteAtomic] has left there when the
// machine died.
func removeParts(dir string, now time.Time) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), partPrefix) || !strings.HasSuffix(f.Name(), backupSuffix) {
			continue
		}
		info, err := f.Info()
		if err == nil && now.Sub(info.ModTime()) > leftFor {
			err = os.Remove(filepath.Join(dir, f.Name()))
		}
		errs = append(errs, ignoreMissing(err))
	}
	return errors.Join(errs...)
}

// PruneBackups removes all but the newest backups of a folder.
func PruneBackups(dir string, keep int) error {
	all, err := Backups(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, b := range all[min(keep, len(all)):] {
		errs = append(errs, os.Remove(b.Path))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove old backups: %w", err)
	}
	return nil
}
