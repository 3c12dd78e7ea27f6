package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"pressbox/daemon/limits"
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
	conns := limits.Conns{Max: maxConns, Each: maxConnsEach, Exempt: exempt, Blocks: s.cfg.Blocks}
	return s.serveOn(ctx, limits.Listen(ln, conns), s.public)
}

// ServeAdmin serves the administrator's requests like [Server.Serve], on a Unix
// socket.
func (s *Server) ServeAdmin(ctx context.Context, ln net.Listener) error {
	refused := s.requests.log(refuseAll(errNotAdministrator))
	return s.serveOn(ctx, ln, requireAdministrator(ln.Addr(), s.admin, refused))
}

func (s *Server) serveOn(ctx context.Context, ln net.Listener, h http.Handler) error {
	base, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
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
		BaseContext: func(net.Listener) context.Context { return context.WithValue(base, serverKey{}, base) },
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
		end()
		_ = server.Close() // it repeats the error of Shutdown
	}
	s.conns.close() // they end because s.closing is closed
	if closed != nil {
		return fmt.Errorf("serve %s: %w", ln.Addr(), closed)
	}
	return nil
}

// serverKey is the key of the context of the server in the contexts of its requests.
type serverKey struct{}

// withoutClient returns a context for a request of ctx that ends with the server and not with the client: net/http
// ends ctx as soon as the client closes its side of the connection, also when it has sent all and waits.
func withoutClient(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	server, ok := ctx.Value(serverKey{}).(context.Context)
	if !ok {
		return ctx, cancel
	}
	stop := context.AfterFunc(server, cancel)
	return ctx, func() { stop(); cancel() }
}
