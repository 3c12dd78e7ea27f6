package web_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/daemon/web"
	"pressbox/daemon/web/announcements"
	"pressbox/daemon/web/site"
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
		check.That(r.T, !strings.Contains(r.Log.String(), "swagger"), "closed before the timeout")
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

// One address may open 64 connections, loopback any number. 2,560 are open in all, 2,400 of them from other addresses:
// a new client then gets the place of the oldest connection of the client that has most.
func TestServe_maxConns(t *testing.T) {
	webtest.InBubble(t, webtest.NewRig, func(r *webtest.Rig, l *webtest.Wire) {
		open := func(from string, want bool) net.Conn {
			conn, ok := connect(r.T, l, from)
			check.Require(r.T, ok == want, "a connection from %s is accepted: %t", from, ok)
			return conn
		}
		first := open("192.168.1.20:1", true)
		oldest := open("192.168.1.20:1", true)
		for range 62 {
			open("192.168.1.20:1", true)
		}
		open("192.168.1.20:2", false)
		first.Close()
		synctest.Wait()
		open("192.168.1.20:3", true)
		for range 70 {
			open("127.0.0.1:1", true)
		}
		for i := 64; i < 2400; i++ {
			open(fmt.Sprintf("10.0.%d.%d:1", i/256, i%256), true)
		}
		check.Must(io.WriteString(oldest, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"))(r.T)
		check.Must(http.ReadResponse(bufio.NewReader(oldest), nil))(r.T)
		open("192.168.1.21:1", true)
		synctest.Wait()
		check.That(r.T, check.Err(oldest.Write([]byte("G"))) != nil, "no connection was closed for a new client's")
		open("127.0.0.1:1", true)
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

// On the local network each IPv6 address has its own NOTIFY_RATE, and all of a /64
// have eight times as much.
func TestAllow_ipv6Neighbors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t, func(c *site.Config) { c.NotifyRate = 4 }) // in bursts of 2
		refused := func(from string) bool {
			return r.Do(t, "POST", "/notify", `{"message": "x"}`,
				"Client", "["+from+"]:40000").StatusCode == http.StatusTooManyRequests
		}
		for host := range 8 {
			for try, want := range []bool{false, false, true} {
				if got := refused(fmt.Sprintf("fd00::%d", host+1)); got != want {
					t.Fatalf("address %d, request %d: refused %t, want %t", host, try, got, want)
				}
			}
		}
		check.That(t, refused("fd00::9"), "the ninth address of a /64 was not refused")
		check.That(t, !refused("fd00:0:0:1::1"), "an address of another /64 was refused")
	})
}

// A probe shows whether the proxy before the server sends the client's address.
func TestProbe_arrival(t *testing.T) {
	t.Parallel()
	loopback := netip.MustParseAddr("127.0.0.1")
	r := webtest.NewRig(t, func(c *site.Config) { c.TrustedProxies = []netip.Prefix{netip.PrefixFrom(loopback, 32)} })
	base := r.ListenTCP(t)
	target := check.Must(url.Parse(base))(t)
	proxy := func(forward bool) string {
		s := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			if forward {
				p.SetXForwarded()
			}
		}})
		t.Cleanup(s.Close)
		return s.URL
	}
	for name, tt := range map[string]struct {
		origin string
		want   web.Arrival
	}{
		"direct":         {base, web.Arrival{Peer: loopback, Direct: true, Trusted: true}},
		"silent proxy":   {proxy(false), web.Arrival{Peer: loopback, Trusted: true}},
		"complete proxy": {proxy(true), web.Arrival{Peer: loopback, Forwarded: true, Trusted: true}},
	} {
		transport := &http.Transport{}
		if got, err := r.Probe(t.Context(), &http.Client{Transport: transport}, tt.origin); err != nil ||
			got != tt.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, tt.want)
		}
		transport.CloseIdleConnections()
	}
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	if _, err := r.Probe(t.Context(), other.Client(), other.URL); !errors.Is(err, web.ErrNotThisServer) {
		t.Errorf("another server: %v, want %v", err, web.ErrNotThisServer)
	}
}

