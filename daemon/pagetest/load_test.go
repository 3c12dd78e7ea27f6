package pagetest_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Limits of loading a view.
const (
	maxRequests = 12
	maxBytes    = 150_000 // compressed
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
		send(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: withoutRest})
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
	if status := anna.status("POST", "/api"+finished+"/concede"); status != 200 {
		t.Fatalf("concede: status %d", status)
	}
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
		{visitor, "/help", `$$(".cards li").length === 5`},
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
		tt.by.loadsLittle(t, tt.path, tt.condition)
	}
}

// loadsLittle checks the first load of a view, also on a small screen, and the next one.
func (b *tab) loadsLittle(t *testing.T, path, condition string) {
	t.Helper()
	b.cache(false)
	requests, bytes := b.load(path, condition)
	if requests > maxRequests || bytes > maxBytes {
		t.Errorf("%s: %d requests, %.0f bytes, of the API %v", path, requests, bytes, b.paths)
	}
	wide := b.shift()
	b.do(chromedp.EmulateViewport(390, 844))
	b.cache(true)
	b.load(path, condition)
	small := b.shift()
	b.do(chromedp.EmulateViewport(1280, 800))
	if wide > maxShift || small > maxShift {
		t.Errorf("%s: layout shift %.3f at 1280 × 800, %.3f at 390 × 844", path, wide, small)
	}
	_, reload := b.load(path, condition)
	if reload > maxReload {
		t.Errorf("%s: %.0f bytes with a cache", path, reload)
	}
	t.Logf("%-32s %2d requests, %5.0f bytes; with a cache %5.0f bytes; shift %.3f, %.3f",
		path, requests, bytes, reload, wide, small)
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
		if (!frame.d?.state) return; // no open decision yet
		[legal, state] = [frame.d.legal ?? [], frame.d.state];
		if (frame.t === "state") ready(true);
		else if (played || !legal.length) done(legal.length > 0);
		else call();
	};
})`

// BenchmarkMemory measures the growth of a watcher's heap from the 500th to the 2,000th
// play, in games one after the other on the same page: x-limit is its ratio to the larger
// one of 1 MB and a tenth of the heap. Each play is drawn: the watcher skips it once it is shown.
func BenchmarkMemory(b *testing.B) {
	player, watcher := hotSeat(b)
	id := player.gameID()
	player.open("/about")
	player.shows("main h1")
	value[bool](player, fmt.Sprintf(client, id))
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
