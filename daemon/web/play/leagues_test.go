package play_test

import (
	"strings"
	"testing"
	"time"

	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/game/leagues"
	"pressbox/packaging/check"
)

// shortGames are the options of the shortest games.
const shortGames = `"options": {"innings": 3}`

// two are the seats of a caller and of anyone.
const two = `"seats": [{"team": "BWH", "manager": "me"}, {"team": "CPR", "manager": "open"}]`

// A league with two people and a bot, from its creation over the seats that are taken to its first day; who
// may do what.
func TestLeague_lifeCycle(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	anna, bert, carl := p.Player(t, "Anna"), p.Player(t, "Bert"), p.Player(t, "Carl")
	var l leagues.View
	created := anna.Ask("POST", "/api/leagues", `{"name": "Kitchen", "cover_hours": 24, `+shortGames+`, "seats": [
		{"team": "BWH", "manager": "me"}, {"team": "CPR", "manager": "open"},
		{"team": "DUN", "manager": "bot"}]}`, 201, &l)
	path := "/api/leagues/" + l.ID
	check.Equal(t, created.Header.Get("Location"), path, "Location")
	check.That(t, l.Status == leagues.Pending && *l.You == 0 && l.Meetings == 2 && l.BestOf == 3 && l.Creates,
		"created %s", created.Text)
	bert.Refused("POST", path+"/start", "", 403, "forbidden")
	bert.Refused("POST", path+"/join", `{"seat": 2}`, 409, "seat_taken")
	bert.Refused("DELETE", path, "", 403, "forbidden")
	bert.Refused("GET", "/api/series/"+l.ID, "", 404, "unknown_league")
	bert.Ask("POST", path+"/join", "", 200, &l)
	check.That(t, l.Status == leagues.Active && *l.You == 1 && l.CoverAt.Sub(l.Started) == 24*time.Hour,
		"joined: %+v", l)
	carl.Refused("POST", path+"/join", "", 409, "not_pending")
	anna.Refused("DELETE", path, "", 409, "not_pending")
	schedule := await(t, func() (leagues.Schedule, bool) {
		s := get[leagues.Schedule](carl, path+"/schedule")
		return s, s.Games[0].Status != "scheduled"
	})
	check.That(t, len(schedule.Games) == 6 && schedule.Day == 1 && schedule.Games[0].Status == "pending",
		"schedule: %+v", schedule)
	g := get[webtest.GameView](anna, "/api/games/"+schedule.Games[0].Game)
	away, home := g.Away.Manager != nil || g.Away.Bot, g.Home.Manager != nil || g.Home.Bot
	check.That(t, g.Status == "pending" && away && home, "the first game: %+v", g)
	anna.Refused("DELETE", "/api/games/"+g.ID, "", 403, "forbidden")
	carl.Refused("POST", path+"/leave", "", 403, "forbidden")
	bert.Ask("POST", path+"/leave", "", 200, &l)
	check.That(t, l.Seats[1].Bot && l.Seats[1].Left == "Bert" && l.Seats[1].Manager == nil, "left: %+v", l.Seats[1])
	all := get[struct{ Finished []webtest.GameView }](carl, "/api/games?people=YES")
	check.That(t, len(all.Finished) == 0, "games between bots are listed: %+v", all.Finished)
	carl.Refused("GET", "/api/games?people=2", "", 422, "not_offered")
	s := get[leagues.Standings](carl, path+"/standings")
	check.That(t, len(s.Standings) == 3 && s.Champion == nil && s.Playoff == nil, "standings: %+v", s)
	list := get[struct{ Leagues []leagues.View }](carl, "/api/leagues")
	check.That(t, len(list.Leagues) == 1, "%d leagues are listed", len(list.Leagues))
	anna.Ask("POST", "/api/leagues", `{"name": "Attic", "options": {"visibility": "private"}, `+two+`}`, 201, &l)
	check.That(t, l.Options.Mercy == "on" && l.Options.BotLevel == 3, "a private league's options are %+v", l.Options)
	anna.Ask("DELETE", "/api/leagues/"+l.ID, "", 204, nil)
	carl.Refused("GET", "/api/leagues/"+l.ID, "", 404, "unknown_league")
}

// await calls look until it is done; a failed test ends after a long time.
func await[T any](t *testing.T, look func() (T, bool)) T {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; {
		found, done := look()
		if done {
			return found
		}
		check.Require(t, !time.Now().After(deadline), "still %+v", found)
		time.Sleep(20 * time.Millisecond) // the next look; nothing depends on it
	}
}

