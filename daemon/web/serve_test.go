package web_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/daemon/web"
	"pressbox/daemon/web/announcements"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/static"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// readAll reads until the server closes the connection, and returns the time until then and the text.
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

// Connections that the server has accepted before it stops may still send their first request.
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

// On the local network each IPv6 address has its own NOTIFY_RATE, and all of a /64 have eight times as much.
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

var pageFile = regexp.MustCompile(`"(/page/[0-9a-f]{12}/)([a-zA-Z0-9.-]+)"`)

// The document links to its files by the hash of all of them. They may be cached
// for ever, and are compressed for clients that accept it.
func TestPage_files(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	page := r.Do(t, "GET", "/", "").Want(200)
	if cache := page.Header.Get("Cache-Control"); cache != "private, no-cache" {
		t.Errorf("the document has Cache-Control %q", cache)
	}
	links := pageFile.FindAllStringSubmatch(page.Text, -1)
	check.Require(t, len(links) >= 5, "the document links to %q", links)
	for _, file := range links {
		plain := r.Do(t, "GET", file[1]+file[2], "").Want(200)
		gzipped := r.Do(t, "GET", file[1]+file[2], "", "Accept-Encoding", "gzip").Want(200)
		if cache := gzipped.Header.Get("Cache-Control"); cache != "public, max-age=31536000, immutable" {
			t.Errorf("%s: Cache-Control %q", file[2], cache)
		}
		body := []byte(gzipped.Text)
		if gzipped.Header.Get("Content-Encoding") == "gzip" {
			z := check.Must(gzip.NewReader(gzipped.Body))(t)
			body = check.Must(io.ReadAll(z))(t)
		} else if ext := filepath.Ext(file[2]); ext != ".woff2" && ext != ".png" {
			t.Errorf("%s is not compressed", file[2])
		}
		if string(body) != plain.Text || len(body) == 0 {
			t.Errorf("%s differs when it is compressed", file[2])
		}
		r.Do(t, "GET", "/page/000000000000/"+file[2], "").Want(404, "not_found")
	}
	r.Do(t, "GET", links[0][1]+"types.d.ts", "").Want(404, "not_found")
	r.Do(t, "GET", links[0][1]+"1-base.css", "").Want(404, "not_found")
	r.Do(t, "GET", links[0][1]+"board.scorebook.js", "").Want(404, "not_found")
	board := r.Do(t, "GET", links[0][1]+"board.js", "").Want(200).Text
	for text, want := range map[string]int{
		"class Scorebook": 1, "class Scene": 1, "export * from": 0, ` from "./ui.js"`: 1, "/**\n": 0, "/** Reports": 0,
	} {
		if got := strings.Count(board, text); got != want {
			t.Errorf("board.js has %s %d times, want %d", text, got, want)
		}
	}
	var style strings.Builder
	for _, part := range check.Must(filepath.Glob("static/page/css/*.css"))(t) {
		style.Write(check.Must(os.ReadFile(part))(t))
	}
	if got := r.Do(t, "GET", links[0][1]+"style.css", "").Want(200).Text; got != style.String() || got == "" {
		t.Errorf("style.css has %d bytes, its parts have %d", len(got), style.Len())
	}
}

// The document has CONTROL_ACCESS, so that the page disables what its user may not change.
func TestPage_controlAccess(t *testing.T) {
	t.Parallel()
	for _, access := range []web.Control{web.ControlAdmin, web.ControlLAN} {
		r := webtest.NewRig(t, func(c *site.Config) { c.ControlAccess = access })
		want := fmt.Sprintf(`<meta name="pressbox-control" content=%q>`, access)
		check.Contains(t, r.Do(t, "GET", "/announcements", "").Want(200).Text, want, "the document")
	}
}

// At an unknown path, browsers get the page and other clients a problem.
func TestPage_notFound(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	request := webtest.NewRequest("GET", "/left/field", "", "Accept", "text/html,*/*")
	w := httptest.NewRecorder() // not checked: the document has a problem here
	if r.Handler().ServeHTTP(w, request); w.Code != http.StatusNotFound ||
		!strings.Contains(w.Body.String(), "/app.js") {
		t.Errorf("status %d, %s", w.Code, w.Body)
	}
	r.Do(t, "GET", "/left/field", "").Want(404, "not_found")
	r.Do(t, "GET", "/api/left/field", "", "Accept", "text/html").Want(404, "not_found")
}

