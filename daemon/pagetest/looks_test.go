package pagetest_test

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"pressbox/packaging/check"
)

// screenshots is the folder for screenshots of all that looks is called for; "" for none.
var screenshots = os.Getenv("PAGETEST_SHOTS")

// widths are those of a small phone, which is also a screen of 1280 at 400 %, a tablet and a large screen.
var widths = []int64{320, 820, 1920}

// audits are the rules that axe-core checks: WCAG 2.2 AA and best practices; in
// the dark theme only what depends on colors.
var audits = map[string]string{
	"light": `{runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}`,
	"dark":  `{runOnly: ["color-contrast"]}`,
}

// audit returns the violations as texts.
const audit = `axe.run(document, %s).then((r) => r.violations
	.map((v) => v.id + ": " + v.nodes.map((n) => n.target.join(" ") + " " + n.failureSummary.replace(/\s+/g, " "))
		.join(" | ")))`

// looks checks accessibility in both themes, and that no width needs horizontal scrolling.
func (b *tab) looks(name string) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.emulate("prefers-color-scheme", scheme)
		b.accessible(name, scheme)
		for _, width := range widths {
			b.fits(name, width)
			if screenshots != "" {
				b.shoot(filepath.Join(screenshots, fmt.Sprintf("%s-%s-%d.png", name, scheme, width)),
					chromedp.FullScreenshot(100))
			}
		}
		b.do(chromedp.EmulateViewport(1280, 800))
	}
	b.emulate("prefers-color-scheme", "light")
}

// accessible checks accessibility in a theme.
func (b *tab) accessible(name, scheme string) {
	b.t.Helper()
	if !b.is(`typeof axe === "object"`) {
		value[bool](b, b.axe+"; true")
	}
	if violations := value[[]string](b, fmt.Sprintf(audit, audits[scheme])); len(violations) > 0 {
		b.t.Errorf("%s, %s:\n%s", name, scheme, strings.Join(violations, "\n"))
	}
}

// fits checks that a width does not need horizontal scrolling.
func (b *tab) fits(name string, width int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, 800))
	if wide := value[int64](b, "document.documentElement.scrollWidth"); wide > width {
		b.t.Errorf("%s is %d wide on a screen of %d", name, wide, width)
	}
}

// emulate sets a media feature.
func (b *tab) emulate(feature, value string) {
	b.t.Helper()
	send(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: feature, Value: value}},
	})
}

// shoot writes a screenshot.
func (b *tab) shoot(name string, screenshot chromedp.Action[[]byte]) {
	b.t.Helper()
	picture := check.Must(chromedp.Run(b.ctx, screenshot))(b.t)
	check.NoError(b.t, os.WriteFile(name, picture, 0o644))
}

var contact = flag.String("contact", "", "write contact sheets of every part of the page to this `folder`")

// contactSizes are those of phones, of displays at a Raspberry Pi, of a laptop and of a television;
// the wall display has wallSizes as well.
var (
	contactSizes = [][2]int64{{320, 640}, {360, 740}, {390, 844}, {800, 480}, {1024, 600}, {1280, 800}, {1920, 1080}}
	wallSizes    = [][2]int64{{3840, 2160}}
)

// sheets hold the cells of every part, in HTML, by size of the screen. Each part has one of each theme.
type sheets map[[2]int64]*strings.Builder

// Limits of a figure.
const (
	cellWidth   = 400 // pixels
	cellScreens = 2.5 // heights of the screen
)

// add has every size and theme of what a tab shows.
func (s sheets) add(b *tab, name string) {
	b.t.Helper()
	sizes := contactSizes
	if strings.HasPrefix(name, "wall") {
		sizes = slices.Concat(contactSizes, wallSizes)
	}
	for _, size := range sizes {
		if s[size] == nil {
			s[size] = &strings.Builder{}
		}
		b.do(chromedp.EmulateViewport(size[0], size[1]), chromedp.Evaluate[chromedp.Void](`scrollTo(0, 0)`))
		for _, scheme := range []string{"light", "dark"} {
			b.emulate("prefers-color-scheme", scheme)
			b.drawn()
			height := min(value[float64](b, "document.documentElement.scrollHeight"), cellScreens*float64(size[1]))
			screen := send(b, page.CaptureScreenshot,
				page.CaptureScreenshotParams{Format: "png", CaptureBeyondViewport: new(true), Clip: &page.Viewport{
					Width: float64(size[0]), Height: height, Scale: min(1, cellWidth/float64(size[0])),
				}})
			fmt.Fprintf(s[size], `<figure><img src="data:image/png;base64,%s"><figcaption>%s</figcaption></figure>`,
				base64.StdEncoding.EncodeToString(screen.Data), name)
		}
	}
	b.do(chromedp.EmulateViewport(1280, 800))
	b.emulate("prefers-color-scheme", "light")
}

