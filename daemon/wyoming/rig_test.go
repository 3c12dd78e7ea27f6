package wyoming_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/daemon/wyoming"
	"pressbox/packaging/check"
)

// A rig is a Wyoming server beside the HTTP server with which it shares its limits.
type rig struct {
	*webtest.Rig
	wire *webtest.Wire
	stop func() error // ends Serve and returns its result
}

// inBubble runs a test in a synctest bubble with a rig. change may alter the configuration.
func inBubble(t *testing.T, change func(*wyoming.Config, *site.Config), test func(r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		var c wyoming.Config
		web := webtest.NewRig(t, func(s *site.Config) { change(&c, s) })
		installed := []wyoming.Voice{{
			Name: webtest.Voice, Label: "Ballpark (English, US)", Language: "en_US", License: "MIT",
			Speakers: []string{"p225"}, SampleRate: 22050,
		}}
		if c.Speaker == nil {
			c.Speaker = web.Speaker
		}
		c.Version, c.Check, c.Voices = "1.2.3", web.Announcer.CheckSpeech, func() []wyoming.Voice { return installed }
		c.Posts, c.Speeches, c.Track = web.Posts(), web.Config.OpenAI.Speeches, web.Track
		c.Log = slog.New(slog.NewTextHandler(web.Log, nil))
		r := &rig{Rig: web, wire: webtest.NewWire()}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- wyoming.New(c).Serve(ctx, r.wire) }()
		r.stop = sync.OnceValue(func() error {
			cancel()
			return <-ended
		})
		defer func() { check.NoError(t, r.stop()) }()
		test(r)
	})
}

func unchanged(*wyoming.Config, *site.Config) {}

// A peer is the client's end of a connection.
type peer struct {
	net.Conn
	tb testing.TB
	in *bufio.Reader
}

// dial connects from the local network.
func (r *rig) dial() *peer { return r.dialFrom("192.168.1.20:40000") }

func (r *rig) dialFrom(address string) *peer {
	here, there := net.Pipe()
	r.wire.Conns <- addrConn{there, address}
	r.T.Cleanup(func() { _ = here.Close() }) // the server may have closed its end
	return &peer{here, r.T, bufio.NewReader(here)}
}

// An addrConn is a connection from an address.
type addrConn struct {
	net.Conn
	address string
}

func (c addrConn) RemoteAddr() net.Addr { return webtest.Address(c.address) }

// write sends bytes; the server may close the connection meanwhile.
func (p *peer) write(text string) { _, _ = io.WriteString(p, text) }

// send sends an event as the protocol's reference implementation does.
func (p *peer) send(kind, data string) {
	if data == "" {
		p.write(fmt.Sprintf("{\"type\": %q, \"version\": \"1.9.0\"}\n", kind))
		return
	}
	p.write(fmt.Sprintf("{\"type\": %q, \"version\": \"1.9.0\", \"data_length\": %d}\n%s", kind, len(data), data))
}

// An event is one that the server sent: its bytes without the payload, and the payload.
type event struct {
	kind, text string
	payload    []byte
}

// next returns the next event; false at the end of the connection.
func (p *peer) next() (e event, ok bool) {
	p.tb.Helper()
	line, err := p.in.ReadString('\n')
	if err != nil {
		return e, false
	}
	var header struct {
		Type          string `json:"type"`
		DataLength    int    `json:"data_length"`
		PayloadLength int    `json:"payload_length"`
	}
	check.NoError(p.tb, json.Unmarshal([]byte(line), &header))
	data, payload := make([]byte, header.DataLength), make([]byte, header.PayloadLength)
	check.Must(io.ReadFull(p.in, data))(p.tb)
	check.Must(io.ReadFull(p.in, payload))(p.tb)
	return event{header.Type, line + string(data), payload}, true
}

// want ends the test unless the next event is of a kind, and returns it.
func (p *peer) want(kind string) event {
	p.tb.Helper()
	e, ok := p.next()
	if !ok || e.kind != kind {
		p.tb.Fatalf("event %q %s, want %s", e.kind, e.text, kind)
	}
	return e
}

// speech reads audio-start to audio-stop, and returns the number of samples.
func (p *peer) speech() (samples int) {
	p.tb.Helper()
	p.want("audio-start")
	for {
		e, ok := p.next()
		switch {
		case ok && e.kind == "audio-chunk":
			samples += len(e.payload) / 2
		case ok && e.kind == "audio-stop":
			return samples
		default:
			p.tb.Fatalf("event %q %s, want audio-chunk or audio-stop", e.kind, e.text)
		}
	}
}

// refused reads an error event with a code, and the end of the connection.
func (p *peer) refused(code string) {
	p.tb.Helper()
	if e := p.want("error"); !strings.Contains(e.text, fmt.Sprintf("%q:%q", "code", code)) {
		p.tb.Errorf("%s, want code %s", e.text, code)
	}
	p.ended()
}

// ended reads the end of the connection.
func (p *peer) ended() {
	p.tb.Helper()
	if e, ok := p.next(); ok {
		p.tb.Errorf("event %s, want the end of the connection", e.text)
	}
}
