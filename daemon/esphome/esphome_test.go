package esphome_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"pressbox/audio"
	"pressbox/daemon/esphome"
	"pressbox/daemon/esphome/frame"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// The bytes of every message without which Home Assistant does not add the device.
func TestServer_messages(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		p := r.dial()
		for _, tt := range []struct {
			request int
			want    []message
		}{
			{3, []message{{4, ""}}},
			{7, []message{{8, ""}}},
			{9, []message{{10, "\x12\x10pressbox-kitchen\x1a\x1102:00:01:23:45:67\"\x082026.1.02\x08Pressbox" +
				"B\x11pressbox.pressboxJ\x051.2.3b\x08Pressboxj\x10Pressbox kitchen\x82\x01\x07Kitchen\x88\x01\x15"}}},
			{11, []message{
				{63, "\n\aspeaker\x15\x01\x00\x00\x00\x1a\aSpeakerX\x8c\xacIJ\r\n\x03wav\x10\xc0\xbb\x01\x18\x01(\x02" +
					"J\x0f\n\x03wav\x10\xc0\xbb\x01\x18\x01 \x01(\x02"},
				{19, ""},
			}},
			{20, []message{{64, "\r\x01\x00\x00\x00\x10\x01\x1d\x00\x00\x80?"}}},
			{34, nil},
			{38, nil},
			{89, nil},
			{65_000, nil}, // subscriptions, and what is newer
			{121, []message{{122, ""}}},
			{5, []message{{6, ""}}},
		} {
			p.send(tt.request, "")
			for _, want := range tt.want {
				check.Equal(r.T, p.next(), want, "the answer to %d", tt.request)
			}
		}
		p.ended()
		check.Equal(r.T, r.LogLine("esphome connection"), "", "the log")
	})
}

// An announcement is spoken in our own voice, with our chime or none, and its end is told; the player plays meanwhile.
func TestServer_announce(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		for preamble, chime := range map[string]string{"http://192.168.1.20/x.wav": "", "": `"chime":"none",`} {
			p := r.dial()
			p.send(20, "")
			p.state("idle")
			p.send(119, text(1, "http://192.168.1.20/tts.mp3")+text(2, "Dinner is ready.")+text(3, preamble))
			p.state("playing")
			body := r.Do(r.T, "GET", "/notify", "").Want(200, "").Text
			check.Contains(r.T, body, `"message":"Dinner is ready.",`, "the list")
			check.Contains(r.T, body, `"sender":{"kind":"homeassistant"}`, "the list")
			check.Equal(r.T, strings.Contains(body, chime), true, "the chime in %s", body)
			r.Release <- struct{}{}
			check.Equal(r.T, p.until(120), "\x08\x01", "finished")
			_ = p.Close()
			synctest.Wait()
			r.Do(r.T, "DELETE", "/notify", "").Want(200, "")
		}
	})
}

// One that will not be heard in time is told to be unsuccessful, at once, and the journal has the reason.
func TestServer_notHeard(t *testing.T) {
	for name, tt := range map[string]struct {
		before, text string
		after        time.Duration
		log          string
	}{
		"held":     {`{"mode": "hold", "for": 300}`, "One.", 0, "status=scheduled reason=do_not_disturb"},
		"silenced": {`{"mode": "silence", "for": 3600}`, "One.", 0, "status=silenced reason=do_not_disturb"},
		"late":     {"", "One.", 4 * time.Minute, "esphome announcement not heard"},
		"no text":  {"", "\a", 0, "nothing that can be spoken"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, unchanged, func(r *rig) {
				if tt.before != "" {
					r.Administer(r.T, "PUT", "/quiet", tt.before).Want(200, "")
				}
				p, began := r.dial(), time.Now()
				p.keepAlive()
				p.send(119, text(2, tt.text))
				check.Equal(r.T, p.until(120), "", "finished")
				check.Equal(r.T, time.Since(began), tt.after, "told after")
				check.That(r.T, r.LogLine(tt.log) != "", "the log has no %q:\n%s", tt.log, r.Log)
			})
		})
	}
}