// write joins the cells of each size into a picture.
func (s sheets) write(t *testing.T, language string) {
	t.Helper()
	ctx, cancel := chromedp.NewContext(check.Must(rig())(t).browser)
	defer cancel()
	for size, cells := range s {
		name := fmt.Sprintf("%s-%dx%d.png", language, size[0], size[1])
		b := &tab{t: t, ctx: ctx}
		sheet := `<style>body { margin: 0; display: flex; flex-wrap: wrap; gap: 8px;
			background: gray } figure { margin: 0 } figcaption { font: 14px sans-serif }</style>` + cells.String()
		b.do(chromedp.EmulateViewport(8*(cellWidth+8), 800), chromedp.Navigate("about:blank"))
		value[bool](b, `(document.body.innerHTML = `+quote(sheet)+`,
			Promise.all([...document.images].map((i) => i.decode())).then(() => true))`)
		b.shoot(filepath.Join(*contact, name), chromedp.FullScreenshot(100))
	}
}

// Every part of the page is accessible and as wide as the screen in German as well, whose words are longer than those
// that the other tests see. With -contact it writes contact sheets of both languages instead.
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
		b.plays(path[len("/games/"):])
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
		{"sounds", "#sounds li"},
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

// screens are those of phones, of displays at a Raspberry Pi, of laptops and of a television.
var screens = [][2]int64{{360, 740}, {390, 844}, {800, 480}, {1024, 600}, {1366, 768}, {1920, 1080}}

// outside returns what is not to be seen, or not to be hit, of the elements on the screen, and the names that are cut.
const outside = `$$(".situation .score b, .situation .inning, .diamond, .lamps, .field, .headline .moment," +
	".matchup > :nth-child(-n+2) .player-name, .calls button, .pick" +
	(innerWidth > 1100 ? ", .offers summary, .matchup > :nth-child(-n+2)" : "")).flatMap((e) => {
	const name = e.className.baseVal ?? e.className, text = e.textContent.trim();
	const r = e.getBoundingClientRect(), hit = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
	if (r.width < 12 || r.top < 0 || r.left < 0 || r.bottom > innerHeight || r.right > innerWidth) {
		return [name + " " + text + " at " + [r.left, r.top, r.right, r.bottom].map(Math.round).join()];
	}
	if (!hit || !(e.contains(hit) || hit.contains(e))) return [name + " is covered by " + hit?.outerHTML.slice(0, 60)];
	if (e.matches(".player-name") && e.scrollWidth > e.clientWidth) return [text + " is cut"];
	// A finger's height where there is room.
	const least = !e.matches(".calls button, .pick") ? 24 : innerHeight < 500 ? 32 : 40;
	return /button|label/i.test(e.tagName) && r.height < least ? [text + " is " + r.height + " high"] : [];
})`

