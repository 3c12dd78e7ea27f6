package trust

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

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

// Owner returns the owner of a file or directory.
func Owner(path string) (Account, error) {
	info, err := os.Stat(path)
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

// Become gives up root's privileges for those of the account, for the rest of the
// process. It does nothing for root's.
func (a Account) Become() error {
	if a.UID == 0 {
		return nil
	}
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
			return fmt.Errorf("become %s: %w", a.Name(), err)
		}
	}
	return nil
}
