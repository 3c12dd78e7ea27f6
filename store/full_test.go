package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"pressbox/store"
	"pressbox/store/killtest"
	"pressbox/voice/announce"
)

// A full disk refuses changes and loses none: the test fills a small tmpfs of a
// child process.
func TestStore_fullDisk(t *testing.T) {
	t.Parallel()
	cmd := killtest.Command(t, "full")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if id := os.Getuid(); id != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// newTmpfs creates a tmpfs that only this process can reach, at dir, until it
// ends.
func newTmpfs(size string) (dir string, err error) {
	fs, err := unix.Fsopen("tmpfs", 0)
	if err != nil {
		return "", err
	}
	if err := errors.Join(unix.FsconfigSetString(fs, "size", size), unix.FsconfigCreate(fs)); err != nil {
		return "", err
	}
	mount, err := unix.Fsmount(fs, 0, 0)
	return fmt.Sprintf("/proc/self/fd/%d", mount), err
}

// resizeTmpfs changes the size of the tmpfs at dir.
func resizeTmpfs(dir, size string) error {
	fs, err := unix.Fspick(unix.AT_FDCWD, dir, 0)
	if err != nil {
		return err
	}
	return errors.Join(unix.FsconfigSetString(fs, "size", size), unix.FsconfigReconfigure(fs))
}

// fillTmpfs is the child process.
func fillTmpfs([]string) error {
	dir, err := newTmpfs("1m")
	if err != nil {
		return fmt.Errorf("create a tmpfs: %w", err)
	}
	path := filepath.Join(dir, "pressbox.db")
	s, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	saved, err := appendUntilRefused(s, 1)
	if !errors.Is(err, store.ErrFull) || !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("append %d: %w, want ErrFull because of ENOSPC", saved+1, err)
	}
	if err := s.Health(); !errors.Is(err, store.ErrFull) {
		return fmt.Errorf("health: %w, want ErrFull", err)
	}
	if err := expectWaiting(s, saved); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	if err := checkPages(path); err != nil {
		return err
	}
	if s, err = store.Open(path, store.Options{}); err != nil {
		return fmt.Errorf("open on a full disk: %w", err)
	}
	if err := expectWaiting(s, saved); err != nil {
		return err
	}
	if _, err := appendUntilRefused(s, saved+1); !errors.Is(err, store.ErrFull) {
		return fmt.Errorf("append on a full disk: %w, want ErrFull", err)
	}
	if err := resizeTmpfs(dir, "8m"); err != nil {
		return fmt.Errorf("grow the tmpfs: %w", err)
	}
	if err := s.Health(); err != nil {
		return fmt.Errorf("health on the larger disk: %w", err)
	}
	if _, _, err := s.Append(context.Background(), announcement(1_000_000), announce.IdempotencyKey{}); err != nil {
		return fmt.Errorf("append on the larger disk: %w", err)
	}
	return s.Close()
}

// appendUntilRefused returns the number of the last saved announcement.
func appendUntilRefused(s *store.Store, first int) (int, error) {
	for i := first; ; i++ {
		key := announce.IdempotencyKey{Key: fmt.Sprint(i)}
		if _, _, err := s.Append(context.Background(), announcement(i), key); err != nil {
			return i - 1, err
		}
	}
}

// expectWaiting checks that exactly the first announcements are there.
func expectWaiting(s *store.Store, many int) error {
	waiting, _, err := s.Load(context.Background())
	if err != nil || len(waiting) != many {
		return fmt.Errorf("%d announcements, %w, want %d", len(waiting), err, many)
	}
	for i, n := range waiting {
		if n.Seq != uint64(i+1) {
			return fmt.Errorf("announcement %d is number %d", i, n.Seq)
		}
	}
	for i, want := range []bool{true, false} {
		key := announce.IdempotencyKey{Key: fmt.Sprint(many + i)}
		if _, ok, err := s.Find(context.Background(), key); ok != want || err != nil {
			return fmt.Errorf("the key of announcement %d: %v, %w, want %v", many+i, ok, err, want)
		}
	}
	return nil
}

// checkPages checks every page of a store.
func checkPages(path string) error {
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, Timeout: time.Second, PreLoadFreelist: true})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.View(func(tx *bolt.Tx) error {
		var all []error
		for err := range tx.Check() {
			all = append(all, err)
		}
		return errors.Join(all...)
	})
}
