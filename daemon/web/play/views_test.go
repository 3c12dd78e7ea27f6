package play_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"pressbox/auth/netblock"
	"pressbox/daemon/web"
	"pressbox/daemon/web/play"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/game/card"
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

// Twenty websockets without a session are open from one address and two hundred in all; the next one is
// closed with 4429, until another one is.
func TestVisitors_limits(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	game := p.Player(t, "Anna").CreateGame(`{}`).ID
	address := p.Open(t)
	var last visitor
	for i := range 10 {
		from := fmt.Sprintf("127.0.0.%d", i+1)
		for n := range 20 {
			last = dialVisitor(t, address, from)
			check.Require(t, last.watch(game) == 0, "visitor %d of %s is refused", n+1, from)
		}
		check.Equal(t, dialVisitor(t, address, from).watch(game), 4429, "visitor 21 of an address: close code")
	}
	check.Equal(t, dialVisitor(t, address, "127.0.0.99").watch(game), 4429, "visitor 201: close code")
	_ = last.Close()
	for dialVisitor(t, address, "127.0.0.99").watch(game) != 0 { // until the server has noticed
		check.Require(t, t.Context().Err() == nil, "no visitor is admitted after one has left")
	}
}

// fetched matches the time of a roster, which changes. timed matches what may differ between one response and
// the next.
var timed = regexp.MustCompile(`"fetched_at":"[^"]*"|"gone_in":\d+`)

// Responses that become large are compressed, and are the same otherwise.
func TestRoutes_compressed(t *testing.T) {
	t.Parallel()
	r := webtest.NewGamesRig(t, webtest.WithTeams)
	m := r.NewMatch(t, `{"opponent": "open"}`)
	m.Home.CreateGame(`{}`) // a list of one game is hardly above the limit
	game := "/api/games/" + m.ID
	for path, large := range map[string]bool{
		"/api/teams": true,
		"/api/teams/" + webtest.HomeTeam() + "/roster": true,
		"/api/games":           true,
		game:                   true,
		game + "/events":       true,
		game + "/boxscore":     true,
		game + "/winprob":      false, // of a game that has just begun
		"/api/stats/standings": false, // no game is finished
		"/api/stats/players":   false,
	} {
		plain := m.Home.Get(path).Want(200)
		packed := m.Home.Send("GET", path, "", "Accept-Encoding", "gzip")
		got, text := packed.Header.Get("Content-Encoding") == "gzip", packed.Text
		if got {
			text = string(check.Must(io.ReadAll(check.Must(gzip.NewReader(strings.NewReader(packed.Text)))(t)))(t))
		}
		check.Equal(t, got, large, "GET %s: compressed", path)
		check.Equal(t, plain.Header.Get("Content-Encoding"), "", "GET %s without gzip: encoding", path)
		for _, answer := range []webtest.Page{plain, packed} {
			check.Equal(t, answer.Header.Get("Vary"), "Accept-Encoding", "GET %s: Vary", path)
		}
		check.Equal(t, timed.ReplaceAllString(text, ""), timed.ReplaceAllString(plain.Text, ""),
			"GET %s: %d bytes compressed, %d plain, which differ", path, len(text), len(plain.Text))
	}
}

// The characters that separate fields are escaped.
func TestWiFi_code(t *testing.T) {
	t.Parallel()
	for _, row := range check.Rows(`
		Guests       | four strikes | WIFI:T:WPA;S:Guests;P:four strikes;;
		a;b,c:d"e\f  | \;,:"        | WIFI:T:WPA;S:a\;b\,c\:d\"e\\f;P:\\\;\,\:\";;
		Café ☕       | ünïcode1     | WIFI:T:WPA;S:Café ☕;P:ünïcode1;;
	`) {
		check.Equal(t, play.WiFi{SSID: row[0], Passphrase: row[1]}.Code(), row[2], "%q, %q", row[0], row[1])
	}
}

// parseWiFi reads a code as phones do: fields end at a semicolon without a backslash before it.
func parseWiFi(code string) (fields []string) {
	field := ""
	for i := len("WIFI:"); i < len(code); i++ {
		switch {
		case code[i] == '\\' && i+1 < len(code):
			i++
			field += code[i : i+1]
		case code[i] == ';':
			fields, field = append(fields, field), ""
		default:
			field += code[i : i+1]
		}
	}
	return fields
}

