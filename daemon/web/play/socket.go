package play

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/game/protocol"
)

// How a websocket behaves; reference/game.md says who else does it so.
const (
	outQueue      = 64               // messages that may wait for a client
	pingEvery     = 15 * time.Second // that a client is asked whether it is there
	pongWait      = 25 * time.Second // without a sign of life
	writeWait     = 5 * time.Second  // for a client to take a frame
	closeWait     = 2 * time.Second  // for it to say goodbye
	framesASecond = 20               // of a client, in the long run
	framesAtOnce  = 40               // of a client
	maxFollowed   = 16               // games that one socket follows
	retryAfter    = 1                // seconds, after a restart
)

// The codes with which we hang up, besides [unauthenticated].
const (
	closeRestart = 4001
	closeSlow    = 4408
	closeRate    = 4429
)

func (h *handlers) socketRoutes() []web.Route {
	routes := []web.Route{web.NewRoute(http.MethodGet, "/api/ws", web.Public, h.playSocket, web.Operation{
		ID: "openSocket", Tag: "games", Summary: "Play, or look on: a websocket",
		Description: "Sub-protocol pressbox.v1; /asyncapi.json describes its frames. A cookie says who you are, or the first frame.",
		Responses:   []web.Response{{Status: http.StatusSwitchingProtocols, Description: "A websocket."}},
		Problems:    []int{http.StatusBadRequest, http.StatusForbidden, http.StatusServiceUnavailable},
	})}
	return web.When(routes, func() bool { return h.Games != nil && h.Authenticate != nil })
}

// playSocket opens a websocket, which is served until either side hangs up.
func (h *handlers) playSocket(w http.ResponseWriter, r *http.Request) error {
	return h.meet(w, r, func(conn *websocket.Conn, caller auth.Caller) guest { return newSocket(h, conn, caller) })
}

// A socket is an open websocket: the games that it follows, and what waits to
// be written to it.
type socket struct {
	handlers *handlers
	conn     *websocket.Conn
	below    *promptConn // conn's
	person   protocol.Person
	done     chan struct{} // closed when nothing more is written

	mu      sync.Mutex          // guards what follows
	waiting []*protocol.Message // at most outQueue
	batch   []*protocol.Message // what is left of the one that is being written
	busy    bool                // with the clerks, or waiting for the connection
	over    bool                // we hang up
	code    int                 // with this; 0 says nothing

	parted bool // the client was told to come back; of the clerk only

	asked atomic.Int64 // when the last ping was sent, in ns since began; 0 once it was answered
	lag   atomic.Int64 // ns from ping to pong, smoothed; 0 not known yet
	began time.Time

	// Of the reader only:
	allowance *rate.Limiter
	leaves    map[string]func() // of the games that are followed
}

// newSocket makes one of a websocket that [upgrade] has opened.
func newSocket(h *handlers, conn *websocket.Conn, caller auth.Caller) *socket {
	k := &socket{
		handlers: h, conn: conn, person: protocol.Person{ID: caller.Account.ID, Name: caller.Account.Name},
		done: make(chan struct{}), began: time.Now(),
		allowance: rate.NewLimiter(framesASecond, framesAtOnce),
		leaves:    map[string]func(){},
	}
	k.below, _ = conn.NetConn().(*promptConn)
	k.below.free = func() { h.clerks.enter(k) }
	return k
}

// serve reads, and has clerks write, until the connection is over.
func (k *socket) serve(ctx context.Context) {
	k.read(ctx)
	k.hangUp(0)
	for game := range k.leaves {
		k.leave(game)
	}
	_ = k.conn.Close() // nobody reads what is still written
	<-k.done
	k.handlers.Log().Debug("websocket closed", "person", k.person.ID, "code", k.code, "lag", time.Duration(k.lag.Load()))
}

// ask asks the client whether it is there.
func (k *socket) ask() {
	k.asked.Store(int64(time.Since(k.began)))
	if err := k.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait)); err != nil {
		_ = k.conn.Close() // the reader ends with it
	}
}

// read reads frames until the connection is over.
func (k *socket) read(ctx context.Context) {
	k.conn.SetReadLimit(maxDrained)
	k.conn.SetPongHandler(k.answered)
	k.conn.SetPingHandler(k.pinged)
	for k.alive() {
		kind, text, err := k.next()
		if err != nil {
			return
		}
		useful := false
		switch {
		case len(text) > maxFrame:
			k.refuse(request{}, &protocol.Error{Code: nakTooLarge, Detail: "a frame may have 8 KiB"})
		case kind != websocket.TextMessage:
			k.refuse(request{}, malformed("a frame is text"))
		default:
			useful = k.hear(ctx, text)
		}
		if !useful && !k.allowance.Allow() {
			k.hangUp(closeRate)
		}
	}
}

