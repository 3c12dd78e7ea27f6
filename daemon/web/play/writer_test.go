package play_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"pressbox/daemon/web/play"
	"pressbox/daemon/web/webtest"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// small is the size of buffers that are soon full: a write to a client that does not read must not time out
// before its queue is full, also on a slow host.
const small = 16 << 10

// serveBroadcaster returns a broadcaster and a function that opens a websocket to it over a network.
func serveBroadcaster(t *testing.T) (b *play.Broadcaster, open func() *websocket.Conn) {
	t.Helper()
	b = play.NewBroadcaster(webtest.NewRig(t).Server)
	server := httptest.NewUnstartedServer(b)
	server.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		check.NoError(t, conn.(*net.TCPConn).SetWriteBuffer(small))
		return ctx
	}
	server.Start()
	t.Cleanup(server.Close)
	return b, func() *websocket.Conn {
		t.Helper()
		conn, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http"), nil)
		check.NoError(t, err)
		_ = resp.Body.Close()
		<-b.Opened
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
}

// nextRevision returns that of the next message, or 0 and a close code.
func nextRevision(t *testing.T, conn *websocket.Conn) (rev uint64, code int) {
	t.Helper()
	_, text, err := conn.ReadMessage()
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		return 0, closed.Code
	}
	check.NoError(t, err)
	var f struct{ Rev uint64 }
	check.NoError(t, json.Unmarshal(text, &f))
	return f.Rev, 0
}

// A client that does not read is closed with 4408 when 64 messages are queued for it, after it has received
// all that were written; others do not wait. The writer may hold one more, taken from the queue and not yet
// written, when the socket closes: seldom, so that not every one of several clients finds it so.
func TestSocketSend_slowClient(t *testing.T) {
	t.Parallel()
	for range 5 {
		queued, code := fillQueue(t)
		check.Require(t, code == 4408 && queued >= 64 && queued <= 65,
			"the slow client was closed with %d when %d messages were queued, want 4408 and 64", code, queued)
		if queued == 64 {
			return
		}
	}
	t.Error("65 messages were queued for each of 5 slow clients, want 64")
}

// fillQueue sends messages to a client that does not read and to one that does, until the former is closed.
// It returns how many messages the former has lost, without the one that was too many, and the code with
// which it was closed.
func fillQueue(t *testing.T) (queued uint64, code int) {
	t.Helper()
	b, open := serveBroadcaster(t)
	slow, fast := open(), open()
	check.NoError(t, slow.NetConn().(*net.TCPConn).SetReadBuffer(small))
	sent, text := uint64(0), strings.Repeat("x", small)
	for took := 2; took == 2; {
		sent++
		check.Require(t, sent <= 1000, "the slow client is not closed")
		took = b.Send(&protocol.Message{Type: "event", Game: "game", Revision: sent, Data: text})
		if rev, code := nextRevision(t, fast); rev != sent {
			t.Fatalf("the fast client received revision %d, code %d after %d", rev, code, sent-1)
		}
	}
	received := uint64(0)
	rev, code := nextRevision(t, slow)
	for ; code == 0; rev, code = nextRevision(t, slow) {
		received++
		check.Require(t, rev == received, "the slow client received revision %d after %d", rev, received-1)
	}
	return sent - received - 1, code
}

// Concurrent senders' messages all arrive, each sender's in its order.
func TestSocketSend_concurrent(t *testing.T) {
	t.Parallel()
	const senders, each = 8, 8 // as many as the queue holds
	b, open := serveBroadcaster(t)
	conn := open()
	for range 20 {
		var sending sync.WaitGroup
		for n := range senders {
			sending.Go(func() {
				for i := range each {
					b.Send(&protocol.Message{Type: "event", Revision: uint64(n*each + i + 1)})
				}
			})
		}
		var next [senders]int
		for range senders * each {
			rev, code := nextRevision(t, conn)
			check.Require(t, code == 0, "closed with %d", code)
			n, i := int(rev-1)/each, int(rev-1)%each
			check.Require(t, i == next[n], "message %d of sender %d arrived, want %d", i, n, next[n])
			next[n]++
		}
		sending.Wait()
	}
}