// A series between bots plays itself; its games have scorecards, and are in the standings of the season.
func TestSeries_bots(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	anna := p.Player(t, "Anna")
	var l leagues.View
	anna.Ask("POST", "/api/series", `{"name": "Bots", "best_of": 3, `+shortGames+`,
		"seats": [{"team": "BWH", "manager": "bot"}, {"team": "CPR", "manager": "bot"}]}`, 201, &l)
	path := "/api/series/" + l.ID
	l = await(t, func() (leagues.View, bool) {
		v := get[leagues.View](anna, path)
		return v, v.Status == leagues.Finished
	})
	schedule := get[leagues.Schedule](anna, path+"/schedule")
	standings := get[leagues.Standings](anna, path+"/standings")
	best := standings.Standings[0]
	check.That(t, l.Champion != nil && *l.Champion == best.Entrant && best.Wins == 2, "champion: %+v", standings)
	for _, g := range schedule.Games {
		anna.Ask("GET", "/api/games/"+g.Game+"/scorecard", "", 200, nil)
	}
	season := get[struct{ Standings []struct{ G int } }](anna, "/api/stats/standings")
	check.That(t, len(season.Standings) == 2 && season.Standings[0].G == len(schedule.Games),
		"the season's standings %+v after %d games", season, len(schedule.Games))
}

// An invalid request creates nothing, and its answer lists every violation.
func TestCreateLeague_validation(t *testing.T) {
	t.Parallel()
	anna := webtest.NewGamesRig(t).Player(t, "Anna")
	three := strings.Replace(two, "]", `, {"team": "DUN", "manager": "bot"}]`, 1)
	for _, tt := range []struct{ path, body, want string }{
		{"leagues", `{}`, "/name required, /seats required"},
		{"leagues", `{"name": "", ` + two + `}`, "/name too_short"},
		{"leagues", `{"name": "x", "meetings": 7, ` + two + `}`, "/meetings out_of_range"},
		{"leagues", `{"name": "x", "best_of": 2, ` + two + `}`, "/best_of not_offered"},
		{"leagues", `{"name": "", "cover_hours": 145, ` + two + `}`, "/cover_hours out_of_range, /name too_short"},
		{"leagues", `{"name": "x", "x": 1, ` + two + `}`, "/x unknown_field"},
		{"leagues", `{"name": "x", "options": {"innings": 4}, ` + two + `}`, "/options/innings not_offered"},
		{"leagues", `{"name": "x", "options": {"side": "home"}, ` + two + `}`, "/options/side unknown_field"},
		{"leagues", `{"name": "x", ` + strings.Replace(two, "CPR", "BWH", 1) + `}`, "/seats/1/team same_team"},
		{"leagues", `{"name": "x", ` + strings.Replace(two, "CPR", "none", 1) + `}`, "/seats/1/team unknown_team"},
		{"leagues", `{"name": "x", "play_at": "8 pm", ` + two + `}`, "/play_at invalid"},
		{"leagues", `{"name": "x", "seats": [{"team": "BWH", "manager": "me"}]}`, "/seats too_few"},
		{"series", `{"name": "x", ` + three + `}`, "/seats too_many"},
		{"series", `{"name": "x", "meetings": 1, ` + two + `}`, "/meetings unknown_field"},
		{"series", `{"name": "x", "best_of": 0, ` + two + `}`, "/best_of not_offered"},
	} {
		check.Equal(t, anna.Ask("POST", "/api/"+tt.path, tt.body, 422, nil).Violations(),
			tt.want, "%s %s", tt.path, tt.body)
	}
	list := get[struct{ Leagues []leagues.View }](anna, "/api/leagues")
	check.That(t, len(list.Leagues) == 0, "%d leagues were created", len(list.Leagues))
}

// Reading leagues follows NOTIFY_ACCESS; an account can read them whatever it is, and only an account changes them.
func TestLeagues_access(t *testing.T) {
	t.Parallel()
	for access, want := range map[web.Access]int{web.LAN: 200, web.Token: 401, web.Open: 200, web.Off: 403} {
		t.Run(string(access), func(t *testing.T) {
			t.Parallel()
			p := webtest.NewGamesRig(t, func(c *site.Config) { c.Access = access })
			anna := p.Player(t, "Anna")
			var l leagues.View
			anna.Ask("POST", "/api/leagues", `{"name": "x", `+two+`}`, 201, &l)
			visitor := &webtest.Player{Browser: p.Browser(t), T: t, Name: "visitor"}
			for _, path := range []string{"", "/" + l.ID, "/" + l.ID + "/schedule", "/" + l.ID + "/standings"} {
				visitor.Ask("GET", "/api/leagues"+path, "", want, nil)
				anna.Ask("GET", "/api/leagues"+path, "", 200, nil)
			}
			if want == 200 {
				v := get[leagues.View](visitor, "/api/leagues/"+l.ID)
				check.That(t, v.Creator.ID == "" && v.You == nil, "a visitor sees %+v", v)
			}
			visitor.Refused("POST", "/api/leagues/"+l.ID+"/join", "", 401, "unauthenticated")
			visitor.Refused("POST", "/api/leagues", `{}`, 401, "unauthenticated")
		})
	}
}
