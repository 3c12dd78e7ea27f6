package pagetest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	rules "pressbox/game"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// defenses returns the calls of the side in the field, one per play.
func (b *tab) defenses(id string) []map[string]any {
	b.t.Helper()
	return value[[]map[string]any](b, fmt.Sprintf(`json("/api/games/%s/events?since=0")
		.then(({ events }) => events.filter((e) => e.d?.by).map((e) => e.d.by.defense))`, id))
}

// nextDefense makes calls until there is another play, and compares the call of its defense.
func (b *tab) nextDefense(id string, before int, want map[string]any) {
	b.t.Helper()
	for len(b.defenses(id)) == before { // a question can come before the play
		b.call()
	}
	if got := b.defenses(id)[before]; fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Errorf("the defense called %v, want %v", got, want)
	}
}

// callIs waits until the combined call has a label.
func (b *tab) callIs(label string) {
	b.t.Helper()
	b.await(`[...$(".calls .primary .call-label").childNodes].filter((n) => n.nodeName === "#text")
		.map((n) => n.textContent).join("").trim() === %q`, label)
}

// part clicks a part of the combined call.
func (b *tab) part(label string) {
	b.t.Helper()
	b.await(`(() => {
		const part = $$(".pick").find((e) => e.querySelector("span").innerText.endsWith(%q));
		if (part) part.id = "pressed";
		return part;
	})()`, label)
	b.do(chromedp.Click("#pressed"), chromedp.Evaluate[chromedp.Void](`$("#pressed").id = ""`))
}

// The side in the field combines calls, by mouse and by keys. What is shown is what is called.
func TestDecisions_combineCalls(t *testing.T) {
	b := begin(t)
	id := b.hotSeat(map[string]string{"innings": "3"})
	b.call() // of the visitors at bat
	usual := get[protocol.Game](b, "/api/games/"+id).Legal[0].Label
	b.callIs(usual)
	b.part("Pitch around")
	b.callIs("Pitch around")
	b.focus(`.pick [name="outfield"]:checked`, kb.ArrowDown)
	b.callIs("Pitch around, outfield shallow")
	b.focus(`.pick [name="lines"]`, " ")
	b.callIs("Pitch around, outfield shallow, guard the lines")
	b.looks("combine")
	b.key("\r")
	b.nextDefense(id, 0, map[string]any{"pitch": "pitch around", "outfield": "shallow", "lines": true})
	b.playTo(`$(".combine .call-label")?.innerText.includes(` + quote(usual) + `)`)
	b.callIs(usual) // a call is for one batter
	b.part("Pitch around")
	b.callIs("Pitch around")
	b.part(usual)
	b.callIs(usual)
	b.part("Guard the lines")
	b.part("Intentional walk")
	b.callIs("Intentional walk")
	b.await(`$$(".pick input:not([name=pitch])").every((e) => e.disabled && (e.type === "radio" || !e.checked))`)
	before := len(b.defenses(id))
	b.key("1")
	b.await(canCall)
	b.nextDefense(id, before, map[string]any{"pitch": "intentional walk"})
	b.says(".half li", "intentional")
}

// offer accepts the offer with an action.
func (b *tab) offer(id, verb string) {
	b.t.Helper()
	for _, o := range get[protocol.Game](b, "/api/games/"+id).Offers {
		if o.Action.Verb == verb {
			b.pressNamed(o.Label)
			return
		}
	}
	b.t.Fatalf("%s is not offered", verb)
}

