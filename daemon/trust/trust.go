// Package trust restricts what commands rely on: settings and directories that another user
// of the host controls have no power over root's commands, and servers of another user none
// over anyone's.
//
// One law: which files and directories a process of another user may rely on is the
// kernel's decision, and not restricted here.
package trust

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"pressbox/store/atomicfile"
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

// An Account is a user of the host. The zero Account is root.
type Account struct {
	UID, GID uint32
}

// ownerOf returns the owner of a file.
func ownerOf(info fs.FileInfo) Account {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		panic("trust: the file is not of this host")
	}
	return Account{st.Uid, st.Gid}
}

// Owner returns the owner of a file, directory or link.
func Owner(path string) (Account, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Account{}, err
	}
	return ownerOf(info), nil
}

// Name returns the user's name, or its number if the host has no name for it.
func (a Account) Name() string {
	number := strconv.FormatUint(uint64(a.UID), 10)
	if u, err := user.LookupId(number); err == nil {
		return u.Username
	}
	return "the user " + number
}

// Credential returns the user and the groups of a process of the account: those that the
// host lists for the user, else only the group of the account.
func (a Account) Credential() *syscall.Credential {
	c := &syscall.Credential{Uid: a.UID, Gid: a.GID}
	u, err := user.LookupId(strconv.FormatUint(uint64(a.UID), 10))
	if err != nil {
		return c
	}
	if gid, err := strconv.ParseUint(u.Gid, 10, 32); err == nil {
		c.Gid = uint32(gid)
	}
	ids, _ := u.GroupIds() // without them, fewer files are accessible
	for _, id := range ids {
		if gid, err := strconv.ParseUint(id, 10, 32); err == nil {
			c.Groups = append(c.Groups, uint32(gid))
		}
	}
	return c
}

// Enter makes this process that of the user who controls a directory, for its rest, if it is root's: whatever that
// user has put there, such as a link, has no power over root's files. It is called before anything in the directory
// is opened.
func Enter(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	owner, err := Controller(dir)
	if err != nil || owner == (Account{}) {
		return err
	}
	if err := owner.become(); err != nil {
		return fmt.Errorf("become %s: %w", owner.Name(), err)
	}
	return nil
}

// become gives up root's privileges for those of the account, for the rest of the process.
func (a Account) become() error {
	c := a.Credential()
	groups := make([]int, len(c.Groups))
	for i, g := range c.Groups {
		groups[i] = int(g)
	}
	for _, step := range []func() error{
		func() error { return syscall.Setgroups(groups) },
		func() error { return syscall.Setresgid(int(c.Gid), int(c.Gid), int(c.Gid)) },
		func() error { return syscall.Setresuid(int(c.Uid), int(c.Uid), int(c.Uid)) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if _, err := os.Stat("."); err != nil { // a directory of root's, such as /root
		return os.Chdir("/")
	}
	return nil
}

// Command returns a command of this program that runs as the account, in a session of its own, without a terminal.
// Unless the account is the zero one, which stands for the user of this process, its environment is only env.
func (a Account) Command(ctx context.Context, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", args...) //nolint:gosec // this program
	cmd.Args[0] = "pressbox"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if a != (Account{}) {
		cmd.SysProcAttr.Credential = a.Credential()
		cmd.Dir = "/"
		cmd.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}, env...)
	}
	return cmd
}

// Open opens a regular file for reading, and never waits. Where another user controls the path, root opens only a
// file of that user, and no link: the user could not have read another one.
func Open(path string) (*os.File, error) {
	var owner Account
	var err error
	if os.Geteuid() == 0 {
		owner, err = Controller(path)
	}
	if err == nil && owner == (Account{}) {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return nil, err
	}
	f, err := atomicfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && owner != (Account{}) && ownerOf(info).UID != owner.UID {
		err = fmt.Errorf("%s belongs to %s, in a directory of %s", path, ownerOf(info).Name(), owner.Name())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ErrPeer is the error of a server that another user runs.
var ErrPeer = errors.New("not a server of root, of the service or of this user")

// Peer returns an error unless the process that listens at the other end of a Unix socket
// belongs to root, to the user service or to the user of this process (SO_PEERCRED,
// unix(7): its credentials when it called listen).
func Peer(conn *net.UnixConn, service string) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		peer, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err := errors.Join(err, credErr); err != nil {
		return fmt.Errorf("read the credentials of the server: %w", err)
	}
	if peer.Uid == 0 || int(peer.Uid) == os.Geteuid() || isUser(peer.Uid, service) {
		return nil
	}
	return fmt.Errorf("%w: %s runs it", ErrPeer, Account{UID: peer.Uid}.Name())
}

// isUser reports whether the user with that name has the number uid.
func isUser(uid uint32, name string) bool {
	u, err := user.Lookup(name)
	return err == nil && u.Uid == strconv.FormatUint(uint64(uid), 10)
}
