package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/metrics"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"pressbox/store/atomicfile"
)

// The mark of an open store is a file beside it, because a mark in the store
// could be read only by opening a file that may be damaged:
//
//	pressbox.db.open              exists while the store is open, and after an unclean shutdown;
//	                              its text, if any, describes the salvage that was begun since
//	pressbox.db.damaged-TIME      a damaged store that was set aside
//	pressbox.db.schema-N          the store before a newer version migrated it from schema N;
//	                              the newest one, for a time
//	backups/pressbox-N-DATE.db    the last backups; N counts them
const openSuffix = ".open"

// UncleanShutdown reports whether the last process that opened the store at path
// ended without closing it.
func UncleanShutdown(path string) bool {
	_, err := os.Lstat(path + openSuffix)
	return err == nil
}

// MarkSalvage creates the mark of an open store at path with a description of what
// is about to replace it. The mark stays until the store is closed, so that the
// description is there after a crash.
func MarkSalvage(path, description string) error {
	_, err := WriteAtomic(path+openSuffix, func(w io.Writer) error {
		_, err := io.WriteString(w, description)
		return err
	}, nil)
	return err
}

// Salvage returns the description of the last [MarkSalvage]; "" if the store was
// closed since.
func Salvage(path string) (description string, err error) {
	f, err := atomicfile.Open(path+openSuffix, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(f)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return "", fmt.Errorf("read the mark of an unclean shutdown: %w", err)
	}
	return string(text), nil
}

// MarkChecked records that the store at path was checked after an unclean
// shutdown.
func MarkChecked(path string) error {
	if err := os.Remove(path + openSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("mark the store as checked: %w", err)
	}
	return nil
}

// mark creates the mark of an open store. A mark of an earlier process stays when
// this store is closed, until [MarkChecked], unless it describes a salvage.
func (s *Store) mark() error {
	f, err := os.OpenFile(s.path+openSuffix, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		salvage, err := Salvage(s.path)
		s.marked = salvage != ""
		return err
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

// unmark removes the mark that this store has created.
func (s *Store) unmark() error {
	if !s.marked {
		return nil
	}
	return MarkChecked(s.path)
}

// Check reads every page of the store at path. It returns [ErrCorrupt],
// [ErrNewer], [ErrOlder], [ErrLocked] if another process has it open, or why it cannot be
// read. A damaged file may crash or hang the process, so callers check in a child
// process.
func Check(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("check the store: %w", err)
	}
	if info.Size() < minFileSize {
		return fmt.Errorf("check the store %s: %w", path, tooSmall(info))
	}
	if err := recoverCorrupt(func() error { return checkPages(path) }); err != nil {
		return fmt.Errorf("check the store %s: %w", path, err)
	}
	return nil
}

// checkPages returns how [Check] fails if it reads every page of the store at path.
func checkPages(path string) error {
	db, err := bolt.Open(path, 0o600, &bolt.Options{
		ReadOnly: true, Timeout: time.Millisecond, OpenFile: atomicfile.Open,
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return ErrLocked
	case errors.Is(err, fs.ErrPermission), errors.Is(err, atomicfile.ErrNotRegular):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	tx, err := db.Begin(false)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	if err := pageErrors(tx); err != nil {
		return err // of a damaged store nothing is closed: Check's goroutine may still read it
	}
	err = checkSchema(tx)
	return errors.Join(err, tx.Rollback(), db.Close())
}

const (
	// maxPageErrors is the number of errors after which a check ends: in a tree with a
	// cycle there is no last one.
	maxPageErrors = 1000
	// maxCheckMemory is the memory, in bytes, above which a check ends: several times
	// what the largest store takes, and a third of what the service may use. A page
	// with a damaged length would fill the host's.
	maxCheckMemory = 256 << 20
)

// pageErrors returns an error if a page of the store is damaged.
func pageErrors(tx *bolt.Tx) error {
	var found []error
	failures := tx.Check() // it reads in a goroutine of its own
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for len(found) < maxPageErrors {
		select {
		case err, more := <-failures:
			if !more {
				return corruptPages(found)
			}
			found = append(found, err)
		case <-look.C:
			if used := memory(); used > maxCheckMemory {
				return fmt.Errorf("%w: its check takes %d MiB of memory", ErrCorrupt, used>>20)
			}
		}
	}
	return corruptPages(found)
}

// corruptPages returns an error with the number of errors that were found, nil if none was.
func corruptPages(found []error) error {
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d errors, the first: %w", ErrCorrupt, len(found), found[0])
}

// memory returns the memory, in bytes, that this process has of the system.
func memory() uint64 {
	total := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(total)
	return total[0].Value.Uint64()
}

// checkSchema returns [ErrNewer], [ErrOlder] or [ErrCorrupt] if the schema is not supported.
func checkSchema(tx *bolt.Tx) error {
	at := schema(tx)
	if at == 0 && tx.Bucket(metaBucket) != nil {
		return fmt.Errorf("%w: it has no schema", ErrCorrupt)
	}
	return supported(at, newestSchema())
}
