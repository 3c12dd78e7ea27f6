package web

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
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

// A visit is what the guards know of a request.
type visit struct {
	id     string      // also the header X-Request-Id of the answer
	client netip.Addr  // the zero Addr when no one can say
	class  class       // of the route
	route  string      // its path in the table; "" until there is one
	caller auth.Caller // who is signed in, on routes of class people
	code   string      // of the problem that was answered; "" otherwise
	err    error       // what is broken here, or why the answer was not finished; nil otherwise
}

type visitKey struct{}

// visitOf returns the visit of a request's context.
func visitOf(ctx context.Context) *visit {
	v, ok := ctx.Value(visitKey{}).(*visit)
	if !ok {
		panic("web: a request that passed no guard")
	}
	return v
}

// identified gives each request its visit, logs it when it is over, and turns
// a panic into an answer.
func (s *Server) identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		peer := addrOf(r.RemoteAddr)
		v := &visit{id: rand.Text()[:16], client: s.proxies.client(peer, r.Header)}
		r = r.WithContext(context.WithValue(r.Context(), visitKey{}, v))
		answer := &answer{ResponseWriter: w}
		answer.Header().Set("X-Request-Id", v.id)
		defer s.record(r, answer, began)
		defer s.catch(answer, r)
		next.ServeHTTP(answer, r)
		if answer.status == 0 { // net/http sends it when nobody else did
			answer.status = http.StatusOK
		}
	})
}

// catch ends a handler's panic: with a problem, or by hanging up when the
// answer had already begun. It must be deferred.
func (s *Server) catch(w *answer, r *http.Request) {
	reason := recover()
	if reason == nil {
		return
	}
	if reason == http.ErrAbortHandler { //nolint:errorlint // net/http compares it like this
		panic(reason)
	}
	err := fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
	if w.status != 0 {
		visitOf(r.Context()).err = err
		panic(http.ErrAbortHandler)
	}
	s.refuse(w, r, err)
}

// record logs one line about a request that is over: what changes something
// at INFO, the rest at DEBUG, our own faults at ERROR. Neither the query nor
// any body is logged.
func (s *Server) record(r *http.Request, w *answer, began time.Time) {
	v := visitOf(r.Context())
	if s.cfg.Admin.Observe != nil {
		s.cfg.Admin.Observe(v.route, knownMethod(r.Method), w.status, time.Since(began))
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
		slog.String("client", clientName(v.client)),
		slog.String("request_id", v.id),
	}
	if v.code != "" {
		facts = append(facts, slog.String("code", v.code))
	}
	if p, ok := r.Context().Value(peerKey{}).(peer); ok {
		facts = append(facts, slog.Int("uid", p.uid))
	}
	if v.err != nil {
		level = slog.LevelError
		facts = append(facts, slog.Any("err", v.err))
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
	return s.identified(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer, our own forms would send Origin: null
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if s.overTLS(r) {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		s.shareWithFrontend(w, r)
		if !s.hosts.allow(r.Host) {
			s.refuse(w, r, errHost)
			return
		}
		if err := s.origins.Check(r); err != nil {
			s.refuse(w, r, errCrossOrigin)
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
