package play_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressbox/daemon/health"
	"pressbox/daemon/limits"
	"pressbox/daemon/web"
	"pressbox/daemon/web/play"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/game/card"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
	"pressbox/store"
)

// twoTeams returns the members of a request that name both teams.
func twoTeams(home, away string) string {
	return fmt.Sprintf(`"home_team": %q, "away_team": %q`, home, away)
}

// A game is created with the requested options or the defaults; an invalid request creates none and its
// answer lists all violations.
func TestCreateGame_validation(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	anna := p.Player(t, "Anna")
	home, away := webtest.HomeTeam(), webtest.AwayTeam()
	teams := twoTeams(home, away)
	var g struct {
		ID      string
		Options json.RawMessage
		Season  int
		You     string
	}
	answer := anna.Ask("POST", "/api/games", `{`+teams+`}`, 201, &g)
	const defaults = `{"dh":true,"innings":9,"extra_innings":"runner","side":"home","opponent":"open",` +
		`"turn_seconds":86400,"announce":"scoring","visibility":"listed","mercy":"off",` +
		`"disengagements":"unlimited","bot_level":3,"rest":true}`
	check.Equal(t, answer.Header.Get("Location"), "/api/games/"+g.ID, "Location")
	check.That(t, string(g.Options) == defaults && g.Season == 3 && g.You == "home", "created %s", answer.Text)
	for _, tt := range []struct{ members, want string }{
		{``, "/away_team required, /home_team required"},
		{teams + `, "x": 1`, "/x unknown_field"},
		{teams + `, "options": {"x": 1, "innings": 4}`, "/options/innings not_offered, /options/x unknown_field"},
		{teams + `, "options": {"dh": "maybe"}`, "/options/dh wrong_type"},
		{teams + `, "options": {"bot_level": 4}`, "/options/bot_level not_offered"},
		{teams + `, "options": {"innings": 9.5}`, "/options/innings wrong_type"},
		{teams + `, "season": 0`, "/season out_of_range"},
		{teams + `, "season": 10000`, "/season out_of_range"},
		{teams + `, "options": null`, "/options wrong_type"},
		{twoTeams(home, home), "/away_team same_team"},
	} {
		check.Equal(t, anna.Ask("POST", "/api/games", `{`+tt.members+`}`, 422, nil).Violations(),
			tt.want, "{%s}", tt.members)
	}
	for _, members := range []string{`"season": 1, "options": {"turn_seconds": 86400}`, `"options": {}`} {
		anna.Ask("POST", "/api/games", `{`+teams+`, `+members+`}`, 201, nil)
	}
	anna.Refused("POST", "/api/games", `{`+twoTeams("nowhere", away)+`}`, 422, "unknown_team")
	anna.Refused("POST", "/api/games", `{`+teams+`, "season": 9}`, 422, "unknown_team")
	anna.Refused("POST", "/api/games", `{`, 400, "not_json")
	anna.Refused("POST", "/api/games", `{"home_team": "`+strings.Repeat("x", 64<<10)+`"}`, 413, "body_too_large")
	lists := get[struct{ Pending []webtest.GameView }](anna, "/api/games")
	check.That(t, len(lists.Pending) == 3, "%d games are pending, want 3", len(lists.Pending))
}

