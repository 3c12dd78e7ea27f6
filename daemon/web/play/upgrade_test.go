package play_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
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
	"pressbox/packaging/check"
)

// serveEcho serves the websocket of [play.EchoRoute] until the test ends.
func serveEcho(t *testing.T, h *webtest.Rig, l net.Listener) {
	t.Helper()
	cfg := h.Config
	s := check.Must(web.New(cfg.Config))(t)
	route := play.EchoRoute(s,
		play.Config{Sessions: cfg.SignIn.Sessions, Authenticate: signin.New(*cfg.SignIn).Authenticate})
	s.Mount([]web.Route{route}, nil, play.Problem)
	server := &http.Server{Handler: s.Handler()}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
}

// dialEcho opens a websocket to a server of its own, with these headers. status is that of the answer.
func dialEcho(t *testing.T, h *webtest.Rig, headers ...string) (conn *websocket.Conn, status int) {
	t.Helper()
	l := webtest.NewWire()
	serveEcho(t, h, l)
	header := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		header.Add(headers[i], headers[i+1])
	}
	dialer := websocket.Dialer{
		Subprotocols:   []string{"pressbox.v1"},
		NetDialContext: func(context.Context, string, string) (net.Conn, error) { return l.Dial(), nil },
	}
	conn, resp, err := dialer.DialContext(t.Context(), "ws://pressbox.local/api/ws?token="+auth.NewSecret(), header)
	if err != nil && !errors.Is(err, websocket.ErrBadHandshake) {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if conn != nil {
		t.Cleanup(func() { _ = conn.Close() })
		check.Equal(t, conn.Subprotocol(), "pressbox.v1", "sub-protocol")
	}
	return conn, resp.StatusCode
}

// receive returns the next message, or "closed" and the code.
func receive(t *testing.T, conn *websocket.Conn) string {
	t.Helper()
	_, text, err := conn.ReadMessage()
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		return fmt.Sprint("closed ", closed.Code)
	}
	check.NoError(t, err)
	return string(text)
}

func send(t *testing.T, conn *websocket.Conn, frame string) {
	t.Helper()
	check.NoError(t, conn.WriteMessage(websocket.TextMessage, []byte(frame)))
}

// wantOpen fails the test unless the websocket is open.
func wantOpen(t *testing.T, conn *websocket.Conn) {
	t.Helper()
	send(t, conn, "hello")
	check.Equal(t, receive(t, conn), "hello", "the websocket")
}

func cookie(token string) []string { return []string{"Cookie", "pressbox_access=" + token} }

func authFrame(token string) string { return `{"t":"auth","d":{"token":"` + token + `"}}` }

// A page of another origin, including another port, cannot open a websocket with the user's cookie; a program
// that sends no Origin can.
func TestUpgrade_origin(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t, func(c *site.Config) { c.TrustedOrigins = []string{"http://client.example"} })
	b := h.Browser(t)
	b.SignIn()
	headers := cookie(b.AccessToken())
	_, status := dialEcho(t, h, headers...)
	check.Equal(t, status, 101, "no Origin: status")
	for origin, want := range map[string]int{
		"http://pressbox.local": 101, "http://client.example": 101, "http://evil": 403, "null": 403,
		"http://pressbox.local1": 403, "http://pressbox.local:81": 403, "https://pressbox.local": 403,
		"http://127.0.0.1": 403, "http://client.example:81": 403,
	} {
		_, status := dialEcho(t, h, append(headers[:2:2], "Origin", origin)...)
		check.That(t, status == want, "Origin %q: status %d, want %d", origin, status, want)
	}
	_, status = dialEcho(t, h, append(headers, "Origin", "http://pressbox.local", "Origin", "http://evil")...)
	check.That(t, status != 101, "two origins are accepted")
	l := webtest.NewWire()
	serveEcho(t, h, l)
	conn, resp := l.Ask(t, "GET /api/ws HTTP/1.1\r\nHost: pressbox.local\r\n\r\n")
	defer conn.Close()
	check.Equal(t, resp.StatusCode, http.StatusBadRequest, "plain GET: status")
}

