package pagetest_test

import (
	"testing"

	"pressbox/game/protocol"
)

// One press on the empty lobby starts a game against the bot; a second one does not start another.
func TestLobby_playBot(t *testing.T) {
	b := begin(t)
	b.join("Anna")
	b.says("main h2", "The field is yours")
	b.looks("empty")
	b.is(`$$("main button.primary").map((b) => [b.click(), b.click()])`)
	b.await(canCall)
	games := get[struct{ Pending, Active []protocol.Game }](b, "/api/games")
	if len(games.Pending) != 0 || len(games.Active) != 1 {
		t.Fatalf("%d pending and %d active games, want 0 and 1", len(games.Pending), len(games.Active))
	}
	g := games.Active[0]
	if g.YourSide != "home" || !g.Away.Bot || g.Options.Innings != 3 || g.Options.BotLevel != 2 ||
		g.Home.Team.ID == g.Away.Team.ID {
		t.Errorf("the game is %+v", g)
	}
}

// A club that the other side has changes places; all rules can be chosen.
func TestNewGame_clubsAndRules(t *testing.T) {
	b := begin(t)
	b.join("Anna")
	b.open("/new")
	b.await(`$$(".clubs .hint").length === 2`)
	const chosen = `["away_team", "home_team"].map((side) => $("[name=" + side + "]:checked").value)`
	before := value[[]string](b, chosen)
	b.press(`[name="away_team"][value="` + before[1] + `"]`)
	b.await(chosen+`.join() === %q`, before[1]+","+before[0])
	b.choose("#bot_level", "Shrewd")
	b.choose("#visibility", "Anyone with the link")
	b.await(`$("#mercy").selectedIndex === 1`) // as the server does, unless it is chosen
	b.choose("#mercy", "Off")
	b.choose("#disengagements", "2023")
	b.press("main form button.primary")
	b.shows(".card")
	g := get[protocol.Game](b, "/api/games/"+b.gameID())
	if o := g.Options; o.BotLevel != 3 || o.Mercy != "off" || o.Disengagements != "2023" ||
		o.Visibility != protocol.Private {
		t.Errorf("the options are %+v", o)
	}
	if g.Away.Team.ID != before[1] || g.Home.Team.ID != before[0] {
		t.Errorf("%s at %s, want %s at %s", g.Away.Team.ID, g.Home.Team.ID, before[1], before[0])
	}
}