// A double switch can be made with any pitcher of the bullpen: the two new players trade places in the order.
func TestDecisions_doubleSwitch(t *testing.T) {
	b := begin(t)
	id := b.hotSeat(map[string]string{"dh": "Pitchers bat"})
	var want []protocol.Sub
	for want == nil {
		for _, o := range get[protocol.Game](b, "/api/games/"+id).Offers {
			if len(o.Action.Subs) == 2 {
				want = o.Action.Subs
				break
			}
		}
		if want == nil {
			b.call()
			b.settle()
		}
	}
	b.press(".offers summary")
	b.shows("#sub")
	other := fmt.Sprintf(`$$('#sub optgroup[label="Bullpen"] option').find((o) => !o.value.includes(%q))`,
		want[0].Player)
	want[0].Player = rules.PlayerID(strings.Split(value[string](b, other+".value"), `"`)[3]) // not the offer's
	b.choose("#sub", value[string](b, other+".text"))
	b.await(`$$("#double option").length > 1`)
	b.focus("#double", kb.ArrowDown)
	b.await(`$("#double").value`)
	b.looks("double")
	b.pressNamed("Substitute")
	b.says(".half li", "double switch")
	after := get[protocol.Game](b, "/api/games/"+id).State.Teams
	made := false
	for _, team := range after {
		made = made || !slices.ContainsFunc(want, func(s protocol.Sub) bool {
			slot := team.Order[s.Slot-1]
			return slot.Player != s.Player || slot.Position != s.Position
		})
	}
	check.That(t, made, "after the double switch %+v: %+v", want, after)
}

// lateEvents is a WebSocket whose events arrive after the acknowledgments of the commands that caused them.
const lateEvents = `window.WebSocket = class extends WebSocket {
	set onmessage(receive) { super.onmessage = (e) =>
		(JSON.parse(e.data).t === "event" ? setTimeout(() => receive(e), 400) : receive(e)); }
}`

// Between the acknowledgment of a call and its event, the known calls are out of date: a second one would be refused.
func TestDecisions_eachCallOnce(t *testing.T) {
	b := begin(t)
	b.preload(lateEvents)
	b.hotSeat(nil)
	enabled := value[[]int](b, `new Promise((done) => {
		const title = () => $("#decisions-title").innerText, first = title(), enabled = [];
		const look = () => {
			if (title() !== first) return done(enabled);
			enabled.push($$(".calls button:not(:disabled)").length);
			requestAnimationFrame(look);
		};
		$(".calls button").click();
		requestAnimationFrame(() => requestAnimationFrame(look)); // after rendering
	})`)
	check.That(t, len(enabled) != 0 && slices.Max(enabled) == 0,
		"after a call the number of enabled calls in each frame was %v, want 0", enabled)
}

// With a hot seat the sides call in turn, and neither sees the other's call. A
// call can be taken back, the game paused, a player substituted.
func TestDecisions_hotSeat(t *testing.T) {
	b := begin(t)
	id := b.hotSeat(map[string]string{"innings": "3", "turn_seconds": "5 minutes"})
	b.says(".clock", "4:")
	first := value[string](b, `$("#decisions-title").innerText`)
	b.do(chromedp.KeyEvent("2"))
	b.await(`$("#decisions-title").innerText !== %q && $(".calls button:not(:disabled)")`, first)
	b.press(".offers summary")
	b.offer(id, "undo")
	b.says("#decisions-title", strings.Join(strings.Fields(first), " "))
	b.offer(id, "pause")
	b.says(".banner", "paused")
	b.open("/games/" + id)
	b.says(".panel", "Anna called time")
	b.await(`!$(".clock")`)
	b.pressNamed("Resume")
	b.await(`!$(".banner") && $(".calls button:not(:disabled)")`)
	b.says(".clock", "4:")
	b.press(".offers summary")
	b.shows("#sub")
	change := value[string](b, `$("#sub").selectedOptions[0].text`)
	b.pressNamed("Substitute")
	b.await(`$$(".half li").length > 1 && !$$("#sub option").some((o) => o.text === %q)`, change)
	b.looks("hotseat")
	b.playTo(`$$(".half").length > 2`)
	b.agrees(id)
}