// All that a turn needs is on one screen without scrolling: score, inning, bases, count, batter and pitcher, last play
// and the calls; at bat, and in the field with the most calls.
func TestAll_gameOneScreen(t *testing.T) {
	b := begin(t)
	id := b.hotSeat(nil)
	b.plays(id)
	value[bool](b, `until(({ bases }, legal) => bases.every((b) => b.player) && legal[0].group === "offense",
		(c) => c.action.pitch === "intentional walk").then(() => true)`)
	b.open("/games/" + id)
	b.settle()
	fits := func(turn string, calls int) {
		for _, size := range screens {
			b.do(chromedp.EmulateViewport(size[0], size[1]))
			b.drawn()
			if n := b.count(".calls button, .pick input"); n < calls {
				t.Errorf("%s: %d calls, want at least %d", turn, n, calls)
			}
			if missing := value[[]string](b, outside); len(missing) > 0 {
				t.Errorf("%s, %d × %d:\n%s", turn, size[0], size[1], strings.Join(missing, "\n"))
			}
			if screenshots != "" {
				name := fmt.Sprintf("game-%s-%d.png", strings.ReplaceAll(turn, " ", "-"), size[0])
				b.shoot(filepath.Join(screenshots, name), chromedp.CaptureScreenshot())
			}
		}
		b.do(chromedp.EmulateViewport(360, 740), chromedp.Evaluate[chromedp.Void](`scrollTo(0, 400)`))
		b.await(`scrollY > 300`)
		check.Equal(t, value[float64](b, `$(".situation").getBoundingClientRect().top`),
			0, "scrolled, the top of the score, %s", turn)
		b.do(chromedp.Evaluate[chromedp.Void](`scrollTo(0, 0)`))
	}
	fits("at bat", 6)
	b.do(chromedp.EmulateViewport(1440, 900)) // where each call has its words below
	if n := value[int](b, `$$(".calls li")
		.filter((li) => li.querySelector(".does").getBoundingClientRect().top < li
		.querySelector(".call").getBoundingClientRect().bottom).length`); n > 0 {
		t.Errorf("%d calls cover their words", n)
	}
	b.key("1")
	b.await(`$(".combine button:not(:disabled)")`)
	fits("in the field", 13)
	b.speaks("de") // whose words are longer
	b.open("/games/" + id)
	b.await(`$(".combine button:not(:disabled)")`)
	fits("in the field, in German", 13)
	question := b.playedUntil(`legal[0]?.group === "answer"`)
	b.open(question)
	b.await(canCall)
	fits("a question, in German", 2)
	b.open(b.playedUntil(`legal[0]?.group === "offense" && state.bases.every((b) => b.player)`))
	b.await(canCall)
	fits("at bat, in German", 4)
}

var update = flag.Bool("update", false, "renew the pictures of the README")

// The README's pictures: a game in progress, on the page and on the wall
// display. -update renews them after a change of the page.
const (
	picturePage = root + "/packaging/doc/page.png"
	pictureWall = root + "/packaging/doc/wall.png"
	pictureMax  = 200 << 10 // bytes
)

func TestPictures(t *testing.T) {
	t.Parallel()
	if *update {
		renewPictures(t)
	}
	for _, name := range []string{picturePage, pictureWall} {
		file := check.Must(os.ReadFile(name))(t)
		picture, err := png.DecodeConfig(bytes.NewReader(file))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if picture.Width != 1280 || picture.Height != 800 || len(file) > pictureMax {
			t.Errorf("%s: %d × %d, %d bytes; want 1280 × 800, at most %d bytes", name, picture.Width, picture.Height,
				len(file), pictureMax)
		}
	}
}

// publicAddress replaces the address of the wall display's QR code.
const publicAddress = `new MutationObserver(() => {
	$('meta[name="pressbox-join"]')?.setAttribute("content", "http://pressbox.local/");
}).observe(document, { childList: true, subtree: true });`

func renewPictures(t *testing.T) {
	t.Helper()
	s := newServer(t)
	b, wall := newTab(t, s), newTab(t, s)
	wall.preload(publicAddress)
	b.join("Anna")
	b.open("/new")
	b.newGame(map[string]string{"opponent": "bot"})
	b.handIn("home")
	wall.open("/kiosk")
	b.playTo("!" + callout + ` && $$(".half").length > 6 && $$(".base.taken").length > 1 && $(".calls li") &&
		$(".half .scoring")`)
	wall.shows(".wall-now")
	wall.shows(".qr path")
	b.is(`fetch("/api/notify", { method: "POST", headers: { "Content-Type": "application/json" },
		body: '{"message": "Dinner is ready."}' })`)
	wall.says(".wall-air", "Dinner is ready.")
	for name, tab := range map[string]*tab{picturePage: b, pictureWall: wall} {
		tab.emulate("prefers-color-scheme", "light")
		tab.drawn()
		tab.shoot(name, chromedp.CaptureScreenshot())
	}
}