// alive gives the client time for its next sign of life. After we have hung up
// it has only the time to say goodbye.
func (k *socket) alive() bool {
	if k.extend() {
		return true
	}
	_, _, _ = k.conn.ReadMessage() // the close frame, or the end of our patience
	return false
}

// extend gives the client [pongWait], unless we have hung up.
func (k *socket) extend() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.over && k.conn.SetReadDeadline(time.Now().Add(pongWait)) == nil
}

// next reads a frame; of one that is too long, a byte too many.
func (k *socket) next() (kind int, text []byte, err error) {
	kind, r, err := k.conn.NextReader()
	if err != nil {
		return 0, nil, err
	}
	if text, err = io.ReadAll(io.LimitReader(r, maxFrame+1)); err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	return kind, text, err
}

// answered notes that the client answered a ping, and how soon.
func (k *socket) answered(string) error {
	if asked := k.asked.Swap(0); asked > 0 {
		took := int64(time.Since(k.began)) - asked
		if before := k.lag.Load(); before > 0 {
			took = (7*before + took) / 8
		}
		k.lag.Store(max(took, 1))
	}
	k.extend()
	return nil
}

// pinged answers a ping, which counts as a frame.
func (k *socket) pinged(data string) error {
	if !k.allowance.Allow() {
		k.hangUp(closeRate)
		return nil
	}
	err := k.conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writeWait))
	if errors.Is(err, websocket.ErrCloseSent) {
		return nil
	}
	return err
}

// hear does what a frame asks for, and answers it. It returns whether the frame
// brought a game on: such frames are limited by the game itself.
func (k *socket) hear(ctx context.Context, text []byte) (useful bool) {
	r, err := parseFrame(text)
	if err == nil {
		useful, err = k.obey(ctx, r)
	}
	if err != nil {
		k.refuse(r, err)
	}
	return useful
}

// obey does what a frame asks for.
func (k *socket) obey(ctx context.Context, r request) (useful bool, err error) {
	switch r.kind {
	case "join":
		return false, k.join(ctx, r)
	case "leave":
		k.leave(r.game)
		return false, nil
	case "ping":
		k.tell(&protocol.Message{Type: "pong", Data: pong{TS: r.ts, Lag: k.measured()}})
		return false, nil
	}
	if _, ok := k.leaves[r.game]; !ok {
		return false, &protocol.Error{Code: nakNotJoined, Detail: "join the game first"}
	}
	if r.kind == "sync" {
		missed, err := k.handlers.Games.Sync(ctx, k.person, r.game, r.since)
		if err == nil {
			k.tell(missed)
		}
		return false, err
	}
	command := protocol.Command{ID: r.cid, Revision: r.rev, Action: r.act}
	_, dup, err := k.handlers.Games.Submit(ctx, k.person, r.game, command, k.tell)
	return err == nil && !dup && r.act.Decides(), err
}

// measured is the lag in ms; nil when it is not known yet.
func (k *socket) measured() *float64 {
	lag := k.lag.Load()
	if lag == 0 {
		return nil
	}
	ms := float64(lag) / float64(time.Millisecond)
	return &ms
}

// leave follows a game no longer, if it was followed.
func (k *socket) leave(game string) {
	if leave, ok := k.leaves[game]; ok {
		leave()
		delete(k.leaves, game)
	}
}

// join follows a game, from a revision on.
func (k *socket) join(ctx context.Context, r request) error {
	k.leave(r.game)
	if len(k.leaves) >= maxFollowed {
		return &protocol.Error{Code: nakRateLimited, Detail: "one websocket follows " + strconv.Itoa(maxFollowed) + " games at most: leave one"}
	}
	leave, err := k.handlers.Games.Watch(ctx, k.person, r.game, r.since, k.tell)
	if err != nil {
		return err
	}
	k.leaves[r.game] = leave
	return nil
}

// refuse answers a frame with why it was not obeyed.
func (k *socket) refuse(r request, err error) {
	p := web.NewProblem(err)
	answer := nak{Code: protocol.Code(p.Code), Detail: p.Detail, Errors: p.Errors}
	rev := uint64(0)
	refused, known := errors.AsType[*protocol.Error](err)
	switch {
	case known:
		answer.Code, answer.Detail, rev = refused.Code, refused.Detail, refused.Revision
	case !errors.Is(err, context.Canceled):
		answer = nak{Code: protocol.Unavailable, Detail: "something went wrong in the appliance"}
	}
	if p.Status >= http.StatusInternalServerError && err.Error() != p.Detail && !errors.Is(err, context.Canceled) {
		k.handlers.Log().Error("websocket", "person", k.person.ID, "game", r.game, "type", r.kind, "err", err)
	}
	k.tell(&protocol.Message{Type: "nak", Game: r.game, CommandID: r.cid, Revision: rev, Data: answer})
}
