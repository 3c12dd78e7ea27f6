package pagetest_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"pressbox/daemon/browsertest"
	"pressbox/daemon/lantest"
	"pressbox/daemon/servertest"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

// The page is in the language of the browser, until its user selects another.
// What the server says in words is marked as English.
func TestLanguage(t *testing.T) {
	b := begin(t)
	b.speaks("de-DE,de;q=0.9")
	b.open("/")
	b.says("nav", "Durchsagen")
	b.await(`document.documentElement.lang === "de"`)
	b.looks("german-lobby")
	choose := func(name, heading string) {
		value[bool](b, fmt.Sprintf(`(() => {
			const language = $$("footer select").at(-1);
			language.value = %q;
			return language.dispatchEvent(new Event("change"));
		})()`, name))
		b.says("nav", heading)
	}
	choose("en", "Announce")
	choose("", "Durchsagen")
}

// In English the names of choices and questions, which the page composes from
// actions, are the server's labels; a double switch says more.
func TestLanguage_choices(t *testing.T) {
	b := begin(t)
	id := b.hotSeat(map[string]string{"dh": "Pitchers bat"})
	const names = `(async () => {
		const folder = $("script[type=module]").src.replace("app.js", "");
		const { nameOf, questionText } = await import(folder + "play.js");
		const { fetchGame, fetchScorebook } = await import(folder + "board.js");
		%s
	})()`
	compared := map[string]int{}
	for range 12 {
		for _, c := range value[[]struct{ Verb, Name, Label string }](b, fmt.Sprintf(names, fmt.Sprintf(`
			const game = await fetchGame(%q), match = { game, book: await fetchScorebook(game), state: game.state };
			return [...game.legal, ...game.offers].filter((c) => c.action.subs?.length !== 2)
				.map((c) => ({ Verb: c.action.a, Name: nameOf(c, match), Label: c.label }))`, id))) {
			compared[c.Verb]++
			check.That(t, c.Name == c.Label, "%s: %q, the server says %q", c.Verb, c.Name, c.Label)
		}
		b.call()
		b.settle()
	}
	for _, verb := range []string{"offense", "defense", "substitute", "pause", "concede"} {
		check.That(t, compared[verb] != 0, "no choice to %s: %v", verb, compared)
	}
	for _, kind := range []chance.Question{chance.SendRunner, chance.ThrowHome, chance.TurnTwo, chance.ThrowPlate} {
		bold, safe := kind.Labels()
		want := []string{"fly ball to center field. " + kind.Text() + "?", bold, safe}
		got := value[[]string](b, fmt.Sprintf(names, fmt.Sprintf(`
			const question = { kind: %q, ball: { contact: "fly ball", place: "8D" } };
			return [questionText(question),
				...[true, false].map((bold) => nameOf({ action: { a: "answer", bold } }, { state: { question } }))]`,
			kind)))
		check.That(t, slices.EqualFunc(got, want, strings.EqualFold), "%q, want %q", got, want)
	}
}

// importing matches imports, also those of types and those at run time.
var importing = regexp.MustCompile(`(?:\bfrom |\bimport\()"\./([\w.-]+\.js)"`)

// The graph of the page's modules has no cycles, types included, and only the document loads the root.
func TestModules_noCycles(t *testing.T) {
	t.Parallel()
	const static = root + "/daemon/web/static/"
	files, err := filepath.Glob(static + "page/*.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("no modules: %v", err)
	}
	imports := map[string][]string{}
	for _, file := range files {
		source := check.Must(os.ReadFile(file))(t)
		for _, found := range importing.FindAllStringSubmatch(string(source), -1) {
			imports[filepath.Base(file)] = append(imports[filepath.Base(file)], found[1])
		}
	}
	visited := map[string]bool{}
	var walk func(path []string)
	walk = func(path []string) {
		module := path[len(path)-1]
		if slices.Contains(path[:len(path)-1], module) {
			t.Errorf("import cycle: %s", strings.Join(path, " → "))
			return
		}
		if module == "app.js" && len(path) > 1 {
			t.Errorf("%s imports the root", path[len(path)-2])
		}
		if visited[module] {
			return
		}
		for _, imported := range imports[module] {
			walk(append(slices.Clone(path), imported))
		}
		visited[module] = true
	}
	for module := range imports {
		walk([]string{module})
	}
	check.That(t, len(visited) >= 10, "only %d modules: %v", len(visited), visited)
}

