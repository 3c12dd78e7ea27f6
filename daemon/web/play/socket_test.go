package play_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"pressbox/daemon/web/play"
	"pressbox/daemon/web/webtest"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// An invalid or illegal frame is answered with a nak and changes neither its game nor another one.
func TestSocket_refusedFrames(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	seat := p.NewMatch(t, `{}`)
	other := p.NewMatch(t, `{}`)
	anna, bert := seat.Home.Manage(address, seat.ID).JoinState(), seat.Away.Manage(address, seat.ID).JoinState()
	carl := p.Player(t, "Carl").Manage(address, seat.ID).JoinState()
	swing, pitch := anna, bert // the sides at bat and in the field
	if !strings.Contains(string(anna.Legal[0].Action), "offense") {
		swing, pitch = bert, anna
	}
	before, otherBefore := seat.State(t), other.State(t)
	cmd := func(action string) string {
		return fmt.Sprintf(`{"t":"cmd","g":%q,"cid":"x","rev":%d,"d":{"action":%s}}`, seat.ID, anna.Rev, action)
	}
	good := string(swing.Legal[0].Action)
	future := strings.Replace(cmd(good), fmt.Sprintf(`"rev":%d`, anna.Rev), `"rev":999`, 1)
	for _, tt := range []struct {
		name, frame, code string
		from              *webtest.Manager
	}{
		{"not JSON", `hello`, "malformed", anna},
		{"array", `[]`, "malformed", anna},
		{"empty", ``, "malformed", anna},
		{"unknown member", `{"t":"ping","x":1}`, "malformed", anna},
		{"unknown type", `{"t":"chat"}`, "unknown_type", anna},
		{"too long", `{"t":"ping"` + strings.Repeat(" ", 8<<10) + `}`, "too_large", anna},
		{"join without a game", `{"t":"join"}`, "malformed", anna},
		{"join an unknown game", `{"t":"join","g":"nowhere"}`, "unknown_game", anna},
		{"sync before join", fmt.Sprintf(`{"t":"sync","g":%q}`, other.ID), "not_joined", anna},
		{"command before join", strings.Replace(cmd(good), seat.ID, other.ID, 1), "not_joined", swing},
		{"no action", fmt.Sprintf(`{"t":"cmd","g":%q,"cid":"x","rev":1}`, seat.ID), "malformed", swing},
		{"unknown action", cmd(`{"a":"win"}`), "malformed", swing},
		{"unknown member of an action", cmd(strings.Replace(good, `{`, `{"x":1,`, 1)), "malformed", swing},
		{"the other side's decision", cmd(good), "not_your_side", pitch},
		{"spectator", cmd(good), "forbidden", carl},
		{"future revision", future, "stale_revision", swing},
	} {
		check.NoError(t, tt.from.WriteMessage(websocket.TextMessage, []byte(tt.frame)))
		check.Equal(t, tt.from.Until("nak", "ack", "pong", "state").Code(), tt.code, "%s", tt.name)
	}
	check.NoError(t, anna.WriteMessage(websocket.BinaryMessage, []byte(`{"t":"ping"}`)))
	anna.WantNak("malformed")
	check.Equal(t, seat.State(t), before, "the game")
	check.Equal(t, other.State(t), otherBefore, "another game")
	swing.Sendf("%s", cmd(good))
	check.Equal(t, swing.Until("nak", "ack").T, "ack", "the legal action")
}

// The limit of a frame is 8 KiB; one of more than 64 KiB closes the connection.
func TestSocket_frameLength(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	k := p.Player(t, "Anna").Dial(p.Open(t))
	sendPing := func(length int) {
		const text = `{"t":"ping"}`
		k.Sendf("%s", text+strings.Repeat(" ", length-len(text)))
	}
	sendPing(8 << 10)
	check.Equal(t, k.Next().T, "pong", "8 KiB")
	for _, length := range []int{8<<10 + 1, 64 << 10} {
		sendPing(length)
		k.WantNak("too_large")
	}
	sendPing(64<<10 + 1)
	f := k.Next()
	check.That(t, f.T == "closed" && f.Rev == websocket.CloseMessageTooBig, "64 KiB and a byte: %s %d", f.T, f.Rev)
}

// A socket joins at most sixteen games at the same time.
func TestSocketJoin_limit(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	anna := p.Player(t, "Anna")
	k := anna.Dial(p.Open(t))
	var ids []string
	for range 17 {
		ids = append(ids, anna.CreateGame(`{}`).ID)
	}
	for _, id := range ids[:16] {
		join(k, id)
	}
	k.Sendf(`{"t":"join","g":%q}`, ids[16])
	k.WantNak("rate_limited")
	join(k, ids[3]) // joined already
	k.Sendf(`{"t":"leave","g":%q}`, ids[0])
	k.Sendf(`{"t":"join","g":%q}`, ids[16])
	f := k.Until("state", "nak")
	check.That(t, f.T == "state" && f.G == ids[16], "after leaving one: answer %s", f.Text)
}

