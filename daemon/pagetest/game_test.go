package pagetest_test

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	rules "pressbox/game"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// canCall is true when a decision can be made, a play is shown, which any key ends, or the game is over.
const canCall = callout + ` || $(".final") || $(".calls button:not(:disabled)")`

// callout is true while a play is shown.
const callout = `$(".over-field:not([hidden])")`

// newGame creates a game of nine innings with an open invitation, or with the options
// that are given by their texts in the form, and returns its id.
func (b *tab) newGame(options map[string]string) string {
	b.t.Helper()
	b.open("/new")
	b.await(`$$(".clubs .hint").length === 2`) // both rosters have arrived, and the layout is final
	all := map[string]string{"opponent": "Anyone", "innings": "9"}
	maps.Copy(all, options)
	for field, text := range all {
		b.choose("#"+field, text)
	}
	b.press("main form button.primary")
	b.await(`location.pathname.endsWith("/lineup") && $(".card")`)
	return b.gameID()
}

// gameID returns the id of the game in the address.
func (b *tab) gameID() string {
	b.t.Helper()
	return strings.Split(value[string](b, "location.pathname"), "/")[2]
}

// choose selects the option with a text.
func (b *tab) choose(selector, text string) {
	b.t.Helper()
	if !value[bool](b, fmt.Sprintf(`(() => {
		const list = $(%q), at = [...list.options].findIndex((o) => o.text.includes(%q));
		list.selectedIndex = at;
		list.dispatchEvent(new Event("change", { bubbles: true }));
		return at >= 0;
	})()`, selector, text)) {
		b.t.Fatalf("%s has no %q", selector, text)
	}
}

// handIn has the server fill in the cards, and hands them in.
func (b *tab) handIn(sides ...string) {
	b.t.Helper()
	for _, side := range sides {
		card := "#" + side + "-card"
		b.press(card + " .spread button")
		b.await(`$$(%q).every((s) => s.value)`, card+` [data-control="player"]`)
		b.press(card + " button.primary")
		b.await(`!location.pathname.endsWith("/lineup") || $(%q)`, card+" .good-inline")
	}
}

// hotSeat starts a game in which the tab manages both sides.
func (b *tab) hotSeat(options map[string]string) (id string) {
	b.t.Helper()
	all := map[string]string{"opponent": "on this screen"}
	maps.Copy(all, options)
	b.join("Anna")
	id = b.newGame(all)
	b.handIn("away", "home")
	b.await(canCall)
	return id
}

