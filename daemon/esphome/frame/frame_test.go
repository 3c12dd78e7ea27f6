package frame_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/flynn/noise"

	"pressbox/daemon/esphome/frame"
	"pressbox/packaging/check"
)

// own is the server.
var own = frame.Peer{Name: "pressbox-kitchen", MAC: "0200832c145f"}

var key = bytes.Repeat([]byte{7}, frame.KeySize)

// A wire is a connection whose client has sent everything.
type wire struct {
	io.Reader
	bytes.Buffer // what the server sends
}

func (w *wire) Read(p []byte) (int, error) { return w.Reader.Read(p) }

// sent returns a connection on which a client has sent something.
func sent(text string) *wire { return &wire{Reader: strings.NewReader(text)} }

// plain returns a plain message.
func plain(kind int, body string) string {
	head := binary.AppendUvarint(binary.AppendUvarint([]byte{0}, uint64(len(body))), uint64(kind))
	return string(head) + body
}

// Plain messages are read and written, up to the limits.
func TestTransport_plain(t *testing.T) {
	t.Parallel()
	largest := strings.Repeat("x", frame.MaxMessage)
	w := sent(plain(1, "") + plain(65_535, "ü") + plain(300, largest))
	server := check.Must(frame.Accept(w, nil, own))(t)
	for _, want := range []frame.Message{{1, nil}, {65_535, []byte("ü")}, {300, []byte(largest)}} {
		check.NoError(t, server.Wait())
		got := check.Must(server.Next())(t)
		same := got.Type == want.Type && bytes.Equal(got.Body, want.Body)
		check.That(t, same, "%d with %d bytes", got.Type, len(got.Body))
		check.NoError(t, server.Write(got))
	}
	check.Equal(t, w.String(), plain(1, "")+plain(65_535, "ü")+plain(300, largest), "what was written")
	for _, m := range []frame.Message{{300, []byte(largest + "x")}, {0, nil}, {65_536, nil}} {
		check.ErrorIs(t, server.Write(m), frame.ErrTooLarge, "a message of type %d", m.Type)
	}
}

// What is no frame of the protocol, or a larger one, is refused before it is read.
func TestTransport_refused(t *testing.T) {
	t.Parallel()
	for want, all := range map[error][]string{
		frame.ErrMalformed: {
			"\x00\x00\x80\x80\x04", "\x00\xff\xff\xff\xff\xff\x01", "\x00\x00\xff\xff\xff\xff\xff\x01",
			plain(1, "") + "\x01", "POST / HTTP/1.1\r\n", "\x16\x03\x01",
		},
		frame.ErrTooLarge: {
			string(binary.AppendUvarint([]byte{0}, frame.MaxMessage+1)) + "\x01", "\x00\xff\xff\xff\xff\x0f\x01",
		},
		io.ErrUnexpectedEOF: {"\x00", "\x00\x01", "\x00\x02\x01x", "\x00\x80"},
		io.EOF:              {""},
	} {
		for _, text := range all {
			server, err := frame.Accept(sent(text), nil, own)
			for err == nil {
				_, err = server.Next()
			}
			check.ErrorIs(t, err, want, "%q", text)
		}
	}
}

// A message that was announced and not sent uses no memory.
func TestTransport_memory(t *testing.T) { //nolint:paralleltest // it measures memory
	const clients = 100
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	head := string(binary.AppendUvarint([]byte{0}, frame.MaxMessage)) + "\x01"
	for range clients {
		server := check.Must(frame.Accept(sent(head), nil, own))(t)
		check.ErrorIs(t, check.Err(server.Next()), io.ErrUnexpectedEOF, "a head")
	}
	runtime.ReadMemStats(&after)
	used := (after.TotalAlloc - before.TotalAlloc) / clients
	check.That(t, used <= frame.MaxMessage/4, "%d bytes allocated for a message that was not sent", used)
}

// A client is the other end of an encrypted transport, as aioesphomeapi is.
type client struct {
	conn          net.Conn
	send, receive *noise.CipherState
}

// frame reads a frame.
func (c *client) frame(t *testing.T) []byte {
	t.Helper()
	var head [3]byte
	check.Must(io.ReadFull(c.conn, head[:]))(t)
	check.Equal(t, head[0], byte(1), "the first byte")
	content := make([]byte, binary.BigEndian.Uint16(head[1:]))
	check.Must(io.ReadFull(c.conn, content))(t)
	return content
}

// write writes a frame.
func (c *client) write(t *testing.T, content []byte) {
	t.Helper()
	head := binary.BigEndian.AppendUint16([]byte{1}, uint16(len(content)))
	check.Must(c.conn.Write(append(head, content...)))(t)
}

