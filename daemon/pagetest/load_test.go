package pagetest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// What the first sight of a part of the page may cost, and the second.
const (
	mostRequests = 12
	mostBytes    = 150_000 // as sent
	mostAgain    = 40_000  // of what is asked for anew: the document, and what the API says of a game
)

// loaded opens an address, and is what it cost until something was shown and
// nothing more was asked for.
func (b *tab) loaded(path, shown string) (requests int, bytes float64) {
	b.t.Helper()
	b.mu.Lock()
	b.requests, b.bytes = 0, 0
	b.mu.Unlock()
	b.open(path)
	b.await(shown + ` && document.readyState === "complete" && document.fonts.status === "loaded"`)
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.requests, b.bytes
}

// keeps says whether a tab's browser keeps files.
func (b *tab) keeps(files bool) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: !files}); err != nil {
		b.t.Fatal(err)
	}
}

// The first load of every part is small, the next one is of what changes only.
func TestFirstLoad(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	anna, nobody := newTab(t, a), newTab(t, a)
	anna.join("Anna")
	begun := func() string {
		id := anna.newGame(map[string]string{"opponent": "bench coach"})
		anna.handIn("home")
		anna.await(canCall)
		return "/games/" + id
	}
	over, played := begun(), begun()
	anna.playTo(`document.querySelectorAll(".half li").length > 5`)
	if status := value[int](anna, `fetch("/api`+over+`/concede", { method: "POST" }).then((r) => r.status)`); status != 200 {
		t.Fatalf("to concede is answered with %d", status)
	}
	waits := "/games/" + anna.newGame(map[string]string{"opponent": "whoever"})
	for _, load := range []struct {
		by          *tab
		path, shown string
	}{
		{nobody, "/", `document.querySelector(".cover")`},
		{nobody, "/announcements", `document.querySelector(".link-state.on") && document.querySelectorAll("#voice option").length > 1`},
		{nobody, "/kiosk", `document.querySelectorAll(".wall-club").length === 2 && document.querySelector(".qr")`},
		{nobody, played, `document.querySelector("main h1")`}, // the gate
		{nobody, "/auth/callback?", `document.querySelector("main h1")`},
		{nobody, "/about", `document.querySelector("main h1")`},
		{anna, "/", `document.querySelectorAll(".game-stub").length === 3`},
		{anna, "/new", `document.querySelectorAll(".club-pick").length === 16 && document.querySelectorAll(".clubs .hint").length === 2`},
		{anna, waits + "/lineup", `document.querySelector(".card select") && document.querySelector(".qr")`},
		{anna, played, canCall},
		{anna, played + "/replay", `document.querySelector("#moment")`},
		{anna, over, `document.querySelector(".box tbody tr")`},
		{anna, over + "/replay/1", `document.querySelector("#moment")`},
		{anna, "/standings", `document.querySelector("tbody tr")`},
		{anna, "/players", `document.querySelector("tbody tr")`},
		{anna, "/announcements", `document.querySelector(".link-state.on") && document.querySelectorAll("#voice option").length > 1`},
		{anna, "/account", `document.querySelector("main li")`},
	} {
		load.by.keeps(false)
		requests, bytes := load.by.loaded(load.path, load.shown)
		if requests > mostRequests || bytes > mostBytes {
			t.Errorf("%s: %d requests, %.0f bytes", load.path, requests, bytes)
		}
		load.by.keeps(true)
		load.by.loaded(load.path, load.shown)
		_, again := load.by.loaded(load.path, load.shown)
		if again > mostAgain {
			t.Errorf("%s again: %.0f bytes", load.path, again)
		}
		t.Logf("%-32s %2d requests, %5.0f bytes; again %5.0f bytes", load.path, requests, bytes, again)
	}
}

// hotSeat begins a game that one tab plays and another one watches.
func hotSeat(tb testing.TB) (player, watcher *tab) {
	tb.Helper()
	a := newAppliance(tb)
	player, watcher = newTab(tb, a), newTab(tb, a)
	player.join("Anna")
	id := player.newGame(map[string]string{"opponent": "same screen"})
	player.handIn("away", "home")
	player.await(canCall)
	watcher.join("Fan")
	watcher.open("/games/" + id)
	watcher.says(".link-state", "Live")
	return player, watcher
}

// play makes calls until there is one play more; the watcher's page is asked
// nothing meanwhile, as that would cost it something.
func play(player, watcher *tab) {
	player.t.Helper()
	const plays = `[...document.querySelectorAll(".situation, .half")].map((e) => e.innerText).join()` // no half beside a box score
	before := value[string](player, plays)
	for value[string](player, plays) == before && !value[bool](player, `Boolean(document.querySelector(".final"))`) {
		player.call()
	}
	watcher.drawn()
}

