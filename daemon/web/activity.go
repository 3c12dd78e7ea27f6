package web

import (
	"net/http"
	"sync"
	"time"
)

// activity counts the requests from the network that are being answered.
type activity struct {
	mu   sync.Mutex // guards what follows
	open int        // requests, streams and websockets
	last time.Time  // when one ended
}

// count counts the requests that next answers.
func (a *activity) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.begin()
		defer a.end()
		next.ServeHTTP(w, r)
	})
}

func (a *activity) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open++
}

func (a *activity) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open--
	a.last = time.Now()
}

// Idle returns how long there has been no request from the network; 0 while
// one is being answered.
func (s *Server) Idle() time.Duration {
	s.activity.mu.Lock()
	defer s.activity.mu.Unlock()
	if s.activity.open > 0 {
		return 0
	}
	if s.activity.last.IsZero() {
		return time.Since(s.started)
	}
	return time.Since(s.activity.last)
}

// Track counts a connection that outlives its request, such as a websocket,
// until done is called: [Server.Serve] waits for it, and the server is not
// idle. ok is false once the server stops.
func (s *Server) Track() (done func(), ok bool) {
	if !s.conns.add() {
		return nil, false
	}
	s.activity.begin()
	return func() {
		s.activity.end()
		s.conns.open.Done()
	}, true
}

// A connTracker counts connections until it is closed.
type connTracker struct {
	mu     sync.Mutex // guards what follows
	closed bool
	open   sync.WaitGroup
}

// add counts one more; false when the tracker is closed.
func (t *connTracker) add() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.open.Add(1)
	}
	return !t.closed
}

// close refuses further connections, and waits for those that are open.
func (t *connTracker) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.open.Wait()
}
