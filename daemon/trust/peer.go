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
