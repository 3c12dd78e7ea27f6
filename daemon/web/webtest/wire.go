package webtest

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A Wire is a listener whose connections are in memory, so that time can be
// that of a synctest bubble.
type Wire struct {
	Conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func NewWire() *Wire { return &Wire{Conns: make(chan net.Conn), closed: make(chan struct{})} }

func (l *Wire) Accept() (net.Conn, error) {
	select {
	case c := <-l.Conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *Wire) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *Wire) Addr() net.Addr { return Address("") }

// Address is that of the LAN's client.
type Address string

func (a Address) String() string { return string(a) }

// A Pipe is an end of a connection in memory that seems to come from the LAN.
type Pipe struct{ net.Conn }

// Dial connects to the server.
func (l *Wire) Dial() net.Conn {
	here, there := net.Pipe()
	l.Conns <- Pipe{there}
	return here
}

// Ask sends a request on a new connection, and returns the connection and the
// answer.
func (l *Wire) Ask(t *testing.T, request string) (net.Conn, *http.Response) {
	t.Helper()
	conn := l.Dial()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	return conn, resp
}

// A EventReader reads server-sent events.
type EventReader struct {
	T     *testing.T
	Lines *bufio.Scanner
}

func (l *Wire) Listen(t *testing.T, lastSeen string) (net.Conn, EventReader) {
	t.Helper()
	request := "GET /events HTTP/1.1\r\nHost: localhost\r\n"
	if lastSeen != "" {
		request += "Last-Event-ID: " + lastSeen + "\r\n"
	}
	conn, resp := l.Ask(t, request+"\r\n")
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("GET /events: %v", resp)
	}
	events := EventReader{t, bufio.NewScanner(resp.Body)}
	if first := events.Next(); first != "retry: 2000" {
		t.Fatalf("the stream begins with %q", first)
	}
	return conn, events
}

// Next returns the next event in one line, its data as message and status;
// "" when the stream ended.
func (l EventReader) Next() string {
	l.T.Helper()
	var parts []string
	for l.Lines.Scan() {
		line := l.Lines.Text()
		data, isData := strings.CutPrefix(line, "data: ")
		switch {
		case line == "":
			return strings.Join(parts, ", ")
		case isData:
			WantDocumented(l.T, "announcement", data)
			var a struct{ Message, Status string }
			if err := json.Unmarshal([]byte(data), &a); err != nil {
				l.T.Fatal(err)
			}
			parts = append(parts, a.Message+" "+a.Status)
		default:
			parts = append(parts, line)
		}
	}
	return ""
}

func (l EventReader) Want(events ...string) {
	l.T.Helper()
	for _, want := range events {
		if got := l.Next(); got != want {
			l.T.Fatalf("event %q, want %q", got, want)
		}
	}
}

// Network returns "tcp".
func (Address) Network() string { return "tcp" }

// RemoteAddr returns an address of the LAN.
func (Pipe) RemoteAddr() net.Addr { return Address(LANClient) }

// ListenUnix listens on a socket of this test, which no other user can reach.
func ListenUnix(t *testing.T) (l net.Listener, path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "admin") //nolint:usetesting // whose directory may be too long a path for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, "s")
	l, err = new(net.ListenConfig).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // a server closes it first
	return l, path
}
