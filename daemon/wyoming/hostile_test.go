package wyoming_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/daemon/web/webtest"
	"pressbox/daemon/wyoming"
	"pressbox/daemon/wyoming/frame"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
)

// What is not in the protocol ends the connection, at once.
func TestServer_malformed(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		for _, tt := range []struct{ name, bytes, code string }{
			{"a header without an end", strings.Repeat(" ", frame.MaxHeader+4096), "too_large"},
			{"endless data", `{"type": "synthesize", "data_length": 1000000000}` + "\n", "too_large"},
			{"an endless payload", `{"type": "synthesize", "payload_length": 1000000000}` + "\n", "too_large"},
			{"no JSON", "describe\n", "malformed"},
			{
				"a request of a browser",
				"POST / HTTP/1.1\r\nHost: pressbox.local:10200\r\n\r\n" +
					`{"type": "synthesize", "data": {"text": "one"}}` + "\n",
				"malformed",
			},
			{"a text that is none", `{"type": "synthesize", "data": {"text": 1}}` + "\n", "malformed"},
			{"a ping that is none", `{"type": "ping", "data": {"text": []}}` + "\n", "malformed"},
			{"a chunk that is none", `{"type": "synthesize-chunk", "data": {"text": {}}}` + "\n", "malformed"},
			{
				"a long text",
				`{"type": "synthesize", "data": {"text": "` + strings.Repeat("one ", 2000) + `"}}` + "\n", "too_long",
			},
		} {
			p := r.dial()
			go p.write(tt.bytes)
			began := time.Now()
			p.refused(tt.code)
			if took := time.Since(began); took != 0 {
				r.T.Errorf("%s: closed after %v", tt.name, took)
			}
		}
	})
}

// A stream has at most as many chunks as its text may have characters, also empty ones.
func TestServer_maxChunks(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		p := r.dial()
		p.send("synthesize-start", "")
		for range announce.MaxMessage {
			p.send("synthesize-chunk", `{"text": ""}`)
		}
		p.send("ping", "")
		p.want("pong")
		go p.send("synthesize-chunk", `{"text": ""}`)
		p.refused("too_long")
	})
}

// A client that does not go on is disconnected, and its goroutine ends.
func TestServer_timeouts(t *testing.T) {
	const start = `{"type": "synthesize-start"}` + "\n"
	for _, tt := range []struct {
		name, bytes string
		after       time.Duration
	}{
		{"silence", "", 2 * time.Minute},
		{"half a header", `{"type": "syn`, 10 * time.Second},
		{"half of the data", `{"type": "synthesize", "data_length": 100}` + "\n" + `{"text": "`, 10 * time.Second},
		{"half a payload", `{"type": "x", "payload_length": 100000}` + "\n" + `x`, 10 * time.Second},
		{"a stream without an end", start, 2 * time.Minute},
		{"half a frame in a stream", start + `{`, 10 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, unchanged, func(r *rig) {
				began, p := time.Now(), r.dial()
				p.write(tt.bytes)
				p.ended()
				if took := time.Since(began); took != tt.after {
					r.T.Errorf("closed after %v, want %v", took, tt.after)
				}
			})
		})
	}
}

// Only requests keep a connection open.
func TestServer_unknownTypes(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		began, p := time.Now(), r.dial()
		for range 3 {
			time.Sleep(time.Minute)
			p.send("ping", "")
			p.want("pong")
		}
		var writing sync.WaitGroup
		writing.Go(func() {
			for err := error(nil); err == nil; {
				time.Sleep(9 * time.Second)
				_, err = fmt.Fprintln(p, `{"type": "x"}`)
			}
		})
		p.ended()
		defer writing.Wait()
		if took := time.Since(began); took != 5*time.Minute {
			r.T.Errorf("closed after %v, want 5m", took)
		}
	})
}

