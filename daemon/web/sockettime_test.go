package web_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

// inTime opens a websocket of a stadium that is in a synctest bubble, over a
// wire on which the stadium is served.
func (f *fan) inTime(l *wire) *line {
	f.t.Helper()
	dialer := websocket.Dialer{NetDialContext: func(context.Context, string, string) (net.Conn, error) { return l.dial(), nil }}
	conn, resp, err := dialer.DialContext(context.Background(), "ws://pressbox.local/api/ws", http.Header{"Cookie": {"pressbox_access=" + f.access()}})
	if err != nil {
		f.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return &line{Conn: conn, t: f.t, schema: frameSchemas()}
}

// bubble runs a test in time that costs none, with a stadium that is served on
// a wire until stop is called.
func bubble(t *testing.T, test func(p *stadium, l *wire, stop func() error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		p := newStadium(t)
		l, stop := p.serve()
		ended := false
		end := func() error {
			ended = true
			return stop()
		}
		test(p, l, end)
		if !ended {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	})
}

// Forty frames at once and twenty a second are answered; one more is hung up on.
func TestHowManyFramesASocketSends(t *testing.T) {
	t.Parallel()
	bubble(t, func(p *stadium, l *wire, _ func() error) {
		t := p.t
		k := p.fan(t, "Anna").inTime(l)
		ping := func(times int) {
			for range times {
				k.say(`{"t":"ping","d":{"ts":17.5}}`)
				if f := k.next(); f.T != "pong" || string(f.D) != `{"ts":17.5}` {
					t.Fatalf("answered %s %s", f.T, f.text)
				}
			}
		}
		ping(40)
		time.Sleep(time.Second)
		ping(20)
		k.say(`{"t":"ping"}`)
		if f := k.until("closed"); f.Rev != 4429 {
			t.Errorf("one too many: closed with %d", f.Rev)
		}
	})
}

// A websocket's own pings count as frames.
func TestPingsOfTheWebsocketCount(t *testing.T) {
	t.Parallel()
	bubble(t, func(p *stadium, l *wire, _ func() error) {
		t := p.t
		k := p.fan(t, "Anna").inTime(l)
		ponged := make(chan string, 50)
		k.SetPongHandler(func(data string) error {
			ponged <- data
			return nil
		})
		closed := make(chan frame, 1)
		go func() { closed <- k.next() }()
		for range 41 {
			if err := k.WriteControl(websocket.PingMessage, []byte("x"), time.Now().Add(time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		if f := <-closed; f.Rev != 4429 || len(ponged) != 40 || <-ponged != "x" {
			t.Errorf("%d were answered, and then it was closed with %d", len(ponged)+1, f.Rev)
		}
	})
}

// Who gives no sign of life for 25 seconds is hung up on, and who answers pings
// is not, and is told how long it took.
func TestSignsOfLife(t *testing.T) {
	t.Parallel()
	bubble(t, func(p *stadium, l *wire, _ func() error) {
		t := p.t
		anna := p.fan(t, "Anna")
		dead, alive := anna.inTime(l), anna.inTime(l)
		dead.SetPingHandler(func(string) error { return nil })
		alive.SetPingHandler(func(data string) error {
			time.Sleep(80 * time.Millisecond)
			return alive.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Second))
		})
		began := time.Now()
		over := make(chan time.Duration, 1)
		go func() {
			_, _, _ = dead.ReadMessage() // until the end
			over <- time.Since(began)
		}()
		answers := make(chan frame, 1)
		for range 10 {
			go func() { answers <- alive.next() }()
			time.Sleep(40 * time.Second)
			alive.say(`{"t":"ping"}`)
			if f := <-answers; string(f.D) != `{"lag":80}` {
				t.Errorf("the one that lives is told %s", f.text)
			}
		}
		if took := <-over; took != 25*time.Second {
			t.Errorf("the dead one was hung up on after %s, want 25 s", took)
		}
		_ = alive.Close()
	})
}

// A client that does not read is hung up on when 64 messages wait for it, and
// nobody else waits for it.
func TestASlowClientIsHungUpOn(t *testing.T) {
	t.Parallel()
	bubble(t, func(p *stadium, l *wire, _ func() error) {
		t := p.t
		seat := p.newTable(t, `{}`)
		slow := p.fan(t, "Carl").inTime(l)
		slow.say(`{"t":"join","g":%q}`, seat.id)
		slow.until("state")
		anna := seat.anna.inTime(l)
		m := &manager{line: anna, Replica: newReplica(t, seat.anna.ask("GET", "/api/games/"+seat.id, "", 200, nil)), game: seat.id}
		m.sit()
		began := time.Now()
		for range 40 {
			m.command([]byte(`{"a":"pause"}`))
			m.follow(m.until("ack"))
			m.command([]byte(`{"a":"resume"}`))
			m.follow(m.until("ack"))
			time.Sleep(100 * time.Millisecond) // as fast as one may
		}
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("others waited for the slow one: it took %s, want 4 s", took)
		}
		heard := 0
		for f := slow.next(); ; f = slow.next() {
			if f.T == "closed" {
				if f.Rev != 4408 {
					t.Errorf("the slow one was hung up on with %d", f.Rev)
				}
				break
			}
			heard++
		}
		if heard > 65 {
			t.Errorf("it heard %d more", heard)
		}
	})
}

// When the daemon stops, every socket is told to come back, also one that has
// not said who it is, and Serve waits for them.
func TestTheStopIsToldToSockets(t *testing.T) {
	t.Parallel()
	bubble(t, func(p *stadium, l *wire, stop func() error) {
		t := p.t
		anna := p.fan(t, "Anna")
		g := anna.create(`{}`)
		k := anna.inTime(l)
		k.say(`{"t":"join","g":%q}`, g.ID)
		k.until("state")
		unknown := &fan{p.browser(t), t, "nobody"}
		n := unknown.inTime(l)
		stopped := make(chan error, 1)
		began := time.Now()
		go func() { stopped <- stop() }()
		if f := k.until("bye"); string(f.D) != `{"code":"restart","retry_after":1}` {
			t.Errorf("told %s", f.text)
		}
		if f := k.next(); f.Rev != 4001 {
			t.Errorf("closed with %d, want 4001", f.Rev)
		}
		if f := n.next(); f.Rev != 4001 {
			t.Errorf("who is unknown is hung up on with %d, want 4001", f.Rev)
		}
		_, _ = k.Close(), n.Close()
		if err := <-stopped; err != nil || time.Since(began) > 3*time.Second {
			t.Errorf("stopped after %s: %v", time.Since(began), err)
		}
	})
}

// A client that is told to come back, and instead of that goes on to give signs
// of life, does not hold up the stop.
func TestAStopDoesNotWaitForPongs(t *testing.T) {
	t.Parallel()
	bubble(t, func(p *stadium, l *wire, stop func() error) {
		t := p.t
		k := p.fan(t, "Anna").inTime(l)
		k.SetCloseHandler(func(int, string) error { return nil }) // it says no goodbye
		var living sync.WaitGroup
		living.Go(func() {
			for range 60 {
				if k.WriteControl(websocket.PongMessage, nil, time.Now().Add(time.Second)) != nil {
					return
				}
				time.Sleep(time.Second)
			}
		})
		living.Go(func() {
			for f := k.next(); f.T != "closed"; f = k.next() {
			}
		})
		time.Sleep(10 * time.Second)
		began := time.Now()
		if err := stop(); err != nil || time.Since(began) > 3*time.Second {
			t.Errorf("stopped after %s: %v", time.Since(began), err)
		}
		living.Wait()
	})
}

// A session that ends ends its sockets, and its manager is gone; the other
// session of the same person stays.
func TestASessionsEndEndsItsSockets(t *testing.T) {
	t.Parallel()
	bubble(t, func(p *stadium, l *wire, _ func() error) {
		t := p.t
		seat := p.newTable(t, `{}`)
		bert := seat.bert.inTime(l)
		anna := seat.anna.inTime(l)
		for _, k := range []*line{bert, anna} {
			k.say(`{"t":"join","g":%q}`, seat.id)
			k.until("state")
		}
		seat.anna.post("/api/auth/logout").want(204)
		if f := anna.until("closed"); f.Rev != 4401 {
			t.Errorf("closed with %d, want 4401", f.Rev)
		}
		for f := bert.until("presence"); !strings.Contains(string(f.D), `"home":{"online":false,`); f = bert.until("presence") {
		}
		_ = bert.Close()
	})
}

// The announcement of a game that is taken back reaches who watches it; the
// socket stays.
func TestAGameThatIsTakenBack(t *testing.T) {
	t.Parallel()
	bubble(t, func(p *stadium, l *wire, _ func() error) {
		t := p.t
		anna := p.fan(t, "Anna")
		g := anna.create(`{}`)
		k := p.fan(t, "Bert").inTime(l)
		k.say(`{"t":"join","g":%q}`, g.ID)
		k.until("state")
		anna.ask("DELETE", "/api/games/"+g.ID, "", 204, nil)
		if f := k.until("bye"); f.G != g.ID || string(f.D) != `{"code":"cancelled"}` {
			t.Errorf("told %s", f.text)
		}
		k.say(`{"t":"ping"}`)
		k.until("pong")
		k.say(`{"t":"join","g":%q}`, g.ID)
		k.refused("unknown_game")
		_ = k.Close()
	})
}

// While a websocket is open the daemon is not quiet, and afterwards it is.
func TestASocketIsTraffic(t *testing.T) {
	t.Parallel()
	bubble(t, func(p *stadium, l *wire, _ func() error) {
		t := p.t
		k := p.fan(t, "Anna").inTime(l)
		go func() { _, _, _ = k.ReadMessage() }() // answers pings
		time.Sleep(50 * time.Second)
		if quiet := p.Idle(); quiet != 0 {
			t.Errorf("quiet for %s while a websocket is open", quiet)
		}
		_ = k.Close()
		synctest.Wait()
		time.Sleep(time.Minute)
		if quiet := p.Idle(); quiet != time.Minute {
			t.Errorf("quiet for %s a minute after it was closed", quiet)
		}
	})
}
