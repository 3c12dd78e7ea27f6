package pagetest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"

	"pressbox/check"
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

// withoutRest keeps a page from doing what it does once it rests, which is no part of its load, however slow the host is.
const withoutRest = `(() => { const later = setTimeout; window.setTimeout = (f, ms) => (ms < 5000 ? later(f, ms) : 0); })()`

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
func TestPage_firstLoad(t *testing.T) {
	t.Parallel()
	catalogue, _ := serveCatalogue(t)
	s := newFullServer(t, "VOICES_URL="+catalogue)
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
	anna.playTo(`document.querySelectorAll(".half li").length > 5`) // without a play it would not count
	active := start()
	anna.playTo(`document.querySelectorAll(".half li").length > 5`)
	if status := anna.status("POST", "/api"+finished+"/concede"); status != 200 {
		t.Fatalf("concede: status %d", status)
	}
	pending := "/games/" + anna.newGame(map[string]string{"opponent": "Anyone"})
	competition := func(kind string) string {
		return "/" + kind + "/" + value[struct{ ID string }](anna, fmt.Sprintf(`fetch("/api/%s", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({
			name: "Kitchen", options: { innings: 3 }, seats: [{ team: "BWH", manager: "me" }, { team: "CPR", manager: "bot" }] }) }).then((r) => r.json())`, kind)).ID
	}
	league, series := competition("leagues"), competition("series")
	anna.command("users", "admin", "Anna")
	const announcements = `document.querySelector(".link-state.on") && document.querySelectorAll("#voice option").length > 1 && document.querySelector("#volume")`
	for _, tt := range []struct {
		by              *tab
		path, condition string
	}{
		{visitor, "/", `document.querySelector(".cover")`},
		{visitor, "/announcements", announcements},
		{visitor, "/kiosk", `document.querySelector(".wall-game") && document.querySelector(".qr")`},
		{visitor, active, `document.querySelector("main h1")`}, // Sign in
		{visitor, "/auth/callback?", `document.querySelector("main h1")`},
		{visitor, "/help", `document.querySelectorAll(".cards li").length === 5`},
		{visitor, "/about", `document.querySelector("main h1")`},
		{anna, "/", `document.querySelectorAll(".game-stub").length > 70`},
		{anna, "/new", `document.querySelectorAll(".club-pick").length === 16 && document.querySelectorAll(".clubs .hint").length === 2`},
		{anna, pending + "/lineup", `document.querySelector(".card select") && document.querySelector(".qr path")`},
		{anna, active, canCall},
		{anna, active + "/replay", `document.querySelector("#moment")`},
		{anna, finished, `document.querySelector(".box tbody tr")`},
		{anna, finished + "/replay/1", `document.querySelector("#moment")`},
		{anna, "/standings", `document.querySelector("tbody tr")`},
		{anna, "/players", `document.querySelector("tbody tr")`},
		{anna, "/leaders", `document.querySelector("tbody tr")`},
		{anna, "/managers", `document.querySelector("tbody tr")`},
		{anna, "/leagues", `document.querySelector("main details") && document.querySelector("main a[href='` + league + `']")`},
		{anna, league, `document.querySelectorAll("main tbody tr").length > 2`},
		{anna, series, `document.querySelectorAll("main tbody tr").length > 2`},
		{anna, "/admin", `document.querySelector("#QUIET_MODE")`},
		{anna, "/admin?part=planned", `document.querySelector("main .empty")`},
		{anna, "/admin?part=voices", `document.querySelector("#natural")`},
		{anna, "/admin?part=people", `document.querySelector("#users li")`},
		{anna, "/admin?part=tokens", `document.querySelector("main .empty")`},
		{anna, "/admin?part=rooms", `document.querySelector("main .stubs li")`},
		{anna, "/admin?part=health", `document.querySelector("#findings li")`},
		{anna, "/admin?part=log", `document.querySelector("main h2")`},
		{anna, "/admin?part=backup", `document.querySelector("main .empty")`},
		{anna, "/announcements", announcements},
		{anna, "/account", `document.querySelector("main li")`},
	} {
		tt.by.cache(false)
		requests, bytes := tt.by.load(tt.path, tt.condition)
		if requests > maxRequests || bytes > maxBytes {
			t.Errorf("%s: %d requests, %.0f bytes, of the API %v", tt.path, requests, bytes, tt.by.paths)
		}
		wide := tt.by.shift()
		tt.by.do(chromedp.EmulateViewport(390, 844))
		tt.by.cache(true)
		tt.by.load(tt.path, tt.condition)
		small := tt.by.shift()
		tt.by.do(chromedp.EmulateViewport(1280, 800))
		if wide > maxShift || small > maxShift {
			t.Errorf("%s: layout shift %.3f at 1280 × 800, %.3f at 390 × 844", tt.path, wide, small)
		}
		_, reload := tt.by.load(tt.path, tt.condition)
		if reload > maxReload {
			t.Errorf("%s: %.0f bytes with a cache", tt.path, reload)
		}
		t.Logf("%-32s %2d requests, %5.0f bytes; with a cache %5.0f bytes; shift %.3f, %.3f", tt.path, requests, bytes, reload, wide, small)
	}
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
	const call = (choose = () => undefined) => socket.send(JSON.stringify({ t: "cmd", g: %[1]q, cid: crypto.randomUUID(), rev, d: { action: (legal.find(choose) ?? legal[0]).action } }));
	globalThis.play = () => new Promise((resolve) => {
		[played, done] = [false, resolve];
		call();
	});
	globalThis.over = () => !legal.length;
	globalThis.until = async (ready, choose) => {
		while (!ready(state, legal)) await new Promise((resolve) => { [played, done] = [true, resolve]; call(choose); });
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

// A slice is an event of Chromium's trace with a duration.
type slice struct {
	Name  string  `json:"name"`
	Phase string  `json:"ph"`
	Begin float64 `json:"ts"`   // microseconds
	Takes float64 `json:"dur"`  // microseconds
	CPU   float64 `json:"tdur"` // microseconds of processor time
	At    float64 `json:"tts"`  // processor time of a mark, in microseconds
	PID   int     `json:"pid"`
	TID   int     `json:"tid"`
	Args  struct {
		Data struct {
			URL  string `json:"url"`
			Type string `json:"type"`
		} `json:"data"`
	} `json:"args"`
}

func (s *slice) end() float64 { return s.Begin + s.Takes }

// BenchmarkPlayFrame measures what a play costs a watcher, from its event until the
// next batter stands in: the processor time of script, style and layout in the page's thread, from
// a trace. The animation is apart, as ms/moment: the script that draws it, and style and layout of
// the frame that begins to show it, which has nothing else but the headline. ms/play is the median
// for a processor four times as slow: four times the measured value, as Chromium's own throttling
// distorts such short work. x-limit is its ratio to 8 ms, and x-frame that of the animation's
// beginning to a frame of a 60 Hz screen.
func BenchmarkPlayFrame(b *testing.B) {
	for b.Loop() {
		plays, moments := watcherCosts(b)
		median := plays[len(plays)/2]
		b.ReportMetric(4*median/8, "x-limit")
		b.ReportMetric(4*median, "ms/play")
		b.ReportMetric(4*plays[len(plays)*95/100], "p95-ms/play")
		b.ReportMetric(4*moments[len(moments)/2], "ms/moment")
		b.ReportMetric(4*moments[len(moments)/2]*60/1000, "x-frame")
	}
}

// markAnimation has the page mark the script that draws the animation of a play.
const markAnimation = `import(performance.getEntriesByType("resource").find(({ name }) => name.endsWith("/moment.js")).name).then(({ Stage }) => {
	const { show } = Stage.prototype;
	Stage.prototype.show = function (shown) {
		performance.mark("animates");
		show.call(this, shown);
		performance.mark("animated");
	};
	return true;
})`

// skipPlays has the page end each play once it is shown, and mark both: what a test does from outside
// between two plays would be paid by the next one, with cold caches.
const skipPlays = `(() => {
	let plays = 0, look = () => {};
	const drawn = (then) => requestAnimationFrame(() => requestAnimationFrame(then));
	const field = document.querySelector(".over-field");
	globalThis.seen = (n) => new Promise((done) => (look = () => plays >= n && done(true))());
	new MutationObserver(() => field.hidden || drawn(() => {
		performance.mark("shown");
		dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
		drawn(() => {
			performance.mark("seen");
			plays++;
			look();
		});
	})).observe(field, { attributeFilter: ["hidden"] });
	return true;
})()`

// watcherCosts returns the milliseconds that plays cost a watcher, and those of the beginning of
// their animations, sorted.
func watcherCosts(tb testing.TB) (plays, moments []float64) {
	tb.Helper()
	player, watcher := hotSeat(tb)
	id := player.gameID()
	player.open("/about")
	player.shows("main h1")
	value[bool](player, fmt.Sprintf(client, id))
	watcher.emulate("prefers-reduced-motion", "reduce") // nothing moves
	value[bool](watcher, markAnimation)
	value[bool](watcher, skipPlays)
	for _, domain := range []cdp.Command[cdp.Empty, cdp.Empty]{css.Disable, dom.Disable, network.Disable, log.Disable} {
		send(watcher, domain, cdp.Empty{}) // their events cost the page time
	}
	const count = 30 // after 20 to warm up: no game of nine innings has fewer in total
	played := 0
	play := func(n int) {
		for range n {
			played++
			if !value[bool](player, "play()") {
				tb.Fatal("the game is over")
			}
			value[bool](watcher, fmt.Sprintf("seen(%d)", played))
		}
	}
	play(20)
	plays, moments = costs(watcher.trace(func() { play(count) }))
	if len(plays) != count {
		tb.Fatalf("%d plays in a trace of %d", len(plays), count)
	}
	slices.Sort(plays)
	slices.Sort(moments)
	if plays[count/2] < 0.1 || moments[count/2] < 0.1 {
		tb.Fatalf("nothing was rendered: %v, %v", plays, moments)
	}
	return plays, moments
}

// trace returns the trace of a tab while do runs.
func (b *tab) trace(do func()) []slice {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	var trace []slice
	if err := chromedp.Listen(ctx, func(event any) {
		if e, ok := event.(*tracing.EventDataCollected); ok {
			for _, text := range e.Value {
				var s slice
				if json.Unmarshal(text, &s) == nil { // other events have other forms
					trace = append(trace, s)
				}
			}
		}
	}); err != nil {
		b.t.Fatal(err)
	}
	send(b, tracing.Start, tracing.StartParams{TraceConfig: &tracing.TraceConfig{
		IncludedCategories: []string{"devtools.timeline", "blink.user_timing"}, ExcludedCategories: []string{"*"},
	}})
	do()
	check.Must(chromedp.Run(b.ctx, chromedp.WaitEvent(tracing.TracingComplete, nil, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, tracing.End, cdp.Empty{})
		return err
	}))))(b.t)
	return trace
}

