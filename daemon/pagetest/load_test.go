package pagetest_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"pressbox/daemon/replica"
	"pressbox/daemon/servertest"
	baseball "pressbox/game"
	"pressbox/game/bot/bottest"
	"pressbox/game/league"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
	"pressbox/store"
)

// Limits of loading a view.
const (
	maxRequests = 12
	maxFirst    = 90_000  // bytes of the first view, compressed
	maxBytes    = 120_000 // of any
	maxReload   = 40_000  // bytes with a cache: the document and the API's answers
	maxShift    = 0.1     // cumulative layout shift
)

// load opens a path and returns the cost until a condition is true. The page before is left first,
// which may not have sent all of its requests.
func (b *tab) load(path, condition string) (requests int, bytes float64) {
	b.t.Helper()
	b.do(chromedp.Navigate("about:blank"))
	b.mu.Lock()
	b.requests, b.bytes, b.paths = 0, 0, nil
	b.mu.Unlock()
	b.open(path)
	b.await(condition + ` && document.readyState === "complete" && document.fonts.status === "loaded"`)
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.requests, b.bytes
}

// cache turns the browser's cache on or off.
func (b *tab) cache(on bool) {
	b.t.Helper()
	send(b, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: !on})
}

// withoutRest keeps a page from doing what it does once it rests, which is no part of its load, however slow
// the host is.
const withoutRest = `(() => { const later = setTimeout; window.setTimeout = (f, ms) => (ms < 5000 ? later(f, ms) : 0);
	})()`

// shift returns the sum of all layout shifts since the load, at least the cumulative layout shift.
func (b *tab) shift() float64 {
	b.t.Helper()
	b.drawn()
	return value[float64](b, `(() => {
		const observer = new PerformanceObserver(() => {});
		observer.observe({ type: "layout-shift", buffered: true });
		return observer.takeRecords().reduce((sum, shift) => sum + shift.value, 0);
	})()`)
}

// The first load of each view is small, also with many games; the next one has only what
// changes. What is on a large or a small screen stays where it is while the rest loads.
func TestAll_pageFirstLoad(t *testing.T) {
	t.Parallel()
	catalog, _ := serveCatalog(t)
	s := newFullServer(t, "VOICES_URL="+catalog)
	anna, visitor := newTab(t, s), newTab(t, s)
	for _, b := range []*tab{anna, visitor} {
		b.preload(withoutRest)
	}
	anna.join("Anna")
	start := func() string {
		id := anna.newGame(map[string]string{"opponent": "bot"})
		anna.handIn("home")
		anna.await(canCall)
		return "/games/" + id
	}
	finished := start()
	anna.playTo(`$$(".half li").length > 5`) // without a play it would not count
	active := start()
	anna.playTo(`$$(".half li").length > 5`)
	check.Equal(t, anna.status("POST", "/api"+finished+"/concede"), 200, "status of concede")
	pending := "/games/" + anna.newGame(map[string]string{"opponent": "Anyone"})
	competition := func(kind string) string {
		return "/" + kind + "/" + value[struct{ ID string }](anna, fmt.Sprintf(`json("/api/%s",
			{ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({
			name: "Kitchen", options: { innings: 3 },
				seats: [{ team: "BWH", manager: "me" }, { team: "CPR", manager: "bot" }] }) })`, kind)).ID
	}
	league, series := competition("leagues"), competition("series")
	anna.command("users", "admin", "Anna")
	const announcements = `$(".link-state.on") && $$("#voice option").length > 1 && $("#volume")`
	for _, tt := range []struct {
		by              *tab
		path, condition string
	}{
		{visitor, "/", `$(".cover")`},
		{visitor, "/announcements", announcements},
		{visitor, "/kiosk", `$(".wall-game") && $(".qr")`},
		{visitor, active, `$("main h1")`}, // Sign in
		{visitor, "/auth/callback?", `$("main h1")`},
		{visitor, "/help", `$$(".cards li").length === 5 + 6`},
		{visitor, "/about", `$("main h1")`},
		{anna, "/", `$$(".game-stub").length > 70`},
		{anna, "/new", `$$(".club-pick").length === 16 && $$(".clubs .hint").length === 2`},
		{anna, pending + "/lineup", `$(".card select") && $(".qr path")`},
		{anna, active, canCall},
		{anna, active + "/replay", `$("#moment")`},
		{anna, finished, `$(".box tbody tr")`},
		{anna, finished + "/replay/1", `$("#moment")`},
		{anna, "/standings", `$("tbody tr")`},
		{anna, "/players", `$("tbody tr")`},
		{anna, "/leaders", `$("tbody tr")`},
		{anna, "/managers", `$("tbody tr")`},
		{anna, "/leagues", `$("main details") && $("main a[href='` + league + `']")`},
		{anna, league, `$$("main tbody tr").length > 2`},
		{anna, series, `$$("main tbody tr").length > 2`},
		{anna, "/admin", `$("#QUIET_MODE")`},
		{anna, "/admin?part=planned", `$("main .empty")`},
		{anna, "/admin?part=voices", `$("#natural")`},
		{anna, "/admin?part=people", `$("#users li")`},
		{anna, "/admin?part=tokens", `$("main .empty")`},
		{anna, "/admin?part=rooms", `$("main .stubs li")`},
		{anna, "/admin?part=health", `$("#findings li")`},
		{anna, "/admin?part=log", `$("main h2")`},
		{anna, "/admin?part=backup", `$("main .empty")`},
		{anna, "/announcements", announcements},
		{anna, "/account", `$("main li")`},
	} {
		bytes := tt.by.loadsLittle(t, tt.path, tt.condition)
		check.That(t, tt.path != "/" || tt.by != visitor || bytes <= maxFirst, "the first view has %.0f bytes", bytes)
	}
}

