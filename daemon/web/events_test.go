package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/daemon/web"
	"pressbox/voice/announce"
)

// A wire is a listener whose connections are in memory, so that time can be
// that of a synctest bubble.
type wire struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newWire() *wire { return &wire{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (l *wire) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *wire) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *wire) Addr() net.Addr { return address("") }

// address is that of the LAN's client.
type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

// A pipe is an end of a connection in memory that seems to come from the LAN.
type pipe struct{ net.Conn }

func (pipe) RemoteAddr() net.Addr { return address(lanClient) }

// dial connects to the server.
func (l *wire) dial() net.Conn {
	here, there := net.Pipe()
	l.conns <- pipe{there}
	return here
}

// serve serves the rig on a wire until stop is called, which returns what
// Serve said.
func (r *rig) serve() (l *wire, stop func() error) {
	l = newWire()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Serve(ctx, l) }()
	return l, func() error {
		cancel()
		return <-ended
	}
}

// ask sends a request on a new connection, and returns the connection and the
// answer.
func (l *wire) ask(t *testing.T, request string) (net.Conn, *http.Response) {
	t.Helper()
	conn := l.dial()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	return conn, resp
}

// A listener reads server-sent events.
type listener struct {
	t     *testing.T
	lines *bufio.Scanner
}

func (l *wire) listen(t *testing.T, lastSeen string) (net.Conn, listener) {
	t.Helper()
	request := "GET /events HTTP/1.1\r\nHost: localhost\r\n"
	if lastSeen != "" {
		request += "Last-Event-ID: " + lastSeen + "\r\n"
	}
	conn, resp := l.ask(t, request+"\r\n")
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("GET /events: %v", resp)
	}
	events := listener{t, bufio.NewScanner(resp.Body)}
	if first := events.next(); first != "retry: 2000" {
		t.Fatalf("the stream begins with %q", first)
	}
	return conn, events
}

// next returns the next event in one line, its data as message and status;
// "" when the stream ended.
func (l listener) next() string {
	l.t.Helper()
	var parts []string
	for l.lines.Scan() {
		line := l.lines.Text()
		data, isData := strings.CutPrefix(line, "data: ")
		switch {
		case line == "":
			return strings.Join(parts, ", ")
		case isData:
			hold(l.t, "announcement", data)
			var a struct{ Message, Status string }
			if err := json.Unmarshal([]byte(data), &a); err != nil {
				l.t.Fatal(err)
			}
			parts = append(parts, a.Message+" "+a.Status)
		default:
			parts = append(parts, line)
		}
	}
	return ""
}

func (l listener) want(events ...string) {
	l.t.Helper()
	for _, want := range events {
		if got := l.next(); got != want {
			l.t.Fatalf("event %q, want %q", got, want)
		}
	}
}

func (r *rig) say(t *testing.T, message string) (id string) {
	t.Helper()
	return r.do(t, "POST", "/notify", fmt.Sprintf(`{"message": %q}`, message)).want(202, "").field("id")
}

func TestEventsTellWhatHappens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l, stop := r.serve()
		first := r.say(t, "one")
		synctest.Wait()
		_, events := l.listen(t, "")
		events.want("event: announcement, one playing")
		second := r.say(t, "two")
		events.want("event: announcement, two queued")
		r.let <- struct{}{}
		events.want(
			"id: "+first+", event: announcement, one done",
			"id: "+first+", event: announcement, two synthesizing",
			"id: "+first+", event: announcement, two playing",
		)
		r.do(t, "DELETE", "/notify/"+second, "").want(200, "")
		events.want("id: " + second + ", event: announcement, two cancelled")
		began := time.Now()
		stopped := make(chan error)
		go func() { stopped <- stop() }()
		events.want("")
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("a listener held up the stopping for %v", took)
		}
	})
}

// A client that comes back is told the ends that it missed, the oldest first,
// and how things stand.
func TestEventsAfterAnInterruption(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l, stop := r.serve()
		defer stop()
		var ids []string
		for _, message := range []string{"one", "two", "three"} {
			ids = append(ids, r.say(t, message))
			r.let <- struct{}{}
			synctest.Wait()
		}
		r.say(t, "four")
		synctest.Wait()
		for _, tt := range []struct {
			lastSeen string
			want     []string
		}{
			{"", []string{"id: " + ids[2] + ", event: announcement, four playing"}},
			{ids[2], []string{"id: " + ids[2] + ", event: announcement, four playing"}},
			{ids[0], []string{
				"id: " + ids[1] + ", event: announcement, two done",
				"id: " + ids[2] + ", event: announcement, three done",
				"id: " + ids[2] + ", event: announcement, four playing",
			}},
			{"long-forgotten", []string{
				"id: " + ids[0] + ", event: announcement, one done",
				"id: " + ids[1] + ", event: announcement, two done",
				"id: " + ids[2] + ", event: announcement, three done",
				"id: " + ids[2] + ", event: announcement, four playing",
			}},
		} {
			conn, events := l.listen(t, tt.lastSeen)
			events.want(tt.want...)
			conn.Close()
		}
	})
}

func TestEventsAreAliveWhenNothingHappens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l, stop := r.serve()
		defer stop()
		began := time.Now()
		_, events := l.listen(t, "")
		for i := 1; i <= 20; i++ { // far beyond the time-outs of ordinary requests
			events.want(": still here")
			if since := time.Since(began); since != time.Duration(i)*15*time.Second {
				t.Fatalf("sign %d of life after %v", i, since)
			}
		}
	})
}

func TestListenerThatDoesNotReadIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l, stop := r.serve()
		conn, events := l.listen(t, "")
		began := time.Now()
		events.want(": still here")
		time.Sleep(15*time.Second + 10*time.Second - time.Nanosecond)
		synctest.Wait()
		if strings.Contains(r.log.String(), "path=/events") {
			t.Error("it was dropped before its time")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if !strings.Contains(r.log.String(), "path=/events") {
			t.Errorf("it was not dropped after %v", time.Since(began))
		}
		conn.Close()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// Whoever may no longer listen is hung up on at the next sign of life.
func TestListenerThatLosesItsPermissionIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := &revocable{}
		r := newRig(t, func(c *web.Config) { c.Access, c.Tokens = web.Token, k })
		l, stop := r.serve()
		defer stop()
		_, resp := l.ask(t, "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n\r\n")
		events := listener{t, bufio.NewScanner(resp.Body)}
		events.want("retry: 2000", ": still here")
		k.revoked.Store(true)
		events.want("")
		if err := events.lines.Err(); err != nil {
			t.Errorf("the stream does not end, it breaks: %v", err)
		}
	})
}

// A stream begins with how things stand, and goes on with what comes after,
// even when something happens while they are listed.
func TestEventsBeforeTheListAreNotToldAgain(t *testing.T) {
	t.Parallel()
	changes := make(chan announce.Event, 10)
	changes <- announce.Event{} // before the listing
	state, listings := 1, 0
	queue, _ := web.AtOnce(changes, func() (queue, recent []announce.View) {
		if listings++; listings <= 2 { // during the first two
			changes <- announce.Event{}
			state++
		}
		return make([]announce.View, state), nil
	})
	if len(queue) != 3 || len(changes) != 0 || listings != 3 {
		t.Errorf("after %d listings, %d of 3 changes are in the list and %d are still to be told", listings, len(queue), len(changes))
	}
}
