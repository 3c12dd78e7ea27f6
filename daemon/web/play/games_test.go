package play_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"pressbox/daemon/replica"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
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
		`"turn_seconds":0,"announce":"scoring","visibility":"listed","mercy":"off",` +
		`"disengagements":"unlimited","bot_level":3}`
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

// Whole games are played over websockets with combinations of all options. The replicas of the managers, of a
// spectator and of a client that reads the events afterwards equal the server's state.
func TestWholeGames(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	games := optionCombinations()
	step := 13 // eight games with each value of each option
	if os.Getenv("PRESSBOX_CRASH_ROUNDS") != "" {
		step = 1
	}
	for i := 0; i < len(games); i += step {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			playGame(t, p, address, games[i], rand.New(rand.NewPCG(uint64(i), 1)))
		})
	}
}

// optionCombinations returns all combinations of the options that change rules, sides and frames, the
// shortest games first. The turn clock, announcements and visibility alternate.
func optionCombinations() (games []string) {
	pick := func(i int, of ...any) any { return of[i%len(of)] }
	for i := range 4 * 3 * 2 * 2 * 2 {
		games = append(games, fmt.Sprintf(
			`{"innings": %d, "dh": %t, "extra_innings": %q, "side": %q, "opponent": %q, "turn_seconds": %d, `+
				`"announce": %q, "visibility": %q, "mercy": %q, "disengagements": %q, "bot_level": %d}`,
			pick(i/24, 3, 5, 7, 9), pick(i, true, false), pick(i/4, "runner", "standard"), pick(i/2, "home", "away"),
			pick(i/8, "open", "bot", "hotseat"), i%3*300, pick(i, "off", "scoring", "all"),
			pick(i/3, "listed", "private"), pick(i/2, "off", "on"), pick(i/5, "unlimited", "2023"), 1+i%3))
	}
	return games
}

// playGame plays a game with these options to the end.
func playGame(t *testing.T, p *webtest.Rig, address, options string, dice *rand.Rand) {
	t.Helper()
	anna, bert, carl := p.Player(t, "Anna"+t.Name()), p.Player(t, "Bert"+t.Name()), p.Player(t, "Carl"+t.Name())
	g := anna.CreateGame(options)
	mine, theirs := "home", "away"
	if strings.Contains(options, `"side": "away"`) {
		mine, theirs = theirs, mine
	}
	managers := []*webtest.Manager{anna.Manage(address, g.ID)}
	switch {
	case strings.Contains(options, "open"):
		bert.Ask(http.MethodPost, "/api/games/"+g.ID+"/join", "", 200, nil)
		managers = append(managers, bert.Manage(address, g.ID))
		bert.SuggestLineup(g.ID, theirs)
	case strings.Contains(options, "hotseat"):
		anna.SuggestLineup(g.ID, theirs)
	}
	g = anna.SuggestLineup(g.ID, mine)
	check.Require(t, g.Status == "active", "with all line-ups: status %s", g.Status)
	spectator := carl.Manage(address, g.ID)
	var playing sync.WaitGroup
	for _, m := range append(managers, spectator) {
		m.Dice = rand.New(rand.NewPCG(dice.Uint64(), 2))
		playing.Go(m.PlayOut)
	}
	playing.Wait()
	if t.Failed() {
		return
	}
	check.That(t, len(spectator.Legal) <= 0 && spectator.Commands <= 0,
		"legal actions of the spectator: %v", spectator.Legal)
	for _, m := range managers {
		check.Equal(t, m.Rev, spectator.Rev, "a manager's last revision")
		check.Equal(t, m.Hash, spectator.Hash, "a manager's last hash")
	}
	checkRecords(carl, g.ID, spectator.Replica)
}

// checkRecords compares the records of a finished game with a replica.
func checkRecords(f *webtest.Player, id string, want *replica.Replica) {
	f.T.Helper()
	var g webtest.GameView
	replayed := webtest.NewReplica(f.T, f.Ask(http.MethodGet, "/api/games/"+id, "", 200, &g))
	check.That(f.T, g.Status == "finished" && g.Result != nil && g.Dice.Seed != "" && g.Rev >= want.Rev,
		"the finished game is %+v", g)
	for _, e := range allEvents(f, id) {
		check.NoError(f.T, replayed.Apply(e))
	}
	check.Equal(f.T, replayed.Hash, want.Hash, "the events end with hash")
	box := get[struct{ Teams []struct{ Runs int } }](f, "/api/games/"+id+"/boxscore")
	check.That(f.T, box.Teams[0].Runs == g.Score.Away && box.Teams[1].Runs == g.Score.Home,
		"box score: %v runs, game: %v", box, g.Score)
	win := get[struct{ Points []struct{ Home float64 } }](f, "/api/games/"+id+"/winprob")
	if last := win.Points[len(win.Points)-1].Home; last != 0 && last != 1 && g.Result.Winner != "" {
		f.T.Errorf("the home side's last probability is %v", last)
	}
	card := f.Ask(http.MethodGet, "/api/games/"+id+"/scorecard", "", 200, nil)
	check.That(f.T, strings.HasPrefix(card.Text, "id,"), "the scorecard starts with %.20q", card.Text)
}

func allEvents(f *webtest.Player, id string) []replica.Frame {
	f.T.Helper()
	return get[struct{ Events []replica.Frame }](f, "/api/games/"+id+"/events?since=0").Events
}

// join joins a game and skips frames until its state.
func join(k *webtest.Socket, game string) {
	k.T.Helper()
	k.Sendf(`{"t":"join","g":%q}`, game)
	k.Until("state")
}

// get returns the answer to a GET request.
func get[T any](f *webtest.Player, path string) (answer T) {
	f.T.Helper()
	f.Ask("GET", path, "", 200, &answer)
	return answer
}