// loadsLittle checks the first load of a view, also on a small screen, and the next one. It returns the bytes of the
// first one.
func (b *tab) loadsLittle(t *testing.T, path, condition string) (bytes float64) {
	t.Helper()
	b.cache(false)
	requests, bytes := b.load(path, condition)
	check.That(t, requests <= maxRequests && bytes <= maxBytes,
		"%s: %d requests, %.0f bytes, of the API %v", path, requests, bytes, b.paths)
	wide := b.shift()
	b.do(chromedp.EmulateViewport(390, 844))
	b.cache(true)
	b.load(path, condition)
	small := b.shift()
	b.do(chromedp.EmulateViewport(1280, 800))
	check.That(t, wide <= maxShift && small <= maxShift,
		"%s: layout shift %.3f at 1280 × 800, %.3f at 390 × 844", path, wide, small)
	_, reload := b.load(path, condition)
	check.That(t, reload <= maxReload, "%s: %.0f bytes with a cache", path, reload)
	t.Logf("%-32s %2d requests, %5.0f bytes; with a cache %5.0f bytes; shift %.3f, %.3f",
		path, requests, bytes, reload, wide, small)
	return bytes
}

// hotSeat starts a game that one tab plays and another one watches.
func hotSeat(tb testing.TB) (player, watcher *tab) {
	tb.Helper()
	s := newServer(tb)
	player, watcher = newTab(tb, s), newTab(tb, s)
	id := player.hotSeat(nil)
	watcher.join("Fan")
	watcher.open("/games/" + id)
	watcher.says(".link-state", "Live")
	return player, watcher
}

// client plays a game over a socket of its own without rendering: a second page
// that renders would disturb the measurement of the watcher's.
const client = `new Promise((ready) => {
	const socket = new WebSocket(location.origin.replace("http", "ws") + "/api/ws", "pressbox.v1");
	let rev = 0, legal = [], state, played = false, done;
	const call = (choose = () => undefined) =>
		socket.send(JSON.stringify({ t: "cmd", g: %[1]q, cid: crypto.randomUUID(), rev,
		d: { action: (legal.find(choose) ?? legal[0]).action } }));
	globalThis.play = () => new Promise((resolve) => {
		[played, done] = [false, resolve];
		call();
	});
	globalThis.over = () => !legal.length;
	globalThis.until = async (ready, choose) => {
		while (!ready(state, legal)) await new Promise((resolve) =>
			{ [played, done] = [true, resolve]; call(choose); });
	};
	socket.onopen = () => socket.send(JSON.stringify({ t: "join", g: %[1]q, d: { since: 0 } }));
	socket.onmessage = ({ data }) => {
		const frame = JSON.parse(data);
		rev = frame.rev ?? rev;
		played ||= frame.d?.kind === "play";
		if (frame.t === "nak" && frame.d.code === "rate_limited") setTimeout(call, 100); // faster than people play
		if (!frame.d?.state) return; // no open decision yet
		[legal, state] = [frame.d.legal ?? [], frame.d.state];
		if (frame.t === "state") ready(true);
		else if (played || !legal.length) done(legal.length > 0);
		else call();
	};
})`

