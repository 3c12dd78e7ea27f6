package play_test

import (
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/gorilla/websocket"

	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

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