// text matches a text of a language: its key and its value.
var text = regexp.MustCompile(`(?m)^  "?([\w.-]+)"?:\s((?:.*\n    )*.*),$`)

// placeholder matches what is replaced in a text.
var placeholder = regexp.MustCompile(`\{\w+\}`)

// All languages have the same files of texts, and these the same texts with the same placeholders. In English the
// server's violations have its own words.
func TestLanguages_sameTexts(t *testing.T) {
	t.Parallel()
	const folder = root + "/daemon/web/static/page/"
	languages := check.Must(filepath.Glob(folder + "languages/*.js"))(t)
	check.Require(t, len(languages) >= 2, "%d languages", len(languages))
	seen := 0
	for _, part := range []string{"languages/", "findings-", "signin-"} {
		english := textsOf(t, folder+part+"en.js")
		seen += len(english)
		for _, language := range languages {
			file := part + filepath.Base(language)
			texts := textsOf(t, folder+file)
			for key, want := range english {
				if got, ok := texts[key]; !ok || !slices.Equal(got, want) {
					t.Errorf("%s: %s has %v, in English %v (missing: %v)", file, key, got, want, !ok)
				}
				delete(texts, key)
			}
			for key := range texts {
				check.That(t, strings.HasPrefix(key, "violation."), "%s: %s is not in English", file, key)
			}
		}
	}
	check.That(t, seen >= 1000, "only %d texts", seen)
}

// problemCode matches the code of a problem where the server names it.
var problemCode = regexp.MustCompile(`(?:\{|NewStatus\()[\w.]+, http\.Status\w+, "(\w+)"|\b(?:Code: +|Code += )"(\w+)"`)

// Every code with which the server refuses something that the page can send has a text: nothing is shown in the
// server's words alone.
func TestLanguages_problems(t *testing.T) {
	t.Parallel()
	// What only other clients can cause, and the codes of the socket's end.
	others := strings.Fields(`bad_idempotency_key broken_template cancelled encoder_missing idempotency_key_reused
		malformed method_not_allowed missing_token not_joined not_json not_websocket restart template_failed
		too_large unknown_type unknown_webhook unsupported_media_type`)
	english := textsOf(t, root+"/daemon/web/static/page/languages/en.js")
	seen := 0
	check.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			!strings.Contains(path, "/daemon/web/") && !strings.HasSuffix(path, "/game/protocol/errors.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range problemCode.FindAllSubmatch(source, -1) {
			code := string(found[1]) + string(found[2])
			seen++
			_, ok := english["problem."+code]
			check.That(t, ok != slices.Contains(others, code), "%s: problem.%s has a text: %v", path, code, ok)
		}
		return err
	}))
	check.That(t, seen >= 90, "only %d codes were found", seen)
}

// findingCode matches a component in the source of doctor, and the code of what is wrong with it.
var findingCode = regexp.MustCompile(`\b(?:fine|finding)\(\s*(?:"([\w-]+)|name\+")(?:\.(\w+))?"`)

// Each component that an examination names, and each code, has a text, and each of these texts is used.
func TestLanguages_findings(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, file := range check.Must(filepath.Glob(root + "/daemon/doctor/*.go"))(t) {
		for _, found := range findingCode.FindAllStringSubmatch(string(check.Must(os.ReadFile(file))(t)), -1) {
			name, code := found[1], found[2]
			used[name] = true
			switch {
			case name == "":
				used[code] = true
			case code != "":
				used[name+"."+code] = true
			}
		}
	}
	source := string(check.Must(os.ReadFile(root + "/daemon/health/monitor/integrations.go"))(t))
	for _, found := range regexp.MustCompile(`Name: "(\w+)"`).FindAllStringSubmatch(source, -1) {
		used[found[1]] = true
	}
	delete(used, "")
	texts := slices.Sorted(maps.Keys(textsOf(t, root+"/daemon/web/static/page/findings-en.js")))
	check.Equal(t, strings.Join(texts, " "), strings.Join(slices.Sorted(maps.Keys(used)), " "), "the texts of findings")
	check.That(t, len(texts) > 90, "only %d texts", len(texts))
}

