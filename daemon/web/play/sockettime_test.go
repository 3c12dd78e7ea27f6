package play_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"pressbox/daemon/web/webtest"
)

// bubble runs a test in time that costs none, with a stadium that is served on
// a wire until stop is called.
func bubble(t *testing.T, test func(p *webtest.GamesRig, l *webtest.Wire, stop func() error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		p := webtest.NewGamesRig(t)
		l, stop := p.ServeWire()
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
	bubble(t, func(p *webtest.GamesRig, l *webtest.Wire, _ func() error) {
		t := p.T
		k := p.Player(t, "Anna").DialWire(l)
		ping := func(times int) {
			for range times {
				k.Sendf(`{"t":"ping","d":{"ts":17.5}}`)
				if f := k.Next(); f.T != "pong" || string(f.D) != `{"ts":17.5}` {
					t.Fatalf("answered %s %s", f.T, f.Text)
				}
			}
		}
		ping(40)
		time.Sleep(time.Second)
		ping(20)
		k.Sendf(`{"t":"ping"}`)
		if f := k.Until("closed"); f.Rev != 4429 {
			t.Errorf("one too many: closed with %d", f.Rev)
		}
	})
}

// A websocket's own pings count as frames.
func TestPingsOfTheWebsocketCount(t *testing.T) {
	t.Parallel()
	bubble(t, func(p *webtest.GamesRig, l *webtest.Wire, _ func() error) {
		t := p.T
		k := p.Player(t, "Anna").DialWire(l)
		ponged := make(chan string, 50)
		k.SetPongHandler(func(data string) error {
			ponged <- data
			return nil
		})
		closed := make(chan webtest.Frame, 1)
		go func() { closed <- k.Next() }()
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
	bubble(t, func(p *webtest.GamesRig, l *webtest.Wire, _ func() error) {
		t := p.T
		anna := p.Player(t, "Anna")
		dead, alive := anna.DialWire(l), anna.DialWire(l)
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
		answers := make(chan webtest.Frame, 1)
		for range 10 {
			go func() { answers <- alive.Next() }()
			time.Sleep(40 * time.Second)
			alive.Sendf(`{"t":"ping"}`)
			if f := <-answers; string(f.D) != `{"lag":80}` {
				t.Errorf("the one that lives is told %s", f.Text)
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
	bubble(t, func(p *webtest.GamesRig, l *webtest.Wire, _ func() error) {
		t := p.T
		seat := p.NewTable(t, `{}`)
		slow := p.Player(t, "Carl").DialWire(l)
		slow.Sendf(`{"t":"join","g":%q}`, seat.ID)
		slow.Until("state")
		anna := seat.Home.DialWire(l)
		m := &webtest.Manager{Socket: anna, Replica: webtest.NewReplica(t, seat.Home.Ask("GET", "/api/games/"+seat.ID, "", 200, nil)), Game: seat.ID}
		m.Sit()
		began := time.Now()
		for range 40 {
			m.Command([]byte(`{"a":"pause"}`))
			m.Follow(m.Until("ack"))
			m.Command([]byte(`{"a":"resume"}`))
			m.Follow(m.Until("ack"))
			time.Sleep(100 * time.Millisecond) // as fast as one may
		}
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("others waited for the slow one: it took %s, want 4 s", took)
		}
		heard := 0
		for f := slow.Next(); ; f = slow.Next() {
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
	bubble(t, func(p *webtest.GamesRig, l *webtest.Wire, stop func() error) {
		t := p.T
		anna := p.Player(t, "Anna")
		g := anna.CreateGame(`{}`)
		k := anna.DialWire(l)
		k.Sendf(`{"t":"join","g":%q}`, g.ID)
		k.Until("state")
		unknown := &webtest.Player{Browser: p.Browser(t), T: t, Name: "nobody"}
		n := unknown.DialWire(l)
		stopped := make(chan error, 1)
		began := time.Now()
		go func() { stopped <- stop() }()
		if f := k.Until("bye"); string(f.D) != `{"code":"restart","retry_after":1}` {
			t.Errorf("told %s", f.Text)
		}
		if f := k.Next(); f.Rev != 4001 {
			t.Errorf("closed with %d, want 4001", f.Rev)
		}
		if f := n.Next(); f.Rev != 4001 {
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
	bubble(t, func(p *webtest.GamesRig, l *webtest.Wire, stop func() error) {
		t := p.T
		k := p.Player(t, "Anna").DialWire(l)
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
			for f := k.Next(); f.T != "closed"; f = k.Next() {
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
	bubble(t, func(p *webtest.GamesRig, l *webtest.Wire, _ func() error) {
		t := p.T
		seat := p.NewTable(t, `{}`)
		bert := seat.Away.DialWire(l)
		anna := seat.Home.DialWire(l)
		for _, k := range []*webtest.Socket{bert, anna} {
			k.Sendf(`{"t":"join","g":%q}`, seat.ID)
			k.Until("state")
		}
		seat.Home.Post("/api/auth/logout").Want(204)
		if f := anna.Until("closed"); f.Rev != 4401 {
			t.Errorf("closed with %d, want 4401", f.Rev)
		}
		for f := bert.Until("presence"); !strings.Contains(string(f.D), `"home":{"online":false,`); f = bert.Until("presence") {
		}
		_ = bert.Close()
	})
}

// The announcement of a game that is taken back reaches who watches it; the
// socket stays.
func TestAGameThatIsTakenBack(t *testing.T) {
	t.Parallel()
	bubble(t, func(p *webtest.GamesRig, l *webtest.Wire, _ func() error) {
		t := p.T
		anna := p.Player(t, "Anna")
		g := anna.CreateGame(`{}`)
		k := p.Player(t, "Bert").DialWire(l)
		k.Sendf(`{"t":"join","g":%q}`, g.ID)
		k.Until("state")
		anna.Ask("DELETE", "/api/games/"+g.ID, "", 204, nil)
		if f := k.Until("bye"); f.G != g.ID || string(f.D) != `{"code":"cancelled"}` {
			t.Errorf("told %s", f.Text)
		}
		k.Sendf(`{"t":"ping"}`)
		k.Until("pong")
		k.Sendf(`{"t":"join","g":%q}`, g.ID)
		k.WantNak("unknown_game")
		_ = k.Close()
	})
}

// While a websocket is open the daemon is not quiet, and afterwards it is.
func TestASocketIsTraffic(t *testing.T) {
	t.Parallel()
	bubble(t, func(p *webtest.GamesRig, l *webtest.Wire, _ func() error) {
		t := p.T
		k := p.Player(t, "Anna").DialWire(l)
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
