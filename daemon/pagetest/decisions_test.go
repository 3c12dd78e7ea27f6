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

// defenses returns the calls of the side in the field, one per play.
func (b *tab) defenses(id string) (calls []map[string]any) {
	b.t.Helper()
	events := get[struct {
		Events []struct {
			D struct {
				By *struct {
					Defense map[string]any `json:"defense"`
				} `json:"by"`
			} `json:"d"`
		} `json:"events"`
	}](b, "/api/games/"+id+"/events?since=0").Events
	for _, e := range events {
		if e.D.By != nil {
			calls = append(calls, e.D.By.Defense)
		}
	}
	return calls
}

// nextDefense makes calls until there is another play, and compares the call of
// its defense.
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

// The side in the field combines calls, by mouse and by keys. What is shown is
// what is called.
func TestDecisions_combineCalls(t *testing.T) {
	b := begin(t)
	id := b.hotSeat(map[string]string{"innings": "3"})
	b.call() // of the visitors at bat
	usual := get[game](b, "/api/games/"+id).Legal[0].Label
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

// A game is the part of GET /api/games/{id} that decisions are about.
type game struct {
	State struct {
		Teams [2]struct {
			Order []struct {
				Player   string `json:"player_id"`
				Position string `json:"position"`
			} `json:"order"`
		} `json:"teams"`
	} `json:"state"`
	Legal, Offers []struct {
		Label  string `json:"label"`
		Action struct {
			Verb string         `json:"a"`
			Subs []substitution `json:"subs"`
		} `json:"action"`
	}
}

type substitution struct {
	Player   string `json:"player_id"`
	Slot     int    `json:"slot"`
	Position string `json:"position"`
}

// offer accepts the offer with an action.
func (b *tab) offer(id, verb string) {
	b.t.Helper()
	for _, o := range get[game](b, "/api/games/"+id).Offers {
		if o.Action.Verb == verb {
			b.pressNamed(o.Label)
			return
		}
	}
	b.t.Fatalf("%s is not offered", verb)
}

// A double switch can be made with any pitcher of the bullpen: the two new
// players trade places in the order.
func TestDecisions_doubleSwitch(t *testing.T) {
	b := begin(t)
	id := b.hotSeat(map[string]string{"dh": "Pitchers bat"})
	var want []substitution
	for want == nil {
		for _, o := range get[game](b, "/api/games/"+id).Offers {
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
	want[0].Player = strings.Split(value[string](b, other+".value"), `"`)[3] // not the pitcher of the offer
	b.choose("#sub", value[string](b, other+".text"))
	b.await(`$$("#double option").length > 1`)
	b.focus("#double", kb.ArrowDown)
	b.await(`$("#double").value`)
	b.looks("double")
	b.pressNamed("Substitute")
	b.says(".half li", "double switch")
	after := get[game](b, "/api/games/"+id).State.Teams
	made := false
	for _, team := range after {
		made = made || !slices.ContainsFunc(want, func(s substitution) bool {
			slot := team.Order[s.Slot-1]
			return slot.Player != s.Player || slot.Position != s.Position
		})
	}
	if !made {
		t.Errorf("after the double switch %+v: %+v", want, after)
	}
}

// lateEvents is a WebSocket whose events arrive after the acknowledgments of
// the commands that caused them.
const lateEvents = `window.WebSocket = class extends WebSocket {
	set onmessage(receive) { super.onmessage = (e) =>
		(JSON.parse(e.data).t === "event" ? setTimeout(() => receive(e), 400) : receive(e)); }
}`

// Between the acknowledgment of a call and its event, the known calls are out of
// date: a second one would be refused.
func TestDecisions_eachCallOnce(t *testing.T) {
	b := begin(t)
	send(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: lateEvents})
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
	if len(enabled) == 0 || slices.Max(enabled) > 0 {
		t.Errorf("after a call the number of enabled calls in each frame was %v, want 0", enabled)
	}
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
