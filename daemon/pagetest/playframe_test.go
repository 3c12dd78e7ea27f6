package pagetest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"

	"pressbox/packaging/check"
)

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

// BenchmarkPlayFrame measures what a play costs a watcher, from its event until the next batter stands in: the
// processor time of script, style and layout in the page's thread, from a trace. The animation is apart, as
// ms/moment: the script that draws it, and style and layout of the frame that begins to show it, which has nothing
// else but the play's words: the headline and the line. ms/play is the median for a processor four times as slow:
// four times the measured value, as Chromium's own throttling distorts such short work. One page has taken from 6 to
// 15 ms on the hosts of these benchmarks, and therefore x-limit, the ratio to 8 ms, is that of a host where the
// [peer] takes what it took where the limit was set. x-frame is the ratio of the animation's beginning to a frame of
// a 60 Hz screen. All are medians of five games, as their plays differ.
func BenchmarkPlayFrame(b *testing.B) {
	const games = 5
	var plays, p95, moments, ratios []float64
	for b.Loop() {
		for range games {
			c := playCosts(b)
			plays, moments = append(plays, median(c.plays)), append(moments, median(c.moments))
			p95 = append(p95, c.plays[len(c.plays)*95/100])
			ratios = append(ratios, median(c.plays)/median(c.peers))
		}
	}
	b.ReportMetric(median(ratios)*peerMillis/8, "x-limit")
	b.ReportMetric(median(ratios), "x-peer")
	b.ReportMetric(4*median(plays), "ms/play")
	b.ReportMetric(4*median(p95), "p95-ms/play")
	b.ReportMetric(4*median(moments), "ms/moment")
	b.ReportMetric(4*median(moments)*60/1000, "x-frame")
}

func median(values []float64) float64 { return slices.Sorted(slices.Values(values))[len(values)/2] }

// peerMillis is the time of the [peer] at a quarter of the speed where the limit of 8 ms was set:
// the page of commit 6d065a4 took 8.3 ms there, and beside the peer 1.05 of its time (18 games).
const peerMillis = 8.3 / 1.05

// peer is a page that never changes, with a function that does a fixed part of what a play does, in
// the same rhythm: a message, then a frame with changed texts, names, classes and places and a new
// line, among as many elements as a game has. Script, style and layout have about the shares that they
// have in a play, as hosts differ in what they are good at. It marks its end as "peer".
const peer = `<!doctype html><meta charset="utf-8"><title>Peer</title><style>
	body { margin: 0; font: 16px/1.5 serif; } table, .cells p,
		ul { contain: strict; } table { width: 600px; height: 100px; table-layout: fixed; }
	.cells { display: grid; grid-template-columns: repeat(4, 1fr); } .cells p { height: 1.5rem; margin: 0;
		overflow: hidden; white-space: nowrap; }
	.lamp { display: inline-block; width: 1rem; height: 1rem; border-radius: 50%; background: #333;
		} .lamp.on { background: #fc0; }
	svg { display: block; width: 400px; height: 300px; } ul { height: 300px; overflow: auto; } li a { color: inherit;
		}</style>
	<table></table><div class="lamps"></div><div class="cells"></div><svg viewBox="0 0 400 300"></svg><ul></ul><script>
	const all = (n, f) => Array.from({ length: n }, (_, i) => f(i)), find = (s) => $(s);
	const words = (n) => "Play " + n + " of the peer, a line of words that is as long as usual";
	const line = (n) => "<li><a href='#" + n + "'>" + words(n) + "</a> <b>" + n + "</b></li>";
	find("table").innerHTML = all(3, () => "<tr>" + all(13, (i) => "<td><span>" + i + "</span></td>")
		.join("") + "</tr>").join("");
	find(".lamps").innerHTML = "<span class=lamp></span>".repeat(8);
	find(".cells").innerHTML = all(6, (i) => "<p>Cell <b>" + i + "</b></p>").join("");
	find("svg").innerHTML = all(18, (i) =>
		"<g transform='translate(" + 20 * i + " 150)'><circle r=8></circle><text y=20>Name " + i + "</text></g>")
		.join("");
	find("ul").innerHTML = all(20, line).join("");
	const cells = $$(".cells b"), sums = $$("td:last-child span"), lamps = $$(".lamp"), groups = $$("g");
	const players = (n) => all(40, (i) =>
		({ id: "player-" + i, name: words(i), order: i % 9, rates: all(8, (j) => (n + i * j) / 7) }));
	let plays = 0, done;
	const drawn = (then) => requestAnimationFrame(() => requestAnimationFrame(then));
	const { port1, port2 } = new MessageChannel();
	port1.onmessage = ({ data }) => {
		performance.mark("shown"); // it has no animation
		const play = JSON.parse(data);
		const known = new Map(play.players
			.map((p) => [p.id, p.name + ": " + p.rates.map((rate) => rate.toFixed(2)).join(", ")]));
		requestAnimationFrame(() => {
			$$("td").forEach((cell, i) => cell.setAttribute("aria-label", known.get("player-" + i)));
			cells.forEach((cell, i) => cell.firstChild.data = play.cells[i]);
			sums.forEach((sum, i) => sum.firstChild.data = play.sums[i]);
			lamps.forEach((lamp, i) => lamp.className = play.lamps[i] ? "lamp on" : "lamp");
			play.moved.forEach(([i, x, y]) => groups[i].setAttribute("transform", "translate(" + x + " " + y + ")"));
			find("ul").insertAdjacentHTML("afterbegin", line(play.n));
			find("ul").lastChild.remove();
			drawn(() => {
				performance.mark("peer");
				done(true);
			});
		});
	};
	const play = () => new Promise((resolve) => {
		const n = ++plays;
		done = resolve;
		port2.postMessage(JSON.stringify({ n, cells: all(6, (i) => "no. " + n * (i + 7)),
			sums: all(3, (i) => n % (i + 3)), lamps: all(8, (i) => (n >> i % 3) & 1), players: players(n),
			moved: all(3, (i) => [(n + i) % 18, 7 * n % 380, 9 * n % 280]) }));
	});
</script>`