// Each call shows what it is worth and does, and one is the coach's pick. What hardly matters has no number.
func TestChoice_worth(t *testing.T) {
	b := begin(t)
	id := b.hotSeat(map[string]string{"innings": "3"})
	seen := map[string]bool{}
	for len(seen) < 2 {
		legal := get[protocol.Game](b, "/api/games/"+id).Legal
		group, calls, coach := legal[0].Group, 0, -1
		for _, c := range legal {
			if c.Group != group {
				continue
			}
			if c.Worth != nil && c.Coach {
				coach = calls
			}
			calls++
		}
		if !seen[group] && (group == "offense" || group == "defense") {
			seen[group] = true
			b.await(`$$(".call .worth b:not(.coach)").length >= %d`,
				map[string]int{"offense": calls, "defense": 1}[group])
			if group == "offense" {
				b.await(`$$(".calls .coach").length === 1 && $$(".calls li")[%d].querySelector(".coach")`, coach)
			} else {
				// the usual call is a part of each kind
				b.await(`$$(".pick .coach").length === %d`, map[bool]int{true: 3, false: 1}[coach == 0])
				b.await(`$$(".pick small:not(.does)")
					.filter((e) => /^([+-]\d[.]\d{3}|≈ 0)$/.test(e.textContent)).length === %d`, calls-1)
			}
			b.await(`!$$(".calls small").some((e) => /[+-]0[.]00[0-2]( |$)/.test(e.textContent))`)
			b.await(`$$(".does").every((e) => e.textContent.length > 10)`)
			b.looks("choice-" + group)
		}
		b.call()
		b.await(canCall)
	}
}

// The key ? opens how to play with its five cards and the glossary, and so does a button beside the calls; Esc
// closes it, and the focus goes back. It is a page of its own.
func TestHelp_keyAndPage(t *testing.T) {
	b := begin(t)
	b.hotSeat(map[string]string{"innings": "3"})
	b.do(chromedp.EmulateViewport(1000, 700)) // a larger screen has the explanations anyway
	if b.is(`$$(".calls button").some((e) =>
		document.getElementById(e.getAttribute("aria-describedby")).textContent.length < 10)`) {
		t.Error("a call is not described to screen readers")
	}
	b.focus(".what", kb.Enter)
	b.await(`$(".what[aria-pressed=true]") && $$(".does").every((e) => e.offsetHeight > 10)`)
	b.looks("explained")
	b.do(chromedp.EmulateViewport(1000, 700))
	b.focus(".panel [data-help='']", kb.Enter)
	b.await(`$$("dialog.help .cards li").length === 5 + 6 && $("dialog.help").contains(document.activeElement)`)
	b.looks("help")
	b.do(chromedp.EmulateViewport(1000, 700))
	b.key(kb.Escape)
	b.await(`!$("dialog") && document.activeElement.matches(".panel [data-help='']")`)
	b.focus(".what", kb.Enter)
	b.await(`$$(".does").every((e) => e.offsetHeight === 0)`)
	b.focus(".calls li:nth-child(2) button", "?") // of this call
	b.await(`document.activeElement.matches("dialog.help dt") &&
		$(".calls li:nth-child(2) .call-label").textContent.includes(document.activeElement.textContent)`)
	b.key(kb.Escape)
	b.await(`!$("dialog") && document.activeElement.matches(".calls li:nth-child(2) button")`)
	// or a long touch
	b.is(`$(".calls li:nth-child(3) .call-label").dispatchEvent(new MouseEvent("contextmenu",
		{ bubbles: true, cancelable: true }))`)
	b.await(`document.activeElement.matches("dialog.help dt") &&
		$(".calls li:nth-child(3) .call-label").textContent.includes(document.activeElement.textContent)`)
	b.key(kb.Escape)
	b.await(`!$("dialog")`)
	b.key("?")
	b.says("dialog.help", "Glossary")
	b.key("?") // it is open already
	b.await(`$$("dialog").length === 1`)
	b.key(kb.Escape)
	b.open("/help")
	b.says("main h1", "How to play")
	terms := value[string](b, `$$(".terms dt").map((e) => e.textContent).join("|")`)
	for _, term := range []string{"Squeeze", "Double-play depth", "Pinch hitter", "Coach’s pick", "Guard the lines"} {
		check.That(t, strings.Contains(terms, term), "the glossary has no %s: %s", term, terms)
	}
	if missing := value[string](b, `$$(".terms dt, .terms dd")
		.filter((e) => /^$|^(name|term|does|help)\./.test(e.textContent.trim())).map((e) => e.textContent)
		.join()`); missing != "" {
		t.Errorf("texts are missing: %q", missing)
	}
}