// Each of several is told when its own time is over.
func TestServer_late(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		p, began := r.dial(), time.Now()
		p.keepAlive()
		for range 2 {
			p.send(119, text(2, "One."))
			time.Sleep(time.Minute)
		}
		for _, after := range []time.Duration{4 * time.Minute, 5 * time.Minute} {
			check.Equal(r.T, p.until(120), "", "finished")
			check.Equal(r.T, time.Since(began), after, "told after")
		}
	})
}

// More than a client may have is refused: of the rate, of the queue, and of commands that wait.
func TestServer_tooMany(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		p := r.dial()
		for range 4 { // one is spoken, and three wait: half of the queue
			p.send(119, text(2, "One."))
		}
		p.send(119, text(2, "One more."))
		check.Equal(r.T, p.until(120), "", "one that is more than half of the queue")
		check.Contains(r.T, strings.Join(*r.refused, "\n"), "half of", "the reason")
		p.send(65, text(7, "http://192.168.1.20/x.wav")+number(6, 1)) // ten of them are a recording
		for range 16 {
			p.send(65, text(7, "http://192.168.1.20/x.wav")+number(6, 1))
		}
		synctest.Wait()
		check.That(r.T, len(*r.refused) > 1, "refused: %q", *r.refused)
	})
}

// The volume, and what is spoken, are changed where that is permitted; the client is told the state in any case.
func TestServer_control(t *testing.T) {
	for _, may := range []bool{true, false} {
		t.Run(fmt.Sprint(may), func(t *testing.T) {
			permit := func(c *esphome.Config, _ *site.Config) { c.MayControl = func() bool { return may } }
			inBubble(t, permit, func(r *rig) {
				p := r.dial()
				p.send(11, "")
				features := fieldOf(p.next().body, 11)
				check.Equal(r.T, features&(1<<2|1<<3|1<<10) != 0, may, "features %d", features)
				p.next()
				p.send(20, "")
				p.next()
				for _, tt := range []struct {
					command string
					volume  int
					muted   bool
				}{
					{number(4, 1) + volume(0.4), 40, false},
					{number(2, 1) + number(3, 3), 40, true},
					{number(2, 1) + number(3, 6), 50, false},
					{number(2, 1) + number(3, 7), 40, false},
					{number(4, 1) + volume(3e38), 100, false},
					{number(4, 1) + volume(-1), 0, false},
				} {
					p.send(65, tt.command)
					state := p.lastState()
					got := r.Controls.Volume()
					if may {
						check.That(r.T, got.Volume == tt.volume && got.Muted == tt.muted, "%q: %+v", tt.command, got)
						muted := fieldOf(state, 4)
						check.Equal(r.T, muted == 1, tt.muted, "%q: muted in the state", tt.command)
					} else {
						check.That(r.T, got.Volume == 100 && !got.Muted, "%q: %+v", tt.command, got)
					}
				}
				warnings := strings.Count(r.Log.String(), "may not change the volume")
				check.Equal(r.T, warnings, map[bool]int{false: 1}[may], "warnings")
				p.send(65, number(4, 1)+volume(float32(math.NaN()))) // nothing
				check.Equal(r.T, p.lastState(), "", "the state after no number")
			})
		})
	}
}

// Changes count as those of HTTP do.
func TestServer_changes(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		p := r.dial()
		for range 61 {
			p.send(65, number(4, 1)+volume(0.5))
		}
		p.send(7, "")
		p.until(8)
		check.Equal(r.T, strings.Count(r.Log.String(), "esphome command failed"), 1, "refused changes")
	})
}

// Stop cancels what is spoken and what waits.
func TestServer_stop(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		p := r.dial()
		p.send(119, text(2, "One."))
		p.send(119, text(2, "Two."))
		synctest.Wait()
		p.send(65, number(2, 1)+number(3, 2))
		check.Equal(r.T, p.until(120), "", "finished")
		check.Equal(r.T, p.until(120), "", "finished")
		body := r.Do(r.T, "GET", "/notify", "").Text
		check.Equal(r.T, strings.Count(body, `"cancelled"`), 2, "cancelled announcements")
	})
}

