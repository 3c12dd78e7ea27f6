package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/gorilla/websocket"

	"pressbox/auth"
)

const (
	subprotocol     = "pressbox.v1"
	unauthenticated = 4401             // close code: nobody, or nobody any more
	authPatience    = 10 * time.Second // for the first frame, where one is needed
	authFrame       = 4 << 10          // bytes that it may have
	liveEvery       = time.Minute      // how often a session's age is looked at
	controlPatience = time.Second      // for sending a close frame
)

// meet opens a websocket with whoever sends the request, and hands it to serve
// when it is known who that is: by cookie or header, else by the first frame,
// {"t":"auth","d":{"token":…}}. It returns when serve does; ctx ends, and the
// connection is closed with 4401, as soon as the session is over.
func (s *Server) meet(w http.ResponseWriter, r *http.Request, serve func(context.Context, *websocket.Conn, auth.Caller)) error {
	if !s.ownOrigin(r) {
		return errCrossOrigin
	}
	up := websocket.Upgrader{
		Subprotocols: []string{subprotocol},
		CheckOrigin:  func(*http.Request) bool { return true }, // it was checked
		Error:        func(http.ResponseWriter, *http.Request, int, error) {},
	}
	conn, err := upgrade(up, w, r)
	if err != nil {
		return errNotSocket
	}
	defer conn.Close()
	caller, err := s.introduce(r, conn)
	if err != nil {
		hangUp(conn, "who are you?")
		return nil // the peer was told
	}
	ctx, cancel := context.WithCancel(r.Context())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.watch(ctx, conn, caller.Session)
		cancel()
	}()
	serve(ctx, conn, caller)
	cancel()
	<-watched
	return nil
}

// introduce says who is at the other end of a new websocket.
func (s *Server) introduce(r *http.Request, conn *websocket.Conn) (auth.Caller, error) {
	caller, err := s.authenticate(r, "")
	if err != nil {
		token, readErr := readAuth(conn)
		if readErr != nil {
			return auth.Caller{}, readErr
		}
		caller, err = s.authenticate(r, token)
	}
	if err == nil && !caller.SignedIn() {
		err = auth.ErrInvalidToken
	}
	return caller, err
}

// readAuth reads the first frame.
func readAuth(conn *websocket.Conn) (token string, err error) {
	conn.SetReadLimit(authFrame)
	if err := conn.SetReadDeadline(time.Now().Add(authPatience)); err != nil {
		return "", err
	}
	_, text, err := conn.ReadMessage()
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

// watch returns when ctx ends, or the session does; then the peer is told.
func (s *Server) watch(ctx context.Context, conn *websocket.Conn, session auth.Session) {
	book := s.cfg.SignIn.Book
	ended, stop := book.Ended(session)
	defer stop()
	tick := time.NewTicker(liveEvery)
	defer tick.Stop()
	for {
		err := book.Live(ctx, session) // also at once: it may have ended before it was watched
		if errors.Is(err, auth.ErrSessionEnded) {
			hangUp(conn, "the session has ended")
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ended:
		case <-tick.C:
		}
	}
}

// hangUp tells the peer that it is nobody here, and closes the connection.
func hangUp(conn *websocket.Conn, why string) {
	_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(unauthenticated, why), time.Now().Add(controlPatience))
	_ = conn.Close() // the peer may have gone
}

// ownOrigin says whether a page that opens a websocket is ours or one that we trust.
// No other guard sees a websocket: it begins as a GET, and a page of another
// port on this host has our cookies sent along. A program that is no browser
// says no origin.
func (s *Server) ownOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	return len(origins) == 1 && (origins[0] == s.origin(r) || slices.Contains(s.cfg.TrustedOrigins, origins[0]))
}

// upgrade takes over the connection below what records the answer.
func upgrade(up websocket.Upgrader, w http.ResponseWriter, r *http.Request) (*websocket.Conn, error) {
	recorded, ok := w.(*answer)
	if !ok {
		return up.Upgrade(w, r, nil)
	}
	conn, err := up.Upgrade(recorded.ResponseWriter, r, nil)
	if err == nil {
		recorded.status = http.StatusSwitchingProtocols
	}
	return conn, err
}