// What the managers and a third person can do and see, from the creation of a private game until its rematch.
func TestGame_lifeCycle(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	anna, bert, carl := p.Player(t, "Anna"), p.Player(t, "Bert"), p.Player(t, "Carl")
	path := "/api/games/" + anna.CreateGame(`{"visibility": "private"}`).ID
	id := strings.TrimPrefix(path, "/api/games/")
	type lists struct{ Pending, Active, Finished []webtest.GameView }
	check.Equal(t, len(get[lists](carl, "/api/games").Pending), 0, "private games listed for a third person")
	got := get[lists](anna, "/api/games?status=pending")
	check.That(t, len(got.Pending) == 1 && got.Pending[0].You == "home", "its creator's list is %+v", got)
	var g webtest.GameView
	bert.Ask("POST", path+"/join", "", 200, &g)
	check.That(t, g.You == "away" && g.Away.Manager.Name == "Bert", "joined: %+v", g)
	carl.Refused("POST", path+"/join", "", 409, "seat_taken")
	lineup := anna.Ask("POST", path+"/lineups/home/suggest", "", 200, nil).Text
	for f, code := range map[*webtest.Player]string{bert: "not_your_side", carl: "forbidden"} {
		f.Refused("PUT", path+"/lineups/home", lineup, 403, code)
		f.Refused("POST", path+"/lineups/home/suggest", "", 403, code)
	}
	carl.Refused("POST", path+"/start", "", 403, "forbidden")
	anna.Refused("PUT", path+"/lineups/left", lineup, 404, "not_found")
	for range 2 { // the second one replaces the first
		g = anna.SuggestLineup(id, "home")
	}
	check.That(t, g.Status == "pending" && g.Home.Submitted && g.Home.Lineup != nil, "with one line-up: %+v", g)
	hidden := get[webtest.GameView](bert, path).Home
	check.That(t, hidden.Submitted && hidden.Lineup == nil, "the other manager receives %+v", hidden)
	problem := bert.Refused("POST", path+"/start", "", 409, "not_ready").Text
	check.Contains(t, problem, "line-up", "the problem")
	g = bert.SuggestLineup(id, "away")
	check.That(t, g.Status == "active", "with both line-ups: %s", g.Status)
	anna.Ask("POST", path+"/start", "", 200, &g)
	check.That(t, g.Status == "active", "started twice: %s", g.Status)
	anna.Refused("PUT", path+"/lineups/home", lineup, 409, "not_pending")
	check.That(t, get[webtest.GameView](bert, path).Home.Lineup != nil, "an active game has no line-up for Bert")
	carl.Refused("POST", path+"/concede", "", 403, "forbidden")
	bert.Ask("POST", path+"/concede", "", 200, &g)
	check.That(t, g.Status == "finished" && g.Result.How == "conceded" && g.Result.Winner == "home", "conceded: %+v", g)
	answer := anna.Ask("POST", path+"/rematch", "", 201, &g)
	check.That(t, g.ID != id && g.Status == "pending" && answer.Header.Get("Location") == "/api/games/"+g.ID,
		"the rematch is %s", answer.Text)
	declined := "/api/games/" + g.ID
	carl.Refused("POST", declined+"/decline", "", 403, "forbidden")
	bert.Ask("POST", declined+"/decline", "", 204, nil)
	anna.Refused("GET", declined, "", 404, "unknown_game")
	anna.Ask("POST", path+"/rematch", "", 201, &g)
	var again webtest.GameView
	bert.Ask("POST", path+"/rematch", "", 201, &again)
	check.That(t, again.ID == g.ID && again.You != "", "the other manager's rematch is %+v", again)
}

// An invalid line-up is refused with all violations.
func TestSetLineup_validation(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	anna := p.Player(t, "Anna")
	id := anna.CreateGame(`{"opponent": "bot"}`).ID
	path := "/api/games/" + id + "/lineups/home"
	var good struct {
		Order []map[string]string `json:"batting_order"`
	}
	lineup := anna.Ask("POST", path+"/suggest", "", 200, &good).Text
	replace := func(old, text string) string { return strings.Replace(lineup, old, text, 1) }
	position := func(i int) string { return `"` + good.Order[i]["position"] + `"` }
	twice := strings.Replace(replace(position(0), position(1)), position(8), `"QB"`, 1)
	const slot, wrong = "/batting_order/", " wrong_type"
	for _, tt := range []struct{ name, body, want string }{ // all of them, or before "…" at least these
		{"empty", `{}`, "/batting_order required, /pitcher_id required"},
		{"unknown member", replace(`{`, `{"x": 1, `), "/x unknown_field"},
		{"unknown member of a slot", replace(`{"player_id"`, `{"x": 1, "player_id"`), slot + "0/x unknown_field"},
		{
			"wrong types", `{"batting_order": [7, {"player_id": 1, "position": true}], "pitcher_id": null}`,
			slot + "0" + wrong + ", " + slot + "1/player_id" + wrong + ", " + slot + "1/position" + wrong +
				", /pitcher_id" + wrong,
		},
		{"position twice", twice, slot + "1/position position_twice…"},
		{"unknown position", twice, slot + "8/position no_such_position…"},
		{"player of no roster", replace(good.Order[3]["player_id"], "unknown"), slot + "3/player_id not_on_roster"},
	} {
		got := anna.Ask("PUT", path, tt.body, 422, nil).Violations()
		part, some := strings.CutSuffix(tt.want, "…")
		check.That(t, got == tt.want || some && strings.Contains(got, part), "%s: %s, want %s", tt.name, got, tt.want)
	}
	g := get[webtest.GameView](anna, "/api/games/"+id)
	check.That(t, !g.Home.Submitted && g.Status == "pending", "after the refusals: %+v", g)
}