// plays makes a tab, on a page that needs nothing, the [client] of a game.
func (b *tab) plays(id string) {
	b.t.Helper()
	b.open("/about")
	b.shows("main h1")
	value[bool](b, fmt.Sprintf(client, id))
}

// BenchmarkMemory measures the growth of a watcher's heap from the 500th to the 2,000th
// play, in games one after the other on the same page: x-limit is its ratio to the larger
// one of 1 MB and a tenth of the heap. Each play is drawn: the watcher skips it once it is shown.
func BenchmarkMemory(b *testing.B) {
	player, watcher := hotSeat(b)
	id := player.gameID()
	player.plays(id)
	watcher.emulate("prefers-reduced-motion", "reduce")
	watcher.is(`new MutationObserver(() => $(".over-field:not([hidden])") &&
		dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }))).observe(document,
		{ subtree: true, attributes: true })`)
	heap := func() (used float64) {
		for range 3 {
			send(watcher, heapprofiler.CollectGarbage, cdp.Empty{})
			used = send(watcher, runtime.GetHeapUsage, cdp.Empty{}).UsedSize
		}
		return used
	}
	plays := func(n int) {
		for n > 0 {
			n -= value[int](player, fmt.Sprintf(`(async () => {
				for (let n = 0; n < %d; n++) if (!(await play())) return n + 1;
				return %[1]d;
			})()`, min(n, 20)))
			if value[bool](player, "over()") {
				anotherGame(player, watcher)
			}
		}
		watcher.drawn()
	}
	var growth, before float64
	for b.Loop() {
		plays(500)
		before = heap()
		plays(1500)
		growth = heap() - before
	}
	b.ReportMetric(growth/max(1e6, before/10), "x-limit")
	b.ReportMetric(growth/1e3, "kB")
	b.ReportMetric(before/1e6, "MB-heap")
}

// anotherGame starts another game on this screen, which the watcher opens without loading the page again.
func anotherGame(player, watcher *tab) {
	player.t.Helper()
	id := value[string](player, `(async () => {
		const send = (method, path, body) =>
			json("/api/games" + path, { method, body: JSON.stringify(body),
			headers: { "Content-Type": "application/json" } });
		const { id } = await send("POST", "", { home_team: "BWH", away_team: "CPR", options: { opponent: "hotseat" } });
		for (const path of ["away", "home"].map((side) => "/" + id + "/lineups/" + side)) await send("PUT", path,
			await send("POST", path + "/suggest"));
		return id;
	})()`)
	value[bool](player, fmt.Sprintf(client, id))
	watcher.is(fmt.Sprintf(`(history.pushState(null, "", "/games/" + %q),
		dispatchEvent(new PopStateEvent("popstate")))`, id))
	watcher.await(`$(".panel") && $(".link-state.on")`)
}

// manyGames are the games in the store of [newFullServer]. More than a page of each list, 30, are in
// progress and finished; the others are open.
const manyGames = 500

// newFullServer starts a server with [manyGames] listed games in its store.
func newFullServer(tb testing.TB, settings ...string) *server {
	tb.Helper()
	if testing.Short() {
		tb.Skip("needs Chromium")
	}
	dir := servertest.CalibratedDir(tb)
	s := check.Must(store.Open(filepath.Join(dir, "state", "pressbox.db"), store.Options{}))(tb)
	games := check.Must(live.New(tb.Context(), live.Config{
		Journal: s.Games(), Rosters: league.New(league.LastSeason), Seeds: bottest.Seeds(),
		Log: slog.New(slog.DiscardHandler),
	}))(tb)
	var wait sync.WaitGroup
	for creator := range 10 { // at the same time, as they share writes to the disk
		wait.Go(func() {
			by := protocol.Person{ID: fmt.Sprintf("manager-%d", creator), Name: fmt.Sprintf("Manager %d", creator)}
			for i := range manyGames / 10 {
				if err := addGame(tb.Context(), games, by, max(0, i-manyGames/10+9)/3); err != nil {
					tb.Errorf("add a game: %v", err)
				}
			}
		})
	}
	wait.Wait()
	check.NoError(tb, s.Close())
	return runServer(tb, dir, settings...)
}