// Forty frames at once and twenty per second are answered; one more closes the socket with 4429.
func TestSocket_rateLimit(t *testing.T) {
	webtest.InBubble(t, webtest.NewGamesRig, func(p *webtest.Rig, l *webtest.Wire) {
		k := p.Player(p.T, "Anna").DialWire(l)
		ping := func(times int) {
			for range times {
				k.Sendf(`{"t":"ping","d":{"ts":17.5}}`)
				f := k.Next()
				check.Require(p.T, f.T == "pong" && string(f.D) == `{"ts":17.5}`, "answer %s %s", f.T, f.Text)
			}
		}
		ping(40)
		time.Sleep(time.Second)
		ping(20)
		go func() {
			for range 10 { // the first one closes the socket, the others are discarded
				if k.WriteMessage(websocket.TextMessage, []byte(`{"t":"ping"}`)) != nil {
					return
				}
			}
		}()
		check.Equal(p.T, k.Until("closed").Rev, 4429, "too many frames: close code")
	})
}

// The websocket's own pings count as frames.
func TestSocket_pingRateLimit(t *testing.T) {
	webtest.InBubble(t, webtest.NewGamesRig, func(p *webtest.Rig, l *webtest.Wire) {
		k := p.Player(p.T, "Anna").DialWire(l)
		pongs := make(chan string, 50)
		k.SetPongHandler(func(data string) error {
			pongs <- data
			return nil
		})
		closed := make(chan webtest.Frame, 1)
		go func() { closed <- k.Next() }()
		for range 41 {
			check.NoError(p.T, k.WriteControl(websocket.PingMessage, []byte("x"), time.Now().Add(time.Second)))
		}
		check.Equal(p.T, (<-closed).Rev, 4429, "close code")
		check.Equal(p.T, len(pongs), 40, "pongs")
		check.Equal(p.T, <-pongs, "x", "the first pong")
	})
}

// A client that answers no pings is closed after 25 seconds; one that does stays and receives its lag.
func TestSocket_pings(t *testing.T) {
	webtest.InBubble(t, webtest.NewGamesRig, func(p *webtest.Rig, l *webtest.Wire) {
		anna := p.Player(p.T, "Anna")
		dead, alive := anna.DialWire(l), anna.DialWire(l)
		dead.SetPingHandler(func(string) error { return nil })
		alive.SetPingHandler(func(data string) error {
			time.Sleep(80 * time.Millisecond)
			return alive.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Second))
		})
		began := time.Now()
		closed := make(chan time.Duration, 1)
		go func() {
			_, _, _ = dead.ReadMessage() // until it is closed
			closed <- time.Since(began)
		}()
		answers := make(chan webtest.Frame, 1)
		for range 10 {
			go func() { answers <- alive.Next() }()
			time.Sleep(40 * time.Second)
			alive.Sendf(`{"t":"ping"}`)
			check.Equal(p.T, string((<-answers).D), `{"lag":80}`, "the live client received")
		}
		check.Equal(p.T, <-closed, 25*time.Second, "the dead client was closed after")
		_ = alive.Close()
	})
}

// A client that takes nothing at all is closed when 64 messages wait for it, before the time limit of a
// write, and no other client waits for it.
func TestSocket_stuckClient(t *testing.T) {
	webtest.InBubble(t, webtest.NewGamesRig, func(p *webtest.Rig, l *webtest.Wire) {
		seat := p.NewMatch(p.T, `{"turn_seconds": 0}`)
		stuck := p.Player(p.T, "Dora").DialWire(l)
		join(stuck, seat.ID)
		anna := seat.Home.DialWire(l)
		m := &webtest.Manager{
			Socket: anna, Replica: webtest.NewReplica(p.T, seat.Home.Ask("GET", "/api/games/"+seat.ID, "", 200, nil)),
			Game: seat.ID,
		}
		m.JoinState()
		began := time.Now()
		for range 40 {
			for _, action := range []string{`{"a":"pause"}`, `{"a":"resume"}`} {
				m.Command([]byte(action))
				m.Follow(m.Until("ack"))
			}
			time.Sleep(100 * time.Millisecond) // the rate limit
		}
		check.Equal(p.T, time.Since(began), 4*time.Second, "the others took")
		f, frames := stuck.Next(), 0 // the first one was being written
		for ; f.T != "closed" && frames < 80; frames++ {
			f = stuck.Next()
		}
		check.That(p.T, f.Rev == 4408 && frames == 1,
			"the stuck client received %d frames, then %s %d; want 1, then closed 4408", frames, f.T, f.Rev)
	})
}

