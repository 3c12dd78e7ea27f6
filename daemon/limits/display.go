package limits

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"syscall"

	"pressbox/auth/netblock"
)

// ListenWithDisplay returns a listener like ln. A connection from a loopback address that the
// user uid of this host has opened, the one of the wall display's browser, has the remote
// address [netblock.Display] instead, and so none of the privileges of loopback addresses. So
// has one whose owner is unknown, because the client has closed it before it was accepted.
func ListenWithDisplay(ln net.Listener, uid int) net.Listener { return displayListener{ln, uid} }

type displayListener struct {
	net.Listener
	uid int
}

// Accept returns the next connection.
func (l displayListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	remote, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil || !remote.Addr().Unmap().IsLoopback() {
		return conn, nil //nolint:nilerr // it is not TCP
	}
	if owner, known := ownerOf(remote, conn.LocalAddr()); known && owner != l.uid {
		return conn, nil
	}
	return displayConn{conn, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netblock.Display(), remote.Port()))}, nil
}

// OnHost reports whether a connection comes from this host: a loopback address, or the wall display's browser.
func OnHost(conn net.Conn) bool {
	if counted, ok := conn.(*countedConn); ok {
		conn = counted.Conn
	}
	_, display := conn.(displayConn)
	return display || netblock.RemoteAddr(conn.RemoteAddr().String()).IsLoopback()
}

type displayConn struct {
	net.Conn
	remote net.Addr
}

// RemoteAddr returns the address as which the client counts.
func (c displayConn) RemoteAddr() net.Addr { return c.remote }

// SyscallConn returns the raw connection of the underlying connection.
func (c displayConn) SyscallConn() (syscall.RawConn, error) { return rawConn(c.Conn) }

// CloseWrite ends what is written to the underlying connection.
func (c displayConn) CloseWrite() error { return closeWrite(c.Conn) }

// ownerOf returns the user who has opened the socket of this host with the address client,
// which is connected to server. known is false if no process has it open.
func ownerOf(client netip.AddrPort, server net.Addr) (uid int, known bool) {
	to, err := netip.ParseAddrPort(server.String())
	if err != nil {
		return 0, false
	}
	from4, to4 := netip.AddrPortFrom(client.Addr().Unmap(), client.Port()),
		netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
	mapped := func(a netip.AddrPort) netip.AddrPort {
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr().As16()), a.Port())
	}
	for range 3 { // the kernel may leave out a socket if others change while the table is read
		for path, line := range map[string]string{ // a program may use IPv4 on a socket of IPv6
			"/proc/net/tcp":  tableAddr(from4) + " " + tableAddr(to4),
			"/proc/net/tcp6": tableAddr(mapped(from4)) + " " + tableAddr(mapped(to4)),
		} {
			if uid, known := ownerIn(path, line); known {
				return uid, true
			}
		}
	}
	return 0, false
}

// tableAddr returns an address as in /proc/net/tcp: words of 32 bits in hexadecimal, in the
// byte order of the host (proc_pid_net(5)).
func tableAddr(a netip.AddrPort) string {
	var b bytes.Buffer
	for word := a.Addr().AsSlice(); len(word) > 0; word = word[4:] {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(word))
	}
	fmt.Fprintf(&b, ":%04X", a.Port())
	return b.String()
}

// ownerIn returns the user of the socket in a table of sockets whose line has both addresses.
// A socket that no process has open has the inode 0.
func ownerIn(path, addresses string) (uid int, known bool) {
	table, err := os.ReadFile(path) //nolint:gosec // of a fixed name
	if err != nil {                 // a host without IPv6
		return 0, false
	}
	_, rest, _ := bytes.Cut(table, []byte(" "+addresses+" "))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	fields := bytes.Fields(line) // state, queues, timer, retransmissions, user, timeout, inode
	if len(fields) < 7 || string(fields[6]) == "0" {
		return 0, false
	}
	uid, err = strconv.Atoi(string(fields[4]))
	return uid, err == nil
}
