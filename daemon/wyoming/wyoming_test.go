package wyoming_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/audio"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/daemon/wyoming"
	"pressbox/packaging/check"
	"pressbox/voice"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
)

// The bytes of every event.
func TestServer_goldenBytes(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		p := r.dial()
		const format = "\n" + `{"rate":22050,"width":2,"channels":1,"timestamp":null}`
		const start = `{"type":"audio-start","version":"1.9.0","data_length":54}` + format
		const stop = `{"type":"audio-stop","version":"1.9.0","data_length":18}` + "\n" + `{"timestamp":null}`
		const pong = `{"type":"pong","version":"1.9.0","data_length":13}` + "\n" + `{"text":"ü"}`
		for _, tt := range []struct {
			kind, data string
			want       []string
		}{
			{"describe", "", []string{
				`{"type":"info","version":"1.9.0","data_length":458}` + "\n" +
					`{"asr":[],"handle":[],"intent":[],"wake":[],"mic":[],"snd":[],` +
					`"tts":[{"name":"Pressbox kitchen","attribution":{"name":"Pressbox","url":""},` +
					`"installed":true,"description":"Pressbox kitchen","version":"1.2.3",` +
					`"supports_synthesize_streaming":true,"voices":[{"name":"en_US-ballpark-medium",` +
					`"attribution":{"name":"MIT","url":""},"installed":true,"description":"Ballpark (English, US)",` +
					`"version":null,"languages":["en_US","en-US"],"speakers":[{"name":"p225"}]}]}]}`,
			}},
			{"ping", `{"text": "ü"}`, []string{pong}},
			{"synthesize", `{"text": "one", "voice": {"name": "en_US-ballpark-medium"}}`, []string{
				start,
				`{"type":"audio-chunk","version":"1.9.0","data_length":54,"payload_length":4096}` + format,
				`{"type":"audio-chunk","version":"1.9.0","data_length":54,"payload_length":314}` + format,
				stop,
			}},
			{"synthesize", `{"text": " \n"}`, []string{start, stop}},
			{"synthesize-start", `{"voice": null}`, nil},
			{"synthesize-stop", "", []string{start, stop, `{"type":"synthesize-stopped","version":"1.9.0"}` + "\n"}},
			{"transcribe", `{"language": "en"}`, nil}, // of another service
			{"synthesize", `{"text": "one", "voice": {"name": "v"}}`, []string{
				`{"type":"error","version":"1.9.0","data_length":110}` + "\n" +
					`{"text":"voice: voice \"v\" is not installed; installed voices: en_US-ballpark-medium",` +
					`"code":"unknown_voice"}`,
			}},
		} {
			p.send(tt.kind, tt.data)
			for _, want := range tt.want {
				e, ok := p.next()
				check.Require(r.T, ok && e.text == want, "%s %s:\n%q, want\n%q", tt.kind, tt.data, e.text, want)
				quarter := bytes.Repeat([]byte{0, 0x20}, len(e.payload)/2) // of the range, little-endian
				check.That(r.T, bytes.Equal(e.payload, quarter), "%s %s: payload % x", tt.kind, tt.data, e.payload)
			}
		}
		p.ended()
	})
}

// A text is spoken between one audio-start and one audio-stop; the connection stays open.
func TestServer_synthesize(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		p := r.dial()
		for _, data := range []string{
			`{"text": "one two. three"}`, `{"text": "one two. three", "voice": null, "context": null}`,
			`{"text": "one two three", "voice": {"language": "en-US"}}`,
			`{"text": "one two three", "voice": {"language": "fr"}}`,
		} {
			p.send("synthesize", data)
			check.Equal(r.T, p.speech(), 3*2205, "%s: samples of 3 clips", data)
		}
		const logged = "client=192.168.1.20 voice=en_US-ballpark-medium characters=14 "
		check.Contains(r.T, r.LogLine("wyoming request"), logged, "the log's line")
		p.send("synthesize", `{"text": "one", "voice": {"name": "en_US-ballpark-medium", "speaker": "p226"}}`)
		check.Contains(r.T, p.want("error").text, "en_US-ballpark-medium#p226", "the error for another speaker")
	})
}