// When the server stops, every socket is closed with 4001, unauthenticated ones too, and Serve waits for them.
func TestSocket_serverStops(t *testing.T) {
	webtest.InBubble(t, webtest.NewGamesRig, func(p *webtest.Rig, l *webtest.Wire) {
		anna := p.Player(p.T, "Anna")
		k := anna.DialWire(l)
		join(k, anna.CreateGame(`{}`).ID)
		unknown := &webtest.Player{Browser: p.Browser(p.T), T: t, Name: "unauthenticated"}
		n := unknown.DialWire(l)
		stopped := make(chan error, 1)
		began := time.Now()
		go func() { stopped <- l.Stop() }()
		check.Equal(p.T, string(k.Until("bye").D), `{"code":"restart","retry_after":1}`, "received")
		check.Equal(p.T, k.Next().Rev, 4001, "close code")
		check.Equal(p.T, n.Next().Rev, 4001, "the unauthenticated socket's close code")
		_, _ = k.Close(), n.Close()
		check.NoError(p.T, <-stopped)
		check.That(p.T, time.Since(began) <= 3*time.Second, "stopped after %s", time.Since(began))
	})
}

// Neither a client that goes on sending pongs instead of a close frame delays the stop, nor one that takes no
// more bytes.
func TestSocket_stopDoesNotWait(t *testing.T) {
	webtest.InBubble(t, webtest.NewGamesRig, func(p *webtest.Rig, l *webtest.Wire) {
		anna := p.Player(p.T, "Anna")
		k, stuck := anna.DialWire(l), anna.DialWire(l)
		k.SetCloseHandler(func(int, string) error { return nil })
		var running sync.WaitGroup
		running.Go(func() {
			for range 60 {
				if k.WriteControl(websocket.PongMessage, nil, time.Now().Add(time.Second)) != nil {
					return
				}
				time.Sleep(time.Second)
			}
		})
		running.Go(func() {
			for f := k.Next(); f.T != "closed"; f = k.Next() {
			}
		})
		time.Sleep(10 * time.Second)
		stuck.Sendf(`{"t":"ping"}`) // the pong is not read
		began := time.Now()
		check.NoError(p.T, l.Stop())
		check.That(p.T, time.Since(began) <= 3*time.Second, "stopped after %s", time.Since(began))
		running.Wait()
	})
}

// When a session ends, its sockets are closed with 4401 and its manager goes offline.
func TestSocket_sessionEnds(t *testing.T) {
	webtest.InBubble(t, webtest.NewGamesRig, func(p *webtest.Rig, l *webtest.Wire) {
		seat := p.NewMatch(p.T, `{}`)
		bert, anna := seat.Away.DialWire(l), seat.Home.DialWire(l)
		join(bert, seat.ID)
		join(anna, seat.ID)
		seat.Home.Post("/api/auth/logout").Want(204)
		check.Equal(p.T, anna.Until("closed").Rev, 4401, "close code")
		for !strings.Contains(string(bert.Until("presence").D), `"home":{"online":false,`) {
		}
		_ = bert.Close()
	})
}

// Watchers of a game that is cancelled receive a bye; the socket stays open.
func TestSocket_gameCancelled(t *testing.T) {
	webtest.InBubble(t, webtest.NewGamesRig, func(p *webtest.Rig, l *webtest.Wire) {
		anna := p.Player(p.T, "Anna")
		g := anna.CreateGame(`{}`)
		k := p.Player(p.T, "Bert").DialWire(l)
		join(k, g.ID)
		anna.Ask("DELETE", "/api/games/"+g.ID, "", 204, nil)
		f := k.Until("bye")
		check.That(p.T, f.G == g.ID && string(f.D) == `{"code":"cancelled"}`, "received %s", f.Text)
		k.Sendf(`{"t":"ping"}`)
		k.Until("pong")
		k.Sendf(`{"t":"join","g":%q}`, g.ID)
		k.WantNak("unknown_game")
		_ = k.Close()
	})
}

// The server is idle only from when its last websocket is closed.
func TestSocket_countsAsActivity(t *testing.T) {
	webtest.InBubble(t, webtest.NewGamesRig, func(p *webtest.Rig, l *webtest.Wire) {
		k := p.Player(p.T, "Anna").DialWire(l)
		go func() { _, _, _ = k.ReadMessage() }() // answers pings
		time.Sleep(50 * time.Second)
		check.Equal(p.T, p.Idle(), 0, "idle while a websocket is open")
		_ = k.Close()
		synctest.Wait()
		time.Sleep(time.Minute)
		check.Equal(p.T, p.Idle(), time.Minute, "idle a minute after it was closed")
	})
}