// A recording is fetched from the client's own address, whatever the URL names, and announced with a chime or none,
// also if the client has gone.
func TestServer_recording(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		r.serve(func(w http.ResponseWriter, q *http.Request) {
			check.Equal(r.T, q.Host+q.URL.String()+q.Header.Get("Cookie"), "example.com:8123/x.wav?a=b", "the request")
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write(wav(2400))
		})
		for _, announcement := range []uint64{1, 0} {
			p := r.dial()
			p.send(65, number(6, 1)+text(7, "http://example.com:8123/x.wav?a=b")+number(8, 1)+number(9, announcement))
			_ = p.Close()
			synctest.Wait()
			check.Equal(r.T, r.dialed(), "192.168.1.20:8123", "connected to")
			body := r.Do(r.T, "GET", "/notify", "").Want(200, "").Text
			check.Contains(r.T, body, `"sound":"recording",`, "the list")
			check.Equal(r.T, strings.Contains(body, `"chime":"none"`), announcement == 0, "no chime in %s", body)
			r.Release <- struct{}{}
			synctest.Wait()
			r.Do(r.T, "DELETE", "/notify", "").Want(200, "")
		}
		p := r.dial() // the voice assistant's, without a text
		p.send(119, text(1, "https://example.com/x.wav"))
		synctest.Wait()
		check.Equal(r.T, r.dialed(), "192.168.1.20:443", "connected to")
		check.Equal(r.T, p.until(120), "", "finished, as the client does not speak TLS")
	})
}

// What cannot be announced is refused, with the reason, and the player is idle; nothing of it is left.
func TestServer_refusedRecording(t *testing.T) {
	for name, tt := range map[string]struct {
		url    string
		answer http.HandlerFunc
		after  time.Duration
		why    string
	}{
		"another scheme": {"file:///etc/passwd", nil, 0, "not an http or https address"},
		"no URL":         {"http://[", nil, 0, "not an http or https address"},
		"credentials":    {"http://a:b@example.com/x", nil, 0, "not an http or https address"},
		"not there":      {"http://h/x", http.NotFound, 0, "status 404"},
		"elsewhere":      {"http://h/x", http.RedirectHandler("//other/", http.StatusFound).ServeHTTP, 0, "status 302"},
		"no sound": {"http://h/x", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
		}, 0, `its type is "text/html"`},
		"bad sound": {"http://h/x", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "audio/wav")
			_, _ = io.WriteString(w, "RIFF")
		}, 0, "not a sound that can be decoded"},
		"no answer": {"http://h/x", func(_ http.ResponseWriter, q *http.Request) {
			<-q.Context().Done()
		}, 10 * time.Second, "first byte"},
		"no first byte": {"http://h/x", func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "audio/wav")
			w.(http.Flusher).Flush()
			<-q.Context().Done()
		}, 10 * time.Second, "first byte"},
		"an endless stream": {"http://h/x", stream, time.Minute, "did not arrive completely"},
		"30 MB": {"http://h/x", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "audio/wav")
			endless(w, make([]byte, 1<<20), 0)
		}, 0, "at most 30 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, unchanged, func(r *rig) {
				r.serve(tt.answer)
				p, began := r.dial(), time.Now()
				p.keepAlive()
				p.send(20, "")
				p.state("idle")
				p.send(65, number(6, 1)+text(7, tt.url))
				p.state("idle")
				check.Equal(r.T, time.Since(began).Round(time.Second), tt.after, "refused after")
				check.Contains(r.T, strings.Join(*r.refused, "\n"), tt.why, "the reason")
				check.Equal(r.T, strings.Count(r.Log.String(), "level=WARN"), 1, "warnings in\n%s", r.Log)
				check.Contains(r.T, r.Do(r.T, "GET", "/notify", "").Text, `"recent":[]`, "the list")
				time.Sleep(time.Second) // until the client's server has noticed
			})
		})
	}
}

