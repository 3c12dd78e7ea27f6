package play

import (
	"context"
	"encoding/json"
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
	subprotocol     = "pressbox.v1"
	unauthenticated = 4401             // close code: nobody, or nobody any more
	authPatience    = 10 * time.Second // for the first frame, where one is needed
	authFrame       = 4 << 10          // bytes that it may have
	liveEvery       = time.Minute      // how often a session's age is looked at
	controlPatience = time.Second      // for sending a close frame
)

// A guest is who a websocket was opened for. Its methods may be called at the
// same time.
type guest interface {
	// serve reads and writes until the connection is over.
	serve(ctx context.Context)
	// ask sends a ping.
	ask()
	// hangUp tells the peer why, and has serve return.
	hangUp(code int)
}

// meet opens a websocket with whoever sends the request, and has its guest
// served when it is known who that is: by cookie or header, else by the first
// frame, {"t":"auth","d":{"token":…}}. It returns then: serve runs on, without
// all that belonged to the request, and [Server.Serve] waits for it at the end.
// ctx ends, and the connection is closed with 4401, as soon as the session is over.
func (h *handlers) meet(w http.ResponseWriter, r *http.Request, admit func(*websocket.Conn, auth.Caller) guest) error {
	if !h.OwnOrigin(r) {
		return web.ErrCrossOrigin
	}
	done, ok := h.Track()
	if !ok {
		return web.ErrStopping
	}
	served := false
	defer func() {
		if !served {
			done()
		}
	}()
	up := websocket.Upgrader{
		Subprotocols:    []string{subprotocol},
		ReadBufferSize:  1 << 10,
		WriteBufferSize: 4 << 10,
		WriteBufferPool: &h.buffers,                               // a socket that is idle holds none
		CheckOrigin:     func(*http.Request) bool { return true }, // it was checked
		Error:           func(http.ResponseWriter, *http.Request, int, error) {},
	}
	conn, err := upgrade(up, w, r)
	if err != nil {
		return web.ErrNotWebSocket
	}
	caller, err := h.introduce(r, conn)
	if errors.Is(err, web.ErrStopping) {
		hangUp(conn, closeRestart, "come back")
		return nil // the peer was told
	}
	if err != nil {
		hangUp(conn, unauthenticated, "who are you?")
		return nil // the peer was told
	}
	served = true
	ctx := context.WithoutCancel(r.Context()) // which ends with this method
	go func() {
		defer done()
		h.attend(ctx, conn, caller.Session, admit(conn, caller))
	}()
	return nil
}

// attend serves a guest while its session lasts.
func (h *handlers) attend(ctx context.Context, conn *websocket.Conn, session auth.Session, g guest) {
	defer conn.Close()
	defer func() {
		if reason := recover(); reason != nil { // it costs this one connection
			h.Log().Error("websocket", "err", fmt.Errorf("panic: %v\n%s", reason, debug.Stack()))
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var watching sync.WaitGroup
	watching.Go(func() {
		h.watch(ctx, conn, session, g)
		cancel()
	})
	g.serve(ctx)
	cancel()
	watching.Wait()
}

// introduce says who is at the other end of a new websocket.
func (h *handlers) introduce(r *http.Request, conn *websocket.Conn) (auth.Caller, error) {
	caller, err := h.Authenticate(r, "")
	if err != nil {
		token, readErr := h.readAuth(conn)
		if readErr != nil {
			return auth.Caller{}, readErr
		}
		caller, err = h.Authenticate(r, token)
	}
	if err == nil && !caller.SignedIn() {
		err = auth.ErrInvalidToken
	}
	return caller, err
}

// readAuth reads the first frame. The error is errStopping when the server
// stops before it has come.
func (h *handlers) readAuth(conn *websocket.Conn) (token string, err error) {
	conn.SetReadLimit(authFrame)
	if err := conn.SetReadDeadline(time.Now().Add(authPatience)); err != nil {
		return "", err
	}
	text, err := h.readFirst(conn)
	if err != nil {
		return "", err
	}
	var frame struct {
		Type string `json:"t"`
		Data struct {
			Token string `json:"token"`
		} `json:"d"`
	}
	if err := json.Unmarshal(text, &frame); err != nil || frame.Type != "auth" {
		return "", errors.Join(auth.ErrNoCredentials, err)
	}
	conn.SetReadLimit(0) // serve sets its own
	return frame.Data.Token, conn.SetReadDeadline(time.Time{})
}

// readFirst reads a frame, unless the server stops before.
func (h *handlers) readFirst(conn *websocket.Conn) (text []byte, err error) {
	var waiting sync.WaitGroup
	read := make(chan struct{})
	waiting.Go(func() {
		select {
		case <-h.Closing():
			_ = conn.SetReadDeadline(time.Now()) // of a connection that is gone; then it has been read
		case <-read:
		}
	})
	_, text, err = conn.ReadMessage()
	close(read)
	waiting.Wait()
	select {
	case <-h.Closing():
		return nil, web.ErrStopping
	default:
		return text, err
	}
}

// watch asks a guest for signs of life, and hangs up when the server stops. It
// returns when ctx ends, or the session does; then the peer is told.
func (h *handlers) watch(ctx context.Context, conn *websocket.Conn, session auth.Session, g guest) {
	book := h.Sessions
	ended, stop := book.Watch(session)
	defer stop()
	look, ping := time.NewTicker(liveEvery), time.NewTicker(pingEvery)
	defer look.Stop()
	defer ping.Stop()
	closing := h.Closing()
	live := func() bool { return !errors.Is(book.Validate(ctx, session), auth.ErrSessionEnded) }
	for alive := live(); alive; { // it may have ended before it was watched
		select {
		case <-ctx.Done():
			return
		case <-ended:
			alive = live()
		case <-look.C:
			alive = live()
		case <-ping.C:
			g.ask()
		case <-closing:
			g.hangUp(closeRestart)
			closing = nil // it is said once
		}
	}
	hangUp(conn, unauthenticated, "the session has ended")
}

// hangUp tells the peer why, and closes the connection.
func hangUp(conn *websocket.Conn, code int, why string) {
	_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, why), time.Now().Add(controlPatience))
	_ = conn.Close() // the peer may have gone
}

// upgrade takes over the connection below what records the answer, and makes it
// a [promptConn].
func upgrade(up websocket.Upgrader, w http.ResponseWriter, r *http.Request) (*websocket.Conn, error) {
	conn, err := up.Upgrade(promptWriter{w}, r, nil)
	return conn, err
}
