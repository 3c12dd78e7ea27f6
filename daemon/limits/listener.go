package limits

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"

	"pressbox/auth/netblock"
)

// Conns are limits of what is open at once: connections, or those of one kind.
//
// A new client gets in although all others fill Max: the client that has most loses its oldest one, unless the new
// client would have as many. Addresses that are exempt, such as loopback, lose none, and a sixteenth of Max is open
// to them alone; another one is open to the others alone.
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

	mu     sync.Mutex           // guards the fields below
	open   []*place             // the oldest first
	exempt int                  // places of addresses that are exempt
	each   map[netip.Prefix]int // places by client and by network
}

// A place is one that is open.
type place struct {
	netblock.Blocks
	exempt bool
	end    func()
}

// NewCount returns a count of nothing.
func NewCount(c Conns) *Count { return &Count{Conns: c, each: map[netip.Prefix]int{}} }

// Add counts one more of a client until release is called, or end, because another client gets its place. ok is false
// if that exceeds a limit.
func (c *Count) Add(from netip.Addr, end func()) (release func(), ok bool) {
	p := &place{c.Blocks.Of(from), c.Exempt != nil && c.Exempt(from), end}
	evicted, ok := c.add(p)
	if evicted != nil {
		evicted.end()
	}
	return func() { c.remove(p) }, ok
}

// Accept returns the next connection within the limits.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		closeIt := func() { _ = conn.Close() } // if it is refused, nothing has been sent
		if release, ok := l.count.Add(netblock.RemoteAddr(conn.RemoteAddr().String()), closeIt); ok {
			return &countedConn{Conn: conn, release: release}, nil
		}
		closeIt()
	}
}

// add adds a place if that is within the limits, perhaps in place of another one.
func (c *Count) add(p *place) (evicted *place, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !p.exempt && (c.each[p.Host] >= c.Each || p.Network.IsValid() && c.each[p.Network] >= netblock.Share*c.Each) {
		return nil, false
	}
	reserve, same := 0, len(c.open)-c.exempt // of those that are exempt as p is, or not
	if p.exempt {
		same = c.exempt
	}
	if c.Exempt != nil {
		reserve = c.Max / 16
	}
	switch full := same >= c.Max-reserve; {
	case p.exempt && full:
		return nil, false
	case full, len(c.open) >= c.Max:
		evicted = c.greediest()
		if evicted == nil || !p.exempt && c.each[evicted.Host] <= c.each[p.Host]+1 {
			return nil, false
		}
		c.forget(evicted)
	}
	c.open = append(c.open, p)
	c.change(p, 1)
	return evicted, true
}

// greediest returns the oldest place of the client that has most, of those that are not exempt; nil if there is none.
func (c *Count) greediest() (of *place) {
	for _, p := range c.open {
		if !p.exempt && (of == nil || c.each[p.Host] > c.each[of.Host]) {
			of = p
		}
	}
	return of
}

// remove removes a place, unless it was evicted.
func (c *Count) remove(p *place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(p)
}

// forget removes a place that is open. c.mu must be held.
func (c *Count) forget(p *place) {
	if i := slices.Index(c.open, p); i >= 0 {
		c.open = slices.Delete(c.open, i, i+1)
		c.change(p, -1)
	}
}

// change adds n to the numbers of a place. c.mu must be held.
func (c *Count) change(p *place, n int) {
	if p.exempt {
		c.exempt += n
	}
	for _, block := range []netip.Prefix{p.Host, p.Network} {
		if c.each[block] += n; c.each[block] == 0 {
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

// CloseWrite ends what is written to the underlying connection, which is still read.
func (c *countedConn) CloseWrite() error { return closeWrite(c.Conn) }

func closeWrite(c net.Conn) error {
	inner, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return inner.CloseWrite()
}

func rawConn(c net.Conn) (syscall.RawConn, error) {
	inner, ok := c.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return inner.SyscallConn()
}
