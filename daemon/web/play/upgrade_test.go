package play_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/daemon/web/play"
	"pressbox/daemon/web/signin"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
)

// echoes returns the handler of a server at which every request opens a
// websocket that repeats what it receives.
func echoes(tb testing.TB, h *webtest.SignInRig) http.Handler {
	tb.Helper()
	cfg := h.Config
	a := signin.New(*cfg.SignIn)
	s, err := web.New(cfg.Config)
	if err != nil {
		tb.Fatal(err)
	}
	route := play.EchoRoute(s, play.Config{Sessions: cfg.SignIn.Sessions, Authenticate: a.Authenticate})
	if err := s.Mount([]web.Route{route}, []byte("{}")); err != nil {
		tb.Fatal(err)
	}
	return s.Handler()
}

// dial opens a websocket to a house with these headers; status is of the answer.
func dial(h *webtest.SignInRig, t *testing.T, headers ...string) (conn *websocket.Conn, status int) {
	t.Helper()
	server := httptest.NewServer(echoes(t, h))
	t.Cleanup(server.Close)
	header := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		header.Add(headers[i], strings.ReplaceAll(headers[i+1], "{host}", strings.TrimPrefix(server.URL, "http://")))
	}
	dialer := websocket.Dialer{Subprotocols: []string{"pressbox.v1"}}
	conn, resp, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http")+"/api/ws?token="+auth.NewSecret(), header)
	if err != nil && !errors.Is(err, websocket.ErrBadHandshake) {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if conn != nil {
		t.Cleanup(func() { _ = conn.Close() })
		if conn.Subprotocol() != "pressbox.v1" {
			t.Errorf("sub-protocol %q", conn.Subprotocol())
		}
	}
	return conn, resp.StatusCode
}

// hear is the next message, or "closed" and the code.
func hear(t *testing.T, conn *websocket.Conn) string {
	t.Helper()
	_, text, err := conn.ReadMessage()
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		return fmt.Sprint("closed ", closed.Code)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// say sends a frame.
func say(t *testing.T, conn *websocket.Conn, frame string) {
	t.Helper()
	if err := conn.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
		t.Fatal(err)
	}
}

func authAs(token string) string { return `{"t":"auth","d":{"token":"` + token + `"}}` }

// E1: a page of another origin, of another port too, cannot open a websocket
// with somebody's cookie; a program that is no browser can.
func TestE1_Origin(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t, func(c *site.Config) { c.TrustedOrigins = []string{"http://client.example"} })
	b := h.Browser(t)
	b.SignIn()
	cookie := []string{"Cookie", "pressbox_access=" + b.AccessToken()}
	for origin, want := range map[string]int{
		"": 101, "http://{host}": 101, "http://client.example": 101,
		"http://evil": 403, "null": 403, "http://{host}1": 403, "https://{host}": 403, "http://127.0.0.1": 403, "http://client.example:81": 403,
	} {
		headers := cookie
		if origin != "" {
			headers = append(headers[:2:2], "Origin", origin)
		}
		if _, status := dial(h, t, headers...); status != want {
			t.Errorf("Origin %q: status %d, want %d", origin, status, want)
		}
	}
	if _, status := dial(h, t, append(cookie, "Origin", "http://{host}", "Origin", "http://evil")...); status == 101 {
		t.Error("two origins are let in")
	}
	plain := httptest.NewServer(echoes(t, h))
	defer plain.Close()
	resp, err := http.Get(plain.URL + "/api/ws")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("what is no websocket: status %d, want 400", resp.StatusCode)
	}
}

