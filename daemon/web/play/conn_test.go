package play_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"encoding/json"

	"github.com/gorilla/websocket"

	"pressbox/daemon/web/play"
	"pressbox/daemon/web/webtest"
	"pressbox/game/protocol"
)

// tcp returns the two ends of a connection.
func tcp(t *testing.T) (here, there net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if there, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if here, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = here.Close(), there.Close() })
	return here, there
}

// Whoever writes does not wait for a peer that does not read; what was written
// comes in order, once it does.
func TestToWriteIsNotToWait(t *testing.T) {
	t.Parallel()
	here, there := tcp(t)
	freed := make(chan struct{}, 1)
	c := play.NewPromptConn(here, func() { freed <- struct{}{} })
	if !c.Direct() {
		t.Error("the system is not asked: each write wakes a goroutine up")
	}
	var sent bytes.Buffer
	write := func(n int) {
		chunk := bytes.Repeat(fmt.Appendf(nil, "%7d,", sent.Len()), n/8)
		sent.Write(chunk)
		if n, err := c.Write(chunk); n != len(chunk) || err != nil {
			t.Fatalf("%d of %d bytes were written: %v", n, len(chunk), err)
		}
	}
	for write(80); c.Behind(); write(80) {
		t.Fatal("a peer that has read all is behind")
	}
	for !c.Behind() {
		write(64_000)
	}
	write(80)
	got := make([]byte, sent.Len())
	if _, err := io.ReadFull(there, got); err != nil || !bytes.Equal(got, sent.Bytes()) {
		t.Fatalf("what came is not what was written: %v", err)
	}
	<-freed
	if c.Behind() {
		t.Error("all was taken, and it is still behind")
	}
	write(80)
	if _, err := io.ReadFull(there, got[:80]); err != nil || !bytes.Equal(got[:80], sent.Bytes()[sent.Len()-80:]) {
		t.Errorf("what came later is not what was written: %v", err)
	}
}

// A peer that takes nothing for five seconds is hung up on, and who waits for
// it is told.
func TestAPeerThatTakesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		freed := make(chan time.Time, 1)
		c := play.NewPromptConn(here, func() { freed <- time.Now() })
		began := time.Now()
		if _, err := c.Write([]byte("hello")); err != nil || !c.Behind() {
			t.Fatal("it does not wait", err)
		}
		if took := (<-freed).Sub(began); took != 5*time.Second {
			t.Errorf("given up after %s, want 5 s", took)
		}
		if _, err := c.Write([]byte("hello")); err == nil {
			t.Error("it is written to after that")
		}
		if n, err := there.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("the peer reads %d bytes, %v", n, err)
		}
		_ = c.Close()
	})
}

// What was written before closing has a second to be taken.
func TestClosingLetsAPeerFinish(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, slow := range []time.Duration{900 * time.Millisecond, time.Hour} {
			here, there := net.Pipe()
			c := play.NewPromptConn(here, func() {})
			if _, err := c.Write([]byte("bye")); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			closed := make(chan time.Duration, 1)
			go func() {
				_ = c.Close()
				closed <- time.Since(began)
			}()
			time.Sleep(slow)
			heard, err := io.ReadAll(there)
			want, patience := "bye", slow
			if slow > time.Second {
				want, patience = "", time.Second
			}
			if string(heard) != want || err != nil {
				t.Errorf("a peer that begins after %s reads %q: %v", slow, heard, err)
			}
			if took := <-closed; took != patience {
				t.Errorf("closing took %s, want %s", took, patience)
			}
			if _, err := c.Write([]byte("more")); err == nil {
				t.Error("it is written to after closing")
			}
		}
	})
}

// follow joins a crowd on a real network.
func follow(t *testing.T, address string, crowd *play.Crowd) *websocket.Conn {
	t.Helper()
	conn, resp, err := websocket.DefaultDialer.Dial(address, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	<-crowd.Joined
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func openFor(t *testing.T, crowd *play.Crowd) (address string) {
	t.Helper()
	server := httptest.NewServer(crowd)
	t.Cleanup(server.Close)
	return "ws" + strings.TrimPrefix(server.URL, "http")
}

// revision is that of the next message; 0 and a code is the end.
func revision(t *testing.T, conn *websocket.Conn) (rev uint64, code int) {
	t.Helper()
	_, text, err := conn.ReadMessage()
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		return 0, closed.Code
	}
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Rev uint64 }
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	return f.Rev, 0
}

// On a real network, too, nobody waits for a client that does not read: it is
// hung up on when 64 messages wait for it, after all that was sent before.
func TestASlowClientOnANetwork(t *testing.T) {
	t.Parallel()
	crowd := play.NewCrowd(webtest.NewRig(t).Server)
	address := openFor(t, crowd)
	slow, quick := follow(t, address, crowd), follow(t, address, crowd)
	if err := slow.NetConn().(*net.TCPConn).SetReadBuffer(64 << 10); err != nil { // soon full
		t.Fatal(err)
	}
	told := uint64(0)
	tell := func(size int) (took int) {
		told++
		took = crowd.Tell(&protocol.Message{Type: "event", Game: "game", Revision: told, Data: strings.Repeat("x", size)})
		if rev, code := revision(t, quick); rev != told {
			t.Fatalf("the quick one hears %d, %d after %d", rev, code, told-1)
		}
		return took
	}
	for !crowd.Behind() {
		tell(64 << 10)
	}
	for tell(10) == 2 {
		if told > 1000 {
			t.Fatal("the slow one is not hung up on")
		}
	}
	heard := uint64(0)
	rev, code := revision(t, slow)
	for ; code == 0; rev, code = revision(t, slow) {
		if heard++; rev != heard {
			t.Fatalf("the slow one hears %d after %d", rev, heard-1)
		}
	}
	if left := told - heard - 1; left != 64 || code != 4408 {
		t.Errorf("the slow one was hung up on with %d when %d messages waited", code, left)
	}
}

// What several say at the same time is all heard, and of each in its order.
func TestSeveralTellOneSocket(t *testing.T) {
	t.Parallel()
	const tellers, each = 8, 8 // as many as may wait
	crowd := play.NewCrowd(webtest.NewRig(t).Server)
	conn := follow(t, openFor(t, crowd), crowd)
	for range 20 {
		var telling sync.WaitGroup
		for n := range tellers {
			telling.Go(func() {
				for i := range each {
					crowd.Tell(&protocol.Message{Type: "event", Revision: uint64(n*each + i + 1)})
				}
			})
		}
		var next [tellers]int
		for range tellers * each {
			rev, code := revision(t, conn)
			if code != 0 {
				t.Fatalf("hung up on with %d", code)
			}
			n, i := int(rev-1)/each, int(rev-1)%each
			if i != next[n] {
				t.Fatalf("of teller %d it hears %d, want %d", n, i, next[n])
			}
			next[n]++
		}
		telling.Wait()
	}
}
