package limits

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// acceptPause is the time after an error of a listener, such as too many open files.
const acceptPause = time.Second

// Accept calls handle with the connections of a listener, until ctx ends, which closes it, or it is closed.
func Accept(ctx context.Context, ln net.Listener, handle func(net.Conn)) error {
	stop := context.AfterFunc(ctx, func() { _ = ln.Close() }) // Accept returns its error
	defer stop()
	for {
		conn, err := ln.Accept()
		switch {
		case err == nil:
			handle(conn)
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept clients at %s: %w", ln.Addr(), err)
		default:
			select {
			case <-time.After(acceptPause):
			case <-ctx.Done():
			}
		}
	}
}

// Serve is [Accept] that calls serve with each connection in a goroutine of its own, and waits for all of them.
func Serve(ctx context.Context, ln net.Listener, serve func(net.Conn)) error {
	var conns sync.WaitGroup
	defer conns.Wait()
	return Accept(ctx, ln, func(conn net.Conn) { conns.Go(func() { serve(conn) }) })
}

// Refuse closes the connections of a listener until ctx ends, then the listener: systemd passes a socket also when
// nothing is served on it.
func Refuse(ctx context.Context, ln net.Listener) error {
	return Accept(ctx, ln, func(conn net.Conn) { _ = conn.Close() }) // nothing has been sent
}

// Linger returns a context that ends some time after ctx.
func Linger(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(d, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}