// E2, E3: the cookie counts; where it is absent or bad, the auth object does;
// a token in the address does not; who is nobody is told 4401.
func TestE2_WhoOpensAWebsocket(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	good, bad := b.AccessToken(), auth.NewToken(auth.KindAccess).Reveal()
	for _, tt := range []struct{ name, cookie, frame, want string }{
		{"good cookie", good, "", "Anna"},
		{"no cookie, good object", "", authAs(good), "Anna"},
		{"bad cookie, good object", bad, authAs(good), "Anna"},
		{"garbage cookie, good object", "x y", authAs(good), "Anna"},
		{"no cookie, bad object", "", authAs(bad), "closed 4401"},
		{"both bad", bad, authAs(bad), "closed 4401"},
		{"a refresh token", "", authAs(b.RefreshToken()), "closed 4401"},
		{"another frame", "", `{"t":"join","g":"1"}`, "closed 4401"},
		{"no JSON", "", `hello`, "closed 4401"},
		{"no token", "", `{"t":"auth"}`, "closed 4401"},
		{"too much", "", authAs(strings.Repeat("x", 4096)), "closed 4401"}, // E4
	} {
		var headers []string
		if tt.cookie != "" {
			headers = []string{"Cookie", "pressbox_access=" + tt.cookie}
		}
		conn, status := dial(h, t, headers...)
		if status != http.StatusSwitchingProtocols {
			t.Fatalf("%s: status %d", tt.name, status)
		}
		if tt.frame != "" {
			say(t, conn, tt.frame)
		}
		if got := hear(t, conn); got != tt.want && (tt.name != "too much" || !strings.HasPrefix(got, "closed")) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	if conn, _ := dial(h, t, "Authorization", "Bearer "+good); hear(t, conn) != "Anna" {
		t.Error("a header does not serve")
	}
}

// E5: when the session ends, its sockets do, at once, and others stay.
func TestE5_SessionEnds(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b, other := h.Browser(t), h.Browser(t)
	b.SignIn()
	other.SignIn()
	conn, _ := dial(h, t, "Cookie", "pressbox_access="+b.AccessToken())
	stays, _ := dial(h, t, "Cookie", "pressbox_access="+other.AccessToken())
	if hear(t, conn) != "Anna" || hear(t, stays) != "Anna" {
		t.Fatal("not let in")
	}
	b.Post("/api/auth/logout").Want(204)
	if got := hear(t, conn); got != "closed 4401" {
		t.Errorf("after logging out: %s, want closed 4401", got)
	}
	say(t, stays, "still here")
	if got := hear(t, stays); got != "still here" {
		t.Errorf("the other session: %s", got)
	}
}

// E6: after a renewal a websocket is opened with the new cookie, and the one
// that is open stays so.
func TestE6_AfterRenewal(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	conn, _ := dial(h, t, "Cookie", "pressbox_access="+b.AccessToken())
	if hear(t, conn) != "Anna" {
		t.Fatal("not let in")
	}
	b.Post("/api/auth/refresh").Want(200)
	again, _ := dial(h, t, "Cookie", "pressbox_access="+b.AccessToken())
	if hear(t, again) != "Anna" {
		t.Error("not let in with the new cookie")
	}
	say(t, conn, "still here")
	if got := hear(t, conn); got != "still here" {
		t.Errorf("the open one: %s", got)
	}
}

// A bug costs the connection in which it is met, and is logged; the others stay.
func TestASocketThatPanics(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	conn, _ := dial(h, t, "Cookie", "pressbox_access="+b.AccessToken())
	stays, _ := dial(h, t, "Cookie", "pressbox_access="+b.AccessToken())
	hear(t, conn)
	hear(t, stays)
	say(t, conn, "panic")
	hear(t, conn)
	if _, _, err := conn.ReadMessage(); err == nil {
		t.Error("it goes on")
	}
	say(t, stays, "still here")
	if got := hear(t, stays); got != "still here" {
		t.Errorf("the other one: %s", got)
	}
	if log := h.Log.String(); !strings.Contains(log, "the socket has a bug") || !strings.Contains(log, "level=ERROR") {
		t.Errorf("the log does not tell of it: %s", log)
	}
}

// inTime opens a websocket in a synctest bubble, where waiting takes no time.
func inTime(h *webtest.SignInRig, t *testing.T, headers ...string) *websocket.Conn {
	t.Helper()
	l := webtest.NewWire()
	server := &http.Server{Handler: echoes(t, h)}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	header := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		header.Add(headers[i], headers[i+1])
	}
	dialer := websocket.Dialer{NetDialContext: func(context.Context, string, string) (net.Conn, error) { return l.Dial(), nil }}
	conn, resp, err := dialer.DialContext(t.Context(), "ws://pressbox.local/api/ws", header)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = resp.Body.Close()
		_ = conn.Close()
		_ = server.Close()
		<-ended
	})
	return conn
}

// E4: who does not say who it is within ten seconds is hung up on.
func TestE4_Silence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, began := inTime(webtest.NewSignInRig(t), t), time.Now()
		if got, took := hear(t, conn), time.Since(began); got != "closed 4401" || took != 10*time.Second {
			t.Errorf("%s after %v, want closed 4401 after 10s", got, took)
		}
	})
}

// E5: a session that grows too old ends its sockets within a minute.
func TestE5_SessionExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := webtest.NewSignInRig(t)
		b := h.Browser(t)
		b.SignIn()
		conn := inTime(h, t, "Cookie", "pressbox_access="+b.AccessToken())
		if hear(t, conn) != "Anna" {
			t.Fatal("not let in")
		}
		time.Sleep(10 * time.Minute)
		say(t, conn, "still here")
		if got := hear(t, conn); got != "still here" {
			t.Fatalf("before its time: %s", got)
		}
		h.Clock.Advance(auth.RefreshTTL + time.Second)
		began := time.Now()
		if got, took := hear(t, conn), time.Since(began); got != "closed 4401" || took > time.Minute {
			t.Errorf("%s after %v, want closed 4401 within a minute", got, took)
		}
	})
}