// markAnimation has the page mark the script that draws the animation of a play.
const markAnimation = `import(performance.getEntriesByType("resource")
	.find(({ name }) => name.endsWith("/moment.js")).name).then(({ Stage }) => {
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
	const field = $(".over-field");
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

// playTimes are milliseconds of processor time for each play, sorted.
type playTimes struct {
	plays   []float64 // of the watcher
	moments []float64 // of the beginning of their animations
	peers   []float64 // of the peer, which runs between two plays
}

// playCosts returns what plays cost a watcher, and the peer beside it.
func playCosts(tb testing.TB) playTimes {
	tb.Helper()
	player, watcher := hotSeat(tb)
	id := player.gameID()
	player.plays(id)
	watcher.emulate("prefers-reduced-motion", "reduce") // nothing moves
	value[bool](watcher, markAnimation)
	value[bool](watcher, skipPlays)
	beside := newTab(tb, player.server)
	beside.do(chromedp.Navigate("data:text/html," + url.PathEscape(peer)))
	for _, measured := range []*tab{watcher, beside} {
		type domain = cdp.Command[cdp.Empty, cdp.Empty]
		for _, disable := range []domain{css.Disable, dom.Disable, network.Disable, log.Disable} {
			send(measured, disable, cdp.Empty{}) // their events cost the page time
		}
	}
	const count = 30 // after 20 to warm up: no game of nine innings has fewer in total
	played := 0
	play := func(n int) {
		for range n {
			played++
			check.Require(tb, value[bool](player, "play()"), "the game is over")
			value[bool](watcher, fmt.Sprintf("seen(%d)", played))
			value[bool](beside, "play()")
		}
	}
	play(20)
	trace := watcher.trace(func() { play(count) }) // of the whole browser
	var times playTimes
	times.plays, times.moments = costs(trace, "seen")
	times.peers, _ = costs(trace, "peer")
	for _, sorted := range [][]float64{times.plays, times.moments, times.peers} {
		slices.Sort(sorted)
		check.Require(tb, len(sorted) == count && median(sorted) >= 0.1,
			"%d plays in a trace of %d: %v", len(sorted), count, sorted)
	}
	return times
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
	check.Must(chromedp.Run(b.ctx, chromedp.WaitEvent(tracing.TracingComplete, nil,
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, tracing.End, cdp.Empty{})
			return err
		}))))(b.t)
	return trace
}

// costs returns the milliseconds of processor time for each play: between two marks of a name, in the thread that set
// them. Apart are the script between the marks "animates" and "animated", and the style and the layout until the mark
// "shown", if it is set at all. Of scripts, those of frames count, and messages that begin an animation or ask for a
// frame: what shows nothing is no part of a play, nor are the test's scripts and the answer to its key.
func costs(trace []slice, name string) (plays, moments []float64) {
	slices.SortStableFunc(trace, func(a, b slice) int { return cmp.Compare(a.Begin, b.Begin) })
	mark := slices.IndexFunc(trace, func(s slice) bool { return s.Name == name })
	var play, moment, begun float64
	var end, frame float64 // of the last slice that counted, of the last frame's scripts
	var message *slice     // the last one, until it shows something
	shown := false         // the play is shown
	for i := range trace {
		s := &trace[i]
		if mark < 0 || s.PID != trace[mark].PID || s.TID != trace[mark].TID {
			continue
		}
		cost, counted := &play, (*slice)(nil)
		switch s.Name {
		case "shown":
			shown = true
		case "animated":
			moment, play = moment+s.At-begun, play-(s.At-begun)
		case name:
			plays, moments = append(plays, play/1000), append(moments, moment/1000)
			play, moment, shown = 0, 0, false
		case "EventDispatch":
			if s.Args.Data.Type == "keydown" { // by the test, to skip the play
				end = s.end()
			}
		case "FireAnimationFrame":
			frame = s.end()
		case "FunctionCall":
			if s.Args.Data.URL == "" {
				break // the test's
			}
			if s.Begin < frame {
				counted = s
			} else {
				message = s
			}
		case "animates", "RequestAnimationFrame":
			if s.Name == "animates" {
				begun = s.At
			}
			if message != nil && s.Begin < message.end() {
				counted, message = message, nil
			}
		case "UpdateLayoutTree", "Layout":
			counted = s
			if !shown {
				cost = &moment
			}
		}
		if counted != nil && counted.Phase == "X" && counted.Begin >= end { // nested slices count once
			*cost += counted.CPU
			end = counted.end()
		}
	}
	return plays, moments
}
