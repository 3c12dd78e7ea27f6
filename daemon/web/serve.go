package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"pressbox/auth/netblock"
)

// WriteTimeout is the time limit from the end of a request's header to the end
// of the response.
const WriteTimeout = 30 * time.Second

// Limits for clients. Streams set their own deadline for each write; net/http
// removes the one for reading once it has read a request.
const (
	maxHeader     = 16 << 10         // bytes, of a request
	headerTimeout = 5 * time.Second  // from the connection to the end of the header
	readTimeout   = 15 * time.Second // from the connection to the end of the body
	idleTimeout   = 2 * time.Minute  // between two requests

	maxConns     = 2560 // open at once: 1,000 event streams and as many websockets, and 560 others
	maxConnsEach = 64   // open at once from one client, except loopback and trusted proxies

	shutdownTimeout = 5 * time.Second // for open requests when the server stops
)

// Serve serves requests on a listener until ctx ends. Then it closes the
// listener, ends streams, waits up to 5 seconds for the first request of
// accepted connections and for open requests, closes the remaining connections,
// and returns nil. It may be called for several listeners.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	exempt := func(a netip.Addr) bool { return !a.IsValid() || a.IsLoopback() || s.requests.proxies.trust(a) }
	return s.serveOn(ctx, &limitedListener{Listener: ln, blocks: s.cfg.Blocks, exempt: exempt, each: map[netip.Prefix]int{}}, s.public)
}

// ServeAdmin serves the administrator's requests like [Server.Serve], on a Unix
// socket.
func (s *Server) ServeAdmin(ctx context.Context, ln net.Listener) error {
	refused := s.requests.log(refuseAll(errNotAdministrator))
	return s.serveOn(ctx, ln, requireAdministrator(ln.Addr(), s.admin, refused))
}

func (s *Server) serveOn(ctx context.Context, ln net.Listener, h http.Handler) error {
	pending := &pendingConns{conns: make(map[net.Conn]struct{})}
	server := &http.Server{
		Handler:           pending.handled(h),
		MaxHeaderBytes:    maxHeader,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      WriteTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelDebug),
		ConnState:         pending.stateChanged,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return withPeer(pending.add(ctx, conn), conn)
		},
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ln) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	s.stop.Do(func() { close(s.closing) })
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	closed := ln.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		closed = errors.Join(closed, err)
	}
	pending.wait(shutdown)
	if err := server.Shutdown(shutdown); err != nil {
		_ = server.Close() // it repeats the error of Shutdown
	}
	s.conns.close() // they end because s.closing is closed
	if closed != nil {
		return fmt.Errorf("serve %s: %w", ln.Addr(), closed)
	}
	return nil
}

// A limitedListener closes connections beyond [maxConns], and those of one
// client beyond [maxConnsEach], and those of a local IPv6 network beyond
// [netblock.Share] times as many.
type limitedListener struct {
	net.Listener
	blocks *netblock.Table
	exempt func(netip.Addr) bool // from maxConnsEach

	mu   sync.Mutex // guards the fields below
	all  int
	each map[netip.Prefix]int // by client and by network
}

// Accept returns the next connection within the limits.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := remoteAddr(conn.RemoteAddr().String())
		if blocks, ok := l.add(from); ok {
			return &limitedConn{Conn: conn, release: sync.OnceFunc(func() { l.remove(blocks) })}, nil
		}
		_ = conn.Close() // nothing has been sent
	}
}

// add counts a connection in its blocks, if it is within the limits.
func (l *limitedListener) add(from netip.Addr) (b netblock.Blocks, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b = l.blocks.Of(from)
	full := l.each[b.Host] >= maxConnsEach || b.Network.IsValid() && l.each[b.Network] >= netblock.Share*maxConnsEach
	if l.all >= maxConns || full && !l.exempt(from) {
		return b, false
	}
	l.all++
	l.each[b.Host]++
	l.each[b.Network]++
	return b, true
}

func (l *limitedListener) remove(b netblock.Blocks) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	for _, block := range []netip.Prefix{b.Host, b.Network} {
		if l.each[block]--; l.each[block] == 0 {
			delete(l.each, block)
		}
	}
}

type limitedConn struct {
	net.Conn
	release func()
}

// Close closes the connection, and removes it from the count.
func (c *limitedConn) Close() error {
	c.release()
	return c.Conn.Close()
}

// SyscallConn returns the raw connection of the underlying connection.
func (c *limitedConn) SyscallConn() (syscall.RawConn, error) {
	inner, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return inner.SyscallConn()
}
