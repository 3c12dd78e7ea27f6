package pagetest_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// What the first sight of a part of the page may cost, and the second.
const (
	mostRequests = 12
	mostBytes    = 150_000 // as sent
	mostAgain    = 24_000  // what is asked for anew: the document and the API, which names two rosters
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
	const plays = `document.querySelector(".situation").innerText + document.querySelector(".half").innerText`
	before := value[string](player, plays)
	for value[string](player, plays) == before && !value[bool](player, `Boolean(document.querySelector(".final"))`) {
		player.call()
	}
	watcher.drawn()
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

// work says whether a slice is script of the page, style or layout.
func (s *slice) work() bool {
	switch s.Name {
	case "FunctionCall":
		return s.Args.Data.URL != "" // the others are the test's own
	case "RunMicrotasks", "UpdateLayoutTree", "Layout":
		return true
	default:
		return false
	}
}

// BenchmarkPlayFrame is what a play costs who watches it, with a processor that
// is four times as slow: script, style and layout of all its frames, out of a
// trace. x-limit is the median of the plays, of 8 ms.
func BenchmarkPlayFrame(b *testing.B) {
	player, watcher := hotSeat(b)
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	_, err := chromedp.Call(watcher.ctx, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: 4})
	must(err)
	var trace []slice
	must(chromedp.Listen(watcher.ctx, func(event any) {
		if e, ok := event.(*tracing.EventDataCollected); ok {
			for _, text := range e.Value {
				var s slice
				if json.Unmarshal(text, &s) == nil { // what has another form is none of ours
					trace = append(trace, s)
				}
			}
		}
	}))
	_, err = chromedp.Call(watcher.ctx, tracing.Start, tracing.StartParams{TraceConfig: &tracing.TraceConfig{
		IncludedCategories: []string{"devtools.timeline", "blink.user_timing", "v8.execute"}, ExcludedCategories: []string{"*"},
	}})
	must(err)
	const plays = 40
	for b.Loop() {
		for range plays {
			play(player, watcher)
			value[bool](watcher, `Boolean(performance.mark("seen"))`)
		}
	}
	_, err = chromedp.Run(watcher.ctx, chromedp.WaitEvent(tracing.TracingComplete, nil, chromedp.Func(endTracing)))
	must(err)
	costs := costs(trace)
	if len(costs) < plays {
		b.Fatalf("%d plays in a trace of %d slices", len(costs), len(trace))
	}
	slices.Sort(costs)
	median := costs[len(costs)/2] / 1000
	b.ReportMetric(median/8, "x-limit")
	b.ReportMetric(median, "ms/play")
	b.ReportMetric(costs[len(costs)*95/100]/1000, "p95-ms/play")
}

func endTracing(ctx context.Context, t *chromedp.Target) error {
	_, err := cdp.Call(ctx, t, tracing.End, cdp.Empty{})
	return err
}

// costs is what was worked for each play, in microseconds of a processor:
// between two marks, in the process that made them.
func costs(trace []slice) []float64 {
	slices.SortFunc(trace, func(a, b slice) int { return int(a.Begin - b.Begin) })
	mark := slices.IndexFunc(trace, func(s slice) bool { return s.Name == "seen" })
	var all []float64
	var cost, end float64
	for i := range trace {
		s := &trace[i]
		if mark < 0 || s.PID != trace[mark].PID || s.TID != trace[mark].TID {
			continue
		}
		if s.Name == "seen" {
			all = append(all, cost)
			cost = 0
		}
		if s.work() && s.Phase == "X" && s.Begin >= end { // not again what is inside another one
			cost += s.CPU
			end = s.Begin + s.Takes
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