// A sentence is spoken when it is complete, after the usual pause, and the whole text that is sent again is ignored.
func TestServer_stream(t *testing.T) {
	const pause = 7717 // samples: 0.35 s, and what the voice leaves at its ends
	inBubble(t, unchanged, func(r *rig) {
		p := r.dial()
		for range 2 {
			p.send("synthesize-start", `{"voice": {"name": "en_US-ballpark-medium"}}`)
			for _, chunk := range []string{"One", " two", ". ", "Three. "} {
				p.send("synthesize-chunk", `{"text": "`+chunk+`"}`)
			}
			check.Equal(r.T, p.speech(), 2*2205, "samples of the first sentence")
			p.send("synthesize-chunk", `{"text": "Four five! Six"}`)
			check.Equal(r.T, p.speech(), pause+3*2205, "samples of two sentences")
			p.send("synthesize-chunk", `{"text": "\ud83d\ude42. "}`) // the face has no speech of its own
			p.send("synthesize", `{"text": "One two. Three. Four five! Six"}`)
			p.send("ping", "")
			p.want("pong")
			p.send("synthesize-stop", "{}")
			check.Equal(r.T, p.speech(), pause+2205, "samples of the rest")
			p.want("synthesize-stopped")
		}
		p.send("synthesize-chunk", `{"text": "Not in a stream. Not."}`)
		p.send("synthesize-stop", "")
	})
}

// voices is a speaker whose clips have the rates of its words.
type voices struct{ announcer.Speaker }

func (voices) Speak(_ context.Context, u announce.Utterance) iter.Seq2[announce.Clip, error] {
	return func(yield func(announce.Clip, error) bool) {
		for word := range strings.FieldsSeq(strings.ToLower(u.Message)) {
			rate := map[string]int{"low.": 16000, "high.": 22050}[word]
			if rate == 0 {
				failures := map[string]error{"silent.": voice.ErrNoSpeech, "broken.": errors.New("no model")}
				yield(announce.Clip{}, failures[word])
				return
			}
			yield(announce.Clip{Clip: audio.Clip{Rate: rate, Samples: make([]float32, rate)}}, nil) // a second
		}
	}
}

// All of a stream has one format, also if another voice speaks a part of it.
func TestServer_oneFormat(t *testing.T) {
	inBubble(t, func(c *wyoming.Config, _ *site.Config) { c.Speaker = voices{&webtest.Speaker{}} }, func(r *rig) {
		p := r.dial()
		p.send("synthesize-start", "")
		for i, word := range []string{"High", "Low", "Low", "High", "Silent"} {
			p.send("synthesize-chunk", `{"text": "`+word+`. "}`)
			if i == 0 {
				continue // it is complete when the next one begins
			}
			want := 22050
			if i > 1 {
				want += 7717
			}
			got := p.speech()
			check.That(r.T, got >= want-3 && got <= want+3, "sentence %d: %d samples, want %d", i, got, want)
		}
		p.send("synthesize-stop", "")
		p.want("synthesize-stopped")
		p.send("synthesize", `{"text": "silent."}`)
		check.Equal(r.T, p.speech(), 0, "samples of nothing")
		p.send("synthesize", `{"text": "High. Broken."}`)
		p.want("audio-start")
		e := p.want("audio-chunk")
		for e.kind == "audio-chunk" {
			e, _ = p.next()
		}
		check.That(r.T, e.kind == "error" && !strings.Contains(e.text, "no model"), "%s, want an error", e.text)
		check.Contains(r.T, r.LogLine("no model"), "level=ERROR", "the log's line")
		p.ended()
	})
}

