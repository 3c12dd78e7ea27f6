package play_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/game/protocol"
)

// Everything about teams, games and statistics needs somebody who is signed in.
func TestGamesNeedSignIn(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t, webtest.WithTeams)
	id := p.Player(t, "Anna").CreateGame(`{}`).ID
	nobody := &webtest.Player{Browser: p.Browser(t), T: t, Name: "nobody"}
	asked := 0
	for _, rt := range site.Routes() {
		path, ok := strings.CutPrefix(rt.Path, "/api/")
		if !ok || !strings.HasPrefix(path, "games") && !strings.HasPrefix(path, "teams") && !strings.HasPrefix(path, "stats") {
			continue
		}
		asked++
		path = strings.NewReplacer(":id", id, ":side", "home").Replace(rt.Path)
		body := ""
		if rt.Method == http.MethodPut || rt.Path == "/api/games" && rt.Method == http.MethodPost {
			body = `{}`
		}
		nobody.Refused(rt.Method, path, body, 401, "unauthenticated")
	}
	if asked != 18 {
		t.Errorf("asked for %d routes", asked)
	}
}

// A game is made with the options that are asked for, or the defaults; whatever
// is wrong is listed, and nothing is made.
func TestMakingAGame(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	anna := p.Player(t, "Anna")
	home, away := webtest.HomeTeam(), webtest.AwayTeam()
	teams := fmt.Sprintf(`"home_team": %q, "away_team": %q`, home, away)
	answer := anna.Ask("POST", "/api/games", `{`+teams+`}`, 201, nil)
	var g struct {
		ID      string
		Options json.RawMessage
		Season  int
		You     string
	}
	if err := json.Unmarshal([]byte(answer.Text), &g); err != nil {
		t.Fatal(err)
	}
	const defaults = `{"dh":true,"innings":9,"extra_innings":"runner","side":"home","opponent":"open","turn_seconds":0,"announce":"scoring","visibility":"listed"}`
	if string(g.Options) != defaults || g.Season != 3 || g.You != "home" || answer.Header.Get("Location") != "/api/games/"+g.ID {
		t.Errorf("made %s", answer.Text)
	}
	for _, tt := range []struct{ body, wrong string }{
		{`{}`, "/away_team required, /home_team required"},
		{`{` + teams + `, "x": 1}`, "/x unknown_field"},
		{`{` + teams + `, "options": {"x": 1, "innings": 4, "dh": "no"}}`, "/options/dh wrong_type, /options/innings not_offered, /options/x unknown_field"},
		{`{` + teams + `, "options": {"innings": 9.5}}`, "/options/innings wrong_type"},
		{`{` + teams + `, "options": {"turn_seconds": -1}}`, "/options/turn_seconds out_of_range"},
		{`{` + teams + `, "options": {"turn_seconds": 86401}}`, "/options/turn_seconds out_of_range"},
		{
			`{` + teams + `, "options": {"opponent": "me", "side": "", "extra_innings": "none", "announce": "loud", "visibility": "secret"}}`,
			"/options/announce not_offered, /options/extra_innings not_offered, /options/opponent not_offered, /options/side not_offered, /options/visibility not_offered",
		},
		{`{` + teams + `, "season": 0}`, "/season out_of_range"},
		{`{` + teams + `, "season": 10000}`, "/season out_of_range"},
		{`{` + teams + `, "options": null}`, "/options wrong_type"},
		{fmt.Sprintf(`{"home_team": %q, "away_team": %q}`, home, home), "/away_team same_team"},
	} {
		if got := webtest.Sorted(anna.Ask("POST", "/api/games", tt.body, 422, nil).Violations()); got != tt.wrong {
			t.Errorf("%s: %s, want %s", tt.body, got, tt.wrong)
		}
	}
	for _, good := range []string{`{` + teams + `, "season": 1, "options": {"turn_seconds": 86400}}`, `{` + teams + `, "options": {}}`} {
		anna.Ask("POST", "/api/games", good, 201, nil)
	}
	anna.Refused("POST", "/api/games", `{"home_team": "nowhere", "away_team": "`+away+`"}`, 422, "unknown_team")
	anna.Refused("POST", "/api/games", `{`+teams+`, "season": 9}`, 422, "unknown_team")
	anna.Refused("POST", "/api/games", `{`, 400, "not_json")
	anna.Refused("POST", "/api/games", `{"home_team": "`+strings.Repeat("x", 64<<10)+`"}`, 413, "body_too_large")
	var lists struct{ Pending []webtest.GameView }
	anna.Ask("GET", "/api/games", "", 200, &lists)
	if len(lists.Pending) != 3 {
		t.Errorf("%d games were made, want 3", len(lists.Pending))
	}
}