// hand plays a game over a socket of its own and draws nothing: a second page
// that draws at the same moment would get in the way of the one that is measured.
const hand = `new Promise((ready) => {
	const socket = new WebSocket(location.origin.replace("http", "ws") + "/api/ws", "pressbox.v1");
	let rev = 0, legal = [], played = false, done;
	const call = () => socket.send(JSON.stringify({ t: "cmd", g: %[1]q, cid: crypto.randomUUID(), rev, d: { action: legal[0].action } }));
	globalThis.play = () => new Promise((told) => {
		[played, done] = [false, told];
		call();
	});
	socket.onopen = () => socket.send(JSON.stringify({ t: "join", g: %[1]q, d: { since: 0 } }));
	socket.onmessage = ({ data }) => {
		const frame = JSON.parse(data);
		rev = frame.rev ?? rev;
		played ||= frame.d?.kind === "play";
		if (!frame.d?.state) return; // no decision is open yet
		legal = frame.d.legal ?? [];
		if (frame.t === "state") ready(true);
		else if (played || !legal.length) done(legal.length > 0);
		else call();
	};
})`

// handOver has a hand play the game that a tab shows.
func (b *tab) handOver() {
	b.t.Helper()
	id := strings.Split(value[string](b, "location.pathname"), "/")[2]
	b.open("/about")
	b.await(`document.querySelector("main h1")`)
	value[bool](b, fmt.Sprintf(hand, id))
}

// A slice is an event of Chromium's trace with a length.
type slice struct {
	Name  string  `json:"name"`
	Phase string  `json:"ph"`
	Begin float64 `json:"ts"`   // microseconds
	Takes float64 `json:"dur"`  // microseconds
	CPU   float64 `json:"tdur"` // of which it had the processor
	PID   int     `json:"pid"`
	TID   int     `json:"tid"`
	Args  struct {
		Data struct {
			URL string `json:"url"`
		} `json:"data"`
	} `json:"args"`
}

func (s *slice) end() float64 { return s.Begin + s.Takes }

// BenchmarkPlayFrame is what a play costs who watches it: script, style and
// layout of all that it sets off, out of a trace, as processor time of the
// page's thread, which other work on the machine does not lengthen much. ms/play
// is the median for a processor that is four times as slow: four times what it
// takes here. x-limit is that, of 8 ms. Chromium can also slow itself down;
// emulated-ms/play is what it takes then, and x-slowed how much slower that is:
// for such short work it is more than the four that it was told.
func BenchmarkPlayFrame(b *testing.B) {
	for b.Loop() {
		full, slow := watched(b, 1), watched(b, 4)
		median := full[len(full)/2]
		b.ReportMetric(4*median/8, "x-limit")
		b.ReportMetric(4*median, "ms/play")
		b.ReportMetric(4*full[len(full)*95/100], "p95-ms/play")
		b.ReportMetric(slow[len(slow)/2], "emulated-ms/play")
		b.ReportMetric(slow[len(slow)/2]/median, "x-slowed")
	}
}

// watched is what the plays of a game cost who watches it, in milliseconds, the
// cheapest first, in a browser that slows itself down.
func watched(tb testing.TB, rate float64) []float64 {
	tb.Helper()
	player, watcher := hotSeat(tb)
	player.handOver()
	watcher.unobserved()
	const plays = 30 // after 20 to get warm: no game of nine innings has fewer together
	play := func() {
		if !value[bool](player, "play()") {
			tb.Fatal("the game is over")
		}
		watcher.drawn()
	}
	for range 20 {
		play()
	}
	costs := costs(watcher.traced(rate, func() {
		for range plays {
			play()
			value[bool](watcher, `Boolean(performance.mark("seen"))`)
		}
	}))
	if len(costs) != plays {
		tb.Fatalf("%d plays in a trace of %d", len(costs), plays)
	}
	slices.Sort(costs)
	if costs[plays/2] < 0.1 {
		tb.Fatalf("nothing was drawn: %v", costs)
	}
	return costs
}

// unobserved has the tab tell the test nothing more of elements, styles and
// requests, which would take time from the page.
func (b *tab) unobserved() {
	b.t.Helper()
	for _, domain := range []cdp.Command[cdp.Empty, cdp.Empty]{css.Disable, dom.Disable, network.Disable, log.Disable} {
		if _, err := chromedp.Call(b.ctx, domain, cdp.Empty{}); err != nil {
			b.t.Fatal(err)
		}
	}
}

