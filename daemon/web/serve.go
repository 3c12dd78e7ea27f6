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
)

// WriteTimeout is the time limit from the end of a request's header to the end
// of the answer.
const WriteTimeout = 30 * time.Second

// What one client may take of the daemon. Streams set their own deadline for
// each write; once a request was read, net/http lifts the one for reading.
const (
	maxHeader     = 16 << 10         // bytes, of a request
	headerTimeout = 5 * time.Second  // from connecting to the end of the header
	readTimeout   = 15 * time.Second // … to the end of the body
	idleTimeout   = 2 * time.Minute  // between two requests

	maxConns     = 1024 // at the same time
	maxConnsEach = 64   // from one address that is not this machine or a trusted proxy

	shutdownTimeout = 5 * time.Second // for requests that are being answered when the server stops
)

// Serve answers requests on a listener until ctx ends. Then it closes the
// listener, has streams end, waits up to 5 seconds for clients that have
// connected and for requests that are being answered, closes what is left, and
// returns nil. It may be called for several listeners.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	exempt := func(a netip.Addr) bool { return !a.IsValid() || a.IsLoopback() || s.proxies.trust(a) }
	return s.serveOn(ctx, &limitedListener{Listener: ln, exempt: exempt, each: map[netip.Prefix]int{}}, s.public)
}

// ServeAdmin answers the administrator's requests in the same way, on a Unix socket.
func (s *Server) ServeAdmin(ctx context.Context, ln net.Listener) error {
	return s.serveOn(ctx, ln, s.administrators(ln.Addr(), s.admin))
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
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	closed := ln.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		closed = errors.Join(closed, err)
	}
	pending.wait(patience)
	if err := server.Shutdown(patience); err != nil {
		_ = server.Close() // it says again what Shutdown said
	}
	s.conns.close() // they end as closing is closed
	if closed != nil {
		return fmt.Errorf("serve %s: %w", ln.Addr(), closed)
	}
	return nil
}

// A limitedListener closes connections beyond [maxConns], and those of one
// address beyond [maxConnsEach].
type limitedListener struct {
	net.Listener
	exempt func(netip.Addr) bool // from the limit for each address

	mu   sync.Mutex // guards what follows
	all  int
	each map[netip.Prefix]int
}

// Accept returns the next connection within the limits.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := remoteAddr(conn.RemoteAddr().String())
		if l.add(from) {
			return &limitedConn{Conn: conn, release: sync.OnceFunc(func() { l.remove(from) })}, nil
		}
		_ = conn.Close() // nothing was sent
	}
}

func (l *limitedListener) add(from netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	net := addrBlock(from)
	if l.all >= maxConns || l.each[net] >= maxConnsEach && !l.exempt(from) {
		return false
	}
	l.all++
	l.each[net]++
	return true
}

func (l *limitedListener) remove(from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	net := addrBlock(from)
	if l.each[net]--; l.each[net] == 0 {
		delete(l.each, net)
	}
}

type limitedConn struct {
	net.Conn
	release func()
}

// Close closes the connection, which no longer counts.
func (c *limitedConn) Close() error {
	c.release()
	return c.Conn.Close()
}

// SyscallConn returns that of the connection below.
func (c *limitedConn) SyscallConn() (syscall.RawConn, error) {
	below, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return below.SyscallConn()
}