// One person cannot fill the house with games.
func TestMakingOneGameTooMany(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	anna := p.Player(t, "Anna")
	who := protocol.Person{ID: anna.Get("/api/auth/me").Field("id"), Name: "Anna"}
	for range 200 {
		if _, err := p.Games.Create(t.Context(), who, protocol.Request{HomeTeam: webtest.HomeTeam(), AwayTeam: webtest.AwayTeam(), Options: protocol.Defaults()}); err != nil {
			t.Fatal(err)
		}
	}
	teams := fmt.Sprintf(`{"home_team": %q, "away_team": %q}`, webtest.HomeTeam(), webtest.AwayTeam())
	anna.Refused("POST", "/api/games", teams, 409, "too_many_games")
	p.Player(t, "Bert").Ask("POST", "/api/games", teams, 201, nil)
}

// Only its creator takes a game back, and only before it has begun.
func TestTakingAGameBack(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	anna, bert := p.Player(t, "Anna"), p.Player(t, "Bert")
	id := anna.CreateGame(`{}`).ID
	bert.Refused("DELETE", "/api/games/"+id, "", 403, "forbidden")
	anna.Ask("DELETE", "/api/games/"+id, "", 204, nil)
	anna.Refused("GET", "/api/games/"+id, "", 404, "unknown_game")
	anna.Refused("DELETE", "/api/games/"+id, "", 404, "unknown_game")
	seat := p.NewTable(t, `{}`)
	seat.Home.Refused("DELETE", "/api/games/"+seat.ID, "", 409, "not_pending")
}

