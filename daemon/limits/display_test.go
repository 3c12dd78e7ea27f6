package limits_test

import (
	"net"
	"net/netip"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"pressbox/auth/netblock"
	"pressbox/daemon/limits"
	"pressbox/packaging/check"
)

// connect connects to an address of this host at the port of a listener on all addresses. A
// mapped IPv4 address is used by a socket of IPv6.
func connect(t *testing.T, l net.Listener, to string) net.Conn {
	t.Helper()
	addr, port := netip.MustParseAddr(to), l.Addr().(*net.TCPAddr).Port
	if !addr.Is4In6() {
		return check.Must(net.Dial("tcp", net.JoinHostPort(to, strconv.Itoa(port))))(t)
	}
	fd := check.Must(unix.Socket(unix.AF_INET6, unix.SOCK_STREAM, 0))(t)
	f := os.NewFile(uintptr(fd), to)
	defer f.Close()
	check.NoError(t, unix.Connect(fd, &unix.SockaddrInet6{Port: port, Addr: addr.As16()}))
	return check.Must(net.FileConn(f))(t)
}

// The connections of the display's user count as those of a client of the local network, and
// those of another user as what they are.
func TestListenWithDisplay_users(t *testing.T) {
	t.Parallel()
	own := os.Getuid()
	for _, to := range []string{"127.0.0.1", "::1", "::ffff:127.0.0.1"} {
		for uid, display := range map[int]bool{own: true, own + 1: false} {
			l := check.Must(net.Listen("tcp", ":0"))(t)
			defer l.Close()
			dialed := connect(t, l, to)
			defer dialed.Close()
			conn := check.Must(limits.ListenWithDisplay(l, uid).Accept())(t)
			defer conn.Close()
			got := netblock.RemoteAddr(conn.RemoteAddr().String())
			if (got == netblock.Display()) != display || !display && !got.IsLoopback() {
				t.Errorf("to %s, display's user %d, own user %d: the client is %s", to, uid, own, got)
			}
			check.Must(conn.Write([]byte("x")))(t)
			if n, err := dialed.Read(make([]byte, 1)); n != 1 {
				t.Errorf("to %s: read from the server: %v", to, err)
			}
		}
	}
	if d := netblock.Display(); !netblock.IsLocal(d) || d.IsLoopback() {
		t.Errorf("%s is not an address of the local network", d)
	}
}

// A client cannot hide whose it is by closing the connection before it is accepted.
func TestListenWithDisplay_closed(t *testing.T) {
	t.Parallel()
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	dialed := connect(t, l, "127.0.0.1")
	check.Must(dialed.Write([]byte("x")))(t)
	check.NoError(t, dialed.Close())
	conn := check.Must(limits.ListenWithDisplay(l, os.Getuid()+1).Accept())(t)
	defer conn.Close()
	check.Equal(t, netblock.RemoteAddr(conn.RemoteAddr().String()), netblock.Display(), "the client")
}

// An address of the network needs no look-up, and keeps its own limits.
func TestListenWithDisplay_network(t *testing.T) {
	t.Parallel()
	l := check.Must(net.Listen("unix", t.TempDir()+"/s"))(t)
	defer l.Close()
	dialed := check.Must(net.Dial("unix", l.Addr().String()))(t)
	defer dialed.Close()
	conn := check.Must(limits.ListenWithDisplay(l, os.Getuid()).Accept())(t)
	defer conn.Close()
	check.Equal(t, conn.RemoteAddr().Network(), "unix", "the network of the client")
}
