package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"pressbox/store/atomicfile"
)

// partPrefix begins the name of an unfinished file.
const partPrefix = atomicfile.TempPrefix

// WriteAtomic writes a file like [atomicfile.Write], readable by its owner alone, and
// returns its size. As root, the owner of the folder gets the file.
func WriteAtomic(path string, write func(io.Writer) error, check func(path string) error) (size int64, err error) {
	a := atomicfile.Own(0o600)
	if os.Geteuid() == 0 {
		folder, err := atomicfile.Like(filepath.Dir(path))
		if err != nil {
			return 0, err
		}
		a.UID, a.GID = folder.UID, folder.GID
	}
	return atomicfile.Write(path, a, write, check)
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
