package play

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"

	"pressbox/auth"
	"pressbox/daemon/limits"
	"pressbox/daemon/web"
	"pressbox/game/protocol"
)

// A Request is a decoded frame of a client.
type Request struct{ Kind, Game, CID string }

// ParseFrame decodes a client's frame. code is that of the nak; "": none.
func ParseFrame(text []byte) (r Request, code string) {
	decoded, err := parseFrame(text)
	r = Request{decoded.kind, decoded.game, decoded.cid}
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		return r, string(refused.Code)
	}
	if err != nil {
		return r, err.Error()
	}
	return r, ""
}

// EchoRoute returns the route of a websocket that, once its client is authenticated, sends the account's name
// and then what it receives, until the session ends.
func EchoRoute(s *web.Server, cfg Config) web.Route {
	h := &handlers{Server: s, Config: cfg, visitors: limits.NewCount(limits.Conns{})}
	return web.NewRoute(http.MethodGet, "/api/ws", web.Public, func(w http.ResponseWriter, r *http.Request) error {
		return h.upgrade(w, r, func(conn *websocket.Conn, c client) connHandler { return &echo{conn, c.Caller} })
	}, web.Operation{})
}

type echo struct {
	*websocket.Conn
	caller auth.Caller
}

func (e *echo) serve(context.Context) {
	text := []byte(e.caller.Account.Name)
	for {
		if err := e.WriteMessage(websocket.TextMessage, text); err != nil {
			return
		}
		if string(text) == "panic" {
			panic("the socket has a bug")
		}
		var err error
		if _, text, err = e.ReadMessage(); err != nil {
			return
		}
	}
}

func (*echo) ping() {}

func (e *echo) close(code int) { closeConn(e.Conn, code, "") }

// A Broadcaster serves websockets that receive messages without a game.
type Broadcaster struct {
	Opened   chan struct{} // receives a value for each websocket
	handlers *handlers
	mu       sync.Mutex // guards sockets
	sockets  []*socket
}

// NewBroadcaster returns a broadcaster without websockets.
func NewBroadcaster(s *web.Server) *Broadcaster {
	return &Broadcaster{Opened: make(chan struct{}), handlers: &handlers{Server: s}}
}

// ServeHTTP serves a websocket until it is closed.
func (b *Broadcaster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	k := newSocket(b.handlers, conn, client{})
	b.mu.Lock()
	b.sockets = append(b.sockets, k)
	b.mu.Unlock()
	b.Opened <- struct{}{}
	k.serve(r.Context())
}

// Send sends a message to all websockets and returns how many queued it.
func (b *Broadcaster) Send(m *protocol.Message) (queued int) {
	b.mu.Lock()
	sockets := b.sockets
	b.mu.Unlock()
	for _, k := range sockets {
		if k.send(m) {
			queued++
		}
	}
	return queued
}
