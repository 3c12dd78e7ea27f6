// Package atomicfile replaces files, and opens those that another process may have replaced.
//
// One law: after a crash or a power cut at any moment, a file has its old content or
// its new one, and once a function has returned nil, its new one.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// TempPrefix begins the name of an unfinished file, in the directory of the file that
// it would have replaced. A crash may leave one behind.
const TempPrefix = ".new-"

// Attributes are the owner and the permissions of a file.
type Attributes struct {
	Mode fs.FileMode // independent of the umask
	// UID and GID are the owner; -1 means the user and group of this process.
	UID, GID int
}

// Own returns the attributes of a file that belongs to this process.
func Own(mode fs.FileMode) Attributes { return Attributes{mode, -1, -1} }

// Like returns the attributes of an existing file or directory.
func Like(path string) (Attributes, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return Attributes{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return Attributes{fs.FileMode(st.Mode & 0o777), int(st.Uid), int(st.Gid)}, nil
}

// Write writes a file and returns its size in bytes. The file appears at path, in place
// of an earlier file or link, when it is on disk and check, unless nil, has returned nil
// for its temporary path. If that fails, nothing is left of it.
func Write(
	path string, a Attributes, write func(io.Writer) error, check func(path string) error,
) (size int64, err error) {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", path, err)
	}
	defer dir.Close() //nolint:errcheck // it was only synced
	temp := TempPrefix + rand.Text()
	var checkTemp func() error
	if check != nil {
		checkTemp = func() error { return check(filepath.Join(filepath.Dir(path), temp)) }
	}
	size, err = writeTemp(dir, temp, a, write, checkTemp)
	if err == nil {
		err = Rename(dir, temp, filepath.Base(path))
	}
	if err != nil {
		return 0, errors.Join(fmt.Errorf("write %s: %w", path, err), removeExisting(dir, temp))
	}
	return size, nil
}

// writeTemp writes a new file and waits until it is on disk. The file is this process's alone until check, unless
// nil, has returned nil.
func writeTemp(
	dir *os.Root, name string, a Attributes, write func(io.Writer) error, check func() error,
) (size int64, err error) {
	f, err := dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := write(f); err != nil {
		return 0, err
	}
	if check != nil {
		if err := f.Sync(); err != nil {
			return 0, err
		}
		if err := check(); err != nil {
			return 0, err
		}
	}
	if err := errors.Join(a.own(f), f.Chmod(a.Mode), f.Sync()); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// ErrNotRegular is the error of a file that is a link, a directory, a FIFO or a device.
var ErrNotRegular = errors.New("not a regular file")

// Open opens a file like [os.OpenFile], but only a regular one, through no link at the end of its path, and without
// waiting, as for the other end of a FIFO.
func Open(path string, flag int, mode fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, mode) //nolint:gosec // of the caller
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Rename renames a file whose content is on disk, in place of an earlier file or link
// of that name, and waits until the directory is on disk.
func Rename(dir *os.Root, from, to string) error {
	if err := dir.Rename(from, to); err != nil {
		return err
	}
	return Sync(dir)
}

// Sync waits until a directory's names are on disk.
func Sync(dir *os.Root) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// MkdirAll creates a directory and those above it that do not exist, like [os.MkdirAll],
// and waits until their names are on disk. It does so also if the directory exists: the
// process that created it may have ended before.
func MkdirAll(path string, mode fs.FileMode) error {
	path = filepath.Clean(path)
	parents := []string{filepath.Dir(path)}
	for dir := parents[0]; !exists(dir); dir = filepath.Dir(dir) {
		parents = append(parents, filepath.Dir(dir))
	}
	if err := os.MkdirAll(path, mode); err != nil {
		return err
	}
	for _, parent := range parents {
		err := syncPath(parent)
		// Of another user, or of a file system such as /proc.
		foreign := errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EINVAL)
		if err != nil && !foreign {
			return err
		}
	}
	return nil
}

// exists reports whether a directory exists, as far as this process can see.
func exists(dir string) bool {
	_, err := os.Stat(dir)
	return !errors.Is(err, fs.ErrNotExist)
}

// syncPath waits until a directory's names are on disk.
func syncPath(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // of the caller
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// removeExisting removes a file if it exists.
func removeExisting(dir *os.Root, name string) error {
	if err := dir.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// own gives a file of this process its owner. It asks for no change where there is none: the
// sandbox of the service forbids the call.
func (a Attributes) own(f *os.File) error {
	if (a.UID < 0 || a.UID == os.Geteuid()) && (a.GID < 0 || a.GID == os.Getegid()) {
		return nil
	}
	return f.Chown(a.UID, a.GID)
}