// drawn waits until the page has rendered.
func (b *tab) drawn() {
	b.t.Helper()
	value[bool](b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// key presses a key and waits until the page has rendered.
func (b *tab) key(key string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(key))
	b.drawn()
}

// settle waits until a decision can be made, and ends the play that is shown before.
func (b *tab) settle() {
	b.t.Helper()
	b.await(canCall)
	for b.is(callout) {
		b.key(kb.Escape)
		b.await(canCall)
	}
}

// call makes the first legal decision.
func (b *tab) call() {
	b.t.Helper()
	b.settle()
	b.key("1")
}

// playTo makes the first legal decision until a condition is true.
func (b *tab) playTo(condition string) {
	b.t.Helper()
	for range 800 {
		b.await(canCall + " || " + condition)
		if b.is(condition) {
			return
		}
		b.key("1")
	}
	b.t.Fatalf("not %s after 800 keys: %s", condition, b.content())
}

// is reports whether a condition, or what it promises, is true.
func (b *tab) is(condition string) bool {
	b.t.Helper()
	return value[bool](b, "(async () => Boolean(await ("+condition+")))()")
}

// hasBoxScore fails the test unless the tab of the box score names those who made errors, marks the pitchers
// and adds up the runners left on base.
func (b *tab) hasBoxScore(id string) {
	b.t.Helper()
	for i, team := range get[rules.BoxScore](b, "/api/games/"+id+"/boxscore").Teams {
		in := fmt.Sprintf(`$$(".box")[%d]`, i)
		notes := value[string](b, in+`.querySelector(".notes").innerText`)
		var errors []string
		for _, f := range team.Fielding {
			if f.Errors == 0 {
				continue
			}
			text := f.Name
			if f.Errors > 1 {
				text += fmt.Sprint(" ", f.Errors)
			}
			if f.ThrowingErrors > 0 {
				text += " (throw)"
			}
			errors = append(errors, text)
		}
		if want := " E: " + cmp.Or(strings.Join(errors, ", "), "0"); !strings.HasSuffix(notes, want) {
			b.t.Errorf("the notes are %q, want %q at the end", notes, want)
		}
		left := 0
		for _, l := range team.Batting {
			left += l.LeftOnBase
		}
		check.Equal(b.t, value[string](b, in+`.querySelector("tfoot td:last-child").innerText`),
			fmt.Sprint(left), "runners left by the batters")
		for j, p := range team.Pitching {
			shown := value[string](b, fmt.Sprintf(`%s.querySelectorAll("table")[1]
				.querySelectorAll("tbody th")[%d].innerText`, in, j))
			for mark, is := range map[string]bool{"(H)": p.Hold, "(BS)": p.BlownSave, "(QS)": p.QualityStart} {
				check.That(b.t, strings.Contains(shown, mark) == is, "%q is shown for %+v", shown, p)
			}
		}
	}
}

// agrees fails the test unless the scoreboard shows the official box score once no play is shown.
func (b *tab) agrees(id string) {
	b.t.Helper()
	b.await("!" + callout)
	for i, team := range get[rules.BoxScore](b, "/api/games/"+id+"/boxscore").Teams {
		shown := strings.Fields(value[string](b,
			fmt.Sprintf(`[...$$(".board tbody tr")[%d].querySelectorAll(".plate")].map((e) => e.innerText).join(" ")`,
				i)))
		innings := strings.TrimSuffix(strings.Join(shown[:len(shown)-3], " "), " X")
		want, sums := strings.Trim(fmt.Sprint(team.LineScore), "[]"), fmt.Sprint(team.Runs, team.Hits, team.Errors)
		check.That(b.t, innings == want && strings.Join(shown[len(shown)-3:], " ") == sums,
			"the scoreboard shows %q, the box score has %s and %s", shown, want, sums)
	}
}

// clearCard waits until a card is filled in, as it is at first, and clears it.
func (b *tab) clearCard(side string) {
	b.t.Helper()
	b.await(`$$(%q).every((s) => s.value)`, "#"+side+`-card [data-control="player"]`)
	b.press("#" + side + "-card .spread button:nth-of-type(2)")
	b.await(`$$(%q).every((s) => !s.value)`, "#"+side+`-card [data-control="player"]`)
}

// Players can be dragged from the roster to the order and to the chart, and
// places up and down the order. Each violation is shown at its field.
func TestLineup_dragAndDrop(t *testing.T) {
	b := begin(t)
	b.do(chromedp.EmulateViewport(1280, 2400)) // no scrolling
	b.join("Anna")
	b.newGame(map[string]string{"opponent": "on this screen"})
	b.clearCard("away")
	catcher := `$$("#away-card .roster button").find((e) => / C /.test(" " + e.querySelector("small").innerText + " "))`
	name := value[string](b, `(() => { const b = `+catcher+`; b.id = "dragged";
		return b.querySelector("span").innerText; })()`)
	b.do(chromedp.DragAndDrop("#dragged", "#away-slot-3"))
	b.await(`$("#away-slot-3 select").selectedOptions[0].text.includes(%q)`, name)
	b.says("#away-slot-3", "out of position")
	b.do(chromedp.DragAndDrop("#away-slot-3 .grip", "#away-slot-0"))
	b.await(`$("#away-slot-0 select").selectedOptions[0].text.includes(%q)`, name)
	b.choose(`#away-slot-0 [data-control="position"]`, "C")
	b.await(`$("#away-card .chart").getAttribute("aria-label").includes("C " + %q)`,
		strings.Join(strings.Fields(name)[1:], " "))
	b.open(value[string](b, "location.pathname")) // the draft survives
	b.await(`$("#away-slot-0 select").selectedOptions[0].text.includes(%q)`, name)
	b.await(`(() => { const b = ` + catcher + `; b.id = "dragged"; return true; })()`)
	b.do(chromedp.Click("#dragged"))
	b.await(`!$("#away-slot-0 select").value`)
	b.expect("422")
	b.do(chromedp.Click("#dragged"), chromedp.Click("#away-card button.primary"))
	b.await(`$$("#away-card .slot .wrong").length === 8 && $("#away-pitcher-wrong")`)
	if !b.is(`$$("#away-card .slot [aria-invalid]").every((e) =>
		document.getElementById(e.getAttribute("aria-describedby")).innerText.includes("No player selected."))`) {
		t.Error("a field does not describe its violation")
	}
}

// A whole game against the bot, from the cover to the replay and the
// statistics, with the keyboard alone once the clubs are chosen.
func TestAll_gameByKeyboard(t *testing.T) {
	b := begin(t)
	b.join("Anna")
	b.press(`main a[href="/new"]`)
	b.await(`$$(".club-pick").length === 16`)
	b.looks("new")
	id := b.newGame(map[string]string{"opponent": "bot", "innings": "3"})
	b.clearCard("home")
	b.expect("422")
	b.focus("#home-card button.primary", "\r")
	b.await(`document.activeElement.getAttribute("aria-invalid") === "true"`)
	b.looks("violations")
	check.Equal(t, b.count("#home-card .slot .wrong"), 9, "empty places with a violation")
	b.shows("#home-pitcher-wrong")
	b.focus("#home-card .spread button", "\r")
	b.await(`$$('#home-card [data-control="player"]').every((s) => s.value)`)
	b.looks("card")
	b.press("#home-saved summary")
	b.focus("#home-saved input", "Rainy days\r")
	b.await(`$$("#home-saved button").some((e) => e.innerText === "Rainy days")`)
	b.clearCard("home")
	b.pressNamed("Rainy days")
	b.await(`$$('#home-card [data-control="player"]').every((s) => s.value)`)
	second := value[string](b, `$("#home-slot-1 select").value`)
	b.focus(`#home-slot-1 [data-control="up"]`, " ")
	b.await(`$("#home-slot-0 select").value === %q`, second)
	b.focus(`#home-slot-0 [data-control="player"]`, kb.ArrowDown, chromedp.KeyModifiers(kb.ModifierAlt))
	b.await(`$("#home-slot-1 select").value === %q && document.activeElement.closest("#home-slot-1")`, second)
	b.focus("#home-card button.primary", "\r")
	b.await(`location.pathname === "/games/` + id + `"`)
	b.says(".link-state", "Live")
	b.await(`!$(".link-line small")`) // no watchers
	b.playTo(`$(".final")`)
	b.says(".final h2", "win")
	check.That(t, b.count(".lamps, .at-bat") == 0, "there is a batter after the last out")
	b.await(`$$(".box tbody tr").length >= 20`)
	b.agrees(id)
	b.hasBoxScore(id)
	b.looks("final")
	won := value[string](b, `$(".final .hit").innerText`)
	b.press(".final summary")
	b.says(".dice", "Seed")
	b.press(`.final a[href$="/replay"]`)
	b.says("#moment", "")
	b.do(chromedp.KeyEvent(kb.End))
	b.says(".situation", "Final")
	b.agrees(id)
	last := value[string](b, "location.pathname")
	b.do(chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft))
	b.await("location.pathname !== %q", last)
	b.looks("replay")
	moment := value[string](b, `$("#moment").innerText`)
	b.open(value[string](b, "location.pathname"))
	b.says("#moment", strings.Join(strings.Fields(moment), " "))
	b.await(`document.activeElement.id === "moment"`) // a link to a play leads to it
	b.await(`((r) => r.top >= 0 && r.bottom <= innerHeight)($("#moment").getBoundingClientRect())`)
	b.await(`((line, list) => line.top >= list.top &&
		line.bottom <= list.bottom)(...[".plays [aria-current]", ".scroller"]
		.map((s) => $(s).getBoundingClientRect()))`)
	for path, rows := range map[string]int{"standings": 2, "players": 20} {
		b.open("/" + path)
		b.await(`$$("tbody tr").length >= %d`, rows)
		b.looks(path)
	}
	b.open("/games/" + id) // without its events until a tab needs them
	b.shows(".box tbody tr")
	check.Equal(t, value[string](b, `$(".final .hit").innerText`), won, "opened later, it was won by")
	b.agrees(id)
	b.press(".tabs button")
	b.shows(".half li")
	b.agrees(id)
}

