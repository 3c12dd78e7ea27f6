package play

import (
	"runtime"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"pressbox/game/protocol"
)

// clerks write what waits in sockets. While something waits there are as many
// of them as processors, otherwise none: a message to a thousand wakes up a few
// goroutines, not a thousand. They wait for no client; see [promptConn].
type clerks struct {
	writing sync.WaitGroup

	mu    sync.Mutex // guards what follows
	queue []*socket  // each once
	there int        // how many clerks
	most  int        // how many of them make sense
}

// enter puts a socket that is busy into the queue.
func (c *clerks) enter(k *socket) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, k)
	if c.there == 0 {
		c.most = runtime.GOMAXPROCS(0)
	}
	if c.there < c.most {
		c.there++
		c.writing.Go(c.write)
	}
}

// write writes what waits until nothing does.
func (c *clerks) write() {
	for k := c.next(); k != nil; k = c.next() {
		k.write()
	}
}

// next takes the next socket. Without one the clerk goes.
func (c *clerks) next() *socket {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		c.queue = nil
		c.there--
		return nil
	}
	k := c.queue[0]
	c.queue[0] = nil
	c.queue = c.queue[1:]
	return k
}

// tell puts a message into the queue. A client that does not keep up is hung up on.
func (k *socket) tell(m *protocol.Message) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.waiting) == outQueue {
		k.end(closeSlow)
	}
	if k.over {
		return false
	}
	k.waiting = append(k.waiting, m)
	k.wake()
	return true
}

// hangUp has the connection closed, whatever waits. The first code counts.
func (k *socket) hangUp(code int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.end(code)
}

// end is hangUp; k.mu must be held.
func (k *socket) end(code int) {
	if k.over {
		return
	}
	k.over, k.code = true, code
	k.waiting, k.batch = nil, nil
	k.wake()
}

// wake has a clerk write. k.mu must be held.
func (k *socket) wake() {
	if !k.busy {
		k.busy = true
		k.handlers.clerks.enter(k)
	}
}

// write writes what waits, until the client would have to be waited for: then
// the socket comes back when it has taken what it has.
func (k *socket) write() {
	for m, more := k.take(); more; m, more = k.take() {
		if m == nil {
			k.goodbye()
			close(k.done)
			return
		}
		if err := k.send(m); err != nil {
			k.hangUp(0)
			_ = k.conn.SetReadDeadline(time.Now()) // the reader ends, and closes the connection
			continue
		}
		if k.below.behind() {
			return
		}
	}
}

// take takes the next message; nil is the end. If there is nothing, the socket
// is not busy any more.
func (k *socket) take() (m *protocol.Message, more bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return nil, true
	}
	for len(k.batch) == 0 {
		if len(k.waiting) == 0 {
			k.busy, k.waiting, k.batch = false, nil, nil
			return nil, false
		}
		m, k.waiting = k.waiting[0], k.waiting[1:]
		if k.batch = m.Batch; k.batch == nil {
			return m, true
		}
	}
	m, k.batch = k.batch[0], k.batch[1:]
	return m, true
}

// goodbye sends the close frame, and gives the client a while to answer.
func (k *socket) goodbye() {
	if k.code == 0 {
		return // the client hung up
	}
	if k.code == closeRestart && !k.parted {
		_ = k.send(&protocol.Message{Type: "bye", Data: protocol.Bye{Code: "restart"}}) // it may have gone
	}
	text := websocket.FormatCloseMessage(k.code, "")
	_ = k.conn.WriteControl(websocket.CloseMessage, text, time.Now().Add(writeWait)) // it may have gone
	_ = k.conn.SetReadDeadline(time.Now().Add(closeWait))
}

// send writes a message.
func (k *socket) send(m *protocol.Message) error {
	frame, err := k.handlers.prepared(m)
	if err != nil {
		k.handlers.Log().Error("a message to a websocket is lost", "type", m.Type, "game", m.Game, "rev", m.Revision, "err", err)
		return err
	}
	if err := k.conn.WritePreparedMessage(frame); err != nil {
		return err
	}
	if last, ok := m.Data.(protocol.Bye); ok && last.Code == "restart" {
		k.parted = true
		k.hangUp(closeRestart)
	}
	return nil
}