// textsOf returns the placeholders of each text of a language, sorted.
func textsOf(t *testing.T, file string) map[string][]string {
	t.Helper()
	texts := map[string][]string{}
	for _, found := range text.FindAllStringSubmatch(string(check.Must(os.ReadFile(file))(t)), -1) {
		all := placeholder.FindAllString(strings.ReplaceAll(found[2], "${", "{"), -1)
		slices.Sort(all)
		texts[found[1]] = slices.Compact(all)
	}
	return texts
}

// attack is a page of another site that makes the browser send whatever it sends without
// the permission of the server. %[1]s is the server's URL.
const attack = `<!doctype html><meta name="referrer" content="no-referrer"><title>x</title>
<link rel="prefetch" href="%[1]s/ntfy/prefetch/publish?message=x">
<img src="%[1]s/ntfy/image/publish?message=x" referrerpolicy="no-referrer">
<img src="%[1]s/notify/publish?message=x"><img src="%[1]s/notify?message=x">
<iframe name="frame"></iframe>
<form id="text" method="post" enctype="text/plain" action="%[1]s/ntfy/form" target="frame">
<input name="message" value="x"></form>
<a id="link" rel="noreferrer" href="%[1]s/ntfy/link/publish?message=x">x</a>
<script>
const send = (path, body) => fetch("%[1]s" + path,
	{method: "POST", mode: "no-cors", referrerPolicy: "no-referrer", body})
const form = new FormData()
form.set("message", "x")
const sockets = ["/house/ws", "/ntfy/house/ws", "/api/ws"].map((path) => new Promise((done) => {
	const socket = new WebSocket("%[1]s".replace("http", "ws") + path)
	socket.onopen = () => fetch("/opened?" + path)
	socket.onclose = done
}))
Promise.allSettled([...sockets,
  send("/notify", "x"), send("/notify", new Blob(['{"message": "x"}'])), send("/ntfy/text", "x"),
	send("/message", form),
  send("/", '{"message": "x"}'), send("/notify", new URLSearchParams({message: "x"})),
	fetch("%[1]s/ntfy/get/publish?message=x", {mode: "no-cors"}),
]).then(() => {
  navigator.sendBeacon("%[1]s/ntfy/beacon", "x")
  document.getElementById("text").submit()
})
</script>`

// An otherSite is a site with the page of the attack, and the server that it attacks.
type otherSite struct {
	t      *testing.T
	server *servertest.Process
	port   string
}

// startOtherSite starts both. The test is in a network of its own.
func startOtherSite(t *testing.T) *otherSite {
	t.Helper()
	p := servertest.Run(t, servertest.Silent, "HOST="+lantest.Address, "LOG_LEVEL=DEBUG", "WYOMING=off", "ESPHOME=off")
	ln := check.Must(new(net.ListenConfig).Listen(t.Context(), "tcp", lantest.Address+":0"))(t)
	site := &httptest.Server{
		Listener: ln,
		Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			check.That(t, r.URL.Path != "/opened", "a websocket was opened: %s", r.URL.RawQuery)
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = fmt.Fprintf(w, attack, p.URL)
		})},
	}
	site.Start()
	t.Cleanup(site.Close)
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	return &otherSite{t, p, port}
}

// arrived checks that the browser has sent requests.
func (o *otherSite) arrived(paths ...string) {
	o.t.Helper()
	for _, path := range paths {
		check.That(o.t, o.server.AwaitLog("path="+path+" "), "the browser did not request %s", path)
	}
}