// The cookie or header authenticates, then the auth frame; a token in the query does not. Otherwise the
// socket is closed with 4401.
func TestUpgrade_authentication(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	good, bad := b.AccessToken(), auth.NewToken(auth.KindAccess).Reveal()
	for _, tt := range []struct {
		name    string
		headers []string
		frame   string
		want    string
	}{
		{"cookie", cookie(good), "", "Anna"},
		{"header", webtest.Bearer(good), "", "Anna"},
		{"frame", nil, authFrame(good), "Anna"},
		{"bad cookie, frame", cookie(bad), authFrame(good), "Anna"},
		{"invalid cookie, frame", cookie("x y"), authFrame(good), "Anna"},
		{"bad frame", nil, authFrame(bad), "closed 4401"},
		{"bad cookie, bad frame", cookie(bad), authFrame(bad), "closed 4401"},
		{"refresh token", nil, authFrame(b.RefreshToken()), "closed 4401"},
		{"another frame", nil, `{"t":"ping"}`, "closed 4401"},
		{"join, as one too many", nil, `{"t":"join","g":"1"}`, "closed 4429"},
		{"bad cookie, join", cookie(bad), `{"t":"join","g":"1"}`, "closed 4401"},
		{"not JSON", nil, `hello`, "closed 4401"},
		{"no token", nil, `{"t":"auth"}`, "closed 4401"},
		{"duplicate name", nil, `{"t":"join",` + authFrame(good)[1:], "closed 4401"},
		{"duplicate token", nil, `{"t":"auth","d":{"token":"x","token":"` + good + `"}}`, "closed 4401"},
		{"trailing data", nil, authFrame(good) + authFrame(good), "closed 4401"},
		{"unknown member", nil, `{"x":1,` + authFrame(good)[1:], "closed 4401"},
		{"name in another case", nil, strings.Replace(authFrame(good), `"token"`, `"Token"`, 1), "closed 4401"},
		{"invalid UTF-8", nil, `{"g":"` + "\xff" + `",` + authFrame(good)[1:], "closed 4401"},
		{"too long", nil, authFrame(strings.Repeat("x", 4096)), fmt.Sprint("closed ", websocket.CloseMessageTooBig)},
	} {
		conn, status := dialEcho(t, h, tt.headers...)
		check.Require(t, status == http.StatusSwitchingProtocols, "%s: status %d", tt.name, status)
		if tt.frame != "" {
			send(t, conn, tt.frame)
		}
		check.Equal(t, receive(t, conn), tt.want, "%s", tt.name)
	}
}

// A client that sends no auth frame is closed after ten seconds.
func TestUpgrade_authTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, _ := dialEcho(t, webtest.NewSignInRig(t))
		began := time.Now()
		check.Equal(t, receive(t, conn), "closed 4401", "without an auth frame")
		check.Equal(t, time.Since(began), 10*time.Second, "the time limit")
	})
}

// A session's end closes its sockets at once; a refresh closes none; a panic closes one connection and is
// logged. The other session's socket stays open.
func TestServeConn_ends(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b, other := h.Browser(t), h.Browser(t)
	b.SignIn()
	other.SignIn()
	dial := func(b *webtest.Browser) *websocket.Conn {
		conn, _ := dialEcho(t, h, cookie(b.AccessToken())...)
		got := receive(t, conn)
		check.Require(t, got == "Anna", "received %s, want Anna", got)
		return conn
	}
	conn, otherConn := dial(b), dial(other)
	b.Post("/api/auth/refresh").Want(200)
	wantOpen(t, conn)
	panicking := dial(b)
	send(t, panicking, "panic")
	receive(t, panicking)
	_, _, err := panicking.ReadMessage()
	check.That(t, err != nil, "the socket is open after a panic")
	check.Contains(t, h.LogLine("the socket has a bug"), "level=ERROR", "the record of the panic")
	wantOpen(t, conn)
	b.Post("/api/auth/logout").Want(204)
	check.Equal(t, receive(t, conn), "closed 4401", "after logging out")
	wantOpen(t, otherConn)
}

// A session that expires closes its sockets within a minute.
func TestServeConn_sessionExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := webtest.NewSignInRig(t)
		b := h.Browser(t)
		b.SignIn()
		conn, _ := dialEcho(t, h, cookie(b.AccessToken())...)
		got := receive(t, conn)
		check.Require(t, got == "Anna", "received %s, want Anna", got)
		time.Sleep(10 * time.Minute)
		wantOpen(t, conn)
		h.Clock.Pass(auth.RefreshTTL + time.Second)
		began := time.Now()
		check.Equal(t, receive(t, conn), "closed 4401", "after the session")
		check.That(t, time.Since(began) <= time.Minute, "closed after %v, want within a minute", time.Since(began))
	})
}