// module opens a part of the page that needs nothing, and imports a module as globalThis.m.
func (b *tab) module(name string) {
	b.t.Helper()
	b.open("/about")
	b.shows("main h1")
	value[bool](b, fmt.Sprintf(`import(new URL(%q, $("script[src]").src))
		.then((m) => { globalThis.m = m; return true; })`, name))
}

// evaluates checks expressions: each has its text.
func (b *tab) evaluates(rows [][2]string) {
	b.t.Helper()
	for _, row := range rows {
		if got := value[string](b, row[0]); got != row[1] {
			b.t.Errorf("%s: %s, want %s", row[0], got, row[1])
		}
	}
}

// The queue shows one play after the other, the shorter the more wait, and drops
// the oldest usual ones; what ends the game is not a usual play any more.
func TestMoments_queue(t *testing.T) {
	b := begin(t)
	b.module("moment.js")
	b.is(`(() => {
		globalThis.shown = (rev, kind) =>
			({ play: { kind, runs: [] }, entry: { rev, half: "top", runs: 0, now: { score: { away: 0, home: 0 } } },
			before: {}, over: false });
		globalThis.run = (times, ...plays) => {
			const queue = new m.Moments();
			for (const play of plays) queue.add(play);
			return times.map((at) => queue.at(at)?.entry.rev ?? 0).join();
		};
	})()`)
	b.evaluates([][2]string{
		{`run([5000, 6499, 6500], shown(1, "single"))`, "1,1,0"},
		{`run([5000, 6999, 7000], shown(1, "home run"))`, "1,1,0"}, // a great one is longer
		// two in the time of one, and one
		{`run([5000, 5749, 5750, 7249, 7250], shown(1, "single"), shown(2, "walk"))`, "1,1,2,2,0"},
		// too many: a great one stays
		{`run([5000, 6000, 7000, 9000], ...[1, 2, 3, 4, 5].map((rev) => shown(rev, "single")))`, "3,4,5,0"},
		{
			`run([5000, 6000, 7000, 9000], shown(1, "home run"), ...[2, 3, 4, 5].map((rev) => shown(rev, "single")))`,
			"1,4,5,0",
		},
		{`run([5000, 6000, 7000, 9000], ...[1, 2, 3, 4].map((rev) => shown(rev, "home run")))`, "2,3,4,0"},
		{`(() => { const q = new m.Moments(); q.add(shown(1, "walk")); q.at(5000); q.add(shown(2, "walk"));
			q.skip(); return String(q.at(5001)); })()`, "null"},
		// the last one, and an end without a play
		{`(() => { const q = new m.Moments(), s = shown(7, "walk"); q.add(s); q.at(5000); q.end(8);
			return m.kindOf(s); })()`, "last"},
		{
			`(() => { const q = new m.Moments(), s = shown(7, "walk"); q.add(s); q.end(9); return m.kindOf(s); })()`,
			"walk",
		},
		{
			`(() => { const q = new m.Moments(); q.add(shown(1, "walk")); q.at(5000);
				return String(q.left(5400)); })()`,
			"1100",
		},
	})
}