// Query parameters are validated.
func TestQuery_validation(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t, webtest.WithTeams)
	anna := p.Player(t, "Anna")
	events := "/api/games/" + anna.CreateGame(`{}`).ID + "/events"
	for _, row := range check.Table(t, "testdata/queries.txt") {
		if path := strings.Replace(row[0], "EVENTS", events, 1); row[1] == "accepted" {
			anna.Ask("GET", path, "", 200, nil)
		} else {
			anna.Refused("GET", path, "", 422, row[1])
		}
	}
	for _, path := range []string{"", "/events", "/boxscore", "/winprob", "/scorecard"} {
		anna.Refused("GET", "/api/games/nowhere"+path, "", 404, "unknown_game")
	}
}

// Statistics count the finished games of a season.
func TestStats_season(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	anna := p.Player(t, "Anna")
	id := anna.CreateGame(`{"opponent": "bot", "innings": 3}`).ID
	anna.SuggestLineup(id, "home")
	anna.Manage(p.Open(t), id).PlayOut()
	type standings struct {
		Season    int
		Standings []struct{ G, W, L int }
	}
	now := get[standings](anna, "/api/stats/standings")
	check.That(t, now.Season == 3 && len(now.Standings) == 2 && now.Standings[0].W+now.Standings[0].L == 1,
		"standings: %+v", now)
	before := get[standings](anna, "/api/stats/standings?season=2")
	check.That(t, len(before.Standings) == 0, "standings of another season: %+v", before)
	type players struct {
		Team              *string
		Batting, Pitching []struct{ Team struct{ ID string } }
	}
	all := get[players](anna, "/api/stats/players")
	home := get[players](anna, "/api/stats/players?team="+webtest.HomeTeam())
	check.Require(t, all.Team == nil && len(home.Batting) > 0 && len(home.Batting) < len(all.Batting),
		"%d batters in all, %d of the home team", len(all.Batting), len(home.Batting))
	check.That(t, len(home.Pitching) > 0, "the home team has no pitchers")
	check.Equal(t, home.Batting[0].Team.ID, webtest.HomeTeam(), "the first batter's team")
	type category struct{ Leaders []struct{ Value float64 } }
	type record struct {
		Game  string
		Value int
	}
	leaders := get[struct {
		Batting, Pitching []category
		Records           []record
	}](anna, "/api/stats/leaders")
	check.That(t, len(leaders.Batting) == 7 && len(leaders.Pitching) == 7 && len(leaders.Batting[5].Leaders) != 0,
		"leaders: %+v", leaders)
	for _, r := range leaders.Records {
		check.That(t, r.Game == id && r.Value >= 1, "record: %+v", r)
	}
	type manager struct {
		Manager struct{ Bot bool }
		Rating  int
	}
	managers := get[struct{ Managers []manager }](anna, "/api/stats/managers")
	m := managers.Managers
	check.That(t, len(m) == 2 && m[0].Rating+m[1].Rating == 3000 && m[0].Manager.Bot != m[1].Manager.Bot,
		"managers: %+v", m)
}