// traced is a trace of what a tab does while something is done, slowed down.
func (b *tab) traced(rate float64, do func()) []slice {
	b.t.Helper()
	must := func(err error) {
		if err != nil {
			b.t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	var trace []slice
	must(chromedp.Listen(ctx, func(event any) {
		if e, ok := event.(*tracing.EventDataCollected); ok {
			for _, text := range e.Value {
				var s slice
				if json.Unmarshal(text, &s) == nil { // what has another form is none of ours
					trace = append(trace, s)
				}
			}
		}
	}))
	_, err := chromedp.Call(b.ctx, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: rate})
	must(err)
	_, err = chromedp.Call(b.ctx, tracing.Start, tracing.StartParams{TraceConfig: &tracing.TraceConfig{
		IncludedCategories: []string{"devtools.timeline", "blink.user_timing"}, ExcludedCategories: []string{"*"},
	}})
	must(err)
	do()
	_, err = chromedp.Run(b.ctx, chromedp.WaitEvent(tracing.TracingComplete, nil, chromedp.Func(endTracing)))
	must(err)
	_, err = chromedp.Call(b.ctx, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: 1})
	must(err)
	return trace
}

func endTracing(ctx context.Context, t *chromedp.Target) error {
	_, err := cdp.Call(ctx, t, tracing.End, cdp.Empty{})
	return err
}

// costs is what the page worked for the pictures of each play, in milliseconds
// of a processor: between two marks, in the thread that made them. A message
// counts when it asks for a picture; what shows nothing is no part of a frame,
// nor is what the test asks of the page.
func costs(trace []slice) []float64 {
	slices.SortStableFunc(trace, func(a, b slice) int { return cmp.Compare(a.Begin, b.Begin) })
	mark := slices.IndexFunc(trace, func(s slice) bool { return s.Name == "seen" })
	var all []float64
	var cost, end, picture float64
	var message *slice // the last one, until it asks for a picture
	drawing := false   // the last script was the page's, for a picture
	for i := range trace {
		s := &trace[i]
		if mark < 0 || s.PID != trace[mark].PID || s.TID != trace[mark].TID {
			continue
		}
		counts := false
		switch s.Name {
		case "seen":
			all, cost = append(all, cost/1000), 0
		case "EvaluateScript":
			drawing = false
		case "FireAnimationFrame":
			picture = s.end()
		case "FunctionCall":
			own := s.Args.Data.URL != ""
			drawing = own && s.Begin < picture
			if counts = drawing; own && !drawing {
				message = s
			}
		case "RequestAnimationFrame":
			if message != nil && s.Begin < message.end() {
				cost, message = cost+message.CPU, nil
			}
		case "RunMicrotasks":
			counts = drawing
		case "UpdateLayoutTree", "Layout":
			counts = true
		}
		if counts && s.Phase == "X" && s.Begin >= end { // not again what is inside another one
			cost += s.CPU
			end = s.end()
		}
	}
	return all
}

// BenchmarkMemory is by how much the heap of who watches grows over 500 plays
// of one game and its rematches: x-limit is that, of 2 MB.
func BenchmarkMemory(b *testing.B) {
	player, watcher := hotSeat(b)
	heap := func() float64 {
		var used float64
		for range 3 {
			if _, err := chromedp.Call(watcher.ctx, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
				b.Fatal(err)
			}
			use, err := chromedp.Call(watcher.ctx, runtime.GetHeapUsage, cdp.Empty{})
			if err != nil {
				b.Fatal(err)
			}
			used = use.UsedSize
		}
		return used
	}
	var before, after float64
	for b.Loop() {
		for range 20 {
			play(player, watcher)
		}
		before = heap()
		for range 500 {
			if value[bool](player, `Boolean(document.querySelector(".final"))`) {
				rematch(player, watcher)
			}
			play(player, watcher)
		}
		after = heap()
	}
	b.ReportMetric((after-before)/2e6, "x-limit")
	b.ReportMetric((after-before)/1e3, "kB/500plays")
}

// rematch plays another game, without loading the page anew.
func rematch(player, watcher *tab) {
	player.t.Helper()
	player.press(".final button")
	player.await(`document.querySelector("#home-card")`)
	player.handIn("away", "home")
	player.await(canCall)
	watcher.press(`.final a[href^="/games/"]:not([href$="/replay"])`)
	watcher.await(`document.querySelector(".desk") && document.querySelector(".link-state.on")`)
}
