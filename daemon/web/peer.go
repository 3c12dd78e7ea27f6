package web

import (
	"context"
	"net"
	"net/http"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A peer holds the credentials of the process at the other end of a Unix socket
// at the time it connected (SO_PEERCRED, SO_PEERGROUPS; unix(7)).
type peer struct {
	uid    int
	groups []uint32 // primary group first, then the supplementary ones
}

type peerKey struct{}

// withPeer stores the peer of a Unix socket in the connection's context.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	local, ok := conn.(*net.UnixConn)
	if !ok {
		return ctx
	}
	p, err := peerOf(local)
	if err != nil {
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, p)
}

func peerOf(conn *net.UnixConn) (p peer, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return peer{}, err
	}
	controlErr := raw.Control(func(fd uintptr) {
		var ucred *unix.Ucred
		if ucred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err != nil {
			return
		}
		p = peer{uid: int(ucred.Uid), groups: []uint32{ucred.Gid}}
		var supplementary []uint32
		supplementary, err = peerGroups(fd)
		p.groups = append(p.groups, supplementary...)
	})
	if controlErr != nil {
		return peer{}, controlErr
	}
	return p, err
}

// peerGroups returns the supplementary groups of the peer.
func peerGroups(fd uintptr) ([]uint32, error) {
	groups := make([]uint32, 64)
	for {
		size := uint32(len(groups)) * uint32(unsafe.Sizeof(groups[0])) //nolint:gosec // the kernel has at most 65,536
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_PEERGROUPS,
			//nolint:gosec // x/sys/unix has no function for it
			uintptr(unsafe.Pointer(&groups[0])), uintptr(unsafe.Pointer(&size)), 0)
		count := size / uint32(unsafe.Sizeof(groups[0]))
		switch errno {
		case 0:
			return groups[:count], nil
		case unix.ERANGE:
			groups = make([]uint32, count)
		default:
			return nil, errno
		}
	}
}

// onSocket returns a handler that marks requests as sent on the administrator's socket.
// Neither NOTIFY_ACCESS nor the rate limits, which are for the network, apply to them.
func onSocket(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		infoOf(r.Context()).local = true
		next.ServeHTTP(w, r)
	})
}

// requireAdministrator returns a handler that passes requests to next only from
// root, the server's own user and members of the group of the socket at addr,
// should the socket's mode be loosened. It refuses peers without credentials.
func requireAdministrator(addr net.Addr, next, refused http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, known := r.Context().Value(peerKey{}).(peer)
		if !known || !p.administers(addr.String()) {
			refused.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// administers reports whether a peer may administer through a socket, by the
// group that the socket has now. Groups that the server's user namespace does
// not map all look alike; then the socket's mode decides alone.
func (p peer) administers(socket string) bool {
	if p.uid == 0 || p.uid == os.Geteuid() {
		return true
	}
	var st unix.Stat_t
	return unix.Stat(socket, &st) == nil && slices.Contains(p.groups, st.Gid)
}