// A play's kind and its ways follow from its event.
func TestMoments_kindsAndWays(t *testing.T) {
	b := begin(t)
	b.module("moment.js")
	b.is(`(() => {
		globalThis.kind = (play, entry = {}, over = false) =>
			m.kindOf({ play: { runs: [], ...play },
			entry: { rev: 1, half: "bottom", runs: 0, now: { score: { away: 0, home: 0 } }, ...entry }, before: {},
			over });
		globalThis.ways = (play) => { const { ball, throws, runners } = m.waysOf({ runs: [], ...play });
			return JSON.stringify([ball.at(-1)?.map(Math.round) ?? null, throws.map((p) => p.map(Math.round)),
			runners.map((r) => [r.from, r.to, r.out])]); };
	})()`)
	b.evaluates([][2]string{
		{`kind({ kind: "fielder's choice" })`, "fielders_choice"},
		{`kind({ kind: "hit by pitch" })`, "hit_by_pitch"},
		{`kind({ kind: "home run" }, { runs: 3 })`, "homer"},
		{`kind({ kind: "home run" }, { runs: 4 })`, "grand_slam"},
		{`kind({ kind: "out", outs: [{ who: "batter" }], ball: { contact: "fly ball" } })`, "fly_out"},
		{`kind({ kind: "out", outs: [{ who: "batter" }], ball: { contact: "bunt ground ball" } })`, "ground_out"},
		{`kind({ kind: "out", outs: [{ who: "first" }], ball: { contact: "ground ball" } })`, "force_out"},
		{`kind({ kind: "out", outs: [{ who: "batter" }], flags: ["sacrifice fly"] })`, "sacrifice_fly"},
		{`kind({ kind: "out", outs: [{ who: "first" }, { who: "batter" }] })`, "double_play"},
		{`kind({ kind: "out", outs: [{ who: "first" }, { who: "batter" }], flags: ["no double play"] })`, "force_out"},
		{`kind({ kind: "out", outs: [{}, {}, {}] })`, "triple_play"},
		{`kind({ kind: "single" }, { runs: 1, now: { score: { away: 2, home: 3 } } }, true)`, "walkoff"},
		{`kind({ kind: "out", outs: [{ who: "batter" }] }, { now: { score: { away: 2, home: 1 } } }, true)`, "last"},
		// a run, and an out on the bases
		{`kind({ kind: "single" }, { runs: 1, now: { score: { away: 3, home: 2 } } }, true)`, "last"},
		{`ways({ kind: "strikeout", outs: [{ who: "batter", by: "2" }] })`, "[null,[],[]]"},
		{
			`ways({ kind: "out", ball: { contact: "ground ball" },
				outs: [{ who: "first", at: "second", by: "64" }, { who: "batter", at: "first", by: "43" }] })`,
			"[[138,150],[[138,150],[200,144],[290,234]],[[0,1,true],[1,2,true]]]",
		},
		{
			`ways({ kind: "single", ball: { place: "8" },
				runs: [{ to: "first" }, { to: "third" }, {}, { to: "home" }] })`,
			"[[200,72],[],[[0,1,false],[1,3,false],[3,4,false]]]",
		},
		{`ways({ kind: "home run", ball: { place: "7" }, runs: [{ to: "home" }] })`, "[[65,41],[],[[0,4,false]]]"},
		{
			`ways({ kind: "caught stealing", outs: [{ who: "first", at: "second", by: "26" }], runs: [] })`,
			"[null,[[200,352],[200,144]],[[1,2,true]]]",
		},
		{
			`ways({ kind: "pick-off", outs: [{ who: "first", at: "first", by: "13" }] })`,
			"[null,[[200,236],[290,234]],[[1,1,true]]]",
		},
	})
}

