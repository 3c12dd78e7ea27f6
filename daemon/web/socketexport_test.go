package web

import (
	"net"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"

	"pressbox/auth"
	"pressbox/game/protocol"
)

// A Crowd is websockets that are told what they are to be told, without a hall.
type Crowd struct {
	Joined chan struct{} // gets an element for each
	server *Server
	mu     sync.Mutex // guards all
	all    []*socket
}

// NewCrowd makes one that nobody has joined.
func NewCrowd(s *Server) *Crowd { return &Crowd{Joined: make(chan struct{}), server: s} }

// ServeHTTP adds a websocket to the crowd.
func (c *Crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := upgrade(up, w, r)
	if err != nil {
		return
	}
	defer conn.Close()
	k := newSocket(c.server, conn, auth.Caller{})
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

// Tell tells all of them, as the hall does, and is how many took it.
func (c *Crowd) Tell(m *protocol.Message) (took int) {
	for _, k := range c.sockets() {
		if k.tell(m) {
			took++
		}
	}
	return took
}

// Behind says whether one of them has not taken what was written to it.
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

// NewPromptConn makes one of a connection that our listener has accepted; free
// is called when what was seen by Behind is taken.
func NewPromptConn(conn net.Conn, free func()) PromptConn {
	c := newPromptConn(&limitedConn{conn, func() {}})
	c.free = free
	return PromptConn{c}
}

// Behind says whether something is still to be taken.
func (c PromptConn) Behind() bool { return c.behind() }

// Direct says whether the system is asked to take only what it can.
func (c PromptConn) Direct() bool { return c.raw != nil }
