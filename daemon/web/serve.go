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
	"time"
)

// What one client may take of the daemon. Streams set their own deadline for
// each write; once a request was read, net/http lifts the one for reading.
const (
	maxHeader     = 16 << 10         // bytes, of a request
	headerTimeout = 5 * time.Second  // from connecting to the end of the header
	readTimeout   = 15 * time.Second // … to the end of the body
	writeTimeout  = 30 * time.Second // from the end of the header to the end of the answer
	idleTimeout   = 2 * time.Minute  // between two requests

	maxConns     = 1024 // at the same time
	maxConnsEach = 64   // from one address that is not this machine or a trusted proxy

	grace = 5 * time.Second // for requests that are being answered when the server stops
)

// Serve answers requests on a listener until ctx ends. It then accepts no more,
// tells streams to end, waits for 5 seconds for those who have connected already
// and for what else is being answered, hangs up, and returns nil. The listener is closed. It may be called for several listeners.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	exempt := func(a netip.Addr) bool { return !a.IsValid() || a.IsLoopback() || s.proxies.trust(a) }
	return s.serveOn(ctx, &limitedListener{Listener: ln, exempt: exempt, each: map[netip.Prefix]int{}}, s.public)
}

// ServeAdmin answers the administrator's requests in the same way, on a Unix socket.
func (s *Server) ServeAdmin(ctx context.Context, ln net.Listener) error {
	return s.serveOn(ctx, ln, s.administrators(ln.Addr(), s.admin))
}

func (s *Server) serveOn(ctx context.Context, ln net.Listener, h http.Handler) error {
	fresh := &newcomers{conns: make(map[net.Conn]struct{})}
	server := &http.Server{
		Handler:           fresh.heard(h),
		MaxHeaderBytes:    maxHeader,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelDebug),
		ConnState:         fresh.ended,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return withPeer(fresh.enter(ctx, conn), conn)
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
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	closed := ln.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		closed = errors.Join(closed, err)
	}
	fresh.wait(patience)
	if err := server.Shutdown(patience); err != nil {
		_ = server.Close() // it says again what Shutdown said
	}
	s.sockets.close() // they were told to end when closing was closed
	if closed != nil {
		return fmt.Errorf("serve %s: %w", ln.Addr(), closed)
	}
	return nil
}

// A limitedListener hangs up on connections beyond [maxConns], and on those of
// one address beyond [maxConnsEach].
type limitedListener struct {
	net.Listener
	exempt func(netip.Addr) bool // from the limit for each address

	mu   sync.Mutex // guards what follows
	all  int
	each map[netip.Prefix]int
}

// Accept returns the next connection for which there is room.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := addrOf(conn.RemoteAddr().String())
		if l.enter(from) {
			return &limitedConn{Conn: conn, leave: sync.OnceFunc(func() { l.leave(from) })}, nil
		}
		_ = conn.Close() // nothing was sent
	}
}

func (l *limitedListener) enter(from netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	net := network(from)
	if l.all >= maxConns || l.each[net] >= maxConnsEach && !l.exempt(from) {
		return false
	}
	l.all++
	l.each[net]++
	return true
}

func (l *limitedListener) leave(from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	net := network(from)
	if l.each[net]--; l.each[net] == 0 {
		delete(l.each, net)
	}
}

type limitedConn struct {
	net.Conn
	leave func()
}

// Close closes the connection and makes room for another one.
func (c *limitedConn) Close() error {
	c.leave()
	return c.Conn.Close()
}
