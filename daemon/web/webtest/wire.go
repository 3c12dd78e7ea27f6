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

	"pressbox/packaging/check"
)

// A Wire is a listener with connections in memory, for a synctest bubble.
type Wire struct {
	Conns  chan net.Conn
	Stop   func() error // of [InBubble]: stops the server and returns the result of Serve
	closed chan struct{}
	once   sync.Once
}

// NewWire returns an open wire.
func NewWire() *Wire { return &Wire{Conns: make(chan net.Conn), closed: make(chan struct{})} }

// Accept returns the server's end of the next connection.
func (l *Wire) Accept() (net.Conn, error) {
	select {
	case c := <-l.Conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (l *Wire) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns an empty address.
func (l *Wire) Addr() net.Addr { return Address("") }

// An Address is the address of an end of a Pipe.
type Address string

// String returns the address and port.
func (a Address) String() string { return string(a) }

// A Pipe is an end of a connection in memory with a client.
type Pipe struct {
	net.Conn
	client Address
}

// Dial connects to the server from the local network.
func (l *Wire) Dial() net.Conn { return l.DialFrom(LANClient) }

// DialFrom connects to the server from an address.
func (l *Wire) DialFrom(client string) net.Conn {
	here, there := net.Pipe()
	l.Conns <- Pipe{there, Address(client)}
	return here
}

// Ask sends a request on a new connection and returns the connection and the
// response.
func (l *Wire) Ask(tb testing.TB, request string) (net.Conn, *http.Response) {
	tb.Helper()
	conn := l.Dial()
	check.Must(io.WriteString(conn, request))(tb)
	resp := check.Must(http.ReadResponse(bufio.NewReader(conn), nil))(tb)
	return conn, resp
}

// An EventReader reads server-sent events.
type EventReader struct {
	T     testing.TB
	Lines *bufio.Scanner
}

// Listen opens the event stream after the event lastSeen; "" means none.
func (l *Wire) Listen(tb testing.TB, lastSeen string) (net.Conn, EventReader) {
	tb.Helper()
	request := "GET /events HTTP/1.1\r\nHost: localhost\r\n"
	if lastSeen != "" {
		request += "Last-Event-ID: " + lastSeen + "\r\n"
	}
	conn, resp := l.Ask(tb, request+"\r\n")
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		tb.Fatalf("GET /events: %v", resp)
	}
	events := EventReader{tb, bufio.NewScanner(resp.Body)}
	if first := events.Next(); first != "retry: 2000" {
		tb.Fatalf("the stream begins with %q", first)
	}
	return conn, events
}

// Next returns the next event in one line, with message and status of its data; ""
// means the end of the stream.
func (l EventReader) Next() string {
	l.T.Helper()
	var parts []string
	event := ""
	for l.Lines.Scan() {
		line := l.Lines.Text()
		data, isData := strings.CutPrefix(line, "data: ")
		switch {
		case line == "":
			return strings.Join(parts, ", ")
		case isData:
			WantDocumented(l.T, event, data)
			if event != "announcement" {
				continue
			}
			var a struct{ Message, Status string }
			check.NoError(l.T, json.Unmarshal([]byte(data), &a))
			parts = append(parts, a.Message+" "+a.Status)
		default:
			event = strings.TrimPrefix(line, "event: ")
			parts = append(parts, line)
		}
	}
	return ""
}

// Want fails the test unless these events follow.
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

// RemoteAddr returns an address on the local network.
func (p Pipe) RemoteAddr() net.Addr { return p.client }

// ListenUnix listens on a Unix socket in a private directory.
func ListenUnix(t *testing.T) (l net.Listener, path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "admin") //nolint:usetesting // the path of t.TempDir may be too long for a socket
	check.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, "s")
	l = check.Must(new(net.ListenConfig).Listen(t.Context(), "unix", path))(t)
	t.Cleanup(func() { _ = l.Close() }) // the server may have closed it
	return l, path
}
