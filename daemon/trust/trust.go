// Package trust restricts what commands rely on: settings and directories that another user
// of the host controls have no power over root's commands, and servers of another user none
// over anyone's.
//
// One law: which files and directories a process of another user may rely on is the
// kernel's decision, and not restricted here.
package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// writable are the permissions by which other users than the owner write.
const writable = 0o022

// maxLinks is the maximum number of symbolic links in a path, as in the kernel.
const maxLinks = 40

// A lookup returns the attributes of a file without following a link at its end.
type lookup func(path string) (fs.FileInfo, error)

// File returns an error if this process is root's and another user could have written
// the file, or replaced it or a directory above it. It is an [fs.ErrNotExist] if the file
// does not exist.
func File(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err != nil { // not the fault of another user
		return err
	}
	for _, p := range []string{path, filepath.Dir(path)} { // two places if the file is a link
		resolved, err := filepath.EvalSymlinks(p)
		if err != nil {
			return err
		}
		if err := onlyRoot(resolved, os.Lstat); err != nil {
			return err
		}
	}
	return nil
}

// onlyRoot returns an error unless a file, at an absolute path without links, and every
// directory above it belong to root and have no other writers.
func onlyRoot(path string, look lookup) error {
	for p := path; ; p = filepath.Dir(p) {
		info, err := look(p)
		if err != nil {
			return err
		}
		if owner := ownerOf(info); owner.UID != 0 {
			return fmt.Errorf("%s belongs to %s, not to root", p, owner.Name())
		}
		if info.Mode().Perm()&writable != 0 {
			return fmt.Errorf("%s can be written by other users than root (mode %04o)", p, info.Mode().Perm())
		}
		if p == "/" {
			return nil
		}
	}
}

// Controller returns the user who controls a directory, which need not exist: the owner
// of the first directory or link on its path that is not root's, else root. It is an
// error if that user is unknown because a directory of root's has other writers: only
// in a sticky one, such as /tmp, are root's entries safe.
func Controller(dir string) (Account, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Account{}, err
	}
	return controller(dir, os.Lstat, os.Readlink)
}

func controller(dir string, look lookup, readLink func(path string) (string, error)) (Account, error) {
	at, rest := "/", split(dir)
	for links := 0; ; {
		info, err := look(at)
		if errors.Is(err, fs.ErrNotExist) {
			return Account{}, nil
		}
		if err != nil {
			return Account{}, err
		}
		isLink := info.Mode()&fs.ModeSymlink != 0
		shared := !isLink && info.Mode().Perm()&writable != 0 && info.Mode()&fs.ModeSticky == 0
		switch owner := ownerOf(info); {
		case owner.UID != 0:
			return owner, nil
		case shared && len(rest) > 0:
			return Account{}, fmt.Errorf("%s can be written by other users than root (mode %04o)",
				at, info.Mode().Perm())
		case isLink && links == maxLinks:
			return Account{}, &fs.PathError{Op: "resolve", Path: dir, Err: syscall.ELOOP}
		case isLink:
			target, err := readLink(at)
			if err != nil {
				return Account{}, err
			}
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(at), target)
			}
			links++
			at, rest = "/", append(split(filepath.Clean(target)), rest...)
			continue
		case len(rest) == 0:
			return Account{}, nil
		}
		at, rest = filepath.Join(at, rest[0]), rest[1:]
	}
}

// split returns the names in an absolute path.
func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}