// A visitor sees listed games, their replays and the statistics, and who invites to what; only
// acting asks for sign-in.
func TestVisitor_reads(t *testing.T) {
	anna, visitor := beginTwo(t)
	over := "/games/" + anna.hotSeat(nil)
	anna.playTo(`$$(".half li").length > 5`)
	check.Equal(t, anna.status("POST", "/api"+over+"/concede"), 200, "status of concede")
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

// One press on the empty lobby starts a game against the bot; a second one does not start another.
func TestLobby_playBot(t *testing.T) {
	b := begin(t)
	b.join("Anna")
	b.says("main h2", "The field is yours")
	b.looks("empty")
	b.is(`$$("main button.primary").map((b) => [b.click(), b.click()])`)
	b.await(canCall)
	games := get[struct{ Pending, Active []protocol.Game }](b, "/api/games")
	check.Require(t, len(games.Pending) == 0 && len(games.Active) == 1,
		"%d pending and %d active games, want 0 and 1", len(games.Pending), len(games.Active))
	g := games.Active[0]
	if g.YourSide != "home" || !g.Away.Bot || g.Options.Innings != 3 || g.Options.BotLevel != 2 ||
		g.Home.Team.ID == g.Away.Team.ID {
		t.Errorf("the game is %+v", g)
	}
	b.await(`$(".panel.explained") && $$(".does").every((e) => e.offsetHeight > 10)`) // of a first game
	b.await(`json("/api/games/` + g.ID + `/events?since=0").then(({ events }) =>
		(events.filter((e) => e.d?.skipped).length > 2 && events.some((e) => / later: /.test(e.d?.text?.[0]))) ||
			([...$$(".what")].at(-1)?.click(), false))`)
	b.says("main", " later: ")
	if get[protocol.Game](b, "/api/games/"+g.ID).Status != protocol.Active {
		return
	}
	b.await(canCall)
	b.settle()
	b.press(".offers summary")
	b.await(`$(".offers .row select")`)
	b.is(`(() => {
		const [until, margin] = $$(".offers .row select");
		for (const [select, value] of [[until, "inning"], [margin, "5"]]) {
			select.value = value;
			select.dispatchEvent(new Event("change"));
		}
	})()`)
	b.pressNamed("Play on")
	b.await(`json("/api/games/` + g.ID + `").then(({ state, status }) =>
		status === "finished" || state.skips.home.until === "inning" && state.skips.home.margin === 5)`)
	if get[protocol.Game](b, "/api/games/"+g.ID).Status == protocol.Active {
		b.await(`$$(".offers button").find((e) => e.innerText === "Decide every turn")?.click(),
			json("/api/games/` + g.ID + `").then(({ state }) => !state.skips.home)`)
	}
}

// A child at the table: who created the game shows a code; a name and a tap take the seat, and the line-up is filled
// in. After the last out the guest may stay as an account.
func TestLineup_guest(t *testing.T) {
	anna, mia := beginTwo(t)
	anna.join("Anna")
	id := anna.newGame(map[string]string{"innings": "3"})
	anna.pressNamed("Seat for a guest, without an account")
	anna.await(`$("#invite").value.includes("/join/") && $(".invite svg")`)
	mia.open(value[string](anna, `new URL($("#invite").value).pathname`))
	mia.says("main", "A name is enough")
	mia.set(`[name="name"]`, "Mia")
	mia.press("main form button.primary")
	mia.await(`location.pathname === "/games/` + id + `/lineup"`)
	mia.await(`$$('#away-card [data-control="player"]').every((s) => s.value)`)
	mia.says(".who", "Mia (guest)")
	mia.press("#away-card button.primary")
	anna.says(".stubs", "Mia (guest)")
	anna.await(`$$('#home-card [data-control="player"]').every((s) => s.value)`)
	anna.press("#home-card button.primary")
	mia.await(canCall)
	mia.open("/account")
	mia.says("main", "Keep your name")
	mia.open("/games/" + id)
	mia.await(canCall)
	mia.expect("401")
	anna.is(`fetch("/api/games/` + id + `/concede", { method: "POST" })`)
	mia.shows(".signin") // the session is over, and the page stays
	mia.await(`$("#keep [name=name]")`)
	mia.set(`#keep [name="name"]`, "Mia")
	mia.set(`#keep [name="passphrase"]`, "a long one of mine")
	mia.press("#keep button")
	mia.await(`$(".who").innerText.trim() === "Mia"`)
	mia.open("/account")
	mia.says("main", "Passphrase")
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
	check.That(t, g.Away.Team.ID == before[1] && g.Home.Team.ID == before[0],
		"%s at %s, want %s at %s", g.Away.Team.ID, g.Home.Team.ID, before[1], before[0])
}

// A league of four bots is made with the form, plays itself, and shows its standings, its calendar and its
// champion, also to a visitor.
func TestLeagues_bots(t *testing.T) {
	anna, visitor := beginTwo(t)
	anna.join("Anna")
	anna.open("/leagues")
	anna.shows("main .empty")
	anna.press("details.fine summary")
	anna.shows("#league-name")
	anna.looks("leagues-form")
	anna.focus("#league-name", "Kitchen league")
	anna.choose("#manager-0", "Bench coach (bot)")
	anna.choose("#meetings", "1")
	anna.choose("#best_of", "No play-off")
	anna.choose("#innings", "3")
	anna.press("main form button.primary")
	anna.says("main h1", "Kitchen league")
	anna.await(`$("main strong")?.innerText.startsWith("Champion: ")`)
	if games, standings := anna.count("section:last-child tbody tr"),
		anna.count("section:nth-child(2) tbody tr"); games != 6 || standings != 4 {
		t.Errorf("%d games and %d standings, want 6 and 4", games, standings)
	}
	anna.looks("league")
	path := value[string](anna, "location.pathname")
	visitor.open(path)
	visitor.says("main h1", "Kitchen league")
	visitor.open("/leagues")
	visitor.shows("main .stubs a")
	visitor.looks("leagues")
	anna.press("section:last-child td a")
	anna.await(`$(".box tbody tr")`)
	anna.press(".league-link a")
	anna.says("main h1", "Kitchen league")
	anna.open("/")
	anna.says("main h2", "The field is yours") // games between bots are in their league only
}

// A series waits for its second manager, who joins with the link; then its first game is open to both.
func TestLeagues_people(t *testing.T) {
	anna, bert := beginTwo(t)
	anna.join("Anna")
	bert.join("Bert")
	anna.open("/leagues")
	anna.press("details.fine summary")
	anna.shows("#league-name")
	anna.choose("#kind", "Series")
	anna.focus("#league-name", "Sunday")
	anna.choose("#manager-1", "Anyone (open invitation)")
	anna.choose("#visibility", "Anyone with the link")
	anna.press("main form button.primary")
	anna.says("main h1", "Sunday")
	anna.looks("series-open")
	bert.open(value[string](anna, "location.pathname"))
	bert.press("main button.primary")
	bert.await(`$("section:last-child td a")?.innerText === "Line-ups"`)
	bert.press("section:last-child td a")
	bert.shows(".card select")
	bert.press(".league-link a")
	bert.says("main h1", "Sunday")
	check.Contains(t, bert.confirm("main .row button", true), "for good", "the question")
	bert.says("main tbody", "Bench coach (bot), for Bert")
	bert.looks("series-left")
	anna.await(`$$("tbody small").some((e) => e.innerText === "Bench coach (bot), for Bert")`)
}

// closed reports that no card is open and the focus is back on the name.
const closed = `!$("dialog") && document.activeElement.matches(".player-name")`

// A name opens the player's card by keyboard, in the line-up, at bat and in the dugout; Esc closes it, and
// the focus goes back.
func TestPlayer_card(t *testing.T) {
	b := begin(t)
	b.join("Anna")
	b.newGame(map[string]string{"opponent": "bot", "innings": "3"})
	b.focus(".roster .player-name", kb.Enter)
	b.await(`$$(".player-card .grade").length === 6 && document.activeElement.closest("dialog")`)
	b.says(".player-card", "No games yet this season.")
	b.looks("player-card")
	b.key(kb.Escape)
	b.await(closed)
	b.handIn("home")
	b.await(canCall)
	b.await(`$(".matchup").textContent.includes("0 for 0 today")`)
	b.focus(`.matchup > div:nth-child(2) .player-name`, kb.Enter)
	b.await(`$$(".player-card .grade").length === 3 && $(".player-card tbody").rows.length === 1`)
	b.says(".player-card", "Fresh (")
	b.key(kb.Escape)
	b.await(closed)
	b.press(".offers summary")
	b.press(".substitutions .player-name")
	b.await(`$(".player-card h2")?.textContent.trim().startsWith($(".substitutions .player-name").textContent.trim())`)
	b.press(".player-card form button")
	b.await(closed)
}

// A name opens its player's card wherever it stands: at bat, on the field, in the play-by-play, in the
// box score and its notes, at the end of a game and in the statistics.
func TestAll_everyName(t *testing.T) {
	b := begin(t)
	id := b.hotSeat(map[string]string{"innings": "3"})
	opens := func(selector string) {
		t.Helper()
		b.await(`$(%q)`, selector)
		b.is(`$(` + quote(selector) + `).dispatchEvent(new MouseEvent("click", { bubbles: true }))`)
		b.await(`$(".player-card .grade") && $(".player-card h2").textContent.includes($(%q).textContent.trim())`,
			selector)
		b.key(kb.Escape)
		b.await(`!$("dialog")`)
	}
	b.playTo(`$(".half li .player-name")`)
	b.settle()
	for _, place := range []string{"div:nth-child(1)", "div:nth-child(2)", "div:nth-child(3)"} {
		opens(".matchup > " + place + " .player-name")
	}
	opens(".half li .player-name")
	opens(".field .fielders:not(.resting) [data-player]")
	opens(".field .runners .at-bat")
	b.playTo(`$(".final .how dd .player-name")`)
	for _, place := range []string{".final .how", ".box table", ".box .scroll:last-child"} {
		opens(place + " .player-name")
	}
	if notes := ".box .notes .player-name"; b.count(notes) > 0 { // in most games
		opens(notes)
	}
	if name := value[string](b, `$$(".box .notes").flatMap((p) => [...p.childNodes])
		.map((node) => node.data?.match(/[A-Z][a-z]{2,}/)?.[0] ?? "").join("")`); name != "" {
		t.Errorf("%q in the notes opens no card", name)
	}
	b.open("/games/" + id)
	opens(".final .how .player-name")
	b.open("/players")
	opens("tbody .player-name")
	b.open("/leaders")
	opens("li .player-name")
	opens("tbody .player-name")
}