// Two people come to a game: what each may do, and what each sees, until it
// begins by itself.
func TestBeforeAGame(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	anna, bert, carl := p.Player(t, "Anna"), p.Player(t, "Bert"), p.Player(t, "Carl")
	id := anna.CreateGame(`{"visibility": "private"}`).ID
	var lists struct{ Pending, Active, Finished []webtest.GameView }
	if carl.Ask("GET", "/api/games", "", 200, &lists); len(lists.Pending) != 0 {
		t.Error("a private game is listed for who has nothing to do with it")
	}
	if anna.Ask("GET", "/api/games?status=pending", "", 200, &lists); len(lists.Pending) != 1 || lists.Pending[0].You != "home" {
		t.Errorf("its creator finds %+v", lists)
	}
	anna.Refused("POST", "/api/games/"+id+"/join", "", 409, "seat_taken")
	anna.Refused("POST", "/api/games/"+id+"/start", "", 409, "not_ready")
	anna.Refused("POST", "/api/games/"+id+"/concede", "", 409, "not_active")
	anna.Refused("POST", "/api/games/"+id+"/rematch", "", 409, "not_finished")
	anna.Refused("GET", "/api/games/"+id+"/boxscore", "", 409, "not_active")
	anna.Refused("GET", "/api/games/"+id+"/scorecard", "", 409, "not_active")
	anna.Refused("GET", "/api/games/"+id+"/winprob", "", 409, "not_active")
	var g webtest.GameView
	if bert.Ask("POST", "/api/games/"+id+"/join", "", 200, &g); g.You != "away" || g.Away.Manager.Name != "Bert" {
		t.Errorf("joined: %+v", g)
	}
	carl.Refused("POST", "/api/games/"+id+"/join", "", 409, "seat_taken")
	lineup := anna.Ask("POST", "/api/games/"+id+"/lineups/home/suggest", "", 200, nil).Text
	for _, f := range []*webtest.Player{bert, carl} {
		code := map[*webtest.Player]string{bert: "not_your_side", carl: "forbidden"}[f]
		f.Refused("PUT", "/api/games/"+id+"/lineups/home", lineup, 403, code)
		f.Refused("POST", "/api/games/"+id+"/lineups/home/suggest", "", 403, code)
	}
	carl.Refused("POST", "/api/games/"+id+"/start", "", 403, "forbidden")
	anna.Refused("PUT", "/api/games/"+id+"/lineups/left", lineup, 404, "not_found")
	for range 2 { // it may be handed in again
		g = anna.SuggestLineup(id, "home")
	}
	if g.Status != "pending" || !g.Home.Submitted || g.Home.Lineup == nil {
		t.Errorf("with one line-up: %+v", g)
	}
	if bert.Ask("GET", "/api/games/"+id, "", 200, &g); !g.Home.Submitted {
		t.Error("the other manager does not see that the line-up is in")
	}
	var theirs webtest.GameView
	if bert.Ask("GET", "/api/games/"+id, "", 200, &theirs); theirs.Home.Lineup != nil {
		t.Errorf("the other manager sees the line-up: %s", theirs.Home.Lineup)
	}
	if problem := bert.Refused("POST", "/api/games/"+id+"/start", "", 409, "not_ready").Text; !strings.Contains(problem, "line-up") {
		t.Errorf("it is not said what is missing: %s", problem)
	}
	if g = bert.SuggestLineup(id, "away"); g.Status != "active" {
		t.Errorf("with both line-ups: %s", g.Status)
	}
	if anna.Ask("POST", "/api/games/"+id+"/start", "", 200, &g); g.Status != "active" {
		t.Errorf("started again: %s", g.Status)
	}
	anna.Refused("PUT", "/api/games/"+id+"/lineups/home", lineup, 409, "not_pending")
	if bert.Ask("GET", "/api/games/"+id, "", 200, &theirs); theirs.Home.Lineup == nil {
		t.Error("a game that has begun hides its line-ups")
	}
	carl.Refused("POST", "/api/games/"+id+"/concede", "", 403, "forbidden")
	if bert.Ask("POST", "/api/games/"+id+"/concede", "", 200, &g); g.Status != "finished" || g.Result.How != "conceded" || g.Result.Winner != "home" {
		t.Errorf("conceded: %+v", g)
	}
	answer := anna.Ask("POST", "/api/games/"+id+"/rematch", "", 201, &g)
	if g.ID == id || g.Status != "pending" || answer.Header.Get("Location") != "/api/games/"+g.ID {
		t.Errorf("the rematch is %s", answer.Text)
	}
	var again webtest.GameView
	if bert.Ask("POST", "/api/games/"+id+"/rematch", "", 201, &again); again.ID != g.ID || again.You == "" {
		t.Errorf("the other one's rematch is %+v", again)
	}
}