// addGame adds a game that is open with step 0, in progress with 1, and finished with 2.
func addGame(ctx context.Context, games *live.Games, by protocol.Person, step int) error {
	options := protocol.Defaults()
	if options.Opponent = protocol.Open; step > 0 {
		options.Opponent = protocol.Bot
	}
	g, err := games.Create(ctx, by, protocol.Request{HomeTeam: "BWH", AwayTeam: "CPR", Options: options})
	if err != nil || step == 0 {
		return err
	}
	l, err := games.Suggest(ctx, by, g.ID, baseball.Home)
	if err != nil {
		return err
	}
	if _, err = games.SetLineup(ctx, by, g.ID, baseball.Home, l); err == nil && step == 2 {
		_, err = games.Concede(ctx, by, g.ID)
	}
	return err
}

// Limits of what an open lobby costs in a minute, in bytes of both directions with all headers.
const (
	maxMinute = 20_000
	minPlays  = 500 // with less, the plays have not passed the meter
	minLists  = 4_000
)

// metered returns the server as a tab reaches it through a proxy, and the bytes that pass the proxy
// in both directions. A shared worker's bytes are in no tab's.
func metered(t *testing.T, s *server) (*server, *atomic.Int64) {
	t.Helper()
	passed := &atomic.Int64{}
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	var wait sync.WaitGroup
	forward := func(to, from net.Conn) {
		defer to.Close()
		defer from.Close()
		buffer := make([]byte, 32<<10)
		for {
			n, err := from.Read(buffer)
			passed.Add(int64(n))
			if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
				return
			}
		}
	}
	wait.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
			if err != nil {
				_ = in.Close()
				continue
			}
			wait.Go(func() { forward(out, in) })
			wait.Go(func() { forward(in, out) })
		}
	})
	t.Cleanup(func() { _ = l.Close() }) // the connections end with the tabs
	return &server{s.shared, &servertest.Process{URL: "http://" + l.Addr().String()}}, passed
}

// heldPoll leaves it to the test when the lobby loads its lists, as it does each minute: with poll().
const heldPoll = `(() => { const later = setTimeout;
	window.setTimeout = (f, ms) => (ms === 60000 ? (window.poll = f, 0) : later(f, ms)); })()`

// A lobby is a tab with the lists of games, and a player who starts and plays games beside it.
type lobby struct {
	*tab
	player *servertest.Browser
}

// games returns a list of the API, newest first.
func (l *lobby) games(status protocol.Status, query string) []protocol.Game {
	l.t.Helper()
	var lists map[protocol.Status][]protocol.Game
	l.player.Read(fmt.Sprintf("/api/games?people=true&status=%s&%s", status, query), &lists)
	return lists[status]
}

// awaitActive waits until the lobby has the first n active games, as the API has them, in their order.
func (l *lobby) awaitActive(n int) {
	l.t.Helper()
	var want []string
	for _, g := range l.games(protocol.Active, fmt.Sprintf("limit=%d", n)) {
		half := map[string]string{"top": "Top", "bottom": "Bottom"}[g.Half]
		want = append(want, fmt.Sprintf("/games/%s %d,%d %s %d", g.ID, g.Score.Away, g.Score.Home, half, g.Inning))
	}
	l.await(`(() => {
		const [active] = $$(".game-stubs");
		return [...active.querySelectorAll("a")]
			.map((a) => [a.pathname, [...a.querySelectorAll("b")].map((b) => b.textContent).join(),
			...a.querySelector(".game-state").textContent.match(/(\w+) (\d+)/).slice(1)].join(" ")).join("; ") === %q;
	})()`, strings.Join(want, "; "))
}

// play has a game played until its next play is over.
func play(t *testing.T, p *servertest.Player) {
	t.Helper()
	before := len(p.Replica.Kinds)
	check.NoError(t, p.Connect(func(replica.Frame) bool { return slices.Contains(p.Replica.Kinds[before:], "play") }))
}

