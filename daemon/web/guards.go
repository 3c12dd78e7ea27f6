package web

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"time"

	"pressbox/auth"
)

// policy is the Content-Security-Policy of every answer: nothing but our own
// files, no inline script or style, in no one's frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// A requestInfo holds what the guards know of a request.
type requestInfo struct {
	id     string      // also the header X-Request-Id of the answer
	client netip.Addr  // the zero Addr when no one can say
	class  Class       // of the route
	route  string      // its path in the table; "" until there is one
	caller auth.Caller // who is signed in, on routes of class people
	code   string      // of the problem that was answered; "" otherwise
	err    error       // what is broken here, or why the answer was not finished; nil otherwise
}

type requestInfoKey struct{}

// infoOf returns the visit of a request's context.
func infoOf(ctx context.Context) *requestInfo {
	info, ok := ctx.Value(requestInfoKey{}).(*requestInfo)
	if !ok {
		panic("web: a request that passed no guard")
	}
	return info
}

// ClientAddr returns the address of a request's client; the zero Addr when it
// is not known.
func ClientAddr(r *http.Request) netip.Addr { return infoOf(r.Context()).client }

// RequestID returns the id that a request has in the log and in its response.
func RequestID(r *http.Request) string { return infoOf(r.Context()).id }

// Caller returns the account and session of a request to a route of class
// [SessionRequired].
func Caller(r *http.Request) auth.Caller { return infoOf(r.Context()).caller }

// LogError has err logged with the request: the reason of a fault of ours, or
// of a response that was not finished.
func LogError(r *http.Request, err error) { infoOf(r.Context()).err = err }

// logged gives each request its visit, logs it when it is over, and turns
// a panic into an answer.
func (s *Server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		peer := remoteAddr(r.RemoteAddr)
		info := &requestInfo{id: rand.Text()[:16], client: s.proxies.client(peer, r.Header)}
		r = r.WithContext(context.WithValue(r.Context(), requestInfoKey{}, info))
		answer := &answer{ResponseWriter: w}
		answer.Header().Set("X-Request-Id", info.id)
		defer s.logRequest(r, answer, began)
		defer s.recoverPanic(answer, r)
		next.ServeHTTP(answer, r)
		if answer.status == 0 { // net/http sends it when nobody else did
			answer.status = http.StatusOK
		}
	})
}

// recoverPanic ends a handler's panic: with a problem, or by hanging up when the
// answer had already begun. It must be deferred.
func (s *Server) recoverPanic(w *answer, r *http.Request) {
	reason := recover()
	if reason == nil {
		return
	}
	if reason == http.ErrAbortHandler { //nolint:errorlint // net/http compares it like this
		panic(reason)
	}
	err := fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
	if w.status != 0 {
		infoOf(r.Context()).err = err
		panic(http.ErrAbortHandler)
	}
	s.writeProblem(w, r, err)
}

// logRequest logs one line about a request that is over: what changes something
// at INFO, the rest at DEBUG, our own faults at ERROR. Neither the query nor
// any body is logged.
func (s *Server) logRequest(r *http.Request, w *answer, began time.Time) {
	info := infoOf(r.Context())
	if s.cfg.Observe != nil {
		s.cfg.Observe(info.route, knownMethod(r.Method), w.status, time.Since(began))
	}
	level := slog.LevelInfo
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		level = slog.LevelDebug
	}
	facts := []slog.Attr{
		slog.String("method", r.Method),
		slog.String("path", r.URL.Path),
		slog.Int("status", w.status),
		slog.Int64("bytes", w.bytes),
		slog.Duration("took", time.Since(began)),
		slog.String("client", clientName(info.client)),
		slog.String("request_id", info.id),
	}
	if info.code != "" {
		facts = append(facts, slog.String("code", info.code))
	}
	if p, ok := r.Context().Value(peerKey{}).(peer); ok {
		facts = append(facts, slog.Int("uid", p.uid))
	}
	if info.err != nil {
		level = slog.LevelError
		facts = append(facts, slog.Any("err", info.err))
	}
	s.cfg.Log.LogAttrs(r.Context(), level, "request", facts...)
}

// knownMethod is a method as figures name it. A stranger may send any, and each
// name would be kept for ever.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	default:
		return "other"
	}
}

func clientName(a netip.Addr) string {
	if !a.IsValid() {
		return "unknown"
	}
	return a.String()
}

// guarded puts before the routes what every request from the network passes:
// its record, the headers that tell browsers what not to do, the host names
// that we answer to, and the protection against pages of other sites.
func (s *Server) guarded(routes http.Handler) http.Handler {
	return s.logged(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer, our own forms would send Origin: null
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if s.HTTPS(r) {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		s.allowFrontend(w, r)
		if !s.hosts.allow(r.Host) {
			s.writeProblem(w, r, errHost)
			return
		}
		if err := s.origins.Check(r); err != nil {
			s.writeProblem(w, r, ErrCrossOrigin)
			return
		}
		routes.ServeHTTP(w, r)
	}))
}

// An answer is a response that remembers what was sent.
type answer struct {
	http.ResponseWriter
	status int // 0 until the header was sent
	bytes  int64
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= 200 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	n, err := a.ResponseWriter.Write(p)
	a.bytes += int64(n)
	return n, err
}

// Unwrap lets [http.ResponseController] reach what is below.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Hijack returns the connection of a request that becomes a websocket.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(a.ResponseWriter).Hijack()
	if err == nil {
		a.status = http.StatusSwitchingProtocols
	}
	return conn, buffered, err
}
