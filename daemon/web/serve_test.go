package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/daemon/web/webtest"
)

// hungUp waits until the server hangs up, and returns when that was and what
// it said before.
func hungUp(conn net.Conn) (after time.Duration, said string) {
	began := time.Now()
	all, _ := io.ReadAll(conn)
	return time.Since(began), string(all)
}

// A client that sends or reads slowly is hung up on after a known time.
func TestSlowClientsAreHungUpOn(t *testing.T) {
	t.Parallel()
	const post = "POST /notify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
	for _, tt := range []struct {
		what, sent string
		every      time.Duration // between further bytes; 0 means that there are none
		after      time.Duration
		said       string
	}{
		{"says nothing", "", 0, 5 * time.Second, ""},
		{"stops in its header", "GET /health HTTP/1.1\r\nHo", 0, 5 * time.Second, ""},
		{"dribbles its header", "GET /health HTTP/1.1\r\nX: ", time.Second, 5 * time.Second, ""},
		{"stops in its body", post + "\r\n{", 0, 15 * time.Second, "not_json"},
		{"dribbles its body", post + "\r\n{", time.Second, 15 * time.Second, "not_json"},
		{"is idle afterwards", "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 2 * time.Minute, "uptime_seconds"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := webtest.NewRig(t)
				l, stop := r.ServeWire()
				conn := l.Dial()
				var sending sync.WaitGroup
				sending.Go(func() {
					_, err := io.WriteString(conn, tt.sent)
					for ; err == nil && tt.every > 0; _, err = io.WriteString(conn, " ") {
						time.Sleep(tt.every)
					}
				})
				after, said := hungUp(conn)
				if after != tt.after || !strings.Contains(said, tt.said) || tt.said == "" && strings.Contains(said, "200 OK") {
					t.Errorf("hung up after %v, want %v, having said %q", after, tt.after, said)
				}
				conn.Close()
				sending.Wait()
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestSlowReaderIsHungUpOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t)
		l, stop := r.ServeWire()
		conn := l.Dial()
		if _, err := io.WriteString(conn, "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30*time.Second - time.Nanosecond)
		synctest.Wait()
		if strings.Contains(r.Log.String(), "swagger") {
			t.Error("it was hung up on before its time")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if !strings.Contains(r.Log.String(), "swagger") {
			t.Error("it was not hung up on")
		}
		conn.Close()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestHeaderLimit(t *testing.T) {
	t.Parallel()
	base := webtest.NewRig(t).ListenTCP(t)
	for size, want := range map[int]int{15 << 10: 200, 32 << 10: 431} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/health", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X", strings.Repeat("x", size))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("a header of %d bytes: status %d, want %d", size, resp.StatusCode, want)
		}
	}
}

// One address has 64 connections, whatever it does with them; others are not
// touched by that, and a closed one makes room.
func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t)
		l, stop := r.ServeWire()
		open := func(from string) (net.Conn, bool) {
			here, there := net.Pipe()
			l.Conns <- from2{there, from}
			synctest.Wait()
			if _, err := io.WriteString(here, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
				return nil, false
			}
			resp, err := http.ReadResponse(bufio.NewReader(here), nil)
			if err != nil || resp.StatusCode != 200 {
				t.Fatal(resp, err)
			}
			return here, true
		}
		var conns []net.Conn
		for i := range 64 {
			conn, ok := open("192.168.1.20:1")
			if !ok {
				t.Fatalf("connection %d was refused", i)
			}
			conns = append(conns, conn)
		}
		if _, ok := open("192.168.1.20:2"); ok {
			t.Error("connection 65 was taken")
		}
		if _, ok := open("192.168.1.21:1"); !ok {
			t.Error("another address was refused")
		}
		for range 70 {
			if _, ok := open("127.0.0.1:1"); !ok {
				t.Fatal("this machine was refused")
			}
		}
		conns[0].Close()
		synctest.Wait()
		if _, ok := open("192.168.1.20:3"); !ok {
			t.Error("there was no room although one had closed")
		}
		for i := 64 + 1 + 70; i < 1024; i++ {
			if _, ok := open(fmt.Sprintf("10.0.%d.%d:1", i/256, i%256)); !ok {
				t.Fatalf("connection %d in all was refused", i)
			}
		}
		if _, ok := open("127.0.0.1:1"); ok {
			t.Error("connection 1025 in all was taken")
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// from2 is a connection from an address.
type from2 struct {
	net.Conn
	addr string
}

func (c from2) RemoteAddr() net.Addr { return webtest.Address(c.addr) }

// A request that is being answered when the server stops is answered; what
// hangs is cut off after five seconds; new connections are refused at once.
func TestStopping(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t)
		r.Speaker.Gate = make(chan struct{})
		l, stop := r.ServeWire()
		short, long := l.Dial(), l.Dial()
		for _, conn := range []net.Conn{short, long} {
			const body = `{"input": "one"}`
			if _, err := fmt.Fprintf(conn, "POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		began := time.Now()
		ended := make(chan error)
		go func() { ended <- stop() }()
		synctest.Wait()
		r.Speaker.Gate <- struct{}{}
		answered := make(chan string)
		for _, conn := range []net.Conn{short, long} {
			go func() {
				_, said := hungUp(conn)
				answered <- said
			}()
		}
		if said := <-answered; !strings.HasPrefix(said, "HTTP/1.1 200 OK") || !strings.HasSuffix(said, "\r\n0\r\n\r\n") {
			t.Errorf("the one that could be finished got %.100q", said)
		}
		if said := <-answered; said != "" {
			t.Errorf("the one that hung got %.100q", said)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < 5*time.Second || took > 6*time.Second {
			t.Errorf("stopping took %v, want 5s", took)
		}
	})
}

// Who has connected when the server stops is answered, even if the request comes
// only then; who says nothing is hung up on.
func TestWhoHasConnectedIsAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t)
		l, stop := r.ServeWire()
		late, silent := l.Dial(), l.Dial()
		synctest.Wait()
		began := time.Now()
		ended := make(chan error)
		go func() { ended <- stop() }()
		time.Sleep(time.Second)
		if _, err := io.WriteString(late, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, said := hungUp(late); !strings.HasPrefix(said, "HTTP/1.1 200 OK") {
			t.Errorf("the late one got %.100q", said)
		}
		if _, said := hungUp(silent); said != "" {
			t.Errorf("the silent one got %.100q", said)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < 4*time.Second || took > 6*time.Second {
			t.Errorf("stopping took %v, want 5s", took)
		}
	})
}

func TestListenerThatBreaks(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	l := webtest.NewWire()
	l.Close()
	if err := r.Serve(t.Context(), l); err == nil {
		t.Error("Serve returned nil although its listener broke")
	}
}