// A line-up that is wrong is refused with everything that is wrong with it.
func TestALineupThatIsWrong(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	anna := p.Player(t, "Anna")
	id := anna.CreateGame(`{"opponent": "bot"}`).ID
	path := "/api/games/" + id + "/lineups/home"
	lineup := anna.Ask("POST", path+"/suggest", "", 200, nil).Text
	var good struct {
		Order   []map[string]string `json:"batting_order"`
		Pitcher string              `json:"pitcher_id"`
	}
	if err := json.Unmarshal([]byte(lineup), &good); err != nil {
		t.Fatal(err)
	}
	second := good.Order[1]["position"]
	for _, tt := range []struct{ name, body, wrong string }{
		{"nothing", `{}`, "/batting_order required, /pitcher_id required"},
		{"more", strings.Replace(lineup, `{`, `{"x": 1, `, 1), "/x unknown_field"},
		{"more inside", strings.Replace(lineup, `{"player_id"`, `{"x": 1, "player_id"`, 1), "/batting_order/0/x unknown_field"},
		{
			"wrong types", `{"batting_order": [7, {"player_id": 1, "position": true}], "pitcher_id": null}`,
			"/batting_order/0 wrong_type, /batting_order/1/player_id wrong_type, /batting_order/1/position wrong_type, /pitcher_id wrong_type",
		},
		{
			"two at a position and an unknown one", strings.Replace(strings.Replace(lineup, `"`+good.Order[0]["position"]+`"`, `"`+second+`"`, 1), `"`+good.Order[8]["position"]+`"`, `"QB"`, 1),
			"*",
		},
		{"a stranger", strings.Replace(lineup, good.Order[3]["player_id"], "nobody", 1), "/batting_order/3/player_id not_on_roster"},
	} {
		answer := anna.Ask("PUT", path, tt.body, 422, nil)
		got := webtest.Sorted(answer.Violations())
		right := got == tt.wrong
		if tt.wrong == "*" {
			right = strings.Contains(got, "/batting_order/1/position position_twice") && strings.Contains(got, "/batting_order/8/position no_such_position")
		}
		if !right {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.wrong)
		}
	}
	var g webtest.GameView
	if anna.Ask("GET", "/api/games/"+id, "", 200, &g); g.Home.Submitted || g.Status != "pending" {
		t.Errorf("after all that: %+v", g)
	}
}

// What is asked in an address is checked too.
func TestWhatIsAskedInAnAddress(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t, webtest.WithTeams)
	anna := p.Player(t, "Anna")
	id := anna.CreateGame(`{}`).ID
	for path, code := range map[string]string{
		"/api/games?status=over":                              "not_offered",
		"/api/games/" + id + "/events?since=-1":               "out_of_range",
		"/api/games/" + id + "/events?since=x":                "out_of_range",
		"/api/games/" + id + "/events?since=9007199254740992": "out_of_range",
		"/api/teams?season=0":                                 "out_of_range",
		"/api/teams?season=10000":                             "out_of_range",
		"/api/teams/x/roster?season=x":                        "out_of_range",
		"/api/stats/standings?season=10000":                   "out_of_range",
		"/api/stats/players?season=-3":                        "out_of_range",
		"/api/games?before=yesterday":                         "not_found",
		"/api/games?status=pending&status=active":             "given_twice",
		"/api/games?before=x&before=x":                        "given_twice",
		"/api/games?status=%zz":                               "invalid",
		"/api/games/" + id + "/events?since=1&since=1":        "given_twice",
		"/api/teams?season=1&season=2":                        "given_twice",
		"/api/teams?season=1;x=2":                             "invalid",
		"/api/stats/standings?season=&season=1":               "given_twice",
		"/api/stats/players?team=x&team=y":                    "given_twice",
	} {
		answer := anna.Ask("GET", path, "", 422, nil)
		if got := answer.Field("code"); got != code {
			t.Errorf("%s: %s, want %s", path, got, code)
		}
	}
	for _, path := range []string{
		"/api/games/" + id + "/events?since=9007199254740991", "/api/games?before=2026-01-01T00:00:00Z",
		"/api/stats/standings?season=9999", "/api/stats/players?season=1&team=x", "/api/teams?season=1", "/api/games?status=finished",
	} {
		anna.Ask("GET", path, "", 200, nil)
	}
	for _, path := range []string{"", "/events", "/boxscore", "/winprob", "/scorecard"} {
		anna.Refused("GET", "/api/games/nowhere"+path, "", 404, "unknown_game")
	}
}