// serveBroadcaster returns a broadcaster and a function that opens a websocket to it, in a synctest bubble.
func serveBroadcaster(t *testing.T) (b *play.Broadcaster, open func() *websocket.Conn) {
	t.Helper()
	b = play.NewBroadcaster(webtest.NewRig(t).Server)
	wire := webtest.NewWire()
	server := &http.Server{Handler: b}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(wire) })
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	dialer := websocket.Dialer{NetDialContext: func(context.Context, string, string) (net.Conn, error) {
		return wire.Dial(), nil
	}}
	return b, func() *websocket.Conn {
		t.Helper()
		conn, resp, err := dialer.Dial("ws://pressbox.local/", nil)
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

// A client that does not read is closed with 4408 when 64 messages are queued for it, after it has received the one
// that was being written; others do not wait.
func TestSocketSend_slowClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, open := serveBroadcaster(t)
		slow, fast := open(), open()
		for sent, took := uint64(0), 2; took == 2; {
			sent++
			check.Require(t, sent <= 66, "the slow client is not closed")
			took = b.Send(&protocol.Message{Type: "event", Game: "game", Revision: sent})
			rev, code := nextRevision(t, fast)
			check.Require(t, rev == sent, "the fast client received revision %d, code %d after %d", rev, code, sent-1)
			synctest.Wait()
			check.That(t, took == 2 || sent == 66, "the slow client is closed at message %d, want 66", sent)
		}
		rev, _ := nextRevision(t, slow)
		check.Equal(t, rev, 1, "the revision that the slow client receives")
		_, code := nextRevision(t, slow)
		check.Equal(t, code, 4408, "the code with which it is closed")
	})
}

// Concurrent senders' messages all arrive, each sender's in its order.
func TestSocketSend_concurrent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
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
	})
}

// A frame is decoded or refused with a documented code. A decoded one is an object that encoding/json decodes
// equally; it has a game, if its type needs one, and a command has an id.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{
		`{"t":"join","g":"x","d":{"since":7}}`,
		`{"t":"cmd","g":"x","cid":"c","rev":3,"d":{"action":{"a":"offense","call":"swing","d":1}}}`,
		`{"t":"ping","d":{"ts":1.5e300,"lag":-0}}`, `{"t":"leave","g":"x"}`, `{"t":"sync","g":"x"}`,
		`{"t":"auth","d":{"token":"x"}}`,
		`{"t":"cmd","g":"x","cid":"c","d":{"action":{"a":"substitute","subs":[{"player_id":"p","slot":1,` +
			`"position":"QB"}]}}}`,
		`{"t":"cmd","g":"x","cid":"\u0000","d":{}}`, `{"T":"ping"}`, `{"t":"ping"}{`, `[]`, `null`, "\xff",
		`{"t":"join","g":"x","d":[]}`,
	} {
		f.Add([]byte(seed))
	}
	known := map[string]bool{"malformed": true, "unknown_type": true, "unknown_game": true}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, code := play.ParseFrame(text)
		if code != "" {
			check.Require(t, known[code], "unknown code %s", code)
			return
		}
		var want struct{ T, G, CID string }
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("decoded, but %v", err)
		}
		check.Require(t, got == (play.Request{Kind: want.T, Game: want.G, CID: want.CID}),
			"decoded %+v, want %+v", got, want)
		invalid := func(r rune) bool { return r < ' ' || r > '~' }
		if got.Kind != "ping" && got.Kind != "auth" && got.Game == "" || got.Kind == "cmd" && got.CID == "" ||
			len(got.Game) > 64 || len(got.CID) > 64 || strings.ContainsFunc(got.CID, invalid) {
			t.Fatalf("not refused: %s", text)
		}
	})
}

// The decoder and the documented schemas accept the same frames.
func TestParseFrame_matchesSchemas(t *testing.T) {
	t.Parallel()
	for _, row := range check.Table(t, "testdata/frames.txt") {
		frame, valid := strings.Replace(row[0], "LONG", strings.Repeat("x", 64), 1), row[1] == "true"
		_, code := play.ParseFrame([]byte(frame))
		check.That(t, (code == "") == valid, "%s: code %q, want valid %t", frame, code, valid)
		value := check.Must(jsonschema.UnmarshalJSON(strings.NewReader(frame)))(t)
		kind, _, _ := strings.Cut(strings.TrimPrefix(frame, `{"t":"`), `"`)
		check.Equal(t, webtest.FrameSchemas()(kind).Validate(value) == nil, valid, "%s: the schema has it valid", frame)
	}
}
