package pagetest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A game is the part of GET /api/games/{id} that the tests hold the page
// against.
type game struct {
	State struct {
		Teams [2]team `json:"teams"`
	} `json:"state"`
	Offers []struct {
		Action struct {
			Subs []sub `json:"subs"`
		} `json:"action"`
	} `json:"offers"`
}

type team struct {
	Order []struct {
		Player   string `json:"player_id"`
		Position string `json:"position"`
	} `json:"order"`
}

type sub struct {
	Player   string `json:"player_id"`
	Slot     int    `json:"slot"`
	Position string `json:"position"`
}

// doubles are the double switches that are offered.
func (g *game) doubles() [][]sub {
	var found [][]sub
	for _, o := range g.Offers {
		if len(o.Action.Subs) == 2 {
			found = append(found, o.Action.Subs)
		}
	}
	return found
}

func (b *tab) game(id string) game {
	b.t.Helper()
	return value[game](b, fmt.Sprintf(`fetch("/api/games/%s").then((r) => r.json())`, id))
}

// defences are what the side in the field had called for each play so far.
func (b *tab) defences(id string) []map[string]any {
	b.t.Helper()
	return value[[]map[string]any](b, fmt.Sprintf(`fetch("/api/games/%s/events?since=0").then((r) => r.json())
		.then((r) => r.events.filter((e) => e.d?.by).map((e) => e.d.by.defence))`, id))
}

// callIs waits until that is what would be called.
func (b *tab) callIs(words string) {
	b.t.Helper()
	b.await(fmt.Sprintf(`[...document.querySelector(".calls .primary .call-label").childNodes].filter((n) => n.nodeName === "#text").map((n) => n.textContent).join("").trim() === %q`, words))
}

// part clicks a part of a call that says so.
func (b *tab) part(words string) {
	b.t.Helper()
	b.await(fmt.Sprintf(`(() => {
		const label = [...document.querySelectorAll(".pick")].find((e) => e.querySelector("span").innerText.endsWith(%q));
		if (label) label.id = "pressed";
		return label;
	})()`, words))
	b.do(chromedp.Click("#pressed"), chromedp.Evaluate[chromedp.Void](`document.querySelector("#pressed").id = ""`))
}

// The side in the field puts its call together, with the mouse and by keys; it
// is made as it is put together, and the play comes of it.
func TestCallPutTogether(t *testing.T) {
	t.Parallel()
	b := newTab(t, newAppliance(t))
	b.join("Anna")
	id := b.newGame(map[string]string{"opponent": "same screen", "innings": "three"})
	b.handIn("away", "home")
	b.call() // of the visitors at bat
	b.callIs("Pitch to the batter")
	b.part("Pitch around")
	b.callIs("Pitch around")
	b.do(chromedp.Focus(`.pick [name="outfield"]:checked`), chromedp.KeyEvent(kb.ArrowDown))
	b.callIs("Pitch around, outfield shallow")
	b.do(chromedp.Focus(`.pick [name="lines"]`), chromedp.KeyEvent(" "))
	b.callIs("Pitch around, outfield shallow, guard the lines")
	b.looks("together")
	b.do(chromedp.KeyEvent("\r"))
	b.drawn()
	for len(b.defences(id)) == 0 { // a question may be asked before the play
		b.call()
	}
	if got := fmt.Sprint(b.defences(id)[0]); got != fmt.Sprint(map[string]any{"pitch": "pitch around", "outfield": "shallow", "lines": true}) {
		t.Errorf("called was %s", got)
	}
	b.playTo(`document.querySelector(".together .call-label")?.innerText.includes("Pitch to the batter")`)
	b.callIs("Pitch to the batter") // a call is for one batter
	b.do(chromedp.KeyEvent("2"))
	b.callIs("Pitch around")
	b.do(chromedp.KeyEvent("2"))
	b.callIs("Pitch to the batter")
	b.part("Guard the lines")
	b.part("Intentional walk")
	b.callIs("Intentional walk")
	b.await(`[...document.querySelectorAll(".pick input:not([name=pitch])")].every((e) => e.disabled && (e.type === "radio" || !e.checked))`)
	before := len(b.defences(id))
	b.do(chromedp.KeyEvent("1"))
	b.drawn()
	b.await(canCall)
	for len(b.defences(id)) == before {
		b.call()
	}
	if got := fmt.Sprint(b.defences(id)[before]); got != fmt.Sprint(map[string]any{"pitch": "intentional walk"}) {
		t.Errorf("called was %s", got)
	}
	b.says(".half li", "intentional")
}

// Two come in together and trade places in the order: the pitcher whom one
// likes, and who takes the field with him.
func TestDoubleSwitch(t *testing.T) {
	t.Parallel()
	b := newTab(t, newAppliance(t))
	b.join("Anna")
	id := b.newGame(map[string]string{"opponent": "same screen", "dh": "pitchers bat"})
	b.handIn("away", "home")
	b.await(canCall)
	g := b.game(id)
	for len(g.doubles()) == 0 {
		b.call()
		b.await(canCall)
		g = b.game(id)
	}
	b.press(".dugout summary")
	want := g.doubles()[0]
	other := fmt.Sprintf(`[...document.querySelectorAll('#sub optgroup[label="Bullpen"] option')].find((o) => !o.value.includes(%q))`, want[0].Player)
	want[0].Player = strings.Split(value[string](b, other+".value"), `"`)[3] // whom the double switch was not offered with
	b.choose("#sub", value[string](b, other+".text"))
	b.await(`document.querySelectorAll("#double option").length > 1`)
	b.do(chromedp.Focus("#double"), chromedp.KeyEvent(kb.ArrowDown))
	b.await(`document.querySelector("#double").value`)
	b.looks("double")
	b.pressNamed("Make the change")
	b.says(".half li", "double switch")
	after := b.game(id).State.Teams
	if !slices.ContainsFunc(after[:], func(t team) bool {
		return slices.IndexFunc(want, func(s sub) bool {
			now := t.Order[s.Slot-1]
			return now.Player != s.Player || now.Position != s.Position
		}) < 0
	}) {
		t.Errorf("%+v did not come about: %+v", want, after)
	}
}

// lateNews is a WebSocket that tells what happened some time after it has
// acknowledged what was commanded.
const lateNews = `window.WebSocket = class extends WebSocket {
	set onmessage(hear) { super.onmessage = (e) => (JSON.parse(e.data).t === "event" ? setTimeout(() => hear(e), 400) : hear(e)); }
}`

// Between the acknowledgment of a call and the news of it the calls that were
// known are no longer open: a second one would be refused.
func TestACallIsMadeOnce(t *testing.T) {
	t.Parallel()
	b := newTab(t, newAppliance(t))
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: lateNews}); err != nil {
		t.Fatal(err)
	}
	b.join("Anna")
	b.newGame(map[string]string{"opponent": "same screen"})
	b.handIn("away", "home")
	b.await(canCall)
	open := value[[]int](b, `new Promise((done) => {
		const title = () => document.querySelector("#desk-title").innerText, first = title(), open = [];
		const look = () => {
			if (title() !== first) return done(open);
			open.push(document.querySelectorAll(".calls button:not(:disabled)").length);
			requestAnimationFrame(look);
		};
		document.querySelector(".calls button").click();
		requestAnimationFrame(() => requestAnimationFrame(look)); // when it is drawn
	})`)
	if len(open) == 0 || slices.Max(open) > 0 {
		t.Errorf("of a call that was made %d could be made again in one of %d pictures", slices.Max(append(open, 0)), len(open))
	}
}
