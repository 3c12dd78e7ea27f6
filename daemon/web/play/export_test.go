package play

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/game/protocol"
)

// A Request is a client's frame, decoded.
type Request struct{ Kind, Game, CID string }

// ParseFrame decodes a client's frame, and returns the code of the nak, "" for
// none.
func ParseFrame(text []byte) (r Request, code string) {
	read, err := parseFrame(text)
	r = Request{read.kind, read.game, read.cid}
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		return r, string(refused.Code)
	}
	if err != nil {
		return r, err.Error()
	}
	return r, ""
}

// EchoRoute returns the route of a websocket that, once its client is
// authenticated, sends the account's name and then what it receives, until the
// session ends.
func EchoRoute(s *web.Server, cfg Config) web.Route {
	h := &handlers{Server: s, Config: cfg}
	return web.NewRoute(http.MethodGet, "/api/ws", web.Public, func(w http.ResponseWriter, r *http.Request) error {
		return h.meet(w, r, func(conn *websocket.Conn, caller auth.Caller) guest { return &echo{conn, caller} })
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

func (*echo) ask() {}

func (e *echo) hangUp(code int) { hangUp(e.Conn, code, "") }

// A Crowd is websockets that receive messages without a game.
type Crowd struct {
	Joined   chan struct{} // gets an element for each
	handlers *handlers
	mu       sync.Mutex // guards all
	all      []*socket
}

// NewCrowd returns a crowd without websockets.
func NewCrowd(s *web.Server) *Crowd {
	return &Crowd{Joined: make(chan struct{}), handlers: &handlers{Server: s}}
}

// ServeHTTP adds a websocket.
func (c *Crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := upgrade(up, w, r)
	if err != nil {
		return
	}
	defer conn.Close()
	k := newSocket(c.handlers, conn, auth.Caller{})
	c.mu.Lock()
	c.all = append(c.all, k)
	c.mu.Unlock()
	c.Joined <- struct{}{}
	k.serve(r.Context())
}

func (c *Crowd) sockets() []*socket {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}

// Tell sends all of them a message, and returns how many accepted it.
func (c *Crowd) Tell(m *protocol.Message) (took int) {
	for _, k := range c.sockets() {
		if k.tell(m) {
			took++
		}
	}
	return took
}

// Behind reports whether one of them has not taken what was written to it.
func (c *Crowd) Behind() bool {
	for _, k := range c.sockets() {
		k.below.mu.Lock()
		busy := k.below.busy
		k.below.mu.Unlock()
		if busy {
			return true
		}
	}
	return false
}

// A PromptConn is the connection below a websocket.
type PromptConn struct{ *promptConn }

// NewPromptConn makes one; free is called when what was seen by Behind is
// taken.
func NewPromptConn(conn net.Conn, free func()) PromptConn {
	c := newPromptConn(conn)
	c.free = free
	return PromptConn{c}
}

// Behind reports whether something is still to be taken.
func (c PromptConn) Behind() bool { return c.behind() }

// Direct reports whether the kernel is asked to take only what it can.
func (c PromptConn) Direct() bool { return c.raw != nil }
