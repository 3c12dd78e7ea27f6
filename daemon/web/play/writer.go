package play

import (
	"time"

	"github.com/gorilla/websocket"

	"pressbox/game/protocol"
)

// send queues a message and reports whether it was queued. If the queue is full, it closes the socket.
func (k *socket) send(m *protocol.Message) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return false
	}
	select {
	case k.queue <- m:
		return true
	default:
		k.closeLocked(closeSlow)
		return false
	}
}

// close has the writer send a close frame instead of the queued messages, and gives the client [closeTimeout]
// to answer it. The first code counts; 0: the client cannot be written to.
func (k *socket) close(code int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closeLocked(code)
}

// closeLocked is close; k.mu must be held.
func (k *socket) closeLocked(code int) {
	if k.closed {
		return
	}
	k.closed, k.code = true, code
	close(k.queue)
	_ = k.conn.SetReadDeadline(time.Now().Add(closeTimeout)) // the connection may be closed
}

func (k *socket) isClosed() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.closed
}

// writeQueue writes queued messages until the socket is closed, then the close frame.
func (k *socket) writeQueue() {
	for m := range k.queue {
		batch := m.Batch
		if batch == nil {
			batch = []*protocol.Message{m}
		}
		for _, m := range batch {
			if k.isClosed() {
				break
			}
			if err := k.write(m); err != nil {
				k.close(0)
			}
		}
	}
	k.writeClose()
}

// writeClose writes the close frame, if there is a code for it.
func (k *socket) writeClose() {
	if k.code == 0 {
		return // the client closed the connection
	}
	if k.code == closeRestart && !k.byeSent {
		_ = k.write(&protocol.Message{Type: "bye", Data: protocol.Bye{Code: "restart"}}) // the client may be gone
	}
	text := websocket.FormatCloseMessage(k.code, "")
	_ = k.conn.WriteControl(websocket.CloseMessage, text, time.Now().Add(controlTimeout)) // the client may be gone
}

// write writes one message.
func (k *socket) write(m *protocol.Message) error {
	frame, err := k.handlers.prepare(m)
	if err != nil {
		k.handlers.Log().Error("websocket message not encoded", "type", m.Type, "game", m.Game, "rev", m.Revision,
			"err", err)
		return err
	}
	_ = k.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) // never fails
	if err := k.conn.WritePreparedMessage(frame); err != nil {
		return err
	}
	if last, ok := m.Data.(protocol.Bye); ok && last.Code == "restart" {
		k.byeSent = true
		k.close(closeRestart)
	}
	return nil
}