// changedNothing checks that nothing was announced, and no websocket was opened, and ends the server.
func (o *otherSite) changedNothing() {
	o.t.Helper()
	for _, path := range []string{"/house/ws", "/ntfy/house/ws", "/api/ws"} {
		check.That(o.t, o.server.AwaitLog("method=GET path="+path+" status=403"), "%s: no status 403", path)
	}
	req := check.Must(http.NewRequestWithContext(o.t.Context(), http.MethodGet, o.server.URL+"/notify", nil))(o.t)
	resp := check.Must(http.DefaultClient.Do(req))(o.t)
	defer func() { _ = resp.Body.Close() }()
	list := make([]byte, 200)
	n, _ := resp.Body.Read(list)
	check.Equal(o.t, strings.TrimSpace(string(list[:n])),
		`{"queue":[],"recent":[],"scheduled":[]}`, "what a page of another site announced")
	if log := o.server.Logged(); strings.Contains(log, "announcement accepted") || strings.Contains(log, "message=x") {
		o.t.Errorf("the log: %s", log)
	}
	check.NoError(o.t, o.server.End(syscall.SIGTERM))
}

// A page of another site, on a private address over plain http, where browsers send no
// Sec-Fetch-Site: neither an image without a referrer, a link, a prefetch, a form nor a
// fetch queues anything, although the address of the browser may announce; no websocket is opened.
func TestOtherSite_speaksNothing(t *testing.T) {
	if !lantest.Inside(t) {
		return
	}
	o := startOtherSite(t)
	options := browsertest.Options(chromedp.Flag("host-resolver-rules", "MAP other.example "+lantest.Address))
	allocator, free := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(free)
	browser, quit := chromedp.NewContext(allocator)
	t.Cleanup(quit)
	check.NoError(t, chromedp.Do(browser)) // starts it
	check.NoError(t, browsertest.Do(browser, chromedp.Navigate("http://other.example:"+o.port+"/")))
	o.arrived("/ntfy/image/publish", "/ntfy/get/publish", "/notify/publish", "/notify", "/ntfy/text", "/message", "/",
		"/ntfy/form", "/ntfy/beacon", "/ntfy/prefetch/publish")
	check.NoError(t, browsertest.Do(browser, chromedp.Click("#link")))
	o.arrived("/ntfy/link/publish")
	o.changedNothing()
}

// The same in Firefox, for which another port is another origin.
func TestAll_otherSiteFirefox(t *testing.T) {
	if !lantest.Inside(t) {
		return
	}
	o := startOtherSite(t)
	f := browsertest.StartFirefox(t)
	f.ErrorsExpected = true // it says what it was refused
	f.Tab().Open("http://" + lantest.Address + ":" + o.port + "/")
	o.arrived("/ntfy/image/publish", "/ntfy/get/publish", "/notify/publish", "/notify", "/ntfy/text", "/message", "/",
		"/ntfy/form", "/ntfy/beacon")
	o.changedNothing()
}

// The main ways through the page work in Firefox: an account is made, a game of three innings is played against the
// bot by keyboard, watched from another tab and replayed, something is announced, and the wall display shows it.
// Nothing is logged as an error.
func TestAll_firefox(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	f := browsertest.StartFirefox(t)
	f.Preload(shorthand)
	tab := f.Tab()
	tab.Resize(1280, 800)
	look := func(name string) {
		if screenshots != "" {
			check.NoError(t, os.WriteFile(filepath.Join(screenshots, "firefox-"+name+".png"), tab.Screenshot(), 0o600))
		}
	}
	tab.Open(s.URL)
	tab.Press(`main a[href^="/api/auth/idp/login"]`)
	tab.Type("#new-name", "Anna")
	tab.Type("#new-passphrase", passphrase+"\ue007") // Enter
	tab.Says(`header a[href="/account"]`, "Anna")

	tab.Open(s.URL + "/new")
	tab.Await(`$$(".clubs .hint").length === 2`)
	for field, text := range map[string]string{"opponent": "bot", "innings": "3"} {
		tab.Text(fmt.Sprintf(`((list) => {
			list.selectedIndex = [...list.options].findIndex((o) => o.text.includes(%q));
			list.dispatchEvent(new Event("change", { bubbles: true }));
		})(document.getElementById(%q))`, text, field))
	}
	tab.Press("main form button.primary")
	tab.Press("#home-card .spread button")
	tab.Await(`$$("#home-card [data-control='player']").every((s) => s.value)`)
	tab.Press("#home-card button.primary")
	tab.Await(canCall)
	look("game")
	game := tab.Text("location.pathname")
	watching := tab.Beside()
	watching.Open(s.URL + game)
	watching.Await(canCall)
	for tab.Text(`$(".final") !== null`) != "true" {
		tab.Keys("1")
		tab.Await(canCall)
	}
	look("final")
	watching.Await(`$(".final")`)
	watching.Close()
	tab.Open(s.URL + game + "/replay")
	tab.Await(`$("#moment").textContent.length > 5`)

	firefoxStreams(tab, s)
	tab.Open(s.URL + "/kiosk")
	tab.Says("body", "Dinner is ready.")
	look("wall")

	tab.Text(`document.cookie = "pressbox_language=de; path=/"`)
	tab.Open(s.URL)
	tab.Says("nav", "Durchsagen")
}