// Clients of several addresses are served at once: two by the speech slots, which HTTP shares, and the others
// when these are free.
func TestServer_speechSlots(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		r.Speaker.Gate = make(chan struct{})
		ended := make(chan int, 6)
		speak := func(address string) {
			go func() {
				p := r.dialFrom(address)
				p.send("synthesize", `{"text": "one"}`)
				ended <- p.speech()
			}()
			synctest.Wait()
		}
		speak("192.168.1.21:1")
		speak("192.168.1.22:1")
		r.Do(r.T, "POST", "/v1/audio/speech", `{"input": "x"}`).Want(503, "busy")
		r.Do(r.T, "POST", "/v1/audio/speech", `{"input": "x"}`, "Client", "192.168.1.21:2").
			Want(429, "too_many_requests")
		for _, address := range []string{"192.168.1.23:1", "192.168.1.21:2", "127.0.0.1:1", "127.0.0.1:2"} {
			speak(address)
		}
		for range 6 {
			r.Speaker.Gate <- struct{}{} // one that is read leaves its processor to the next
		}
		for range 6 {
			check.Equal(r.T, <-ended, 2205, "samples")
		}
		late := func(address, code string) {
			p := r.dialFrom(address)
			p.send("synthesize", `{"text": "one"}`)
			began := time.Now()
			p.refused(code)
			check.Equal(r.T, time.Since(began), 10*time.Second, "the wait for a slot")
		}
		speak("192.168.1.21:1")
		late("192.168.1.21:2", "too_many_requests")
		speak("192.168.1.22:1")
		late("192.168.1.23:1", "busy")
		for range 2 {
			r.Speaker.Gate <- struct{}{}
			<-ended
		}
	})
}

// Requests for speech count in NOTIFY_RATE, with those of HTTP; others do not.
func TestServer_notifyRate(t *testing.T) {
	inBubble(t, func(_ *wyoming.Config, s *site.Config) { s.NotifyRate = 6 }, func(r *rig) { // in bursts of 3
		r.Do(r.T, "POST", "/v1/audio/speech", `{"input": "x"}`).Want(200, "")
		p := r.dial()
		p.send("synthesize", `{"text": "one"}`)
		p.speech()
		p.send("synthesize-start", "")
		for range 3 {
			p.send("synthesize-chunk", `{"text": "One. Two"}`)
			p.speech()
			p.send("describe", "")
			p.want("info")
		}
		p.send("synthesize-start", "")
		p.refused("too_many_requests")
		r.Do(r.T, "POST", "/v1/audio/speech", `{"input": "x"}`).Want(429, "too_many_requests")
		for range 10 {
			p := r.dialFrom("127.0.0.1:1")
			p.send("synthesize", `{"text": "one"}`)
			p.speech()
		}
		time.Sleep(10 * time.Second)
		p = r.dial()
		p.send("synthesize", `{"text": "one"}`)
		p.speech()
	})
}

// A client may send a thousand frames at once and a hundred a second, over all its connections; more wait, and
// those of others do not.
func TestServer_frameRate(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		began := time.Now()
		answered := func(address string, frames int) time.Duration {
			p := r.dialFrom(address)
			for range frames {
				p.send("ping", "")
				p.want("pong")
			}
			return time.Since(began)
		}
		check.Equal(r.T, answered("192.168.1.20:1", 1000), 0, "the first thousand")
		check.Equal(r.T, answered("192.168.1.20:2", 1), 10*time.Millisecond, "one more")
		check.Equal(r.T, answered("192.168.1.21:1", 1000), 10*time.Millisecond, "those of another client")
		check.Equal(r.T, answered("127.0.0.1:1", 2000), 10*time.Millisecond, "those of the host")
		check.Equal(r.T, answered("192.168.1.20:3", 100), 1010*time.Millisecond, "a hundred more")
		p := r.dialFrom("192.168.1.20:4")
		p.send("ping", "")
		synctest.Wait()
		check.NoError(r.T, r.stop()) // does not wait for it
		p.ended()
	})
}

// With NOTIFY_RATE_LOOPBACK, clients on the host are counted too.
func TestServer_limitLoopback(t *testing.T) {
	inBubble(t, func(c *wyoming.Config, s *site.Config) { c.LimitLoopback, s.NotifyRate = true, 2 }, func(r *rig) {
		p := r.dialFrom("127.0.0.1:1")
		p.send("synthesize", `{"text": "one"}`)
		p.speech()
		p.send("synthesize", `{"text": "one"}`)
		p.refused("too_many_requests")
	})
}

