package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/voice/announce"
)

// A full disk refuses changes and loses none: the test fills a small tmpfs in a process of its own.
func TestStore_fullDisk(t *testing.T) {
	if os.Getenv("PRESSBOX_TEST_TMPFS") != "" {
		fillTmpfs(t)
		return
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStore_fullDisk$")
	cmd.Env = append(os.Environ(), "PRESSBOX_TEST_TMPFS=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if id := os.Getuid(); id != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	check.That(t, err == nil, "%v: %s", err, out)
}

// tmpfs returns a new tmpfs that only this process can reach, until it ends, and its folder.
func tmpfs(t *testing.T, size string) (dir string) {
	t.Helper()
	fs := check.Must(unix.Fsopen("tmpfs", 0))(t)
	check.NoError(t, errors.Join(unix.FsconfigSetString(fs, "size", size), unix.FsconfigCreate(fs)))
	return fmt.Sprintf("/proc/self/fd/%d", check.Must(unix.Fsmount(fs, 0, 0))(t))
}

func fillTmpfs(t *testing.T) {
	t.Helper()
	dir := tmpfs(t, "1m")
	path := filepath.Join(dir, "pressbox.db")
	s := check.Must(store.Open(path, store.Options{}))(t)
	saved, err := appendUntilRefused(s, 1)
	check.That(t, errors.Is(err, store.ErrFull) && errors.Is(err, syscall.ENOSPC),
		"append: %v, want ErrFull because of ENOSPC", err)
	check.ErrorIs(t, s.Health(), store.ErrFull, "health")
	expectWaiting(t, s, saved)
	check.NoError(t, errors.Join(s.Close(), checkPages(path)))

	s = check.Must(store.Open(path, store.Options{}))(t) // on a full disk
	expectWaiting(t, s, saved)
	_, err = appendUntilRefused(s, saved+1)
	check.ErrorIs(t, err, store.ErrFull, "append on a full disk")
	fs := check.Must(unix.Fspick(unix.AT_FDCWD, dir, 0))(t) // it becomes larger
	check.NoError(t, errors.Join(unix.FsconfigSetString(fs, "size", "8m"), unix.FsconfigReconfigure(fs), s.Health()))
	save(t, s, announcement(1_000_000))
	check.NoError(t, s.Close())
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
func expectWaiting(t *testing.T, s *store.Store, many int) {
	t.Helper()
	waiting, _, err := s.Load(t.Context())
	check.Require(t, err == nil && len(waiting) == many, "%d announcements, %v, want %d", len(waiting), err, many)
	for i, n := range waiting {
		check.Equal(t, n.Seq, uint64(i+1), "the number of announcement %d", i)
	}
	for i, want := range []bool{true, false} {
		_, ok, err := s.Find(t.Context(), announce.IdempotencyKey{Key: fmt.Sprint(many + i)})
		check.That(t, ok == want && err == nil, "the key of announcement %d: %v, %v, want %v", many+i, ok, err, want)
	}
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