// One whose first byte has come is not late while others are being read.
func TestServer_recordingWaits(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		r.serve(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path == "/stream" {
				stream(w, q)
				return
			}
			w.Header().Set("Content-Type", "audio/wav")
			_, _ = w.Write(wav(2400))
		})
		began := time.Now()
		for i, path := range []string{"stream", "stream", "x.wav"} {
			p := r.dialFrom(fmt.Sprintf("192.168.1.%d:40000", 20+i))
			p.keepAlive()
			p.send(65, number(6, 1)+text(7, "http://h/"+path))
			time.Sleep(time.Second)
			if path == "x.wav" {
				p.send(20, "")
				p.state("idle")
				p.state("playing")
			}
		}
		check.Equal(r.T, time.Since(began).Round(time.Second), time.Minute, "announced after")
		r.Release <- struct{}{}
		time.Sleep(10 * time.Second) // until the other streams end, too
	})
}

// endless writes until that fails.
func endless(w io.Writer, step []byte, pause time.Duration) {
	for err := error(nil); err == nil; {
		_, err = w.Write(step)
		time.Sleep(pause)
	}
}

// stream answers with a sound that does not end.
func stream(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "audio/wav")
	_, _ = w.Write(wav(0))
	w.(http.Flusher).Flush()
	endless(flushed{w}, make([]byte, 4800), 100*time.Millisecond)
}

// What is not in the protocol ends the connection, and the journal says why.
func TestServer_malformed(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		for _, sent := range []string{
			"GET / HTTP/1.1\r\n\r\n", "\x00\xff\xff\xff\xff\x0f\x01", "\x00\x01\x41\xff", "\x00\x02\x77\x0a\x05",
		} {
			p := r.dial()
			_, _ = io.WriteString(p, sent)
			p.ended()
			synctest.Wait()
		}
		check.Equal(r.T, strings.Count(r.Log.String(), "esphome connection refused"), 4, "lines of the log")
	})
}

// A client that does not go on is disconnected.
func TestServer_timeouts(t *testing.T) {
	for name, tt := range map[string]struct {
		sent  string
		after time.Duration
	}{
		"nothing": {"", 10 * time.Second}, "half a message": {"\x00\x05\x01", 10 * time.Second},
		"idle": {"\x00\x00\x07", 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, unchanged, func(r *rig) {
				began, p := time.Now(), r.dial()
				go func() { _, _ = io.WriteString(p, tt.sent) }()
				for p.next().kind != 0 {
				}
				check.Equal(r.T, time.Since(began), tt.after, "closed after")
			})
		})
	}
}

// A client that does not read what it is sent is disconnected.
func TestServer_slowReader(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		began := time.Now()
		here, there := net.Pipe()
		r.wire.Conns <- addrConn{there, "192.168.1.20:1"}
		check.Must(io.WriteString(here, "\x00\x00"))(r.T)
		synctest.Wait() // the states are watched: whoever waits for a mutex holds up the bubble's clock
		check.Must(io.WriteString(here, "\x07"))(r.T)
		for err := error(nil); err == nil; { // the server does not read either, as it cannot answer
			_, err = io.WriteString(here, "\x00\x00\x07")
		}
		check.Equal(r.T, time.Since(began), 2*time.Minute, "closed after")
	})
}

// Two connections of a client, eight in all; none from another network, or without the key that is set.
func TestServer_connections(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		open := func(address string, want bool) {
			p := r.dialFrom(address)
			_, _ = io.WriteString(p, "\x00\x00\x07")
			check.Equal(r.T, p.next().kind, map[bool]int{true: 8}[want], "a connection from %s", address)
		}
		for client := range 4 {
			for place := range 3 {
				open(fmt.Sprintf("192.168.1.%d:1", 20+client), place < 2)
			}
		}
		open("203.0.113.7:1", false)
		open("192.168.1.30:1", true) // in place of the oldest of one that has two
		open("192.168.1.30:1", false)
	})
	wrong := func(c *esphome.Config, _ *site.Config) {
		c.Key = func() ([]byte, error) { return nil, errors.New("no such file") }
	}
	t.Run("key", func(t *testing.T) {
		inBubble(t, wrong, func(r *rig) {
			r.dial().ended()
			check.Contains(r.T, r.LogLine("esphome key not read"), "no such file", "the log")
		})
	})
}