func TestServer_addresses(t *testing.T) {
	for _, open := range []bool{false, true} {
		t.Run(map[bool]string{false: "lan", true: "open"}[open], func(t *testing.T) {
			inBubble(t, func(c *wyoming.Config, _ *site.Config) { c.Open = open }, func(r *rig) {
				for address, local := range map[string]bool{
					"192.168.1.20:1": true, "[fe80::1%eth0]:1": true, "127.0.0.1:1": true,
					"[::ffff:10.0.0.1]:1": true, "203.0.113.5:1": false, "[2001:db8::1]:1": false,
				} {
					p := r.dialFrom(address)
					p.send("ping", "")
					_, ok := p.next()
					check.Equal(r.T, ok, local || open, "%s is answered", address)
				}
			})
		})
	}
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
				check.Equal(r.T, time.Since(began), tt.after, "closed after")
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
		check.Equal(r.T, time.Since(began), 5*time.Minute, "closed after")
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
		check.Equal(r.T, time.Since(began), 77*time.Second, "closed after")

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
		check.Equal(r.T, samples, 2*60*22050, "samples")

		p = r.dial() // does not read a response that is no speech
		began = time.Now()
		p.send("describe", "")
		synctest.Wait()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		p.ended()
		check.Equal(r.T, time.Since(began), 5*time.Second, "closed after")
	})
}

// One address may open 16 connections, loopback any number. When 64 are open in all, a new address and loopback get the
// places of the address that has most.
func TestServer_maxConns(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		open := func(address string, want bool) *peer {
			p := r.dialFrom(address)
			p.send("ping", "")
			_, ok := p.next()
			check.That(r.T, ok == want, "a connection from %s: %t", address, ok)
			return p
		}
		first, second := open("192.168.1.20:1", true), open("192.168.1.20:1", true)
		for range 14 {
			open("192.168.1.20:1", true)
		}
		open("192.168.1.20:1", false)
		for range 48 {
			open("127.0.0.1:1", true)
		}
		open("192.168.1.21:1", true)
		first.ended()
		open("127.0.0.1:1", true)
		second.ended()
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
		check.Equal(r.T, r.Idle(), 0, "idle with open connections")
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
		first, second := <-spoken, <-spoken
		check.That(r.T, first && !second, "spoken: %t and %t, want the one within five seconds", first, second)
		check.NoError(r.T, <-stopped)
		check.Equal(r.T, time.Since(began), 5*time.Second, "stopped after")
	})
}

// A listener that fails ends the server.
func TestServer_listenerError(t *testing.T) {
	t.Parallel()
	l := webtest.NewWire()
	l.Close()
	check.ErrorIs(t, wyoming.New(wyoming.Config{}).Serve(t.Context(), l), net.ErrClosed, "a closed listener")
}

// A rig is a Wyoming server beside the HTTP server with which it shares its limits.
type rig struct {
	*webtest.Rig
	wire *webtest.Wire
	stop func() error // ends Serve and returns its result
}

// newServer returns a server, and the HTTP server beside it. change may alter the configuration.
func newServer(t *testing.T, change func(*wyoming.Config, *site.Config)) (*wyoming.Server, *webtest.Rig) {
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
	c.Version, c.Room, c.Check = "1.2.3", "kitchen", web.Announcer.CheckSpeech
	c.Voices = func() []wyoming.Voice { return installed }
	c.Posts, c.Speeches, c.Track = web.Posts(), web.Config.OpenAI.Speeches, web.Track
	c.Log = slog.New(slog.NewTextHandler(web.Log, nil))
	return wyoming.New(c), web
}

// inBubble runs a test in a synctest bubble with a rig. change may alter the configuration.
func inBubble(t *testing.T, change func(*wyoming.Config, *site.Config), test func(r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		server, web := newServer(t, change)
		r := &rig{Rig: web, wire: webtest.NewWire()}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(ctx, r.wire) }()
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
	length := ""
	if data != "" {
		length = fmt.Sprintf(`, "data_length": %d`, len(data))
	}
	p.write(fmt.Sprintf("{\"type\": %q, \"version\": \"1.9.0\"%s}\n%s", kind, length, data))
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
	check.Require(p.tb, ok && e.kind == kind, "event %q %s, want %s", e.kind, e.text, kind)
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
	check.Contains(p.tb, p.want("error").text, fmt.Sprintf("%q:%q", "code", code), "the error")
	p.ended()
}

// ended reads the end of the connection.
func (p *peer) ended() {
	p.tb.Helper()
	e, ok := p.next()
	check.That(p.tb, !ok, "event %s, want the end of the connection", e.text)
}
