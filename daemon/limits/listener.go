package limits

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"

	"pressbox/auth/netblock"
)

// Conns are limits of what is open at once: connections, or those of one kind.
type Conns struct {
	Max    int                   // of all clients
	Each   int                   // of one client; of a local IPv6 network, [netblock.Share] times as many
	Exempt func(netip.Addr) bool // from Each; nil: no address is
	Blocks *netblock.Table
}

// Listen returns a listener that closes the connections of ln beyond the limits.
func Listen(ln net.Listener, c Conns) net.Listener {
	return &listener{Listener: ln, count: NewCount(c)}
}

type listener struct {
	net.Listener
	count *Count
}

// A Count counts what is open, within its limits.
type Count struct {
	Conns

	mu   sync.Mutex // guards the fields below
	all  int
	each map[netip.Prefix]int // by client and by network
}

// NewCount returns a count of nothing.
func NewCount(c Conns) *Count { return &Count{Conns: c, each: map[netip.Prefix]int{}} }

// Add counts one more of a client until release is called. ok is false if that exceeds a
// limit.
func (c *Count) Add(from netip.Addr) (release func(), ok bool) {
	blocks, ok := c.add(from)
	return sync.OnceFunc(func() { c.remove(blocks) }), ok
}

// Accept returns the next connection within the limits.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if release, ok := l.count.Add(netblock.RemoteAddr(conn.RemoteAddr().String())); ok {
			return &countedConn{Conn: conn, release: release}, nil
		}
		_ = conn.Close() // nothing has been sent
	}
}

// add counts one more in the blocks of a client, if that is within the limits.
func (c *Count) add(from netip.Addr) (b netblock.Blocks, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b = c.Blocks.Of(from)
	full := c.each[b.Host] >= c.Each || b.Network.IsValid() && c.each[b.Network] >= netblock.Share*c.Each
	if c.all >= c.Max || full && (c.Exempt == nil || !c.Exempt(from)) {
		return b, false
	}
	c.all++
	c.each[b.Host]++
	c.each[b.Network]++
	return b, true
}

func (c *Count) remove(b netblock.Blocks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	for _, block := range []netip.Prefix{b.Host, b.Network} {
		if c.each[block]--; c.each[block] == 0 {
			delete(c.each, block)
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
func (c *countedConn) SyscallConn() (syscall.RawConn, error) { return rawConn(c.Conn) }

func rawConn(c net.Conn) (syscall.RawConn, error) {
	inner, ok := c.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return inner.SyscallConn()
}
