package web

import (
	"net/http"
	"sync"
	"time"
)

// traffic knows what is being answered on the network.
type traffic struct {
	mu   sync.Mutex // guards what follows
	open int        // requests that are being answered, streams and websockets among them
	last time.Time  // when one ended
}

// counted counts the requests that next answers.
func (t *traffic) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.begin()
		defer t.end()
		next.ServeHTTP(w, r)
	})
}

// begin counts one more: a request, or a websocket, which outlives its request.
func (t *traffic) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open++
}

func (t *traffic) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open--
	t.last = time.Now()
}

// Idle is for how long nobody on the network has asked anything; 0 while somebody
// is being answered.
func (s *Server) Idle() time.Duration {
	s.traffic.mu.Lock()
	defer s.traffic.mu.Unlock()
	if s.traffic.open > 0 {
		return 0
	}
	if s.traffic.last.IsZero() {
		return time.Since(s.started)
	}
	return time.Since(s.traffic.last)
}