// With 500 games in the store, a lobby that is open while 24 are played costs little: its lists once a minute, and
// what the plays change. Three plays of each game are a minute's. A game that is played and not on the page makes no
// gap in its list. What is on the screen stays there when games above it are listed, are played and end.
func TestAll_lobbyManyGames(t *testing.T) {
	t.Parallel()
	s := newFullServer(t)
	through, passed := metered(t, s)
	l := &lobby{newTab(t, through), servertest.SignUp(t, s.URL)}
	players := make([]*servertest.Player, pageOfGames+2) // the first two are not on the first page
	for i := range players {
		players[i] = &servertest.Player{Browser: l.player}
		players[i].Play(`"innings": 9`)
		check.NoError(t, players[i].Connect(func(f replica.Frame) bool { return f.T == "state" }))
	}
	l.preload(heldPoll)
	l.do(chromedp.EmulateViewport(390, 844))
	l.open("/")
	l.await(`window.poll && $$(".game-stub").length === %d`, 3*pageOfGames)

	before := passed.Load()
	for range 3 {
		for _, p := range players[2:] {
			play(t, p)
		}
		play(t, players[0])
		l.awaitActive(pageOfGames)
	}
	plays := passed.Load() - before
	l.player.Ask("POST", "/api/games", `{"home_team": "BWH", "away_team": "CPR"}`, 201)
	l.await(`$(%q).children.length === %d`, list(1), pageOfGames+1)
	value[bool](l.tab, `poll().then(() => true)`)
	minute := passed.Load() - before
	t.Logf("a minute costs %d bytes, %d of them for plays", minute, plays)
	if minute > maxMinute || plays < minPlays || minute-plays < minLists {
		t.Errorf("a minute costs %d bytes, %d of them for plays; want at most %d, least %d and %d for lists",
			minute, plays, maxMinute, minPlays, minLists)
	}

	for l.count(older(0)) > 0 {
		l.more(0)
	}
	l.awaitActive(100)                  // all
	for l.count(list(1)+" > li") < 90 { // more than are active: no card of both lists is on a screen
		l.more(1)
	}
	for i, width := range []int64{1280, 390} {
		l.do(chromedp.EmulateViewport(width, 800))
		l.keepsPlace(t, players[5+i])
	}
}

// list and older are the list of active games, 0, or of open ones, 1, and the button below it.
func list(n int) string  { return fmt.Sprintf(".columns > section:nth-child(%d) > .game-stubs", n+1) }
func older(n int) string { return fmt.Sprintf(".columns > section:nth-child(%d) > p button", n+1) }

// more loads the next part of a list.
func (l *lobby) more(n int) {
	l.t.Helper()
	before := l.count(list(n) + " > li")
	// a mouse may miss it, as cards get their sizes when they are on the screen
	l.is(fmt.Sprintf(`$(%q).click()`, older(n)))
	l.await(`$$(%q).length > %d`, list(n)+" > li", before)
}

// keepsPlace checks that a card in the middle of the screen stays there when games above it are played, are
// listed and end.
func (l *lobby) keepsPlace(t *testing.T, p *servertest.Player) {
	t.Helper()
	l.is(fmt.Sprintf(`(globalThis.card = $(%q).children[80],
		card.scrollIntoView({ block: "center", behavior: "instant" }), true)`, list(1)))
	l.drawn()
	l.drawn() // with the sizes of the cards that were not
	const place = `Math.round(card.getBoundingClientRect().top)`
	at := value[int](l.tab, place)
	same := func(after string) {
		t.Helper()
		l.drawn()
		if now := value[int](l.tab, place); now < at-1 || now > at+1 {
			t.Errorf("after %s the card at %d is at %d", after, at, now)
			at = now
		}
	}
	play(t, p)
	l.awaitActive(100)
	same("a play")
	before := l.count(list(1) + " > li")
	l.player.Ask("POST", "/api/games", `{"home_team": "BWH", "away_team": "CPR"}`, 201)
	l.await(`$$(%q).length === %d`, list(1)+" > li", before+1)
	same("an open game")
	l.player.Ask("POST", "/api/games/"+l.games(protocol.Active, "limit=1")[0].ID+"/concede", "", 200)
	l.awaitActive(100)
	same("the end of a game")
	value[bool](l.tab, `poll().then(() => true)`)
	same("the lists")
}

// pageOfGames is the number of games of each list that the lobby loads at once.
const pageOfGames = 24
