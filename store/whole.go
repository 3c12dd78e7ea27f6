package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// partPrefix begins the name of a file that is not whole yet.
const partPrefix = ".new-"

// WriteAtomic makes a file at path of what write writes. The file appears there when
// all of it is on the disk and check, unless it is nil, has found it good; otherwise
// nothing is left of it. What was at path before is replaced. It returns how many
// bytes it has.
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
	if err := errors.Join(write(f), give(f, dir), f.Sync(), f.Close()); err != nil {
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

// give makes a file that root writes the property of whom its folder belongs to, who
// has to be able to read it afterwards.
func give(f *os.File, dir string) error {
	var st unix.Stat_t
	if os.Geteuid() != 0 {
		return nil
	}
	if err := unix.Stat(dir, &st); err != nil {
		return err
	}
	return f.Chown(int(st.Uid), int(st.Gid))
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// SetAside gives the store at path a second name, which it keeps when another one takes
// its place, and returns that name.
func SetAside(path, why, stamp string) (aside string, err error) {
	aside = path + "." + why + "-" + stamp
	if err := os.Link(path, aside); err != nil {
		return "", fmt.Errorf("set the store aside: %w", err)
	}
	return aside, syncDir(filepath.Dir(path))
}

// PutBack undoes [SetAside].
func PutBack(path, aside string) error {
	err := errors.Join(os.Rename(aside, path), ignoreMissing(os.Remove(aside))) // renaming a file to its other name does nothing
	if err != nil {
		return fmt.Errorf("put the store back: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

// Restore puts a copy of a backup at path, where no store may be, or replaces one
// that nobody has open. The copy is checked before.
func Restore(path, backup string, check func(path string) error) error {
	_, err := WriteAtomic(path, func(w io.Writer) error {
		f, err := os.Open(backup) //nolint:gosec // the operator names the file
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // it was only read
		_, err = io.Copy(w, f)
		return err
	}, check)
	if err != nil {
		return fmt.Errorf("restore %s: %w", backup, err)
	}
	return MarkChecked(path)
}
