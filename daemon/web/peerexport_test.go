package web

import "net"

// PeerOf is who is at the other end of a connection.
func PeerOf(conn *net.UnixConn) (uid int, groups []uint32, err error) {
	p, err := peerOf(conn)
	return p.uid, p.groups, err
}

// Administers says whether somebody may administer through a socket.
func Administers(uid int, groups []uint32, socket string) bool {
	return peer{uid, groups}.administers(socket)
}