// When the server stops, connections end at once.
func TestServer_stops(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		p := r.dial()
		p.send(7, "")
		p.next()
		check.Equal(r.T, r.Idle(), 0, "idle with an open connection")
		began := time.Now()
		check.NoError(r.T, r.stop())
		p.ended()
		check.Equal(r.T, time.Since(began), 0, "stopped after")
	})
}

// The records by which it is found are those without which Home Assistant ignores it.
func TestServer_records(t *testing.T) {
	t.Parallel()
	c := esphome.Config{ID: "01234567", Room: "kitchen", Key: func() ([]byte, error) { return nil, nil }}
	got := esphome.New(c).Records()
	check.Equal(t, got["mac"]+got["friendly_name"]+got["api_encryption"], "020001234567Pressbox kitchen", "records")
	c.Key = func() ([]byte, error) { return make([]byte, frame.KeySize), nil }
	check.Equal(t, esphome.New(c).Records()["api_encryption"], "Noise_NNpsk0_25519_ChaChaPoly_SHA256", "encryption")
}

// A rig is a server beside the HTTP server with which it shares its limits.
type rig struct {
	*webtest.Rig
	wire    *webtest.Wire
	stop    func() error
	refused *[]string // reasons

	mu       sync.Mutex // guards the fields below
	answer   http.HandlerFunc
	lastDial string
}

// serve sets what a client's own HTTP server answers.
func (r *rig) serve(answer http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// dialed returns the address to which the server has connected last.
func (r *rig) dialed() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lastDial
}

// dialClient connects to the client's own HTTP server.
func (r *rig) dialClient(_ context.Context, _, address string) (net.Conn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastDial = address
	here, there := net.Pipe()
	once := webtest.NewWire()
	server := http.Server{Handler: r.answer, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	go func() { _ = server.Serve(once) }()
	go func() { once.Conns <- there }()
	r.T.Cleanup(func() { _ = server.Close() })
	return here, nil
}

// inBubble runs a test in a synctest bubble with a rig. change may alter the configuration.
func inBubble(t *testing.T, change func(*esphome.Config, *site.Config), test func(r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		r := &rig{wire: webtest.NewWire(), refused: &[]string{}}
		c := esphome.Config{
			ID: "01234567", Room: "kitchen", Area: "Kitchen", Version: "1.2.3", SampleRate: 24_000,
			Key:        func() ([]byte, error) { return nil, nil },
			MayControl: func() bool { return true }, Dial: r.dialClient,
			Refused: func(why string) { *r.refused = append(*r.refused, why) },
		}
		r.Rig = webtest.NewRig(t, func(s *site.Config) { change(&c, s) })
		c.Posts, c.Track, c.Announcer, c.Controls = r.Posts(), r.Track, r.Announcer, r.Controls
		c.AllowVolume = func(a netip.Addr) bool { return r.ReserveWrite("/volume", a) == 0 }
		c.AllowStop = func(a netip.Addr) bool { return r.ReserveWrite("DELETE /notify", a) == 0 }
		c.Changes, c.Recordings = r.Controls.Hub().Watch, r.Sounds
		c.Log = slog.New(slog.NewTextHandler(r.Log, nil))
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- esphome.New(c).Serve(ctx, r.wire) }()
		r.stop = sync.OnceValue(func() error {
			cancel()
			return <-ended
		})
		defer func() { check.NoError(t, r.stop()) }()
		test(r)
	})
}

func unchanged(*esphome.Config, *site.Config) {}

// A peer is the client's end of a connection.
type peer struct {
	net.Conn
	tb      testing.TB
	sending sync.Mutex
	in      chan message // closed at the end of the connection
}

// dial connects from the local network.
func (r *rig) dial() *peer { return r.dialFrom("192.168.1.20:40000") }

func (r *rig) dialFrom(address string) *peer {
	here, there := net.Pipe()
	r.wire.Conns <- addrConn{there, address}
	r.T.Cleanup(func() { _ = here.Close() }) // the server may have closed its end
	p := &peer{Conn: here, tb: r.T, in: make(chan message, 1000)}
	go p.read()
	return p
}

