package play

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"pressbox/daemon/web"
	"pressbox/game/protocol"
)

// Limits of a websocket.
const (
	queueLength  = 64               // messages queued for a client
	pingInterval = 15 * time.Second // between our pings
	readTimeout  = 25 * time.Second // without a frame or a pong
	writeTimeout = 5 * time.Second  // for one frame
	closeTimeout = 2 * time.Second  // for the client's close frame
	framesPerSec = 20               // client frames that are not decisions
	frameBurst   = 40               // client frames that are not decisions
	maxJoined    = 16               // games per socket

	maxVisitors     = 200 // sockets without a session
	maxVisitorsEach = 20  // those of one address
	retryAfterSec   = 1   // for the client, after a restart
)

// Our close codes, with [closeUnauthenticated].
const (
	closeRestart = 4001
	closeSlow    = 4408
	closeRate    = 4429
)

func (h *handlers) socketRoutes() []web.Route {
	routes := []web.Route{web.NewRoute(http.MethodGet, "/api/ws", web.Public, h.openSocket, web.Operation{
		ID: "openSocket", Summary: "Open a websocket to play or watch games",
		Description: "Sub-protocol pressbox.v1; /asyncapi.json describes its frames. A cookie or the first frame " +
			"authenticates the client. A client that joins without, and that NOTIFY_ACCESS permits, watches listed " +
			"games: at most 200 such clients, 20 of an address.",
		Responses: []web.Response{{Status: http.StatusSwitchingProtocols, Description: "The websocket is open."}},
		Problems:  []int{http.StatusBadRequest, http.StatusForbidden, http.StatusServiceUnavailable},
		Sent:      serverFrames(), Received: clientFrames(),
	})}
	return web.When(routes, func() bool { return h.Games != nil && h.Authenticate != nil })
}

// openSocket opens a websocket, which is served until either side closes it.
func (h *handlers) openSocket(w http.ResponseWriter, r *http.Request) error {
	return h.upgrade(w, r, func(conn *websocket.Conn, c client) connHandler { return newSocket(h, conn, c) })
}

// A socket is an open websocket with the games that it has joined. One goroutine reads its frames and another
// one writes its queued messages.
type socket struct {
	handlers *handlers
	conn     *websocket.Conn
	person   protocol.Person        // zero: a visitor, who watches listed games
	guest    string                 // the one game of a guest; "": the person is none
	first    []byte                 // a frame that was read already; nil: none
	queue    chan *protocol.Message // to be written; closed with the socket

	mu     sync.Mutex // guards what follows, and sending to queue
	closed bool
	code   int // of the close frame; 0: no frame

	byeSent bool // writer only

	opened time.Time
	pinged atomic.Int64 // when the last ping was sent, in ns since opened; 0 once it was answered
	lag    atomic.Int64 // smoothed ns from ping to pong; 0: unknown

	// Reader only:
	limiter *rate.Limiter
	leaves  map[string]func() // of the joined games, by id
}

func newSocket(h *handlers, conn *websocket.Conn, c client) *socket {
	return &socket{
		handlers: h, conn: conn, person: protocol.Person{ID: c.Account.ID, Name: c.Account.Name},
		guest: c.Account.Guest, first: c.first,
		queue: make(chan *protocol.Message, queueLength), opened: time.Now(),
		limiter: rate.NewLimiter(framesPerSec, frameBurst),
		leaves:  map[string]func(){},
	}
}

// serve reads and writes until the connection is closed.
func (k *socket) serve(ctx context.Context) {
	var writing sync.WaitGroup
	writing.Go(k.writeQueue)
	k.readFrames(ctx)
	k.close(0)
	for game := range k.leaves {
		k.leave(game)
	}
	_ = k.conn.Close() // unblocks the writer
	writing.Wait()
	k.handlers.Log().Debug("websocket closed", "person", k.person.ID, "code", k.code, "lag",
		time.Duration(k.lag.Load()))
}

// ping sends a ping, unless the writer is waiting for the client.
func (k *socket) ping() {
	k.pinged.Store(int64(time.Since(k.opened)))
	err := k.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(controlTimeout))
	if err != nil && !isTimeout(err) {
		k.close(0)
	}
}

// readFrames reads and handles frames until the connection is closed.
func (k *socket) readFrames(ctx context.Context) {
	k.conn.SetReadLimit(maxDiscarded)
	k.conn.SetPongHandler(k.handlePong)
	k.conn.SetPingHandler(k.handlePing)
	if k.first != nil {
		k.handleFrame(ctx, k.first)
	}
	for k.isAlive() {
		kind, text, err := k.readFrame()
		if err != nil {
			return
		}
		decided := false
		switch {
		case len(text) > maxFrame:
			k.sendNak(request{}, protocol.Refuse(protocol.TooLarge, "frame exceeds 8 KiB"))
		case kind != websocket.TextMessage:
			k.sendNak(request{}, malformed("the frame is binary, want text"))
		default:
			decided = k.handleFrame(ctx, text)
		}
		if !decided && !k.limiter.Allow() {
			if k.isClosed() {
				return
			}
			k.close(closeRate)
		}
	}
}

// isAlive extends the read deadline. Of a client that is gone, the frames that have arrived are still read: it may have
// closed right after a command. Once we have closed the socket, isAlive discards frames until the client's close frame
// or the deadline and returns false.
func (k *socket) isAlive() bool {
	if k.extendDeadline() {
		return true
	}
	for {
		if _, _, err := k.conn.NextReader(); err != nil {
			return false
		}
	}
}