// costs returns the milliseconds of processor time for each play: between two marks "seen", in
// the thread that set them. Apart are the script between the marks "animates" and "animated", and
// the style and the layout until the mark "shown". All of the page's own scripts count, but for the
// answer to the test's key, and none of the test's.
func costs(trace []slice) (plays, moments []float64) {
	slices.SortStableFunc(trace, func(a, b slice) int { return cmp.Compare(a.Begin, b.Begin) })
	mark := slices.IndexFunc(trace, func(s slice) bool { return s.Name == "seen" })
	var play, moment, end, begun float64
	own, shown := false, false // the last script was the page's; the play is shown
	for i := range trace {
		s := &trace[i]
		if mark < 0 || s.PID != trace[mark].PID || s.TID != trace[mark].TID {
			continue
		}
		cost := &play
		counts := false
		switch s.Name {
		case "shown":
			shown = true
		case "animates":
			begun = s.At
		case "animated":
			moment, play = moment+s.At-begun, play-(s.At-begun)
		case "seen":
			plays, moments = append(plays, play/1000), append(moments, moment/1000)
			play, moment, shown = 0, 0, false
		case "EvaluateScript":
			own = false
		case "EventDispatch":
			if s.Args.Data.Type == "keydown" { // by the test, to skip the play
				end = s.end()
			}
		case "FunctionCall":
			own = s.Args.Data.URL != ""
			counts = own
		case "RunMicrotasks":
			counts = own
		case "UpdateLayoutTree", "Layout":
			counts = true
			if !shown {
				cost = &moment
			}
		}
		if counts && s.Phase == "X" && s.Begin >= end { // nested slices count once
			*cost += s.CPU
			end = s.end()
		}
	}
	return plays, moments
}

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
	watcher.is(`new MutationObserver(() => document.querySelector(".over-field:not([hidden])") && dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }))).observe(document, { subtree: true, attributes: true })`)
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
		const send = (method, path, body) => fetch("/api/games" + path, { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }).then((r) => r.json());
		const { id } = await send("POST", "", { home_team: "BWH", away_team: "CPR", options: { opponent: "hotseat" } });
		for (const path of ["away", "home"].map((side) => "/" + id + "/lineups/" + side)) await send("PUT", path, await send("POST", path + "/suggest"));
		return id;
	})()`)
	value[bool](player, fmt.Sprintf(client, id))
	watcher.is(fmt.Sprintf(`(history.pushState(null, "", "/games/" + %q), dispatchEvent(new PopStateEvent("popstate")))`, id))
	watcher.await(`document.querySelector(".panel") && document.querySelector(".link-state.on")`)
}
