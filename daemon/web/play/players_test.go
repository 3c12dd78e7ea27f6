package play_test

import (
	"encoding/json"
	"slices"
	"testing"

	"pressbox/daemon/web/webtest"
	"pressbox/game/card"
	"pressbox/packaging/check"
)

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
