package play

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"pressbox/auth"
	"pressbox/daemon/web"
)

const (
	subprotocol          = "pressbox.v1"
	closeUnauthenticated = 4401             // close code: no session, or it has ended
	authTimeout          = 10 * time.Second // for the auth frame
	maxAuthFrame         = 4 << 10          // bytes
	sessionCheckInterval = time.Minute
	controlTimeout       = time.Second // for writing a ping, pong or close frame
)

// A connHandler serves one authenticated websocket. Its methods may be called concurrently.
type connHandler interface {
	// serve reads and writes until the connection is closed.
	serve(ctx context.Context)
	ping()
	// close sends a close frame and has serve return.
	close(code int)
}

// A client is the user of a websocket: a caller with a session, or a visitor.
type client struct {
	auth.Caller
	opened  *http.Request // of a visitor; nil: the caller has a session
	first   []byte        // the visitor's first frame
	release func()        // no longer counts the visitor; nil: none
}

// upgrade opens a websocket, authenticates its client by cookie, header or first frame,
// {"t":"auth","d":{"token":…}}, and starts its handler. A client whose first frame joins a game instead is a
// visitor. It returns before the handler does, so that the request's memory is freed; the server waits for
// the handler when it stops. ctx ends, and the connection is closed with 4401, as soon as the session ends.
func (h *handlers) upgrade(
	w http.ResponseWriter, r *http.Request, newHandler func(*websocket.Conn, client) connHandler,
) error {
	if !h.OwnOrigin(r) {
		return web.ErrCrossOrigin
	}
	done, ok := h.Track()
	if !ok {
		return errStopping
	}
	started := false
	defer func() {
		if !started {
			done()
		}
	}()
	up := websocket.Upgrader{
		Subprotocols:    []string{subprotocol},
		ReadBufferSize:  1 << 10,
		WriteBufferSize: 4 << 10,
		WriteBufferPool: &h.buffers,                               // an idle socket has no write buffer
		CheckOrigin:     func(*http.Request) bool { return true }, // checked above
		Error:           func(http.ResponseWriter, *http.Request, int, error) {},
	}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return errNotWebSocket
	}
	c, err := h.authenticate(r, conn)
	switch {
	case errors.Is(err, errStopping):
		closeConn(conn, closeRestart, "server restarting")
		return nil // the close frame is the answer
	case errors.Is(err, errTooManyVisitors):
		closeConn(conn, closeRate, "too many spectators without an account")
		return nil // the close frame is the answer
	case err != nil:
		closeConn(conn, closeUnauthenticated, "authentication required")
		return nil // the close frame is the answer
	}
	started = true
	ctx := context.WithoutCancel(r.Context()) // which ends with this method
	go func() {
		defer done()
		if c.release != nil {
			defer c.release()
		}
		h.serveConn(ctx, conn, c, newHandler(conn, c))
	}()
	return nil
}

// serveConn runs a handler while its client may be connected. A panic ends only this connection.
func (h *handlers) serveConn(ctx context.Context, conn *websocket.Conn, by client, c connHandler) {
	defer conn.Close()
	defer func() {
		if reason := recover(); reason != nil {
			h.Log().Error("websocket request failed", "err", fmt.Errorf("panic: %v\n%s", reason, debug.Stack()))
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var monitoring sync.WaitGroup
	monitoring.Go(func() {
		h.monitor(ctx, conn, by, c)
		cancel()
	})
	c.serve(ctx)
	cancel()
	monitoring.Wait()
}

// errTooManyVisitors is the error of one visitor too many.
var errTooManyVisitors = errors.New("too many spectators without an account")

// authenticate returns the client at the other end of a new websocket.
func (h *handlers) authenticate(r *http.Request, conn *websocket.Conn) (client, error) {
	caller, err := h.Authenticate(r, "")
	if err != nil || !caller.SignedIn() {
		frame, text, readErr := h.readHello(conn)
		switch {
		case readErr != nil:
			return client{}, readErr
		case frame.kind == "join" && (err == nil || errors.Is(err, auth.ErrNoCredentials)):
			return h.admitVisitor(r, conn, text)
		case frame.kind != "auth":
			return client{}, auth.ErrNoCredentials
		}
		caller, err = h.Authenticate(r, frame.token)
	}
	if err == nil && !caller.SignedIn() {
		err = auth.ErrInvalidToken
	}
	return client{Caller: caller}, err
}

// admitVisitor admits a client without a session, if NOTIFY_ACCESS permits it and there are not too many.
func (h *handlers) admitVisitor(r *http.Request, conn *websocket.Conn, first []byte) (client, error) {
	if err := h.AuthorizeVisitor(r); err != nil {
		return client{}, err
	}
	release, ok := h.visitors.Add(web.ClientAddr(r), func() { _ = conn.Close() })
	if !ok {
		return client{}, errTooManyVisitors
	}
	return client{opened: r.WithContext(context.WithoutCancel(r.Context())), first: first, release: release}, nil
}

// readHello returns the first frame. The error is [errStopping] if the server stops first.
func (h *handlers) readHello(conn *websocket.Conn) (frame request, text []byte, err error) {
	conn.SetReadLimit(maxAuthFrame)
	if err := conn.SetReadDeadline(time.Now().Add(authTimeout)); err != nil {
		return request{}, nil, err
	}
	if text, err = h.readFirst(conn); err != nil {
		return request{}, nil, err
	}
	if frame, err = parseFrame(text); err != nil {
		return request{}, nil, errors.Join(auth.ErrNoCredentials, err)
	}
	conn.SetReadLimit(0) // the handler sets its own
	return frame, text, conn.SetReadDeadline(time.Time{})
}

// readFirst reads a frame, unless the server stops before it arrives.
func (h *handlers) readFirst(conn *websocket.Conn) (text []byte, err error) {
	var waiting sync.WaitGroup
	read := make(chan struct{})
	waiting.Go(func() {
		select {
		case <-h.Closing():
			_ = conn.SetReadDeadline(time.Now()) // fails only if the connection is closed
		case <-read:
		}
	})
	_, text, err = conn.ReadMessage()
	close(read)
	waiting.Wait()
	select {
	case <-h.Closing():
		return nil, errStopping
	default:
		return text, err
	}
}

// monitor sends pings and, when the server stops, closes c. It returns when ctx ends, or, after closing the
// connection, when the session or the permission does.
func (h *handlers) monitor(ctx context.Context, conn *websocket.Conn, by client, c connHandler) {
	isValid := func() bool { return h.AuthorizeVisitor(by.opened) == nil }
	var ended <-chan struct{}
	if by.opened == nil {
		isValid = func() bool { return !errors.Is(h.Sessions.Validate(ctx, by.Session), auth.ErrSessionEnded) }
		watched, stop := h.Sessions.Watch(by.Session)
		defer stop()
		ended = watched
	}
	check, ping := time.NewTicker(sessionCheckInterval), time.NewTicker(pingInterval)
	defer check.Stop()
	defer ping.Stop()
	closing := h.Closing()
	for valid := isValid(); valid; { // it may have ended before Watch
		select {
		case <-ctx.Done():
			return
		case <-ended:
			valid = isValid()
		case <-check.C:
			valid = isValid()
		case <-ping.C:
			c.ping()
		case <-closing:
			c.close(closeRestart)
			closing = nil // close once
		}
	}
	closeConn(conn, closeUnauthenticated, "session ended")
}

// closeConn sends a close frame and closes the connection.
func closeConn(conn *websocket.Conn, code int, reason string) {
	_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason),
		time.Now().Add(controlTimeout))
	_ = conn.Close() // the client may be gone
}
