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

	"pressbox/auth/netblock"
)

// A requestLog logs requests.
type requestLog struct {
	logger  *slog.Logger
	observe func(route, method string, status int, took time.Duration) // may be nil
	proxies proxies
}

// log returns a handler that gives each request its info, logs it when next
// has handled it, and turns a panic of next into a response.
func (l requestLog) log(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		info := &requestInfo{
			id: rand.Text()[:16], client: l.proxies.client(netblock.RemoteAddr(r.RemoteAddr), r.Header),
		}
		r = r.WithContext(context.WithValue(r.Context(), requestInfoKey{}, info))
		recorder := &responseRecorder{ResponseWriter: w}
		recorder.Header().Set("X-Request-Id", info.id)
		defer l.write(r, recorder, began)
		defer recoverPanic(recorder, r)
		next.ServeHTTP(recorder, r)
		if recorder.status == 0 { // net/http sends it for handlers that do not
			recorder.status = http.StatusOK
		}
	})
}

// recoverPanic ends a panic of a handler: with a problem, or by closing the
// connection if the response has begun. It must be deferred.
func recoverPanic(w *responseRecorder, r *http.Request) {
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
	writeProblem(w, r, err)
}

// write logs one entry for a request that has been handled: at ERROR for
// internal errors, at DEBUG for GET and HEAD, otherwise at INFO. It logs neither
// the query nor a body.
func (l requestLog) write(r *http.Request, w *responseRecorder, began time.Time) {
	info := infoOf(r.Context())
	if l.observe != nil {
		l.observe(info.route, knownMethod(r.Method), w.status, time.Since(began))
	}
	level := slog.LevelInfo
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method),
		slog.String("path", r.URL.Path),
		slog.Int("status", w.status),
		slog.Int64("bytes", w.bytes),
		slog.Duration("took", time.Since(began)),
		slog.String("client", clientName(info.client)),
		slog.String("request_id", info.id),
	}
	if info.code != "" {
		attrs = append(attrs, slog.String("code", info.code))
	}
	if p, ok := r.Context().Value(peerKey{}).(peer); ok {
		attrs = append(attrs, slog.Int("uid", p.uid))
	}
	if info.err != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.Any("err", info.err))
	}
	l.logger.LogAttrs(r.Context(), level, "request", attrs...)
}

// knownMethod returns the method as a metrics label. Clients can send any
// method, and each label value takes memory for ever.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost,
		http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
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

// A responseRecorder is a response that records its status and size.
type responseRecorder struct {
	http.ResponseWriter
	status int // 0 until the header is written
	bytes  int64
}

func (w *responseRecorder) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *responseRecorder) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Unwrap returns the underlying writer to [http.ResponseController].
func (w *responseRecorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack returns the connection of a request that becomes a websocket.
func (w *responseRecorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.status = http.StatusSwitchingProtocols
	}
	return conn, buffered, err
}