// A client has 1.2 times the duration of the speech so far and 5 seconds to read it. A slow one gives its
// speech slot back.
func TestServer_slowReader(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		r.Speaker.Slow = 600 // each clip lasts a minute
		p := r.dial()
		p.send("synthesize", `{"text": "one two"}`)
		p.want("audio-start")
		began := time.Now()
		time.Sleep(77*time.Second - time.Nanosecond)
		p.want("audio-chunk")
		r.Do(r.T, "POST", "/v1/audio/speech", `{"input": "x"}`).Want(429, "too_many_requests")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		r.Do(r.T, "POST", "/v1/audio/speech", `{"input": "x"}`).Want(200, "")
		for ok := true; ok; { // what was in the reader
			_, err := p.in.ReadByte()
			ok = err == nil
		}
		if took := time.Since(began); took != 77*time.Second {
			r.T.Errorf("closed after %v, want 77s", took)
		}

		p = r.dial() // one that plays the speech as it arrives
		p.send("synthesize", `{"text": "one two"}`)
		p.want("audio-start")
		samples := 0
		for {
			e, _ := p.next()
			if e.kind != "audio-chunk" {
				break
			}
			samples += len(e.payload) / 2
			time.Sleep(time.Duration(len(e.payload)/2) * time.Second / 22050)
		}
		if want := 2 * 60 * 22050; samples != want {
			r.T.Errorf("%d samples, want %d", samples, want)
		}

		p = r.dial() // does not read a response that is no speech
		began = time.Now()
		p.send("describe", "")
		synctest.Wait()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		p.ended()
		if took := time.Since(began); took != 5*time.Second {
			r.T.Errorf("closed after %v, want 5s", took)
		}
	})
}

// One address may open 16 connections, loopback any number, all together 64.
func TestServer_maxConns(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		open := func(address string) bool {
			p := r.dialFrom(address)
			p.send("ping", "")
			_, ok := p.next()
			return ok
		}
		for i := range 17 {
			if got, want := open("192.168.1.20:1"), i < 16; got != want {
				r.T.Errorf("connection %d of an address: %t, want %t", i+1, got, want)
			}
		}
		for i := range 49 {
			if got, want := open("127.0.0.1:1"), i < 48; got != want {
				r.T.Errorf("connection %d of all: %t, want %t", i+17, got, want)
			}
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if !open("192.168.1.20:1") {
			r.T.Error("refused although all connections were closed")
		}
	})
}

// When the server stops, idle connections end at once, and speech has five seconds.
func TestServer_stop(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		r.Speaker.Gate = make(chan struct{})
		idle, half, short, long := r.dial(), r.dial(), r.dialFrom("192.168.1.21:1"), r.dialFrom("192.168.1.22:1")
		half.write("{")
		for _, p := range []*peer{short, long} {
			p.send("synthesize", `{"text": "one"}`)
		}
		synctest.Wait()
		if r.Idle() != 0 {
			r.T.Error("idle with open connections")
		}
		began, stopped := time.Now(), make(chan error)
		go func() { stopped <- r.stop() }()
		idle.ended()
		half.ended()
		r.Speaker.Gate <- struct{}{}
		spoken := make(chan bool)
		for _, p := range []*peer{short, long} {
			go func() {
				_, ok := p.next()
				for more := ok; more; {
					_, more = p.next()
				}
				spoken <- ok
			}()
		}
		if first, second := <-spoken, <-spoken; !first || second {
			r.T.Errorf("spoken: %t and %t, want the one within five seconds", first, second)
		}
		check.NoError(r.T, <-stopped)
		if took := time.Since(began); took != 5*time.Second {
			r.T.Errorf("stopped after %v, want 5s", took)
		}
	})
}

// A listener that fails ends the server.
func TestServer_listenerError(t *testing.T) {
	t.Parallel()
	l := webtest.NewWire()
	l.Close()
	for _, serve := range []func(context.Context, net.Listener) error{
		wyoming.New(wyoming.Config{}).Serve, wyoming.Refuse,
	} {
		if err := serve(t.Context(), l); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a closed listener: %v", err)
		}
	}
}

// Nothing is served on a socket that systemd passes to a server with WYOMING=off.
func TestRefuse_closes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := webtest.NewWire()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- wyoming.Refuse(ctx, l) }()
		for range 3 {
			if n, err := l.Dial().Read(make([]byte, 1)); n != 0 || err == nil {
				t.Errorf("read %d bytes, %v", n, err)
			}
		}
		cancel()
		check.NoError(t, <-ended)
	})
}
