package limits

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"

	"pressbox/auth/netblock"
)

// Conns limits the connections that are open at once.
type Conns struct {
	Max    int                   // of all clients
	Each   int                   // of one client; of a local IPv6 network, [netblock.Share] times as many
	Exempt func(netip.Addr) bool // from Each; nil: no address is
	Blocks *netblock.Table
}

// Listen returns a listener that closes the connections of ln beyond the limits.
func Listen(ln net.Listener, c Conns) net.Listener {
	return &listener{Listener: ln, Conns: c, each: map[netip.Prefix]int{}}
}

type listener struct {
	net.Listener
	Conns

	mu   sync.Mutex // guards the fields below
	all  int
	each map[netip.Prefix]int // by client and by network
}

// Accept returns the next connection within the limits.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if blocks, ok := l.add(netblock.RemoteAddr(conn.RemoteAddr().String())); ok {
			return &countedConn{Conn: conn, release: sync.OnceFunc(func() { l.remove(blocks) })}, nil
		}
		_ = conn.Close() // nothing has been sent
	}
}

// add counts a connection in its blocks, if it is within the limits.
func (l *listener) add(from netip.Addr) (b netblock.Blocks, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b = l.Blocks.Of(from)
	full := l.each[b.Host] >= l.Each || b.Network.IsValid() && l.each[b.Network] >= netblock.Share*l.Each
	if l.all >= l.Max || full && (l.Exempt == nil || !l.Exempt(from)) {
		return b, false
	}
	l.all++
	l.each[b.Host]++
	l.each[b.Network]++
	return b, true
}

func (l *listener) remove(b netblock.Blocks) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	for _, block := range []netip.Prefix{b.Host, b.Network} {
		if l.each[block]--; l.each[block] == 0 {
			delete(l.each, block)
		}
	}
}

type countedConn struct {
	net.Conn
	release func()
}

// Close closes the connection, and removes it from the count.
func (c *countedConn) Close() error {
	c.release()
	return c.Conn.Close()
}

// SyscallConn returns the raw connection of the underlying connection.
func (c *countedConn) SyscallConn() (syscall.RawConn, error) {
	inner, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return inner.SyscallConn()
}
