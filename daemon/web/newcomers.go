package web

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// newcomers are the connections of a server whose first request has not come yet.
// While it shuts down, net/http hangs up on a request that it has just read; so
// whoever was let in before is heard first.
type newcomers struct {
	mu    sync.Mutex // guards what follows
	conns map[net.Conn]struct{}
	none  chan struct{} // closed when there are none; nil while nobody waits
}

type newcomerKey struct{}

// enter notes a connection, and in its context which one it is.
func (n *newcomers) enter(ctx context.Context, conn net.Conn) context.Context {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns[conn] = struct{}{}
	return context.WithValue(ctx, newcomerKey{}, conn)
}

// ended forgets a connection that has ended.
func (n *newcomers) ended(conn net.Conn, state http.ConnState) {
	if state == http.StateClosed {
		n.forget(conn)
	}
}

// heard forgets the connection of each request that h is asked.
func (n *newcomers) heard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, ok := r.Context().Value(newcomerKey{}).(net.Conn); ok {
			n.forget(conn)
		}
		h.ServeHTTP(w, r)
	})
}

func (n *newcomers) forget(conn net.Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, conn)
	if len(n.conns) == 0 && n.none != nil {
		close(n.none)
		n.none = nil
	}
}

// wait returns when each was heard or has left, or when ctx ends. No more may
// enter.
func (n *newcomers) wait(ctx context.Context) {
	n.mu.Lock()
	if len(n.conns) == 0 {
		n.mu.Unlock()
		return
	}
	none := make(chan struct{})
	n.none = none
	n.mu.Unlock()
	select {
	case <-none:
	case <-ctx.Done():
	}
}
