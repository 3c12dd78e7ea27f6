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
	"pressbox/packaging/check"
)

// readAll reads until the server closes the connection, and returns the time until
// then and the text.
func readAll(conn net.Conn) (after time.Duration, text string) {
	began := time.Now()
	all, _ := io.ReadAll(conn)
	return time.Since(began), string(all)
}

func TestServe_timeouts(t *testing.T) {
	t.Parallel()
	const post = "POST /notify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
	for _, tt := range []struct {
		name, sent string
		every      time.Duration // between further bytes; 0 means none
		after      time.Duration
		want       string
	}{
		{"no request", "", 0, 5 * time.Second, ""},
		{"incomplete header", "GET /health HTTP/1.1\r\nHo", 0, 5 * time.Second, ""},
		{"slow header", "GET /health HTTP/1.1\r\nX: ", time.Second, 5 * time.Second, ""},
		{"incomplete body", post + "\r\n{", 0, 15 * time.Second, "not_json"},
		{"slow body", post + "\r\n{", time.Second, 15 * time.Second, "not_json"},
		{"idle connection", "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 2 * time.Minute, "uptime_seconds"},
	} {
		t.Run(tt.name, func(t *testing.T) {
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
				after, got := readAll(conn)
				if after != tt.after || !strings.Contains(got, tt.want) || tt.want == "" &&
					strings.Contains(got, "200 OK") {
					t.Errorf("closed after %v, want %v; response %q", after, tt.after, got)
				}
				conn.Close()
				sending.Wait()
				check.NoError(t, stop())
			})
		})
	}
}

func TestServe_writeTimeout(t *testing.T) {
	webtest.InBubble(t, webtest.NewRig, func(r *webtest.Rig, l *webtest.Wire) {
		conn := l.Dial()
		check.Must(io.WriteString(conn, "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n"))(r.T)
		time.Sleep(30*time.Second - time.Nanosecond)
		synctest.Wait()
		if strings.Contains(r.Log.String(), "swagger") {
			r.T.Error("closed before the timeout")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		check.Contains(r.T, r.Log.String(), "swagger", "the log after the timeout")
		conn.Close()
	})
}

func TestServe_maxHeader(t *testing.T) {
	t.Parallel()
	base := webtest.NewRig(t).ListenTCP(t)
	for size, want := range map[int]int{15 << 10: 200, 32 << 10: 431} {
		req := check.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/health", nil))(t)
		req.Header.Set("X", strings.Repeat("x", size))
		resp := check.Must(http.DefaultClient.Do(req))(t)
		resp.Body.Close()
		check.Equal(t, resp.StatusCode, want, "a header of %d bytes: status", size)
	}
}

// One address may open 64 connections, loopback any number, all together 2,560.
func TestServe_maxConns(t *testing.T) {
	webtest.InBubble(t, webtest.NewRig, func(r *webtest.Rig, l *webtest.Wire) {
		open := func(from string) (net.Conn, bool) { return connect(r.T, l, from) }
		var conns []net.Conn
		for i := range 64 {
			conn, ok := open("192.168.1.20:1")
			if !ok {
				r.T.Fatalf("connection %d was refused", i)
			}
			conns = append(conns, conn)
		}
		if _, ok := open("192.168.1.20:2"); ok {
			r.T.Error("connection 65 was accepted")
		}
		if _, ok := open("192.168.1.21:1"); !ok {
			r.T.Error("another address was refused")
		}
		for range 70 {
			if _, ok := open("127.0.0.1:1"); !ok {
				r.T.Fatal("loopback was refused")
			}
		}
		conns[0].Close()
		synctest.Wait()
		if _, ok := open("192.168.1.20:3"); !ok {
			r.T.Error("refused although a connection was closed")
		}
		for i := 64 + 1 + 70; i < 2560; i++ {
			if _, ok := open(fmt.Sprintf("10.0.%d.%d:1", i/256, i%256)); !ok {
				r.T.Fatalf("connection %d in all was refused", i)
			}
		}
		if _, ok := open("127.0.0.1:1"); ok {
			r.T.Error("connection 2561 in all was accepted")
		}
	})
}

// connect opens a connection from an address and sends a request; ok is false if it is refused.
func connect(tb testing.TB, l *webtest.Wire, from string) (conn net.Conn, ok bool) {
	tb.Helper()
	here, there := net.Pipe()
	l.Conns <- addrConn{there, from}
	synctest.Wait()
	if _, err := io.WriteString(here, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return nil, false
	}
	resp, err := http.ReadResponse(bufio.NewReader(here), nil)
	if err != nil || resp.StatusCode != http.StatusOK {
		tb.Fatal(resp, err)
	}
	return here, true
}

// An addrConn is a connection from an address.
type addrConn struct {
	net.Conn
	addr string
}

func (c addrConn) RemoteAddr() net.Addr { return webtest.Address(c.addr) }

// When the server stops, open requests have five seconds to end.
func TestServe_shutdown(t *testing.T) {
	webtest.InBubble(t, webtest.NewRig, func(r *webtest.Rig, l *webtest.Wire) {
		r.Speaker.Gate = make(chan struct{})
		short := l.Dial()
		long, there := net.Pipe()
		l.Conns <- addrConn{there, "192.168.1.21:40000"} // a client has one speech request at a time
		for _, conn := range []net.Conn{short, long} {
			const body = `{"input": "one"}`
			check.Must(fmt.Fprintf(conn, "POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\n"+
				"Content-Length: %d\r\n\r\n%s", len(body), body))(r.T)
		}
		synctest.Wait()
		began := time.Now()
		ended := make(chan error)
		go func() { ended <- l.Stop() }()
		synctest.Wait()
		r.Speaker.Gate <- struct{}{}
		replies := make(chan string)
		for _, conn := range []net.Conn{short, long} {
			go func() {
				_, text := readAll(conn)
				replies <- text
			}()
		}
		if got := <-replies; !strings.HasPrefix(got, "HTTP/1.1 200 OK") || !strings.HasSuffix(got, "\r\n0\r\n\r\n") {
			r.T.Errorf("response of the short request: %.100q", got)
		}
		check.Equal(r.T, <-replies, "", "response of the long request")
		check.NoError(r.T, <-ended)
		if took := time.Since(began); took < 5*time.Second || took > 6*time.Second {
			r.T.Errorf("shutdown took %v, want 5s", took)
		}
	})
}

// Connections that the server has accepted before it stops may still send their
// first request.
func TestServe_shutdownPendingConns(t *testing.T) {
	webtest.InBubble(t, webtest.NewRig, func(r *webtest.Rig, l *webtest.Wire) {
		late, silent := l.Dial(), l.Dial()
		synctest.Wait()
		began := time.Now()
		ended := make(chan error)
		go func() { ended <- l.Stop() }()
		time.Sleep(time.Second)
		check.Must(io.WriteString(late, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"))(r.T)
		if _, got := readAll(late); !strings.HasPrefix(got, "HTTP/1.1 200 OK") {
			r.T.Errorf("response of the late request: %.100q", got)
		}
		if _, got := readAll(silent); got != "" {
			r.T.Errorf("response without a request: %.100q", got)
		}
		check.NoError(r.T, <-ended)
		if took := time.Since(began); took < 4*time.Second || took > 6*time.Second {
			r.T.Errorf("shutdown took %v, want 5s", took)
		}
	})
}

func TestServe_listenerError(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	l := webtest.NewWire()
	l.Close()
	if err := r.Serve(t.Context(), l); err == nil {
		t.Error("Serve with a closed listener: no error")
	}
}