// Each great play has words and a look of its own, and the others have the usual one.
func TestStage_callouts(t *testing.T) {
	b := begin(t)
	b.module("moment.js")
	b.is(`(() => {
		const team = { abbrev: "CPR", color: "#123456" },
			[ways, ball] = [1, 2].map(() => document.createElementNS("http://www.w3.org/2000/svg", "g"));
		const stage = new m.Stage({ ways, ball, runners: { place: () => [] },
			book: { game: { away: { team }, home: { team } } } }, () => {});
		globalThis.shown = (play, runs = 0, over = false) => {
			stage.show({ play: { runs: [], ...play },
				entry: { rev: 1, half: "bottom", runs, text: ["It happens."],
				now: { score: { away: 2, home: 2 + runs } } },
				before: { now: { half: "bottom", outs: 0, bases: [null, null, null], batter: "b",
				score: { away: 2, home: 2 } } }, over });
			const { root } = stage.callout;
			return root.firstElementChild.className + "|" + root.querySelector("strong").textContent + "|" + root
				.querySelectorAll(".lamp.on").length + "|" + (root.querySelector("[data-was]")?.textContent ?? "");
		};
	})()`)
	b.evaluates([][2]string{
		{`shown({ kind: "single" }, 1, true)`, "callout great walkoff|Walk-off!|0|3"},
		{`shown({ kind: "home run" }, 2)`, "callout great homer|Home run!|0|4"},
		{`shown({ kind: "home run" }, 4)`, "callout great grand_slam|Grand slam!|0|6"},
		{
			`shown({ kind: "out", outs: [{ who: "first" }, { who: "batter" }] })`,
			"callout great double_play|Double play!|2|",
		},
		{
			`shown({ kind: "out", outs: [{ who: "first" }, { who: "second" }, { who: "batter" }] })`,
			"callout great triple_play|Triple play!|3|",
		},
		{`shown({ kind: "out", outs: [{ who: "batter" }] }, 0, true)`, "callout great last|Ball game!|1|"},
		{
			`shown({ kind: "out", outs: [{ who: "batter" }], ball: { contact: "fly ball" } })`,
			"callout fly_out|Fly out|1|",
		},
		{`shown({ kind: "single" }, 1)`, "callout single|Single|0|3"},
	})
}

// noise counts what the page makes of sound, records how long it vibrates and which plays it shows.
const noise = `{
	globalThis.contexts = [];
	globalThis.vibrated = [];
	globalThis.seen = [];
	globalThis.AudioContext = class extends AudioContext { constructor() { super(); contexts.push(this); } };
	Navigator.prototype.vibrate = (pattern) => vibrated.push(pattern);
	new MutationObserver(() => { if ($(".over-field:not([hidden])")) seen.push($(".callout").innerText); })
		.observe(document, { attributes: true, subtree: true });
}`

// Managers who look elsewhere see in the title that it is their turn; once they have asked for sound, they hear and
// feel it as well. Until then the page makes none. A watcher without an account sees the same plays.
func TestGame_yourTurn(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	anna, ben, visitor := newTab(t, s), newTab(t, s), newTab(t, s)
	for _, b := range []*tab{anna, ben, visitor} {
		b.preload(noise)
	}
	anna.join("Anna")
	id := anna.newGame(nil)
	ben.join("Ben")
	ben.open("/games/" + id)
	ben.press("main section button.primary")
	ben.shows("#away-card")
	ben.handIn("away")
	anna.handIn("home")
	visitor.open("/games/" + id)
	visitor.says(".link-state", "Live")
	visitor.says(".panel h2", "In the stands")
	const turn = `document.title.startsWith("● Your call · ")`
	play := func() {
		for made := anna.count(".half li"); anna.count(".half li") == made; {
			turns(anna, ben, 2)
			anna.settle()
			ben.settle()
		}
	}
	play()
	anna.await(turn)
	visitor.await(`seen.length > 0`)
	for _, b := range []*tab{anna, ben, visitor} {
		check.That(t, !b.is(`contexts.length || vibrated.length`), "the page made sound before it was asked for")
	}
	anna.press(".sounds")
	anna.await(`contexts.length === 1 && $(".sounds[aria-pressed=true]")`)
	anna.is(`contexts[0].suspend()`) // as browsers do until the page was used
	anna.call()
	anna.await(`!(` + turn + `)`)
	ben.call()
	anna.await(turn + ` && vibrated.length === 1 && contexts[0].state === "running"`)
	anna.press(".sounds")
	anna.await(`contexts[0].state === "closed"`)
	play()
	if anna.is(`contexts.length > 1 || vibrated.length > 1`) || ben.is(`contexts.length || vibrated.length`) {
		t.Error("the page made sound that was turned off")
	}
}

