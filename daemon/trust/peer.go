package trust

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"strconv"

	"golang.org/x/sys/unix"
)

// ErrPeer is the error of a server that another user runs.
var ErrPeer = errors.New("root administers only servers of root and of the service")

// Peer returns an error if this process is root's and the process that listens at the
// other end of a Unix socket belongs neither to root nor to the user service
// (SO_PEERCRED, unix(7): its credentials when it called listen).
func Peer(conn *net.UnixConn, service string) error {
	if os.Geteuid() != 0 {
		return nil
	}
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
	if peer.Uid == 0 || isUser(peer.Uid, service) {
		return nil
	}
	return fmt.Errorf("%w, and %s runs this one: use \"sudo -u\" with that user", ErrPeer, Account{UID: peer.Uid}.Name())
}

// isUser reports whether the user with that name has the number uid.
func isUser(uid uint32, name string) bool {
	u, err := user.Lookup(name)
	return err == nil && u.Uid == strconv.FormatUint(uint64(uid), 10)
}
