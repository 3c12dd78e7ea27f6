package play

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// A promptConn is the connection below a websocket. Nobody who writes to it
// waits for the peer: what the system does not take at once is written by a
// goroutine, which is there until that is done.
type promptConn struct {
	net.Conn
	raw  syscall.RawConn // nil: the system cannot be asked to take only what it can
	free func()          // see behind

	finishing sync.WaitGroup // the goroutine

	mu     sync.Mutex // guards what follows; nobody waits while it is held
	rest   []byte     // what the goroutine is to write next
	busy   bool       // the goroutine is there
	asked  bool       // for a call of free
	closed bool
	err    error // with which the goroutine failed
}

func newPromptConn(conn net.Conn) *promptConn {
	c := &promptConn{Conn: conn}
	if below, ok := conn.(syscall.Conn); ok {
		if raw, err := below.SyscallConn(); err == nil {
			c.raw = raw
		}
	}
	return c
}

// Write takes over all of p. What the system does not take at once has
// [writeWait] to be taken; otherwise the connection is closed.
func (c *promptConn) Write(p []byte) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return 0, c.err
	case c.closed:
		return 0, net.ErrClosed
	case !c.busy:
		if n, err = c.offer(p); err != nil {
			return n, err
		}
	}
	if n == len(p) {
		return n, nil
	}
	c.rest = append(c.rest, p[n:]...)
	if !c.busy {
		c.busy = true
		c.finishing.Go(c.finish)
	}
	return len(p), nil
}

// offer has the system take of p what it can at once.
func (c *promptConn) offer(p []byte) (n int, err error) {
	if c.raw == nil {
		return 0, nil
	}
	var refused error
	err = c.raw.Write(func(fd uintptr) bool {
		n, refused = syscall.Write(int(fd), p)
		return true // what was not taken is not waited for
	})
	if errors.Is(refused, syscall.EAGAIN) || errors.Is(refused, syscall.EINTR) {
		refused = nil
	}
	return max(n, 0), errors.Join(err, refused)
}

// finish writes what was not taken at once.
func (c *promptConn) finish() {
	c.mu.Lock()
	for len(c.rest) > 0 && c.err == nil {
		rest, patience := c.rest, writeWait
		c.rest = nil
		if c.closed {
			patience = controlPatience
		}
		c.err = c.Conn.SetWriteDeadline(time.Now().Add(patience))
		c.mu.Unlock()
		_, err := c.Conn.Write(rest)
		c.mu.Lock()
		c.err = errors.Join(c.err, err)
	}
	_ = c.Conn.SetWriteDeadline(time.Time{}) // an offer takes no time
	if c.err != nil {
		_ = c.Conn.Close()
	}
	asked := c.asked
	c.busy, c.asked = false, false
	c.mu.Unlock()
	if asked {
		c.free()
	}
}

// behind says whether something is still to be taken. If so, free is called
// when it was, or never will be.
func (c *promptConn) behind() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = c.busy
	return c.busy
}

// SetWriteDeadline does nothing: what is written has a deadline of its own.
func (c *promptConn) SetWriteDeadline(time.Time) error { return nil }

// Close closes the connection. What was written before has [controlPatience] to
// be taken.
func (c *promptConn) Close() error {
	c.mu.Lock()
	c.closed = true
	if c.busy {
		_ = c.Conn.SetWriteDeadline(time.Now().Add(controlPatience)) // it may be closed
	}
	c.mu.Unlock()
	c.finishing.Wait()
	return c.Conn.Close()
}

// A promptWriter is a response whose connection, once it is taken over, is prompt.
type promptWriter struct{ http.ResponseWriter }

// Hijack takes the connection over.
func (w promptWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	return newPromptConn(conn), buffered, nil
}