// A play is shown before the next batter stands in. A key or a tap ends it, and
// makes no call; the words are in the headline and in the play-by-play at once, and are read out once.
func TestGame_moment(t *testing.T) {
	b := begin(t)
	b.emulate("prefers-reduced-motion", "no-preference")
	id := b.hotSeat(nil)
	b.await(`$(".at-bat")`)
	playOnce := func() {
		b.settle()
		for !b.is(callout) {
			b.key("1")
			b.await(callout + ` || $(".calls button:not(:disabled)")`)
		}
	}
	playOnce()
	if !b.is(`$(".over-field:not([hidden])").closest("[aria-hidden=true]") && $(".field .ways.shown") &&
		document.getAnimations().length > 0`) {
		t.Error("the play is not drawn, or does not move")
	}
	check.That(t, b.is(`$$(".panel .waiting").every((e) => getComputedStyle(e).visibility === "hidden")`),
		"the page waits for a manager who has called")
	words := value[string](b, `$(".headline .moment").innerText.split(". ")[0]`)
	if n := value[int](b, `$$("[aria-live], [role=status]")
		.filter((e) => e.textContent.includes(`+quote(words)+`)).length`); n != 1 {
		t.Errorf("%d live regions have %q", n, words)
	}
	if line := value[string](b, `$(".half li").innerText`); !strings.HasPrefix(line, words) {
		t.Errorf("the play-by-play begins with %q, want %q", line, words)
	}
	check.That(t, !b.is(`$(".at-bat")`) || !b.is(callout), "a batter stands in before the play was seen")
	plays := len(b.defenses(id))
	b.key("1")
	b.await(`!` + callout)
	b.drawn()
	check.That(t, !b.is(callout) && len(b.defenses(id)) == plays && !b.is(`$(".chip")`),
		"a key that ended the play made a call")
	playOnce()
	plays = len(b.defenses(id))
	b.do(chromedp.Evaluate[chromedp.Void](`$(".calls button, .panel").click()`))
	b.await(`!` + callout + ` && $(".calls button:not(:disabled)")`)
	check.That(t, len(b.defenses(id)) == plays && !b.is(`$(".chip")`), "a tap that ended the play made a call")
	playOnce()
	b.await(`!` + callout + ` && $(".calls button:not(:disabled)")`) // by itself
	b.emulate("prefers-reduced-motion", "reduce")
	playOnce()
	if n := value[int](b, `document.getAnimations().length`); b.is(callout) && n > 0 {
		t.Errorf("%d animations with reduced motion", n)
	}
}

// hold1 presses the key 1, and lets it repeat.
func (b *tab) hold1(repeats int) {
	b.t.Helper()
	key := input.DispatchKeyEventParams{Key: "1", Code: "Digit1", Text: "1", WindowsVirtualKeyCode: '1'}
	for i := range repeats + 1 {
		key.Type, key.AutoRepeat = "keyDown", new(i > 0)
		send(b, input.DispatchKeyEvent, key)
	}
	key.Type, key.Text = "keyUp", ""
	send(b, input.DispatchKeyEvent, key)
}

// A key that is held makes one call. Digits act the same at bat and in the field, and the focus stays in the panel.
func TestDecisions_heldKeyAndFocus(t *testing.T) {
	b := begin(t)
	id := b.hotSeat(nil)
	b.do(chromedp.Focus(".calls button"))
	b.hold1(30)
	b.await(`$(".combine button:not(:disabled)")`)
	b.drawn()
	check.That(t, len(b.defenses(id)) == 0 && !b.is(callout), "a held key made more than one call")
	b.key("2") // in the field, a call as well
	b.shows(".half li")
	check.Equal(t, fmt.Sprint(b.defenses(id)[0]), "map[pitch:pitch around]", "the call of the key 2")
	for range 12 {
		if where := value[string](b, `document.activeElement.closest(".panel, .final")
			? "" : document.activeElement.outerHTML.slice(0, 80)`); where != "" {
			t.Fatalf("the focus is on %s", where)
		}
		b.settle()
		b.key("1")
	}
}
