package pagetest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

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
	b.await(`$$("dialog.help .cards li").length === 5 && $("dialog.help").contains(document.activeElement)`)
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
