package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// partPrefix begins the name of an unfinished file.
const partPrefix = ".new-"

// WriteAtomic writes a file and returns its size. The file appears at path,
// replacing the previous one, when it is on disk and check, unless nil, has
// returned nil for it; otherwise nothing is left of it.
func WriteAtomic(path string, write func(io.Writer) error, check func(path string) error) (size int64, err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, partPrefix+"*"+filepath.Ext(path))
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write %s: %w", path, err), ignoreMissing(os.Remove(f.Name())))
		}
	}()
	if err := errors.Join(write(f), chownLike(f, dir), f.Sync(), f.Close()); err != nil {
		return 0, err
	}
	if check != nil {
		if err := check(f.Name()); err != nil {
			return 0, err
		}
	}
	info, err := os.Stat(f.Name())
	if err != nil {
		return 0, err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return 0, err
	}
	return info.Size(), syncDir(dir)
}

// chownLike gives a file that root writes to the owner of its folder, whose
// process has to read it.
func chownLike(f *os.File, dir string) error {
	var st unix.Stat_t
	if os.Geteuid() != 0 {
		return nil
	}
	if err := unix.Stat(dir, &st); err != nil {
		return err
	}
	return f.Chown(int(st.Uid), int(st.Gid))
}

func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the operator names the folder
	if err != nil {
		return err
	}
	defer d.Close() //nolint:errcheck // it was only synced
	return d.Sync()
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
