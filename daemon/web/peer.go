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

// A peer is the process at the other end of a Unix socket, as it was when it
// connected, in the kernel's words (SO_PEERCRED, SO_PEERGROUPS; unix(7)).
type peer struct {
	uid    int
	groups []uint32 // its own first, then the further ones
}

type peerKey struct{}

// withPeer notes in a connection's context who is at its other end; only Unix sockets
// know.
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
		var who *unix.Ucred
		if who, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err != nil {
			return
		}
		p = peer{uid: int(who.Uid), groups: []uint32{who.Gid}}
		var further []uint32
		further, err = peerGroups(fd)
		p.groups = append(p.groups, further...)
	})
	if controlErr != nil {
		return peer{}, controlErr
	}
	return p, err
}

// peerGroups asks for the further groups, first for how many there are.
func peerGroups(fd uintptr) ([]uint32, error) {
	groups := make([]uint32, 64)
	for {
		size := uint32(len(groups)) * uint32(unsafe.Sizeof(groups[0])) //nolint:gosec // the kernel allows 65,536 of them
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_PEERGROUPS,
			uintptr(unsafe.Pointer(&groups[0])), uintptr(unsafe.Pointer(&size)), 0) //nolint:gosec // x/sys/unix has no call for it
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

// administrators is a second bar behind the mode of the socket at an address, should
// that be loosened: only root, the daemon's own user and members of the socket's group
// come through to next. A socket that does not say who connects lets nobody through.
func (s *Server) administrators(at net.Addr, next http.Handler) http.Handler {
	refused := s.logged(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.writeProblem(w, r, errNotAdministrator)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, known := r.Context().Value(peerKey{}).(peer)
		if !known || !p.administers(at.String()) {
			refused.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// administers says whether a peer may administer through a socket. The group is the one
// that the socket has now, whoever gave it that. One that the daemon's user namespace
// does not know looks like every other such group; then the socket's mode decides alone.
func (p peer) administers(socket string) bool {
	if p.uid == 0 || p.uid == os.Geteuid() {
		return true
	}
	var st unix.Stat_t
	return unix.Stat(socket, &st) == nil && slices.Contains(p.groups, st.Gid)
}