// The wall display requires no session on the local network. It receives listed games and announcements, but
// no private games.
func TestKiosk_events(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	anna := p.Player(t, "Anna")
	public := anna.CreateGame(`{"opponent": "bot"}`).ID
	private := anna.CreateGame(`{"opponent": "bot", "visibility": "private"}`).ID
	gone := anna.CreateGame(`{}`).ID
	anna.Ask("POST", "/api/notify", `{"message": "Breakfast is ready.", "in": 3600}`, 202, nil)
	d := webtest.OpenDisplay(t, address)
	d.Await("game", public)
	check.That(t, strings.Contains(d.Last, `"status":"pending"`) && !strings.Contains(d.Last, `"legal"`),
		"the snapshot has %s", d.Last)
	for _, id := range []string{public, private} {
		anna.SuggestLineup(id, "home")
	}
	d.Await("score", public)
	anna.Ask("DELETE", "/api/games/"+gone, "", 204, nil)
	d.Await("gone", gone)
	anna.Ask("POST", "/api/notify", `{"message": "Dinner is ready."}`, 202, nil)
	d.Await("announcement", "Dinner")
	all := strings.Join(d.All, "\n")
	check.That(t, !strings.Contains(all, `"sender"`) && strings.Contains(all, `"status":"scheduled"`),
		"the display received a sender, or no scheduled announcement: %s", all)
	m := anna.Manage(address, public).JoinState()
	m.Command(m.Legal[0].Action)
	d.Await("score", public)
	for _, member := range []string{`"now":{`, `"text":["`, `"line":[`} {
		check.Contains(t, d.Last, member, "a play")
	}
	late := webtest.OpenDisplay(t, address) // opened in mid-game
	late.Await("score", public)
	check.That(t, late.Last == d.Last, "a later display has %s, want %s", late.Last, d.Last)
	anna.Ask("POST", "/api/games/"+public+"/concede", "", 200, nil)
	d.Await("final", public)
	check.That(t, strings.Contains(d.Last, `"result":{`), "the final is %s", d.Last)
	d.Await("gone", public)
	d.Await("season", `"standings"`)
	check.That(t, strings.Contains(d.Last, `"w":1`), "the season after a game is %s", d.Last)
	after := webtest.OpenDisplay(t, address)
	after.Await("final", public)
	if all := strings.Join(d.All, "\n"); strings.Contains(all, private) {
		t.Errorf("the display received a private game: %s", all)
	}
	foreign := &webtest.Player{Browser: p.Browser(t), T: t, Name: "foreign"}
	foreign.From = "203.0.113.9:40000"
	foreign.Refused("GET", "/api/kiosk", "", 401, "unauthenticated")
}

// Clubs and rosters are those of the requested or the default season.
func TestTeams_season(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t, webtest.WithTeams)
	anna := p.Player(t, "Anna")
	type list struct {
		Season int
		Teams  []struct{ ID string }
	}
	all := get[list](anna, "/api/teams")
	check.That(t, all.Season == 3 && len(all.Teams) == 8, "teams: %+v", all)
	first := get[list](anna, "/api/teams?season=1")
	check.That(t, first.Season == 1, "teams of season 1: %+v", first)
	roster := get[struct {
		Season  int
		Players []struct{ ID string }
	}](anna, "/api/teams/"+all.Teams[0].ID+"/roster?season=2")
	check.That(t, roster.Season == 2 && len(roster.Players) == 26, "roster: %+v", roster)
	anna.Refused("GET", "/api/teams/unknown/roster", "", 404, "unknown_team")
	anna.Refused("GET", "/api/teams?season=4", "", 404, "unknown_team")
	anna.Refused("GET", "/api/teams?season=66", "", 503, "team_data_unavailable")
	anna.Refused("GET", "/api/teams/thin/roster", "", 409, "incomplete_roster")
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

// from is a listener whose connections have the remote address of another host.
type from struct {
	net.Listener
	remote string
}

func (l from) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return fromConn{conn, l.remote}, err
}

type fromConn struct {
	net.Conn
	remote string
}

func (c fromConn) RemoteAddr() net.Addr { return webtest.Address(c.remote + ":4711") }

