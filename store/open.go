package store

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"golang.org/x/sys/unix"

	"pressbox/store/atomicfile"
	"pressbox/store/clock"
	"pressbox/store/clock/system"
)

const (
	// pageSize is the same on every host: with the 16 KiB pages of a Raspberry
	// Pi 5 each commit would write four times as much.
	pageSize    = 4096
	allocSize   = 1 << 20      // bytes by which the file grows
	minFileSize = 4 * pageSize // of an empty store

	defaultMaxSize = 512 << 20
	defaultTimeout = 3 * time.Second

	// freelist uses the first sufficient run of free pages. The other type uses
	// any, in random order, and fragments a full store until it cannot even store
	// the ends of announcements.
	freelist = bolt.FreelistArrayType
)

// Open opens the store at path, creates it if it does not exist, and migrates it
// to the present schema. The error wraps [ErrLocked] if another process has it
// open, [ErrNewer], [ErrOlder], or [ErrCorrupt].
func Open(path string, o Options) (*Store, error) {
	s := &Store{
		path:    path,
		maxSize: o.MaxSize,
		beside:  o.Beside,
		log:     o.Log,
		leading: make(chan struct{}, 1),
	}
	if s.maxSize == 0 {
		s.maxSize = defaultMaxSize
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	boot, err := system.BootID()
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	s.now = clock.Source{Wall: time.Now, Since: system.SinceBoot, Boot: boot}.Moment
	if err := s.open(o.Timeout); err != nil {
		return nil, fmt.Errorf("open the store %s: %w", path, err)
	}
	if o.Recount {
		if err := s.recount(); err != nil {
			return nil, errors.Join(fmt.Errorf("open the store %s: %w", path, err), s.Close())
		}
	}
	return s, nil
}

func (s *Store) open(timeout time.Duration) error {
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := create(s.path); err != nil {
			return fmt.Errorf("create it: %w", err)
		}
	case err != nil:
		return err
	case info.Size() < minFileSize:
		return fmt.Errorf("%w; restore a backup, or remove it for an empty store", tooSmall(info))
	}
	if err := s.takeBeside(); err != nil {
		return err
	}
	if err := s.connect(timeout); err != nil {
		return err
	}
	if err := s.confirm(); err != nil {
		return errors.Join(err, s.Close())
	}
	if err := s.mark(); err != nil {
		return errors.Join(fmt.Errorf("mark it as open: %w", err), s.Close())
	}
	if err := s.migrate(migrations); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// tooSmall returns [ErrCorrupt] for a file that is smaller than an empty store.
func tooSmall(info fs.FileInfo) error {
	return fmt.Errorf("%w: the file has %d bytes, want at least %d", ErrCorrupt, info.Size(), minFileSize)
}

// Now returns the present moment, by the clock that the store's records have.
func (s *Store) Now() clock.Moment { return s.now() }

// connect opens the file with bbolt.
func (s *Store) connect(timeout time.Duration) error {
	err := recoverCorrupt(func() (err error) {
		s.db, err = bolt.Open(s.path, 0o600, &bolt.Options{
			Timeout:         timeout,
			PageSize:        pageSize,
			FreelistType:    freelist,
			MaxSize:         int(min(s.maxSize, math.MaxInt)),
			InitialMmapSize: s.mapSize(),
			OpenFile: func(name string, flag int, mode fs.FileMode) (*os.File, error) {
				s.file, err = atomicfile.Open(name, flag, mode)
				return s.file, err
			},
		})
		return err
	})
	switch {
	case err == nil:
		s.db.AllocSize = allocSize
		return nil
	case errors.Is(err, ErrCorrupt):
		return errors.Join(err, s.abandon())
	case errors.Is(err, bolterrors.ErrTimeout):
		return fmt.Errorf("%w by %s", ErrLocked, lockHolder(s.path))
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum),
		errors.Is(err, bolterrors.ErrVersionMismatch):
		return fmt.Errorf("%w: %w; restore a backup", ErrCorrupt, err)
	default:
		return err
	}
}

// confirm writes the meta pages again, as they are read, and waits until they are
// on disk. A sync that failed in an earlier process may have lost one of them, and
// Linux still shows it: then the next transaction would overwrite the only one
// that the disk has, and pages that it refers to.
func (s *Store) confirm() error {
	metas := make([]byte, 2*pageSize)
	_, err := s.file.ReadAt(metas, 0)
	if err == nil {
		_, err = s.file.WriteAt(metas, 0)
	}
	if err == nil {
		err = s.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnconfirmed, err)
	}
	return nil
}

// abandon closes a file on which bbolt has panicked. bbolt may hold its own locks
// for ever and cannot close the file; its memory map stays, which would keep the
// file locked.
func (s *Store) abandon() error {
	if err := unix.Flock(int(s.file.Fd()), unix.LOCK_UN); err != nil {
		return fmt.Errorf("unlock it: %w", err)
	}
	return s.file.Close()
}

// mapSize returns how much of the file to map: on 64-bit hosts its size limit,
// because the map cannot grow during a read transaction, and a backup takes long.
func (s *Store) mapSize() int {
	if strconv.IntSize < 64 {
		return 0
	}
	return int(min(s.maxSize, math.MaxInt))
}

// create creates an empty store at path. The file appears complete or not at all,
// so that a file without content always means damage.
func create(path string) error {
	dir := filepath.Dir(path)
	if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, partPrefix+"*.db")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it is an empty file at worst
	if err := f.Close(); err != nil {
		return err
	}
	err = recoverCorrupt(func() error {
		db, err := bolt.Open(f.Name(), 0o600, &bolt.Options{PageSize: pageSize, FreelistType: freelist})
		if err != nil {
			return err
		}
		return db.Close()
	})
	if errors.Is(err, ErrCorrupt) { // what was just written cannot be read
		return fmt.Errorf("%w: %s", unix.EIO, err.Error())
	}
	if err != nil {
		return err
	}
	// Unlike a rename, a link does not replace the file of a concurrent process.
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(dir)
}

// lockHolder describes the process that has locked the file, as far as the kernel
// lists it.
func lockHolder(path string) string {
	const unknown = "another process"
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return unknown
	}
	locks, err := os.Open("/proc/locks")
	if err != nil {
		return unknown
	}
	defer locks.Close() //nolint:errcheck // it was only read
	file := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	pid, ok := findLock(bufio.NewScanner(locks), file)
	if !ok {
		return unknown
	}
	comm, err := os.ReadFile("/proc/" + pid + "/comm") //nolint:gosec // the kernel provided the number
	if err != nil {
		return "process " + pid
	}
	return "process " + pid + " (" + strings.TrimSpace(string(comm)) + ")"
}

// findLock returns the process that holds a lock on a file in /proc/locks, which
// names the file major:minor:inode.
//
//	1: FLOCK  ADVISORY  WRITE 708 fe:00:1234 0 EOF
func findLock(locks *bufio.Scanner, file string) (pid string, ok bool) {
	for locks.Scan() {
		f := strings.Fields(locks.Text())
		if len(f) >= 6 && f[1] == "FLOCK" && f[5] == file {
			return f[4], true
		}
	}
	return "", false
}
