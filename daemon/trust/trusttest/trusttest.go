// Package trusttest makes files and sockets of another user, in tests that root runs. A
// test of another user has no second one: there they are its own.
package trusttest

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"pressbox/packaging/check"
)

// Stranger is the number of the other user and group, which Debian gives no files.
const Stranger = 65534

// Give gives a directory, and everything in it, to the other user.
func Give(tb testing.TB, dir string) {
	tb.Helper()
	if os.Geteuid() != 0 {
		return
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, Stranger, Stranger) //nolint:gosec // a directory of the test
	})
	check.NoError(tb, err)
}

// Listen opens a Unix socket as the other user until the test ends.
func Listen(tb testing.TB, path string) net.Listener {
	tb.Helper()
	if os.Geteuid() == 0 {
		runtime.LockOSThread() // the credentials are the thread's
		defer runtime.UnlockOSThread()
		setUser(tb, Stranger)
		defer setUser(tb, 0)
	}
	l, err := net.Listen("unix", path) //nolint:noctx // it does not wait
	check.NoError(tb, err)
	tb.Cleanup(func() { _ = l.Close() }) // it may be closed
	return l
}

// setUser changes the effective user of this thread alone; package syscall would change
// that of all threads. The access to files stays root's.
func setUser(tb testing.TB, uid uintptr) {
	tb.Helper()
	const unchanged = ^uintptr(0)
	_, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, unchanged, uid, unchanged)
	_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, 0, 0, 0) // it returns the former user
	if errno != 0 {
		tb.Fatal(errno)
	}
}
