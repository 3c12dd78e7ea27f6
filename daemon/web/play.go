package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"pressbox/auth"
	"pressbox/game/live"
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

func (s *Server) socketRoutes() []route {
	routes := []route{{http.MethodGet, "/api/ws", everyone, s.playSocket, operation{
		id: "openSocket", tag: "games", summary: "Play, or look on: a websocket",
		description: "Sub-protocol pressbox.v1; /asyncapi.json describes its frames. A cookie says who you are, or the first frame.",
		answers:     []success{{status: http.StatusSwitchingProtocols, description: "A websocket."}},
		problems:    []int{http.StatusBadRequest, http.StatusForbidden, http.StatusServiceUnavailable},
	}}}
	return where(routes, func() bool { return s.cfg.Hall != nil && s.cfg.SignIn != nil })
}

// playSocket opens a websocket, which is served until either side hangs up.
func (s *Server) playSocket(w http.ResponseWriter, r *http.Request) error {
	return s.meet(w, r, func(ctx context.Context, conn *websocket.Conn, caller auth.Caller) {
		newSocket(s, conn, caller).serve(ctx)
	})
}

// A socket is an open websocket: the games that it follows, and what waits to
// be written to it.
type socket struct {
	server *Server
	conn   *websocket.Conn
	person live.Person
	out    chan *live.Message

	hung  sync.Once
	ended chan struct{} // closed when we hang up
	code  int           // to hang up with; 0 says nothing; read after ended was closed

	asked atomic.Int64 // when the last ping was sent, in ns since began; 0 once it was answered
	lag   atomic.Int64 // ns from ping to pong, smoothed; 0 not known yet
	began time.Time

	// Of the reader only:
	allowance *rate.Limiter
	leaves    map[string]func() // of the games that are followed
}

func newSocket(s *Server, conn *websocket.Conn, caller auth.Caller) *socket {
	return &socket{
		server: s, conn: conn, person: live.Person{ID: caller.Account.ID, Name: caller.Account.Name},
		out:   make(chan *live.Message, outQueue),
		ended: make(chan struct{}), began: time.Now(),
		allowance: rate.NewLimiter(framesASecond, framesAtOnce),
		leaves:    map[string]func(){},
	}
}

// serve reads and writes until the connection is over.
func (k *socket) serve(ctx context.Context) {
	var writing sync.WaitGroup
	writing.Go(k.write)
	k.read(ctx)
	k.hangUp(0)
	for game := range k.leaves {
		k.leave(game)
	}
	writing.Wait()
	k.server.cfg.Log.Debug("websocket closed", "person", k.person.ID, "code", k.code, "lag", time.Duration(k.lag.Load()))
}

// hangUp has the writer close the connection. The first code counts.
func (k *socket) hangUp(code int) {
	k.hung.Do(func() {
		k.code = code
		close(k.ended)
	})
}

// tell puts a message into the queue. A client that does not keep up is hung up on.
func (k *socket) tell(m *live.Message) bool {
	select {
	case k.out <- m:
		return true
	default:
		k.hangUp(closeSlow)
		return false
	}
}

// write writes what waits, and asks whether the client is there, until we hang up.
func (k *socket) write() {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		var err error
		select {
		case m := <-k.out:
			err = k.send(m)
		case <-ping.C:
			k.asked.Store(int64(time.Since(k.began)))
			err = k.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait))
		case <-k.server.closing:
			_ = k.send(&live.Message{T: "bye", D: bye{live.Bye{Code: "restart"}, retryAfter}}) // it may have gone
			k.hangUp(closeRestart)
			k.goodbye()
			return
		case <-k.ended:
			k.goodbye()
			return
		}
		if err != nil {
			_ = k.conn.Close() // the reader ends with it
			return
		}
	}
}

// goodbye sends the close frame, and gives the client a while to answer.
func (k *socket) goodbye() {
	if k.code == 0 {
		return // the client hung up
	}
	text := websocket.FormatCloseMessage(k.code, "")
	_ = k.conn.WriteControl(websocket.CloseMessage, text, time.Now().Add(writeWait)) // it may have gone
	_ = k.conn.SetReadDeadline(time.Now().Add(closeWait))
}

// send writes a message, or each of a batch.
func (k *socket) send(m *live.Message) error {
	for _, one := range m.Batch {
		if err := k.send(one); err != nil {
			return err
		}
	}
	if m.Batch != nil {
		return nil
	}
	if err := k.conn.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
		return err
	}
	frame, err := k.server.prepared(m)
	if err != nil {
		k.server.cfg.Log.Error("a message to a websocket is lost", "type", m.T, "game", m.G, "rev", m.Rev, "err", err)
		return err
	}
	if err := k.conn.WritePreparedMessage(frame); err != nil {
		return err
	}
	if last, ok := m.D.(live.Bye); ok && last.Code == "restart" {
		k.hangUp(closeRestart)
	}
	return nil
}