// firefoxStreams announces from one of more tabs than a browser has connections to a server: all
// receive it. A tab that is left for another page, and for more of them than there are connections,
// receives again when the user goes back.
func firefoxStreams(tab *browsertest.FirefoxTab, s *server) {
	const live = `$(".link-state.on")`
	tabs := []*browsertest.FirefoxTab{tab}
	for range 7 {
		tabs = append(tabs, tab.Beside())
	}
	for _, t := range tabs {
		t.Open(s.URL + "/announcements")
		t.Await(live)
	}
	announce := func(t *browsertest.FirefoxTab, message string) {
		t.Type("#message", message)
		t.Press("main form button.primary")
	}
	announce(tabs[7], "Dinner is ready.")
	for _, t := range tabs {
		t.Says("main", "Dinner is ready.")
	}
	for i := range 8 {
		tab.Open(s.URL + []string{"/kiosk", "/announcements"}[i%2])
		tab.Await([]string{`$(".wall.live")`, live}[i%2])
	}
	tab.Text("history.go(-2)")
	tab.Await(`location.pathname === "/announcements" && ` + live)
	announce(tabs[7], "Bedtime.")
	tab.Says("main", "Bedtime.")
	for _, t := range tabs[1:] {
		t.Close()
	}
}

// connected connects the tab to the network, or cuts it off.
func (b *tab) connected(on bool) {
	b.t.Helper()
	send(b, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: !on, DownloadThroughput: -1, UploadThroughput: -1}},
	})
	send(b, network.OverrideNetworkState, network.OverrideNetworkStateParams{
		Offline: !on, DownloadThroughput: -1, UploadThroughput: -1,
	})
}

// turns has both managers make calls, each as soon as they can, until there
// were that many and both can make the next one, or the game is over.
func turns(one, other *tab, calls int) {
	one.t.Helper()
	for made := 0; !one.is(`$(".final")`); {
		first, second := one.is(canCall), other.is(canCall)
		if made >= calls && first && second {
			return
		}
		if first {
			one.key("1")
			made++
		}
		if second {
			other.key("1")
			made++
		}
	}
}

// shown evaluates to what all tabs must show of a game.
const shown = `JSON.stringify($$(".board .plate, .situation, .lamps, .half-head, .half li")
	.map((e) => e.ariaLabel ?? e.textContent).concat($$(".runners g:not(.gone)")
	.map((e) => e.textContent + e.getAttribute("transform")).sort()))`

// agree waits until the other tab shows what this one does.
func agree(one, other *tab) {
	one.t.Helper()
	other.await(shown + " === " + quote(value[string](one, shown)))
}

