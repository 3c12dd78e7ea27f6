package web

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// pendingConns are the connections of a server whose first request has not come yet.
// While it shuts down, net/http hangs up on a request that it has just read; so
// whoever was let in before is heard first.
type pendingConns struct {
	mu    sync.Mutex // guards what follows
	conns map[net.Conn]struct{}
	empty chan struct{} // closed when there are none; nil while nobody waits
}

type pendingConnKey struct{}

// add notes a connection, and in its context which one it is.
func (n *pendingConns) add(ctx context.Context, conn net.Conn) context.Context {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns[conn] = struct{}{}
	return context.WithValue(ctx, pendingConnKey{}, conn)
}

// stateChanged forgets a connection that has ended.
func (n *pendingConns) stateChanged(conn net.Conn, state http.ConnState) {
	if state == http.StateClosed {
		n.remove(conn)
	}
}

// handled forgets the connection of each request that h is asked.
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

// wait returns when each was heard or has left, or when ctx ends. No more may
// enter.
func (n *pendingConns) wait(ctx context.Context) {
	n.mu.Lock()
	if len(n.conns) == 0 {
		n.mu.Unlock()
		return
	}
	none := make(chan struct{})
	n.empty = none
	n.mu.Unlock()
	select {
	case <-none:
	case <-ctx.Done():
	}
}