// The network reaches a client on the host that uses a name of this host alone, unless a proxy may have sent the
// request, and an administrator; no other client, whatever its address.
func TestWiFi_kiosk(t *testing.T) {
	t.Parallel()
	rigs := map[play.WiFi]*webtest.Rig{}
	for _, row := range check.Rows(`
		on the host                  |              | localhost  |                 | Guests | secret words | network
		on the host, by its address  |              | 127.0.0.1  |                 | Guests | secret words | network
		on the host, IPv6            | [::1]        | [::1]      |                 | Guests | secret words | network
		a page of another host       |              | evil.local |                 | Guests | secret words | nothing
		the wall display of the host | DISPLAY      | localhost  |                 | Guests | secret words | network
		the display behind a proxy   | DISPLAY      | localhost  | X-Forwarded-For | Guests | secret words | nothing
		with the display's address   | 169.254.0.1  | localhost  |                 | Guests | secret words | nothing
		in the network               | 192.168.1.20 | localhost  |                 | Guests | secret words | nothing
		through a proxy              |              | localhost  | X-Forwarded-For | Guests | secret words | nothing
		through another proxy        |              | localhost  | Via             | Guests | secret words | nothing
		without a name               |              | localhost  |                 |        | secret words | nothing
		without a passphrase         |              | localhost  |                 | Guests |              | nothing
	`) {
		name, want := row[0], row[6] == "network"
		wifi := play.WiFi{SSID: row[4], Passphrase: row[5]}
		p := rigs[wifi]
		if p == nil {
			p = webtest.NewGamesRig(t, func(c *site.Config) { c.Access, c.Play.WiFi = web.Open, wifi })
			p.Announce(t, "Dinner is ready.") // sent after the network
			rigs[wifi] = p
		}
		l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
		address := l.Addr().String()
		switch row[1] {
		case "":
		case "DISPLAY":
			l = limits.ListenWithDisplay(l, os.Getuid())
		default:
			l = from{l, row[1]}
		}
		check.Run(t, func(ctx context.Context) error { return p.Serve(ctx, l) })
		headers := []string{"Host", row[2]}
		if row[3] != "" {
			headers = append(headers, row[3], "192.168.1.20")
		}
		display := webtest.OpenDisplay(t, address, headers...)
		display.Await("announcement", "Dinner")
		all := strings.Join(display.All, "\n")
		got := strings.Contains(all, `wifi {"ssid":"Guests","code":"WIFI:T:WPA;S:Guests;P:secret words;;"}`)
		check.Equal(t, got, want, "%s: the display has the network", name)
		check.That(t, want || !strings.Contains(all, "secret words"), "%s: the display has the passphrase", name)
	}
}

// fetched matches the time of a roster, which changes. timed matches what may differ between one response and
// the next.
var timed = regexp.MustCompile(`"fetched_at":"[^"]*"|"gone_in":\d+`)

// Responses that become large are compressed, and are the same otherwise.
func TestRoutes_compressed(t *testing.T) {
	t.Parallel()
	r := webtest.NewGamesRig(t, webtest.WithTeams)
	m := r.NewMatch(t, `{"opponent": "open", "turn_seconds": 0}`)
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

// The cause of an internal error is logged and not sent to the client.
func TestErrors_cause(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t, webtest.WithTeams)
	anna := p.Player(t, "Anna")
	id := anna.CreateGame(`{}`).ID
	for _, s := range []*store.Store{p.Store, p.GameStore} {
		check.NoError(t, s.Close())
	}
	for _, tt := range []struct{ method, path, body, code, cause string }{
		{"POST", "/api/notify", `{"message": "x"}`, "not_accepting", "the store is closed"},
		{"DELETE", "/api/games/" + id, "", "unavailable", "the store is closed"},
		{"GET", "/api/teams?season=66", "", "team_data_unavailable", "season 66"},
	} {
		answer := anna.Refused(tt.method, tt.path, tt.body, 503, tt.code)
		check.That(t, !strings.Contains(answer.Text, tt.cause),
			"%s %s: the client received %s", tt.method, tt.path, answer.Text)
		record := p.LogLine(answer.Field("request_id"))
		check.That(t, strings.Contains(record, "level=ERROR") && strings.Contains(record, tt.cause),
			"%s %s: log record %q, want the cause %q", tt.method, tt.path, record, tt.cause)
	}
	anna.Refused("POST", "/api/notify", `{`, 400, "not_json")
	check.Equal(t, strings.Count(p.Log.String(), "level=ERROR"), 3, "errors in the log, none of a client")
}

