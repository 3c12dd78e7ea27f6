package web

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// pendingConns holds the connections of a server that have sent no request yet.
// While it shuts down, net/http closes a connection whose request it has just
// read; so shutdown waits for the first request of accepted connections.
type pendingConns struct {
	mu    sync.Mutex // guards the fields below
	conns map[net.Conn]struct{}
	empty chan struct{} // closed when there are none; nil unless wait is waiting
}

type pendingConnKey struct{}

// add adds a connection, and stores it in its context.
func (n *pendingConns) add(ctx context.Context, conn net.Conn) context.Context {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns[conn] = struct{}{}
	return context.WithValue(ctx, pendingConnKey{}, conn)
}

// stateChanged removes a connection that is closed.
func (n *pendingConns) stateChanged(conn net.Conn, state http.ConnState) {
	if state == http.StateClosed {
		n.remove(conn)
	}
}

// handled returns a handler that removes the connection of each request, and
// passes the request to h.
func (n *pendingConns) handled(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, ok := r.Context().Value(pendingConnKey{}).(net.Conn); ok {
			n.remove(conn)
		}
		h.ServeHTTP(w, r)
	})
}

func (n *pendingConns) remove(conn net.Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, conn)
	if len(n.conns) == 0 && n.empty != nil {
		close(n.empty)
		n.empty = nil
	}
}

// wait returns when there are no pending connections, or when ctx ends. No more
// may be added.
func (n *pendingConns) wait(ctx context.Context) {
	n.mu.Lock()
	if len(n.conns) == 0 {
		n.mu.Unlock()
		return
	}
	empty := make(chan struct{})
	n.empty = empty
	n.mu.Unlock()
	select {
	case <-empty:
	case <-ctx.Done():
	}
}
