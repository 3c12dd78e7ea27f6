package play_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"pressbox/daemon/web/webtest"
	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// A line-up is saved by a name, used in a game of the club, and gone with the account.
func TestLineups_saved(t *testing.T) {
	t.Parallel()
	r := webtest.NewGamesRig(t, webtest.WithTeams)
	anna, ben := r.Player(t, "Anna"), r.Player(t, "Ben")
	card := "/api/games/" + anna.CreateGame(`{"opponent": "bot"}`).ID + "/lineups/home/suggest"
	lineup := anna.Ask("POST", card, "", 200, nil).Text
	const name = "/api/lineups/Rainy%20days"
	anna.Ask("PUT", name, lineup, 204, nil)
	check.Equal(t, strings.TrimSpace(anna.Ask("GET", name, "", 200, nil).Text), strings.TrimSpace(lineup), "saved")
	check.Contains(t, anna.Ask("GET", "/api/lineups", "", 200, nil).Text, `"name":"Rainy days"`, "the list")
	check.Equal(t, anna.Ask("POST", card+"?saved=Rainy%20days", "", 200, nil).Text,
		lineup, "the suggestion")
	ben.Refused("GET", name, "", 404, "unknown_lineup")
	anna.Refused("POST", card+"?saved=none", "", 404, "unknown_lineup")
	check.Contains(t, ben.Ask("GET", "/api/lineups", "", 200, nil).Text, `"lineups":[]`, "Ben's list")

	// the club has another player, and each who left is named
	left := strings.Replace(lineup, `"pitcher_id":"`, `"pitcher_id":"x`, 1)
	left = strings.Replace(left, `"player_id":"`, `"player_id":"x`, 1)
	anna.Ask("PUT", name, left, 204, nil)
	refused := anna.Ask("POST", card+"?saved=Rainy%20days", "", 422, nil).Text
	for _, path := range []string{"/batting_order/0/player_id", "/pitcher_id"} {
		check.Contains(t, refused, fmt.Sprintf(`{"path":%q,"code":"not_on_roster"`, path), "violations")
	}
	anna.Ask("DELETE", name, "", 204, nil)
	anna.Refused("DELETE", name, "", 404, "unknown_lineup")

	anna.Ask("PUT", name, lineup, 204, nil)
	id := anna.Ask("GET", "/api/auth/me", "", 200, nil).Field("id")
	anna.Ask("DELETE", "/api/auth/me", "", 204, nil)
	data, err := r.GameStore.Lineups(t.Context(), id)
	check.That(t, err == nil && data == nil, "after the account: %s, %v", data, err)
}

// The limits of names, sizes and numbers, on both sides.
func TestLineups_limits(t *testing.T) {
	t.Parallel()
	r := webtest.NewGamesRig(t, webtest.WithTeams)
	anna := r.Player(t, "Anna")
	slots := func(n, id int) string {
		slot := fmt.Sprintf(`{"player_id":%q,"position":"C"}`, strings.Repeat("x", id))
		return `{"batting_order":[` + strings.Join(make([]string, n), slot+",") + slot + `],"pitcher_id":"p"}`
	}
	put := func(name, body string, status int) {
		t.Helper()
		anna.Ask("PUT", "/api/lineups/"+url.PathEscape(name), body, status, nil)
	}
	longest := (2048 - len(slots(9, 0))) / 9
	for _, tt := range []struct {
		name   string
		n, id  int
		status int
	}{
		{"a", 9, 1, 204},
		{"a", 8, 1, 422},
		{"a", 10, 1, 422},
		{"a", 9, longest, 204},
		{"a", 9, longest + 1, 422},
		{strings.Repeat("ä", 40), 9, 1, 204},
		{strings.Repeat("ä", 41), 9, 1, 422},
		{" a", 9, 1, 422},
		{"a\tb", 9, 1, 422},
	} {
		put(tt.name, slots(tt.n, tt.id), tt.status)
	}
	me := protocol.Person{ID: anna.Ask("GET", "/api/auth/me", "", 200, nil).Field("id")}
	for i := range live.MaxLineups - 2 { // past the limit of requests
		l := game.Lineup{Order: make([]game.Slot, 9)}
		check.NoError(t, r.Games.SaveLineup(t.Context(), me, fmt.Sprint("n", i), l))
	}
	put("one more", slots(9, 1), 409)
	put("n0", slots(9, 2), 204)
	anna.Ask("DELETE", "/api/lineups/n0", "", 204, nil)
	put("one more", slots(9, 1), 204)
}