// prepared returns the frame of a message: for all who are told the same, the same.
func (s *Server) prepared(m *live.Message) (*websocket.PreparedMessage, error) {
	made, ok := m.Frame(func(m *live.Message) any {
		text, err := s.frame(m)
		if err != nil {
			return err
		}
		frame, err := websocket.NewPreparedMessage(websocket.TextMessage, text)
		if err != nil {
			return err
		}
		return frame
	}).(*websocket.PreparedMessage)
	if !ok {
		return nil, fmt.Errorf("encode %s of %s at %d", m.T, m.G, m.Rev)
	}
	return made, nil
}

// frame writes a message as clients read it.
func (s *Server) frame(m *live.Message) ([]byte, error) {
	whole := struct {
		*live.Message
		G string `json:"g,omitzero"` // not every frame is about a game
		D any    `json:"d,omitzero"`
	}{m, m.G, m.D}
	switch d := m.D.(type) {
	case *live.Hello:
		whole.D = hello{subprotocol, s.cfg.Version, m.Rev, moment{time.Now()}, d}
	case live.Bye:
		whole.D = bye{d, 0}
		if d.Code == "restart" {
			whole.D = bye{d, retryAfter}
		}
	}
	return json.Marshal(whole)
}

// What stands in the d of frames that are not the hall's alone.
type (
	hello struct {
		Proto  string `json:"proto"`
		Server string `json:"server"` // version
		Rev    uint64 `json:"rev"`
		Time   moment `json:"server_time"`
		*live.Hello
	}
	bye struct {
		live.Bye
		RetryAfter int `json:"retry_after,omitzero"` // seconds
	}
	nak struct {
		Code   live.Code   `json:"code"`
		Detail string      `json:"detail"`
		Errors []violation `json:"errors,omitempty"`
	}
	pong struct {
		TS  jsontext.Value `json:"ts,omitempty"`
		Lag *float64       `json:"lag,omitempty"` // ms from our pings to their pongs
	}
)

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
			k.refuse(request{}, &live.Error{Code: nakTooLarge, Detail: "a frame may have 8 KiB"})
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
	select {
	case <-k.ended:
		_, _, _ = k.conn.ReadMessage() // the close frame, or the end of our patience
		return false
	default:
		return k.conn.SetReadDeadline(time.Now().Add(pongWait)) == nil
	}
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
	return k.conn.SetReadDeadline(time.Now().Add(pongWait))
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
		k.tell(&live.Message{T: "pong", D: pong{TS: r.ts, Lag: k.measured()}})
		return false, nil
	}
	if _, ok := k.leaves[r.game]; !ok {
		return false, &live.Error{Code: nakNotJoined, Detail: "join the game first"}
	}
	if r.kind == "sync" {
		missed, err := k.server.cfg.Hall.Sync(ctx, k.person, r.game, r.since)
		if err == nil {
			k.tell(missed)
		}
		return false, err
	}
	command := live.Command{CID: r.cid, Rev: r.rev, Action: r.act}
	_, dup, err := k.server.cfg.Hall.Do(ctx, k.person, r.game, command, k.tell)
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
		return &live.Error{Code: nakRateLimited, Detail: "one websocket follows " + strconv.Itoa(maxFollowed) + " games at most: leave one"}
	}
	leave, err := k.server.cfg.Hall.Watch(ctx, k.person, r.game, r.since, k.tell)
	if err != nil {
		return err
	}
	k.leaves[r.game] = leave
	return nil
}

// refuse answers a frame with why it was not obeyed.
func (k *socket) refuse(r request, err error) {
	p := explain(err)
	answer := nak{Code: live.Code(p.Code), Detail: p.Detail, Errors: p.Errors}
	rev := uint64(0)
	refused, known := errors.AsType[*live.Error](err)
	switch {
	case known:
		answer.Code, answer.Detail, rev = refused.Code, refused.Detail, refused.Rev
	case !errors.Is(err, context.Canceled):
		answer = nak{Code: live.Unavailable, Detail: "something went wrong in the appliance"}
	}
	if p.Status >= http.StatusInternalServerError && err.Error() != p.Detail && !errors.Is(err, context.Canceled) {
		k.server.cfg.Log.Error("websocket", "person", k.person.ID, "game", r.game, "type", r.kind, "err", err)
	}
	k.tell(&live.Message{T: "nak", G: r.game, CID: r.cid, Rev: rev, D: answer})
}

// A tracker counts what is open, until it is closed.
type tracker struct {
	mu     sync.Mutex // guards what follows
	closed bool
	open   sync.WaitGroup
}

// enter counts one more; false when it is closed.
func (t *tracker) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.open.Add(1)
	}
	return !t.closed
}

func (t *tracker) leave() { t.open.Done() }

// close lets nothing more in, and waits for what is there.
func (t *tracker) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.open.Wait()
}
