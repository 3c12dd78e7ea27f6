package pagetest_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Every part of the page is accessible and as wide as the screen in German as well, whose words
// are longer than those that the other tests see. With -contact it writes contact sheets of both
// languages instead.
func TestAll_parts(t *testing.T) {
	t.Parallel()
	if *contact == "" {
		walk(t, "de", func(b *tab, name string) {
			for _, scheme := range []string{"dark", "light"} {
				b.emulate("prefers-color-scheme", scheme)
				b.accessible(name, scheme)
			}
			b.fits(name, widths[0])
			b.do(chromedp.EmulateViewport(1280, 800))
		})
		return
	}
	for _, language := range []string{"en", "de"} {
		s := sheets{}
		defer s.write(t, language)
		walk(t, language, s.add)
	}
}

// speaks gives the browser of a tab a language. A tab that loads its first page may lose the header: it loads one
// before.
func (b *tab) speaks(language string) *tab {
	b.t.Helper()
	b.open("/")
	send(b, network.SetExtraHTTPHeaders,
		network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": language}})
	return b
}

// create creates a game of three innings with the API, opens its line-ups and returns its path.
func (b *tab) create(opponent string) (path string) {
	b.t.Helper()
	game := value[struct{ ID string }](b, fmt.Sprintf(`(async () => {
		const { teams: [away, home] } = await (await fetch("/api/teams?season=3")).json();
		const body = { away_team: away.id, home_team: home.id, season: 3,
			options: { opponent: %q, side: "home", innings: 3 } };
		return (await fetch("/api/games",
			{ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })).json();
	})()`, opponent))
	path = "/games/" + game.ID
	b.open(path + "/lineup")
	b.shows(".card select")
	return path
}

// playedUntil returns the path of a game that the tab manages for both sides, whose state and legal
// choices meet a condition. A game that never does is played to its end.
func (b *tab) playedUntil(condition string) (path string) {
	b.t.Helper()
	for range 20 {
		path = b.create("hotseat")
		b.handIn("away", "home")
		b.await(canCall)
		b.open("/about")
		b.shows("main h1")
		value[bool](b, fmt.Sprintf(client, path[len("/games/"):]))
		if value[bool](b, fmt.Sprintf(`(async () => {
			let reached = false;
			await until((state, legal) => { reached = Boolean(%s); return reached || !legal.length; });
			return reached;
		})()`, condition)) {
			return path
		}
	}
	b.t.Fatalf("no game came to %s", condition)
	return ""
}

// walk opens every part of the page in a language, and calls see for each.
func walk(t *testing.T, language string, see func(b *tab, name string)) {
	t.Helper()
	url, _ := serveCatalog(t)
	s := newServer(t, "VOICES_URL="+url)
	visitor, anna := newTab(t, s).speaks(language), newTab(t, s).speaks(language)
	open := func(b *tab, name, path, condition string) {
		b.open(path)
		b.await(condition)
		see(b, name)
	}
	const title = `$("main h1")`

	open(visitor, "cover", "/", `$(".cover")`)
	visitor.toForms()
	see(visitor, "sign-in")
	open(visitor, "callback", "/auth/callback?error=state_expired", title)
	open(visitor, "gate", "/account", title)
	open(visitor, "administration, visitor", "/admin", `$("#stranger")`)
	visitor.expect("404")
	open(visitor, "not found", "/nothing", title)

	anna.join("Anna")
	open(anna, "lobby, empty", "/", `$("main button.primary")`)
	open(anna, "new game", "/new", `$$(".clubs .hint").length === 2`)
	anna.create("bot")
	see(anna, "line-up, empty")
	anna.press("#home-card .spread button")
	anna.await(`$$('#home-card [data-control="player"]').every((s) => s.value)`)
	see(anna, "line-up")
	anna.press(".roster .player-name")
	anna.shows(".player-card .grade")
	see(anna, "player card")
	invitation := anna.create("open")
	anna.shows(".invite .qr path")
	see(anna, "invitation")
	open(visitor, "invited", invitation, `$('main a[href^="/api/auth/idp/login"]')`)

	watch := func(name, path string) { open(anna, name, path, canCall) }
	watch("at bat", anna.playedUntil(`legal[0]?.group === "offense" && state.inning > 1 &&
		state.bases.some((b) => b.player)`))
	anna.press(".offers summary")
	see(anna, "dugout")
	field := anna.playedUntil(`legal[0]?.group === "defense" && state.inning === 2 && state.bases[0].player`)
	watch("in the field", field)
	// the play that comes is shown until the page is left
	anna.is(`(() => { const now = performance.now(); performance.now = () => now; })()`)
	anna.playTo(callout)
	see(anna, "callout")
	open(visitor, "in the stands", field, `$(".headline")`)
	watch("question", anna.playedUntil(`legal[0]?.group === "answer"`))
	final := anna.playedUntil(`!legal.length`)
	open(anna, "final", final, `$(".box tbody tr")`)
	anna.press(".tabs button:nth-child(3)")
	anna.shows(".curve path.chance")
	see(anna, "chances")
	open(anna, "replay", final+"/replay/20", `$("#moment")`)
	open(anna, "lobby", "/", `$$(".game-stub").length > 4`)

	open(anna, "leagues", "/leagues", `$("main .empty")`)
	anna.press("details.fine summary")
	anna.shows("#league-name")
	see(anna, "new league")
	anna.focus("#league-name", "Küchenliga")
	for field, at := range map[string]int{"manager-0": 2, "meetings": 0, "best_of": 0, "innings": 3} {
		anna.is(fmt.Sprintf(`((list) => { list.selectedIndex = %d; list.dispatchEvent(new Event("change"));
			})(document.getElementById(%q))`, at, field))
	}
	anna.press("main form button.primary")
	anna.await(`$("main strong")`) // its champion
	see(anna, "league")
	for _, name := range []string{"standings", "players", "leaders", "managers"} {
		open(anna, name, "/"+name, `$("tbody tr, .columns li, main .empty")`)
	}

	open(anna, "announcements", "/announcements", `$$("#voice option").length > 1 && $("#volume")`)
	open(anna, "account", "/account", `$("main li")`)
	open(anna, "help", "/help", title)
	open(anna, "about", "/about", title)
	open(visitor, "wall display", "/kiosk", `$(".wall > *")`)

	anna.command("users", "admin", "Anna")
	for _, part := range []struct{ name, shown string }{
		{"sound", "#QUIET_MODE"},
		{"voices", "#natural"},
		{"people", "#users li"},
		{"tokens", "main .empty"},
		{"rooms", "main .stubs li"},
		{"health", "#findings li"},
		{"log", "main h2"},
		{"backup", "main .empty"},
	} {
		open(anna, "administration, "+part.name, "/admin?part="+part.name, fmt.Sprintf(`$(%q)`, part.shown))
	}
}
