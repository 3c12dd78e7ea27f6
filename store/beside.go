package store

import (
	"fmt"
	"io"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"

	"pressbox/store/atomicfile"
)

// Beside is what is kept beside the store and belongs to its backups. A backup has it as a zip archive after the last
// page, which bbolt does not look at.
type Beside interface {
	// Save writes a zip archive without a comment, or nothing if nothing is kept.
	Save(w io.Writer) error
	// Restore takes what Save has written. It may be called again after a crash.
	Restore(archive io.ReaderAt, size int64) error
}

// The first bytes of a zip archive, those of its last record, and the length of that without a comment (APPNOTE 4.3).
// No page begins with the former: it would have the number 67,324,752.
const (
	archiveStart = "PK\x03\x04"
	archiveEnd   = "PK\x05\x06"
	endLength    = 22
)

// takeBeside restores what a backup at the store's path has beside its pages, and cuts it off: a growing store would
// overwrite it. What cannot be restored is logged, as the store itself is there.
func (s *Store) takeBeside() error {
	if s.beside == nil {
		return nil
	}
	f, err := atomicfile.Open(s.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was synced
	info, err := f.Stat()
	if err != nil || !hasAt(f, info.Size()-endLength, archiveEnd) {
		return err
	}
	db, err := bolt.Open(s.path, 0o600, &bolt.Options{
		ReadOnly: true, Timeout: time.Millisecond, OpenFile: atomicfile.Open,
	})
	if err != nil { // it is damaged or locked, which is reported when it is opened
		return nil
	}
	defer func() { _ = db.Close() }() // it was read
	pages := int64(0)
	if err := db.View(func(tx *bolt.Tx) error { pages = tx.Size(); return nil }); err != nil {
		return err
	}
	if !hasAt(f, pages, archiveStart) {
		return nil
	}
	if err := s.beside.Restore(io.NewSectionReader(f, pages, info.Size()-pages), info.Size()-pages); err != nil {
		s.log.Error("files of the backup not restored", "err", err)
	}
	err = f.Truncate(pages)
	if err == nil {
		err = f.Sync()
	}
	return wrapped(err, "cut off the files of the backup")
}

// hasAt reports whether a file has a text at an offset.
func hasAt(f io.ReaderAt, offset int64, text string) bool {
	found := make([]byte, len(text))
	_, err := f.ReadAt(found, offset)
	return err == nil && string(found) == text
}

// saveBeside writes what belongs to a backup beside the store's pages.
func (s *Store) saveBeside(w io.Writer) error {
	if s.beside == nil {
		return nil
	}
	if err := s.beside.Save(w); err != nil {
		return fmt.Errorf("back up what is beside the store: %w", err)
	}
	return nil
}