// Two managers and a watcher: the invitation is opened, both cards go in, and all three tabs go to the game. A
// manager who loses the network sees so at once, and resumes where the others are.
func TestAll_twoManagersAndWatcher(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	anna, ben, fan := newTab(t, s), newTab(t, s), newTab(t, s)
	anna.join("Anna")
	id := anna.newGame(map[string]string{"innings": "3", "turn_seconds": "No clock"})
	anna.shows(".invite .qr path")
	anna.looks("invite")
	ben.join("Ben")
	ben.says(".game-stub", "Needs a second manager")
	ben.looks("lobby")
	ben.open("/games/" + id)
	ben.press("main section button.primary")
	ben.shows("#away-card")
	anna.says(".stubs", "Ben")
	ben.handIn("away")
	anna.says(".stubs", "Line-up in")
	fan.join("Fan")
	fan.open("/games/" + id)
	fan.says("main", "setting their line-ups")
	anna.handIn("home")
	for _, b := range []*tab{anna, ben, fan} {
		b.await(`location.pathname === "/games/` + id + `"`)
		b.says(".link-state", "Live")
	}
	fan.says(".panel h2", "In the stands")
	check.Equal(t, fan.count(".calls, .offers"), 0, "a watcher's decisions")
	anna.says(".link-line", "1 in the stands") // managers do not count
	check.Equal(t, fan.count(".reactions"), 0, "a watcher's reactions")
	anna.press(`.reactions [aria-label="Applause"]`)
	for _, b := range []*tab{anna, ben, fan} {
		b.says(".reaction", "Anna")
		b.says(".reaction", "Applause")
	}
	fan.await(`!$(".reaction")`)
	turns(anna, ben, 8)
	agree(anna, ben)
	agree(anna, fan)

	ben.expect("ERR_INTERNET_DISCONNECTED", "WebSocket connection")
	ben.connected(false)
	ben.says(".banner", "connection lost")
	ben.says(".link-state", "Connection lost")
	ben.await("!" + callout) // the play is over, not only agreed on
	before := value[string](ben, shown)
	check.That(t, ben.count(".calls button:not(:disabled)") == 0, "a call can be made without the network")
	anna.call()
	anna.says(".link-line", "offline")
	seconds := `Number(/gone in (\d+) s/.exec($(".link-line").innerText)[1])`
	anna.await(seconds+" < %d", value[int](anna, seconds)) // it counts down
	check.Equal(t, value[string](ben, shown), before, "the page without the network")
	ben.connected(true)
	ben.says(".link-state", "Live")
	ben.await(`!$(".banner")`)
	agree(anna, ben)
	ben.says(".chip", "Anna has made a call")
	ben.call()
	turns(anna, ben, 1000)
	anna.await(`$$(".box tbody tr").length > 18`)
	for _, b := range []*tab{anna, ben, fan} {
		b.says(".final h2", "win")
		b.agrees(id)
	}
	fan.press(`.tabs button:nth-child(3)`)
	fan.shows(".curve path.chance")
	fan.looks("chances")
	ben.press(`header a[href="/standings"]`)
	rematchOffers(anna, ben, id)
}

// rematchOffers has one ask the other, who is on another page, for a rematch of a game twice: it is declined
// and accepted.
func rematchOffers(one, other *tab, id string) {
	one.t.Helper()
	ask := func() {
		one.t.Helper()
		one.press(".final .row button")
		one.await(`$(".card") && !location.pathname.includes(%q)`, id)
		one.says("main h2", "You asked Ben for a rematch")
		other.says(".notices", "Anna wants a rematch")
	}
	ask()
	other.looks("offer")
	other.press(".notices button:not(.primary)")
	other.await(`!$(".notices")`)
	one.says(".notices", "Ben declines the rematch")
	one.says("main", "was called off")
	one.press(".notices button")
	one.open("/games/" + id)
	ask()
	other.open("/players") // it is still there
	other.press(".notices button.primary")
	other.shows(".card")
	one.says(".stubs", "Ben")
}

// A network that falls silent is noticed. A call made just before is made once,
// and the page resumes where the game is.
func TestAll_silentNetwork(t *testing.T) {
	b := begin(t)
	b.join("Anna")
	id := b.newGame(map[string]string{"opponent": "bot"})
	b.handIn("home")
	b.says(".link-state", "Live")
	b.playTo(`$$(".half").length > 2 && $(".base.taken")`)
	b.settle()
	b.looks("game")
	b.expect("WebSocket", "ERR_")
	before, plays := value[string](b, shown), len(b.defenses(id))
	b.Signal(t, syscall.SIGSTOP)
	b.call()
	b.says(".chip", "Sent")
	b.says(".banner", "connection lost")
	check.Equal(t, value[string](b, shown), before, "the page without an event")
	b.Signal(t, syscall.SIGCONT)
	b.says(".link-state", "Live")
	b.await(`!$(".chip")`)
	b.await(shown + " !== " + quote(before))
	if more := len(b.defenses(id)) - plays; more > 1 {
		t.Errorf("the call made %d plays, want at most one", more)
	}
	b.playTo(`$$(".half").length > 4`)
}
