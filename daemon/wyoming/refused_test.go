package wyoming_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"pressbox/daemon/wyoming/frame"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
)

// A text that is too long is spoken as far as a message may be long, and the journal says so.
func TestServer_longText(t *testing.T) {
	const word, most = "ninety ", announce.MaxMessage
	words := strings.Repeat(word, most/len(word)) + "a " // exactly as long
	for name, tt := range map[string]struct {
		more string
		cut  bool
	}{"longest": {"", false}, "too long": {"and more.", true}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, unchanged, func(r *rig) {
				p := r.dial()
				p.send("synthesize", `{"text": "`+words+tt.more+`"}`)
				whole := p.speech()
				check.Equal(r.T, whole, 2205*len(strings.Fields(words)), "samples of the text")
				p.send("synthesize-start", "")
				for _, chunk := range []string{words[:most-9], words[most-9:], tt.more, tt.more} {
					p.send("synthesize-chunk", `{"text": "`+chunk+`"}`)
				}
				p.send("synthesize-stop", "")
				check.Equal(r.T, p.speech(), whole, "samples of the stream")
				p.want("synthesize-stopped")
				check.Equal(r.T, strings.Count(r.Log.String(), "wyoming text too long"), map[bool]int{true: 2}[tt.cut],
					"lines of the log")
			})
		})
	}
}

// A voice that is not installed is refused when a stream starts, for that reason only; the journal has it.
func TestServer_unknownVoice(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		p := r.dial()
		p.send("synthesize-start", `{"voice": {"name": "nope"}}`)
		e := p.want("error")
		check.Contains(r.T, e.text, `{"text":"voice: voice \"nope\" is not installed; installed voices:`, "the error")
		check.Contains(r.T, e.text, `"code":"unknown_voice"`, "the error")
		p.ended()
		check.Contains(r.T, r.LogLine("wyoming request refused"), "code=unknown_voice", "the log's line")
	})
}

// A client that is still sending when it is refused can send all of it and then read the reason.
func TestServer_refusedWhileSending(t *testing.T) {
	t.Parallel()
	server, _ := newServer(t, unchanged)
	ln := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	check.Run(t, func(ctx context.Context) error { return server.Serve(ctx, ln) })
	conn := check.Must(net.Dial("tcp", ln.Addr().String()))(t)
	defer conn.Close()
	p := &peer{conn, t, bufio.NewReader(conn)}
	p.send("synthesize-start", `{"voice": {"name": "nope"}}`)
	check.Must(p.in.Peek(1))(t) // it has been refused
	for range 10 {
		check.Must(io.WriteString(conn, `{"type": "synthesize-chunk", "data": {"text": "One. "}}`+"\n"))(t)
		time.Sleep(5 * time.Millisecond) // for the answer of the kernel
	}
	p.refused("unknown_voice")
}

// What is not in the protocol ends the connection, at once.
func TestServer_malformed(t *testing.T) {
	const text = `{"type": "synthesize", "data": {"text": `
	inBubble(t, unchanged, func(r *rig) {
		for _, tt := range []struct{ name, bytes, code string }{
			{"a header without an end", strings.Repeat(" ", frame.MaxHeader+4096), "too_large"},
			{"endless data", `{"type": "synthesize", "data_length": 1000000000}` + "\n", "too_large"},
			{"a request of a browser", "POST / HTTP/1.1\r\n\r\n" + text + `"one"}}` + "\n", "malformed"},
			{"a text that is none", text + `1}}` + "\n", "malformed"},
			{"a ping that is none", `{"type": "ping", "data": {"text": []}}` + "\n", "malformed"},
			{"a chunk that is none", `{"type": "synthesize-chunk", "data": {"text": {}}}` + "\n", "malformed"},
		} {
			p := r.dial()
			go p.write(tt.bytes)
			began := time.Now()
			p.refused(tt.code)
			check.Equal(r.T, time.Since(began), 0, "%s: closed after", tt.name)
		}
	})
}