func TestRequestLog_panic(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) {
		c.Announcements.Voices = func() announcements.VoiceList { panic("test panic") }
	})
	w := r.Do(t, "GET", "/voices", "").Want(500, "internal")
	id := w.Field("request_id")
	if id == "" || id != w.Header.Get("X-Request-Id") || strings.Contains(w.Text, "test panic") ||
		strings.Contains(w.Text, "goroutine") {
		t.Errorf("%v %s", w.Header, w.Text)
	}
	log := r.Log.String()
	for _, want := range []string{"level=ERROR", "test panic", "request_id=" + id, "serve_test.go"} {
		check.Contains(t, log, want, "the log")
	}
	r.Do(t, "GET", "/health", "").Want(200)
}

// The log has one entry for a request, without query, body and credentials.
func TestRequestLog_entry(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	r.Do(t, "POST", "/notify?token=topsecret", `{"message": "The spare key is under the mat."}`,
		"Authorization", "Basic topsecret", "Cookie", "a=topsecret").Want(202)
	log := r.Log.String()
	if strings.Contains(log, "mat") || strings.Contains(log, "topsecret") {
		t.Errorf("a secret is in the log: %s", log)
	}
	check.Equal(t, strings.Count(log, "\n"), 1, "entries in the log of one request")
	for _, want := range []string{
		"level=INFO", "msg=request", "method=POST", "path=/notify", "status=202", "client=192.168.1.20",
	} {
		check.Contains(t, log, want, "the log")
	}
	r.Do(t, "GET", "/health", "")
	check.Contains(t, r.Log.String(), "level=DEBUG msg=request method=GET path=/health", "the log")
}

// Clients cannot create metrics labels, as each takes memory for ever; and a
// response without an explicit status is counted with 200.
func TestObserve_labels(t *testing.T) {
	t.Parallel()
	var seen []string
	r := webtest.NewRig(t, func(c *site.Config) {
		c.Observe = func(route, method string, status int, _ time.Duration) {
			seen = append(seen, fmt.Sprintf("%s %s %d", method, route, status))
		}
	})
	for _, tt := range []struct{ method, path, want string }{
		{"GET", "/notify/unknown", "GET /notify/:id 404"},
		{"GET", "/unknown", "GET  404"},
		{"OPTIONS", "/notify", "OPTIONS  204"},
		{"PATCH", "/notify", "PATCH  405"},
		{"UNKNOWN", "/notify", "other  405"},
		{"UNKNOWN", "/unknown", "other  404"},
		{"HEAD", "/health", "HEAD /health 200"},
		{"HEAD", "/events", "HEAD /events 200"},
	} {
		seen = nil
		r.Do(t, tt.method, tt.path, "")
		check.Equal(t, strings.Join(seen, ", "), tt.want, "%s %s is observed as", tt.method, tt.path)
	}
	check.That(t, !strings.Contains(r.Log.String(), "status=0"), "status 0 is in the log: %s", r.Log)
}

// BenchmarkRefusedAnnouncement measures guards, decoding and encoding without the
// disk: the last check refuses the announcement.
func BenchmarkRefusedAnnouncement(b *testing.B) {
	r := webtest.NewRig(b)
	h := r.Handler()
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, webtest.NewRequest("POST", "/notify",
			`{"message": "Dinner is ready.", "voice": "unknown"}`, "Client", "127.0.0.1:1"))
		if w.Code != 422 {
			b.Fatal(w.Code)
		}
	}
}

// BenchmarkNew measures the start of the web server.
func BenchmarkNew(b *testing.B) {
	r := webtest.NewRig(b)
	for b.Loop() {
		check.Must(site.New(r.Config))(b)
	}
}
