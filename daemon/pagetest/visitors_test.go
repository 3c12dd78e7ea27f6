package pagetest_test

import "testing"

// A visitor sees listed games, their replays and the statistics, and who invites to what; only
// acting asks for sign-in.
func TestVisitor_reads(t *testing.T) {
	anna, visitor := beginTwo(t)
	over := "/games/" + anna.hotSeat(nil)
	anna.playTo(`$$(".half li").length > 5`)
	if status := anna.status("POST", "/api"+over+"/concede"); status != 200 {
		t.Fatalf("concede: status %d", status)
	}
	open := "/games/" + anna.newGame(map[string]string{"opponent": "Anyone"})
	private := "/games/" + anna.newGame(map[string]string{"opponent": "Anyone", "visibility": "Anyone with the link"})
	for _, tt := range []struct{ path, selector, text string }{
		{"/", ".cover", "Sign in to play"},
		{"/", ".game-stub", "Anna"},
		{over, ".box tbody", ""},
		{over, ".final h2", "concede at"},
		{over + "/replay", "#moment", ""},
		{"/standings", "tbody tr", ""},
		{"/players", "tbody tr", ""},
		{"/leaders", "tbody tr", ""},
		{"/managers", "main h1", ""},
		{open, "main h2", "Anna invites you to a game"},
		{open, `main a[href^="/api/auth/idp/login"]`, "Sign in to play"},
		{"/account", "main a", "Sign in"},
	} {
		visitor.open(tt.path)
		visitor.says(tt.selector, tt.text)
	}
	visitor.expect("404")
	visitor.open(private)
	visitor.says("main h2", "Anna invites you to a game")
	visitor.open("/games/nothing")
	visitor.says("main p", "Sign in to see it")
}

// A visitor who sees the line-ups of a listed game go in is led to the game once it starts.
func TestVisitor_gameStarts(t *testing.T) {
	anna, visitor := beginTwo(t)
	anna.join("Anna")
	id := anna.newGame(map[string]string{"opponent": "on this screen"})
	visitor.open("/games/" + id)
	visitor.says(".link-state", "Live")
	anna.handIn("away", "home")
	visitor.await(`location.pathname === "/games/` + id + `" && $(".board")`)
}
