package web

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"pressbox/daemon/limits"
)

// A writeRow is a row of [limits.Writes] with its limiter.
type writeRow struct {
	limits.Write
	limiter *limits.WriteLimiter // nil: others limit them
}

// writeRows finds the row of a route.
type writeRows struct {
	mux  *http.ServeMux
	rows map[string]*writeRow // by pattern
}

// newWriteRows returns the rows of the table.
func (s *Server) newWriteRows() writeRows {
	t := writeRows{http.NewServeMux(), map[string]*writeRow{}}
	for _, w := range limits.Writes() {
		row := &writeRow{w, w.Limiter(s.cfg.Blocks)}
		for _, pattern := range w.Routes {
			t.mux.Handle(pattern, http.NotFoundHandler())
			t.rows[pattern] = row
		}
	}
	return t
}

// of returns the row of a route, nil for one that saves nothing.
func (t writeRows) of(rt Route) *writeRow {
	if rt.Class == AdminSocket {
		return nil // root and the group of the socket
	}
	path := rt.Template()
	if rt.Operation.Fallback { // of ntfy: as below its own path
		path = "/ntfy" + path
	}
	_, pattern := t.mux.Handler(&http.Request{Method: rt.Method, URL: &url.URL{Path: path}})
	if rt.Method == http.MethodGet && !strings.HasPrefix(pattern, rt.Method+" ") {
		return nil
	}
	return t.rows[pattern]
}

// Writes returns the row of [limits.Writes] in which the requests of a route count; its Name is ""
// for a route that saves nothing.
func (s *Server) Writes(rt Route) limits.Write {
	if row := s.writes.of(rt); row != nil {
		return row.Write
	}
	return limits.Write{}
}

// allowWrite counts a request as a change of its account and its client, and returns a [RetryError]
// above the limit of either. Those of routes with Limited count in NOTIFY_RATE instead.
func (s *Server) allowWrite(row *writeRow, r *http.Request) error {
	if row == nil || row.limiter == nil {
		return nil
	}
	client, limited := s.countedAs(r)
	if !limited && !row.Guessed {
		client = netip.Addr{}
	}
	if wait := row.limiter.Reserve(infoOf(r.Context()).caller.Account.ID, client, time.Now()); wait > 0 {
		return &RetryError{Err: ErrTooManyRequests, After: wait}
	}
	return nil
}

// ReserveWrite counts a change that a client asks for by another protocol in the row of a pattern of [limits.Writes].
// It returns 0 if the change is permitted, otherwise the time until the next one is.
func (s *Server) ReserveWrite(pattern string, client netip.Addr) (wait time.Duration) {
	return s.writes.rows[pattern].limiter.Reserve("", client, time.Now())
}