// Any name and passphrase are read back as they are.
func FuzzWiFi_code(f *testing.F) {
	f.Add("Guests", "four strikes")
	f.Add(`\;,:"`, `P:x;;\`)
	f.Fuzz(func(t *testing.T, ssid, passphrase string) {
		code := play.WiFi{SSID: ssid, Passphrase: passphrase}.Code()
		got := parseWiFi(code)
		if len(got) != 4 || got[0] != "T:WPA" || got[1] != "S:"+ssid || got[2] != "P:"+passphrase || got[3] != "" {
			t.Errorf("%q is read as %q", code, got)
		}
	})
}

// The network reaches a client on the host, unless a proxy may have sent the request, and an administrator;
// no other client.
func TestWiFi_kiosk(t *testing.T) {
	t.Parallel()
	rigs := map[play.WiFi]*webtest.Rig{}
	for _, row := range check.Rows(`
		on the host                  | 127.0.0.1    |                 | Guests | secret words | network
		on the host, IPv6            | [::1]        |                 | Guests | secret words | network
		the wall display of the host | DISPLAY      |                 | Guests | secret words | network
		the display behind a proxy   | DISPLAY      | X-Forwarded-For | Guests | secret words | nothing
		in the network               | 192.168.1.20 |                 | Guests | secret words | nothing
		through a proxy              | 127.0.0.1    | X-Forwarded-For | Guests | secret words | nothing
		through another proxy        | 127.0.0.1    | Via             | Guests | secret words | nothing
		without a name               | 127.0.0.1    |                 |        | secret words | nothing
		without a passphrase         | 127.0.0.1    |                 | Guests |              | nothing
	`) {
		name, header, want := row[0], row[2], row[5] == "network"
		from := strings.Replace(row[1], "DISPLAY", netblock.Display().String(), 1) + ":4711"
		wifi := play.WiFi{SSID: row[3], Passphrase: row[4]}
		p := rigs[wifi]
		if p == nil {
			p = webtest.NewGamesRig(t, func(c *site.Config) { c.Access, c.Play.WiFi = web.Open, wifi })
			p.Announce(t, "Dinner is ready.") // sent after the network
			rigs[wifi] = p
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.RemoteAddr = from
			if header != "" {
				r.Header.Set(header, "192.168.1.20")
			}
			p.Handler().ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		display := webtest.OpenDisplay(t, strings.TrimPrefix(server.URL, "http://"))
		display.Await("announcement", "Dinner")
		all := strings.Join(display.All, "\n")
		got := strings.Contains(all, `wifi {"ssid":"Guests","code":"WIFI:T:WPA;S:Guests;P:secret words;;"}`)
		check.Equal(t, got, want, "%s: the display has the network", name)
		check.That(t, want || !strings.Contains(all, "secret words"), "%s: the display has the passphrase", name)
		server.CloseClientConnections()
	}
}

// A player's card is the same in the roster and on its own, with the names of the contract; in a game it has
// today's line.
func TestPlayers_card(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t, webtest.WithTeams)
	anna := p.Player(t, "Anna")
	type player struct {
		card.Card
		ID   string
		Name string
		Team struct{ ID string }
	}
	roster := get[struct{ Players []player }](anna, "/api/teams/BWH/roster?season=2").Players
	want := roster[3]
	for _, path := range []string{"?season=2", "?season=2&team=BWH"} {
		got := get[player](anna, "/api/players/"+want.ID+path)
		same := got.Card == want.Card && got.Name == want.Name
		check.That(t, same && got.Team.ID == "BWH" && got.Ratings.Contact >= 20, "%s: %+v, want %+v", path, got, want)
	}
	fields := get[map[string]json.RawMessage](anna, "/api/players/"+want.ID+"?season=2")
	for _, name := range []string{"ratings", "season", "today", "pitches", "fatigue", "rest_days", "source"} {
		check.That(t, fields[name] != nil, "the card lacks %s", name)
	}
	anna.Refused("GET", "/api/players/unknown", "", 404, "unknown_player")
	anna.Refused("GET", "/api/players/"+want.ID+"?season=2&team=CPR", "", 404, "unknown_player")
	anna.Refused("GET", "/api/players/"+want.ID+"?season=0", "", 422, "out_of_range")
	anna.Refused("GET", "/api/players/"+want.ID+"?game=none", "", 404, "unknown_game")
	var l struct{ ID string }
	anna.Ask("POST", "/api/series", `{"name": "x", "season": 2, `+two+`}`, 201, &l)
	got := get[player](anna, "/api/players/"+want.ID+"?league="+l.ID)
	check.That(t, got.Card == want.Card && got.Name == want.Name,
		"before the first day of a series: %+v, in the roster %+v", got, want)
	anna.Refused("GET", "/api/players/"+want.ID+"?league=none", "", 404, "unknown_league")
}

func TestPlayers_inGame(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t, webtest.WithTeams)
	anna := p.Player(t, "Anna")
	id := anna.CreateGame(`{"opponent": "bot"}`).ID
	anna.SuggestLineup(id, "home")
	type player struct {
		ID    string
		Today *struct{ Batting, Pitching *struct{} }
	}
	g := get[struct {
		State   struct{ Batter, Pitcher string }
		Rosters struct{ Home, Away struct{ Players []player } }
	}](anna, "/api/games/"+id)
	batter := get[player](anna, "/api/players/"+g.State.Batter+"?game="+id)
	pitcher := get[player](anna, "/api/players/"+g.State.Pitcher+"?game="+id)
	check.That(t, batter.Today != nil && batter.Today.Batting != nil, "the batter: %+v", batter)
	check.That(t, pitcher.Today != nil && pitcher.Today.Pitching != nil, "the pitcher: %+v", pitcher)
	bench := slices.IndexFunc(g.Rosters.Home.Players, func(p player) bool { return p.Today == nil })
	check.That(t, bench >= 0, "everyone plays")
}