// Vendored files have the published checksums.
func TestPage_vendored(t *testing.T) {
	t.Parallel()
	sums := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "SHA256SUMS")
	sums.Dir = "static/vendor"
	out, err := sums.CombinedOutput()
	check.That(t, err == nil, "%v: %s", err, out)
	all := check.Must(os.ReadDir(sums.Dir))(t)
	check.Equal(t, strings.Count(string(out), ": OK\n")+1, len(all), "files with a checksum, and that of these")
}

// The document links to a manifest, whose icons exist and have the sizes and types that it names.
func TestPage_manifest(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	page := r.Do(t, "GET", "/", "").Want(200)
	if !strings.Contains(page.Text, `<link rel="manifest" href="/manifest.webmanifest">`) ||
		!strings.Contains(page.Text, `<link rel="icon" href="data:image/svg`) {
		t.Errorf("the document has no manifest or no icon: %s", page.Text)
	}
	answer := r.Do(t, "GET", "/manifest.webmanifest", "").Want(200)
	check.Equal(t, answer.Header.Get("Content-Type"), "application/manifest+json", "Content-Type")
	var manifest struct {
		Display string
		Theme   string `json:"theme_color"`
		Icons   []struct{ Src, Sizes, Type, Purpose string }
	}
	check.NoError(t, json.Unmarshal([]byte(answer.Text), &manifest))
	check.Equal(t, manifest.Display, "standalone", "display")
	style := check.Must(static.Files.ReadFile("page/css/0-colors.css"))(t)
	for _, document := range []string{"index.html", "signin.html"} {
		text := check.Must(static.Files.ReadFile(document))(t)
		check.Contains(t, string(text), `<meta name="theme-color" content="`+manifest.Theme+`">`, "%s", document)
	}
	check.Contains(t, string(style), "--navy: "+manifest.Theme+";", "the page")
	seen := map[string]bool{}
	for _, icon := range manifest.Icons {
		seen[icon.Purpose+" "+icon.Sizes] = true
		file := r.Do(t, "GET", icon.Src, "").Want(200)
		check.Equal(t, file.Header.Get("Content-Type"), icon.Type, "%s: Content-Type", icon.Src)
		if icon.Type != "image/png" {
			continue
		}
		picture, err := png.DecodeConfig(strings.NewReader(file.Text))
		if size := fmt.Sprintf("%dx%d", picture.Width, picture.Height); err != nil || size != icon.Sizes {
			t.Errorf("%s is %s (%v), in the manifest %s", icon.Src, size, err, icon.Sizes)
		}
	}
	for _, want := range []string{"any 192x192", "any 512x512", "maskable 512x512"} { // Chromium requires the first two
		check.That(t, seen[want], "no icon %s: %v", want, seen)
	}
}

// The document is in the language that the page's cookie names, otherwise in
// the one that the browser prefers, otherwise in English.
func TestPage_language(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, tt := range []struct{ cookie, accept, want string }{
		{"", "", "en"},
		{"", "de", "de"},
		{"", "de-AT,de;q=0.9,en;q=0.8", "de"},
		{"", "fr,de;q=0.5", "de"},
		{"", "en-GB,de;q=0.9", "en"},
		{"", "fr", "en"},
		{"", "de;q=x,,;", "en"},
		{"de", "en", "de"},
		{"en", "de", "en"},
		{"xx-invalid-", "de", "de"},
		{"../app", "", "en"},
	} {
		cookie := "pressbox_language=" + tt.cookie
		page := r.Do(t, "GET", "/", "", "Cookie", cookie, "Accept-Language", tt.accept).Want(200)
		if !strings.Contains(page.Text, `<html lang="`+tt.want+`">`) ||
			!strings.Contains(page.Text, "/"+tt.want+".js") ||
			page.Header.Get("Content-Language") != tt.want ||
			!strings.Contains(page.Header.Get("Vary"), "Accept-Language, Cookie") {
			t.Errorf("cookie %q, Accept-Language %q: %q, want %q",
				tt.cookie, tt.accept, page.Header.Get("Content-Language"), tt.want)
		}
	}
}