// Clients that NOTIFY_ACCESS permits read listed games without a session and change nothing; a private game
// does not exist for them. A client that says that it has a session is refused when it has none.
func TestVisitors_read(t *testing.T) {
	t.Parallel()
	for access, want := range map[web.Access]struct{ lan, foreign int }{
		web.LAN: {200, 401}, web.Open: {200, 200}, web.Token: {401, 401}, web.Off: {403, 403},
	} {
		t.Run(string(access), func(t *testing.T) {
			t.Parallel()
			p := webtest.NewGamesRig(t, webtest.WithTeams, func(c *site.Config) { c.Access = access })
			anna := p.Player(t, "Anna")
			public := anna.CreateGame(`{"opponent": "hotseat"}`).ID
			private := anna.CreateGame(`{"opponent": "hotseat", "visibility": "private"}`).ID
			for _, id := range []string{public, private} {
				anna.SuggestLineup(id, "home")
				anna.SuggestLineup(id, "away")
			}
			for _, path := range []string{"", "/events", "/boxscore", "/winprob", "/scorecard"} {
				anna.Ask("GET", "/api/games/"+private+path, "", 200, nil)
				for from, status := range map[string]int{
					webtest.LANClient: want.lan, webtest.ForeignClient: want.foreign,
				} {
					p.Do(t, "GET", "/api/games/"+public+path, "", "Client", from).Want(status)
					if status == 200 {
						status = 404
					}
					p.Do(t, "GET", "/api/games/"+private+path, "", "Client", from).Want(status)
				}
			}
			for _, visibility := range []string{"listed", "private"} {
				open := anna.CreateGame(`{"visibility": "` + visibility + `"}`).ID
				p.Do(t, "GET", "/api/games/"+open+"/invitation", "", "Client", webtest.LANClient).Want(want.lan)
			}
			anna.Ask("GET", "/api/games/"+private+"/invitation", "", 404, nil) // has started
			for _, path := range []string{
				"/api/games", "/api/stats/standings", "/api/stats/players", "/api/stats/leaders", "/api/stats/managers",
			} {
				p.Do(t, "GET", path, "", "Client", webtest.LANClient).Want(want.lan)
				p.Do(t, "GET", path, "", "Client", webtest.LANClient, "Pressbox-Session", "required").Want(401)
				anna.Ask("GET", path, "", 200, nil)
			}
			p.Do(t, "POST", "/api/games/"+public+"/concede", "").Want(401)
			p.Do(t, "GET", "/api/teams", "").Want(401)
		})
	}
}

// A visitor is a client without an account that joins games.
type visitor struct{ *webtest.Socket }

// dialVisitor opens a websocket without a session from a local address.
func dialVisitor(t *testing.T, address, from string) visitor {
	t.Helper()
	dialer := websocket.Dialer{
		Subprotocols:   []string{"pressbox.v1"},
		NetDialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext,
	}
	conn, resp, err := dialer.DialContext(t.Context(), "ws://"+address+"/api/ws", http.Header{})
	check.NoError(t, err)
	_ = resp.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	return visitor{webtest.NewSocket(t, conn)}
}

// watch joins a game; code is the close code, 0 if it is watched.
func (v visitor) watch(game string) (code int) {
	v.Sendf(`{"t":"join","g":%q}`, game)
	_, err := v.Read()
	if closed, ok := err.(*websocket.CloseError); ok { //nolint:errorlint // the library returns it as it is
		return closed.Code
	}
	check.NoError(v.T, err)
	return 0
}

// Without a session, a websocket watches listed games and does nothing else.
func TestVisitors_watch(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	anna := p.Player(t, "Anna")
	public, private := anna.CreateGame(`{}`).ID, anna.CreateGame(`{"visibility": "private"}`).ID
	address := p.Open(t)
	v := dialVisitor(t, address, "127.0.0.1")
	v.Sendf(`{"t":"join","g":%q}`, public)
	f := v.Until("state", "nak")
	check.Require(t, f.T == "state", "joined: %s", f.Text)
	v.Sendf(`{"t":"join","g":%q}`, private)
	v.WantNak("unknown_game")
	v.Sendf(`{"t":"cmd","g":%q,"cid":"c1","rev":1,"d":{"action":{"a":"concede"}}}`, public)
	v.WantNak("forbidden")
}

// Twenty websockets without a session are open from one address, the next one is closed with 4429; and two hundred in
// all: a new address gets the place of the oldest.
func TestVisitors_limits(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	game := p.Player(t, "Anna").CreateGame(`{}`).ID
	address := p.Open(t)
	var first visitor
	for i := range 10 {
		from := fmt.Sprintf("127.0.0.%d", i+1)
		for n := range 20 {
			v := dialVisitor(t, address, from)
			check.Require(t, v.watch(game) == 0, "visitor %d of %s is refused", n+1, from)
			if i+n == 0 {
				first = v
			}
		}
		check.Equal(t, dialVisitor(t, address, from).watch(game), 4429, "visitor 21 of an address: close code")
	}
	check.Equal(t, dialVisitor(t, address, "127.0.0.99").watch(game), 0, "visitor 201: close code")
	for err := error(nil); err == nil; { // the messages that it has not read yet come first
		_, err = first.Read()
	}
}