// dial connects with a key. It returns the server's end, whose error has what the client is told.
func dial(t *testing.T, with []byte) (c *client, server *frame.Transport, err error) {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() { here.Close(); there.Close() })
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		server, err = frame.Accept(there, key, own)
	}()
	c = &client{conn: here}
	state := check.Must(noise.NewHandshakeState(noise.Config{
		CipherSuite: noise.NewCipherSuite(noise.DH25519, noise.CipherChaChaPoly, noise.HashSHA256),
		Pattern:     noise.HandshakeNN, Initiator: true, Prologue: []byte("NoiseAPIInit\x00\x00"), PresharedKey: with,
	}))(t)
	first, _, _, failed := state.WriteMessage([]byte{0}, nil)
	check.NoError(t, failed)
	go func() {
		_, _ = here.Write([]byte{1, 0, 0})
		_, _ = here.Write(append(binary.BigEndian.AppendUint16([]byte{1}, uint16(len(first))), first...))
	}()
	check.Equal(t, string(c.frame(t)), "\x01pressbox-kitchen\x000200832c145f\x00", "the server's hello")
	answer := c.frame(t)
	<-accepted
	if answer[0] == 0 {
		_, c.send, c.receive, failed = state.ReadMessage(nil, answer[1:])
		check.NoError(t, failed)
	} else {
		err = fmt.Errorf("%w: %s", err, answer[1:])
	}
	return c, server, err
}

// With the same key, messages go both ways, up to the largest; with another one, the client is told so in the words
// that it knows.
func TestTransport_encrypted(t *testing.T) {
	t.Parallel()
	c, server, err := dial(t, key)
	check.NoError(t, err)
	for _, body := range []string{"", "ü", strings.Repeat("x", frame.MaxMessage)} {
		text := binary.BigEndian.AppendUint16([]byte{0, 119}, uint16(len(body)))
		go c.write(t, check.Must(c.send.Encrypt(nil, nil, append(text, body...)))(t))
		got := check.Must(server.Next())(t)
		check.That(t, got.Type == 119 && string(got.Body) == body, "type %d with %d bytes", got.Type, len(got.Body))
		go func() { _ = server.Write(got) }()
		back := check.Must(c.receive.Decrypt(nil, nil, c.frame(t)))(t)
		check.Equal(t, string(back), string(text)+body, "what comes back")
	}
	go c.write(t, []byte("not encrypted, and long enough for a tag"))
	check.ErrorIs(t, check.Err(server.Next()), frame.ErrMalformed, "what is not encrypted")

	_, _, err = dial(t, bytes.Repeat([]byte{8}, frame.KeySize))
	check.ErrorIs(t, err, frame.ErrKey, "another key")
	check.That(t, strings.HasSuffix(err.Error(), ": Handshake MAC failure"), "what the client is told: %v", err)
}

// A client that encrypts where the server does not, or does not where it does, is told so by the first byte.
func TestAccept_mixed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		sent   string
		key    []byte
		err    error
		answer string
	}{
		{plain(1, ""), key, frame.ErrPlain, "\x01\x00\x00"},
		{"\x01\x00\x00", nil, frame.ErrEncrypted, "\x00"},
		{"\x01\x01\x01", key, frame.ErrTooLarge, ""},
		{"\x01\x00\x00\x01\x00\x00", key, frame.ErrMalformed, "\x01\x00\x1f\x01pressbox-kitchen\x000200832c145f\x00"},
		{"\x01\x00\x00\x00\x00\x00", key, frame.ErrMalformed, "\x01\x00\x1f"},
		{"\x01\x00\x00\x01\x00\x02\x01x", key, frame.ErrMalformed, "\x01\x00\x1f"},
		{"\x01\x00\x00\x01\x00\x02\x00x", key, frame.ErrKey, "\x01\x00\x1f"},
		{"GET / HTTP/1.1\r\n", key, frame.ErrMalformed, ""},
	} {
		w := sent(tt.sent)
		_, err := frame.Accept(w, tt.key, own)
		check.ErrorIs(t, err, tt.err, "%q", tt.sent)
		answers := strings.HasPrefix(w.String(), tt.answer) && (w.Len() > 0) == (tt.answer != "")
		check.That(t, answers, "%q: %q", tt.sent, w.String())
	}
}

// A key is one that people can make: the length is that of the base64 of 32 bytes.
func TestKeySize(t *testing.T) {
	t.Parallel()
	check.Equal(t, base64.StdEncoding.EncodedLen(frame.KeySize), 44, "characters of a key")
}

// Whatever a client sends, each message is within the limits, and is written and read again as it was.
func FuzzTransport(f *testing.F) {
	for _, seed := range []string{
		plain(1, "\x0a\x05hello") + plain(9, ""), plain(65_535, "x"), "\x00\xff\xff\xff\xff\x0f\x01",
		"\x01\x00\x00\x01\x00\x31\x00",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, encrypted bool) {
		with := key
		if !encrypted {
			with = nil
		}
		server, err := frame.Accept(sent(string(text)), with, own)
		for err == nil {
			var m frame.Message
			if m, err = server.Next(); err != nil {
				break
			}
			check.Require(t, !encrypted && m.Type < 1<<16 && len(m.Body) <= frame.MaxMessage, "type %d", m.Type)
			if m.Type == 0 {
				continue
			}
			w := sent(plain(m.Type, string(m.Body)))
			again, failed := check.Must(frame.Accept(w, nil, own))(t).Next()
			same := failed == nil && again.Type == m.Type && bytes.Equal(again.Body, m.Body)
			check.Require(t, same, "%v: %v", again, failed)
		}
	})
}