// The same on a websocket.
func TestErrors_causeOnWebsocket(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	seat := p.NewMatch(t, `{}`)
	m := seat.Home.Manage(p.Open(t), seat.ID).JoinState()
	check.NoError(t, p.GameStore.Close())
	m.Command([]byte(`{"a":"resume"}`))
	m.WantNak("illegal_action")
	m.Command([]byte(`{"a":"pause"}`))
	f := m.Until("nak", "ack")
	check.That(t, f.Code() == "unavailable" && strings.Contains(string(f.Text), "the server cannot save the game"),
		"answer %s", f.Text)
	record := p.LogLine("level=ERROR")
	check.That(t, strings.Contains(record, "the store is closed") && strings.Count(p.Log.String(), "level=ERROR") == 1,
		"log: %s", p.Log)
}

// A brokenJournal returns box scores that cannot be decoded.
type brokenJournal struct{ live.Journal }

func (brokenJournal) Boxes(_ context.Context, games []string) (map[string][]byte, error) {
	return map[string][]byte{games[0]: []byte("{")}, nil
}

// A stored box score that cannot be decoded is an internal error; the log names the game.
func TestErrors_unreadableBoxScore(t *testing.T) {
	t.Parallel()
	s := check.Must(store.Open(filepath.Join(t.TempDir(), "broken.db"), store.Options{}))(t)
	defer s.Close()
	p := webtest.NewGamesRig(t, func(cfg *site.Config) {
		config := live.Config{Journal: brokenJournal{s.Games()}, Rosters: webtest.Clubs{}, Log: cfg.Log}
		cfg.Play.Games = check.Must(live.New(t.Context(), config))(t)
	})
	anna := p.Player(t, "Anna")
	id := anna.CreateGame(`{"opponent": "bot"}`).ID
	anna.SuggestLineup(id, "home")
	anna.Ask("POST", "/api/games/"+id+"/concede", "", 200, nil)
	for _, path := range []string{"/api/stats/standings", "/api/stats/players"} {
		answer := anna.Refused("GET", path, "", 500, "unreadable_game")
		check.Contains(t, p.LogLine(answer.Field("request_id")), "game "+id, "GET %s: log record", path)
	}
}

// A refusal contains the remedy.
func TestErrors_remedy(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	detail := b.Get("/api/auth/me").Want(401).Field("detail")
	check.That(t, strings.HasPrefix(detail, "sign in first"), "GET /api/auth/me without a session: %s", detail)
	r := webtest.NewRig(t, func(c *site.Config) {
		c.Admin.Checks = []health.Check{
			{Name: "store", Report: func() health.Condition { return health.Condition{Health: health.Failing} }},
		}
	})
	check.Equal(t, r.Do(t, "GET", "/health", "").Want(503).Header.Get("Retry-After"), "10",
		"GET /health, failing: Retry-After")
}

func TestProblem_status(t *testing.T) {
	t.Parallel()
	for _, row := range check.Rows(`
		403 | forbidden not_your_side
		404 | unknown_game unknown_player
		409 | not_active not_pending not_ready not_finished seat_taken too_many_games
		422 | invalid unknown_team malformed
		500 | unreadable_game
		503 | unavailable store_full
	`) {
		for code := range strings.FieldsSeq(row[1]) {
			p, _ := play.Problem(protocol.Refuse(protocol.Code(code), "refused"))
			check.Equal(t, fmt.Sprint(p.Status, " ", p.Code), row[0]+" "+code, "the problem")
		}
	}
}