// Statistics are of the games that were finished, of a season.
func TestStatistics(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	anna := p.Player(t, "Anna")
	id := anna.CreateGame(`{"opponent": "bot", "innings": 3}`).ID
	anna.SuggestLineup(id, "home")
	anna.Manage(p.Open(t), id).PlayOut()
	type table struct {
		Season    int
		Standings []struct {
			Team    struct{ ID string }
			G, W, L int
		}
	}
	var now, before table
	anna.Ask("GET", "/api/stats/standings", "", 200, &now)
	if now.Season != 3 || len(now.Standings) != 2 || now.Standings[0].W+now.Standings[0].L != 1 {
		t.Errorf("the standings are %+v", now)
	}
	if anna.Ask("GET", "/api/stats/standings?season=2", "", 200, &before); len(before.Standings) != 0 {
		t.Errorf("those of another season are %+v", before)
	}
	var all, some struct {
		Team              *string
		Batting, Pitching []struct{ Team struct{ ID string } }
	}
	anna.Ask("GET", "/api/stats/players", "", 200, &all)
	anna.Ask("GET", "/api/stats/players?team="+webtest.HomeTeam(), "", 200, &some)
	if all.Team != nil || len(some.Batting) == 0 || len(some.Batting) >= len(all.Batting) || len(some.Pitching) == 0 || some.Batting[0].Team.ID != webtest.HomeTeam() {
		t.Errorf("%d players in all, %d of the home team", len(all.Batting), len(some.Batting))
	}
}

// The wall display needs no one signed in, but is guarded like announcements;
// it is told of listed games and announcements, and nothing of private ones.
func TestTheWallDisplay(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	anna := p.Player(t, "Anna")
	listed, private := anna.CreateGame(`{"opponent": "bot"}`).ID, anna.CreateGame(`{"opponent": "bot", "visibility": "private"}`).ID
	gone := anna.CreateGame(`{}`).ID
	d := webtest.OpenDisplay(t, address)
	if d.Await("game", listed); !strings.Contains(d.Last, `"status":"pending"`) || strings.Contains(d.Last, `"legal"`) {
		t.Errorf("it begins with %s", d.Last)
	}
	for _, id := range []string{listed, private} {
		anna.SuggestLineup(id, "home")
	}
	d.Await("game", `"status":"active"`)
	anna.Ask("DELETE", "/api/games/"+gone, "", 204, nil)
	d.Await("gone", gone)
	anna.Ask("POST", "/api/notify", `{"message": "Dinner is ready."}`, 202, nil)
	d.Await("announcement", "Dinner")
	m := anna.Manage(address, listed).Sit()
	m.Command(m.Legal[0].Action)
	d.Await("play", `"kind":"play"`)
	if !strings.Contains(d.Last, `"now":{`) || !strings.Contains(d.Last, `"text":["`) {
		t.Errorf("a play is told as %s", d.Last)
	}
	if all := strings.Join(d.All, "\n"); strings.Contains(all, private) {
		t.Errorf("a private game is told of: %s", all)
	}
	stranger := &webtest.Player{Browser: p.Browser(t), T: t, Name: "stranger"}
	stranger.From = "203.0.113.9:40000"
	stranger.Refused("GET", "/api/kiosk", "", 401, "unauthenticated")
}

// The clubs of a season and their players, by the season that is asked for or
// the default one.
func TestTeams(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t, webtest.WithTeams)
	anna := p.Player(t, "Anna")
	var list struct {
		Season int
		Teams  []struct{ ID string }
	}
	anna.Ask("GET", "/api/teams", "", 200, &list)
	if list.Season != 3 || len(list.Teams) != 8 {
		t.Errorf("teams: %+v", list)
	}
	if anna.Ask("GET", "/api/teams?season=1", "", 200, &list); list.Season != 1 {
		t.Errorf("teams of season 1: %+v", list)
	}
	var roster struct {
		Season  int
		Players []struct{ ID string }
	}
	anna.Ask("GET", "/api/teams/"+list.Teams[0].ID+"/roster?season=2", "", 200, &roster)
	if roster.Season != 2 || len(roster.Players) != 26 {
		t.Errorf("roster: %+v", roster)
	}
	anna.Refused("GET", "/api/teams/nobody/roster", "", 404, "unknown_team")
	anna.Refused("GET", "/api/teams?season=4", "", 404, "unknown_team")
	anna.Refused("GET", "/api/teams?season=66", "", 503, "team_data_unavailable")
	anna.Refused("GET", "/api/teams/thin/roster", "", 409, "incomplete_roster")
}