// read reads messages as they come.
func (p *peer) read() {
	defer close(p.in)
	in, err := frame.Accept(p, nil, frame.Peer{})
	for err == nil {
		var m frame.Message
		if m, err = in.Next(); err == nil {
			p.in <- message{m.Type, string(m.Body)}
		}
	}
}

// An addrConn is a connection from an address.
type addrConn struct {
	net.Conn
	address string
}

func (c addrConn) RemoteAddr() net.Addr { return webtest.Address(c.address) }

// A message is one that the server sent.
type message struct {
	kind int
	body string
}

// send sends a message; the server may close the connection meanwhile.
func (p *peer) send(kind int, body string) {
	p.sending.Lock()
	defer p.sending.Unlock()
	head := binary.AppendUvarint(binary.AppendUvarint([]byte{0}, uint64(len(body))), uint64(kind))
	_, _ = p.Write(append(head, body...))
}

// keepAlive pings as Home Assistant does, until the connection ends.
func (p *peer) keepAlive() {
	done := make(chan struct{})
	p.tb.Cleanup(func() { close(done) })
	go func() {
		for {
			select {
			case <-time.After(20 * time.Second):
				p.send(7, "")
			case <-done:
				return
			}
		}
	}()
}

// next returns the next message; kind 0 is the end of the connection.
func (p *peer) next() message { return <-p.in }

// until returns the body of the next message of a type.
func (p *peer) until(kind int) string {
	p.tb.Helper()
	for {
		m := p.next()
		check.Require(p.tb, m.kind != 0, "the connection has ended")
		if m.kind == kind {
			return m.body
		}
	}
}

// lastState returns the last state of the player that is sent for what was sent before; "" if there is none.
func (p *peer) lastState() (state string) {
	p.tb.Helper()
	synctest.Wait() // for who watches the controls
	p.send(7, "")
	for m := p.next(); m.kind != 8; m = p.next() {
		check.Equal(p.tb, m.kind, 64, "the type of a message")
		state = m.body
	}
	return state
}

// state waits for a state of the player.
func (p *peer) state(want string) {
	p.tb.Helper()
	for {
		n := fieldOf(p.until(64), 2)
		if map[uint64]string{1: "idle", 2: "playing"}[n] == want {
			return
		}
	}
}

// ended reads the end of the connection.
func (p *peer) ended() {
	p.tb.Helper()
	m := p.next()
	check.Equal(p.tb, m.kind, 0, "the type of a message after the end: %q", m.body)
}

// Fields of messages.

func text(field protowire.Number, s string) string {
	return string(protowire.AppendString(protowire.AppendTag(nil, field, protowire.BytesType), s))
}

func number(field protowire.Number, n uint64) string {
	return string(protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), n))
}

// volume is the field of a player's command.
func volume(x float32) string {
	return string(protowire.AppendFixed32(protowire.AppendTag(nil, 5, protowire.Fixed32Type), math.Float32bits(x)))
}

// fieldOf returns the number in a field of a message.
func fieldOf(body string, wanted protowire.Number) (n uint64) {
	for b := []byte(body); len(b) > 0; {
		field, kind, size := protowire.ConsumeTag(b)
		b = b[size:]
		if field == wanted && kind == protowire.VarintType {
			n, _ = protowire.ConsumeVarint(b)
			return n
		}
		b = b[protowire.ConsumeFieldValue(field, kind, b):]
	}
	return 0
}

// wav returns a file of so many samples, as Home Assistant's ffmpeg writes it: of unknown length.
func wav(samples int) []byte {
	tone := make([]float32, samples)
	for i := range tone {
		tone[i] = 0.2 * float32(math.Sin(float64(i)/8))
	}
	return bytes.Join([][]byte{audio.WAVHeader(24_000), audio.AppendS16LE(nil, tone)}, nil)
}

// flushed flushes each write.
type flushed struct{ http.ResponseWriter }

func (f flushed) Write(p []byte) (int, error) {
	n, err := f.ResponseWriter.Write(p)
	f.ResponseWriter.(http.Flusher).Flush()
	return n, err
}