// extendDeadline gives the client [readTimeout] unless the socket is closed. It reports whether frames count.
func (k *socket) extendDeadline() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return k.code == 0
	}
	return k.conn.SetReadDeadline(time.Now().Add(readTimeout)) == nil
}

// readFrame reads a frame. It returns at most maxFrame+1 bytes of it.
func (k *socket) readFrame() (kind int, text []byte, err error) {
	kind, r, err := k.conn.NextReader()
	if err != nil {
		return 0, nil, err
	}
	if text, err = io.ReadAll(io.LimitReader(r, maxFrame+1)); err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	return kind, text, err
}

// handlePong updates the lag.
func (k *socket) handlePong(string) error {
	if pinged := k.pinged.Swap(0); pinged > 0 {
		took := int64(time.Since(k.opened)) - pinged
		if before := k.lag.Load(); before > 0 {
			took = (7*before + took) / 8
		}
		k.lag.Store(max(took, 1))
	}
	k.extendDeadline()
	return nil
}

// handlePing answers a ping of the client, which counts as a frame.
func (k *socket) handlePing(data string) error {
	if !k.limiter.Allow() {
		k.close(closeRate)
		return nil
	}
	err := k.conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(controlTimeout))
	if errors.Is(err, websocket.ErrCloseSent) || isTimeout(err) {
		return nil
	}
	return err
}

// isTimeout reports whether a control frame timed out because the writer is waiting for the client. If that
// takes too long, the writer closes the connection.
func isTimeout(err error) bool {
	late, ok := errors.AsType[net.Error](err)
	return ok && late.Timeout()
}

// handleFrame executes a frame's request and answers it. It reports whether the frame was a new decision of a
// game: these are not rate limited, as the game limits them.
func (k *socket) handleFrame(ctx context.Context, text []byte) (decided bool) {
	r, err := parseFrame(text)
	if err == nil {
		decided, err = k.execute(ctx, r)
	}
	if err != nil {
		k.sendNak(r, err)
	}
	return decided
}

func (k *socket) execute(ctx context.Context, r request) (decided bool, err error) {
	switch r.kind {
	case "auth":
		return false, malformed("already authenticated")
	case "join":
		return false, k.join(ctx, r)
	case "leave":
		k.leave(r.game)
		return false, nil
	case "ping":
		k.send(&protocol.Message{Type: "pong", Data: pong{TS: r.ts, Lag: k.lagMS()}})
		return false, nil
	}
	if _, ok := k.leaves[r.game]; !ok {
		return false, protocol.Refuse(protocol.NotJoined, "join the game first")
	}
	if r.kind == "sync" {
		missed, err := k.handlers.Games.Sync(ctx, k.person, r.game, r.since)
		if err == nil {
			k.send(missed)
		}
		return false, err
	}
	if r.kind == "react" {
		return false, k.handlers.Games.React(ctx, k.person, r.game, r.react)
	}
	if k.handlers.moves.Reserve(k.person.ID, netip.Addr{}, time.Now()) > 0 {
		return false, protocol.Refuse(protocol.RateLimited, "too many commands of your account: wait a second")
	}
	command := protocol.Command{ID: r.cid, Revision: r.rev, Action: r.action}
	_, dup, err := k.handlers.Games.Submit(context.WithoutCancel(ctx), k.person, r.game, command, k.send)
	return err == nil && !dup && r.action.Decides(), err
}

// lagMS returns the lag in ms; nil if it is unknown.
func (k *socket) lagMS() *float64 {
	lag := k.lag.Load()
	if lag == 0 {
		return nil
	}
	return new(float64(lag) / float64(time.Millisecond))
}

// leave ends the subscription to a game, if there is one.
func (k *socket) leave(game string) {
	if leave, ok := k.leaves[game]; ok {
		leave()
		delete(k.leaves, game)
	}
}

// join subscribes to a game from a revision on.
func (k *socket) join(ctx context.Context, r request) error {
	k.leave(r.game)
	if len(k.leaves) >= maxJoined {
		return protocol.Refuse(protocol.RateLimited,
			"a websocket can join at most %d games: leave one first", maxJoined)
	}
	if !k.handlers.mayRead(k.person, r.game) || k.guest != "" && k.guest != r.game {
		return errUnknownGame()
	}
	leave, err := k.handlers.Games.Watch(ctx, k.person, r.game, r.since, k.send)
	if err != nil {
		return err
	}
	k.leaves[r.game] = leave
	return nil
}

// sendNak answers a frame that was refused.
func (k *socket) sendNak(r request, err error) {
	p := k.handlers.Problem(err)
	answer := nak{Code: protocol.Code(p.Code), Detail: p.Detail, Errors: p.Errors}
	rev := uint64(0)
	refused, known := errors.AsType[*protocol.Error](err)
	switch {
	case known:
		answer.Code, answer.Detail, rev = refused.Code, refused.Detail, refused.Revision
	case !errors.Is(err, context.Canceled):
		answer = nak{Code: protocol.Unavailable, Detail: "internal error; the log has the cause"}
	}
	if p.Status >= http.StatusInternalServerError && err.Error() != p.Detail && !errors.Is(err, context.Canceled) {
		k.handlers.Log().Error("websocket request failed", "person", k.person.ID, "game", r.game, "type", r.kind, "err",
			err)
	}
	k.send(&protocol.Message{Type: "nak", Game: r.game, CommandID: r.cid, Revision: rev, Data: answer})
}
