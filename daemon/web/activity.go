package web

import (
	"net/http"
	"sync"
	"time"
)

// activity counts the requests and connections from the network that are open.
type activity struct {
	started time.Time

	mu   sync.Mutex // guards the fields below
	open int        // requests, streams and websockets
	last time.Time  // end of the latest one; zero before the first
	// returns is until when a client is expected to come back that had a connection of another protocol.
	returns time.Time
}

// returnTime is the time in which clients of other protocols, such as Home Assistant, come back.
const returnTime = time.Minute

// count returns a handler that counts the requests that next handles.
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

// idle returns the time since the latest request ended; 0 while one is open, or a client is expected to come back.
func (a *activity) idle() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open > 0 || time.Now().Before(a.returns) {
		return 0
	}
	if a.last.IsZero() {
		return time.Since(a.started)
	}
	return time.Since(a.last)
}

// Idle returns the time since the latest request from the network ended; 0
// while one is open.
func (s *Server) Idle() time.Duration { return s.activity.idle() }

// TrackClient is [Server.Track] for a connection of another protocol: the server is in use until a minute after its
// end.
func (s *Server) TrackClient() (done func(), ok bool) {
	end, ok := s.Track()
	if !ok {
		return nil, false
	}
	return func() {
		s.activity.mu.Lock()
		s.activity.returns = time.Now().Add(returnTime)
		s.activity.mu.Unlock()
		end()
	}, true
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
	mu     sync.Mutex // guards the fields below
	closed bool
	open   sync.WaitGroup
}

// add counts one more connection; false if the tracker is closed.
func (t *connTracker) add() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.open.Add(1)
	}
	return !t.closed
}

// close refuses further connections, and waits for the open ones to end.
func (t *connTracker) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.open.Wait()
}
