package pagetest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// network takes the network away, or gives it back.
func (b *tab) network(there bool) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: !there, DownloadThroughput: -1, UploadThroughput: -1}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	_, err = chromedp.Call(b.ctx, network.OverrideNetworkState, network.OverrideNetworkStateParams{
		Offline: !there, DownloadThroughput: -1, UploadThroughput: -1,
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// may is whether a call can be made.
func (b *tab) may() bool {
	b.t.Helper()
	return value[bool](b, fmt.Sprintf("Boolean(%s)", canCall))
}

// call makes the first legal decision.
func (b *tab) call() {
	b.t.Helper()
	b.await(canCall)
	b.do(chromedp.KeyEvent("1"))
	b.drawn()
}

// turns has both managers make calls, each as soon as he may, until so many
// were made and both may make the next one.
func turns(one, other *tab, calls int) {
	one.t.Helper()
	for made := 0; ; {
		first, second := one.may(), other.may()
		if made >= calls && first && second {
			return
		}
		if first {
			one.call()
			made++
		}
		if second {
			other.call()
			made++
		}
	}
}

// shown is all of the game that two browsers must agree on.
const shown = `JSON.stringify([...document.querySelectorAll(".board .plate, .situation, .lamps, .half-head, .half li, .runners text")].map((e) => e.ariaLabel ?? e.textContent))`

// agree waits until two browsers show the same, to the last play.
func agree(one, other *tab) {
	one.t.Helper()
	other.await(shown + " === " + quote(value[string](one, shown)))
}

// quote writes a text as a script does.
func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // of a text there is none
	}
	return string(quoted)
}

// Two managers and somebody in the stands: the link is opened, both cards go
// in, and all three are at the game by themselves. One of them loses the
// network in mid-inning, sees it at once, and resumes where the others are;
// what he called at that moment happens once.
func TestTwoBrowsersPlayEachOther(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	anna, ben, fan := newTab(t, a), newTab(t, a), newTab(t, a)
	anna.join("Anna")
	id := anna.newGame(map[string]string{"innings": "three"})
	anna.await(`document.querySelector(".invite .qr path")`)
	anna.looks("invite")
	ben.join("Ben")
	ben.says(".game-stub", "Needs a second manager")
	ben.looks("lobby")
	ben.open("/games/" + id)
	ben.press("main section button.primary")
	ben.await(`document.querySelector("#away-card")`)
	anna.says(".stubs", "Ben")
	ben.handIn("away")
	anna.says(".stubs", "card is in")
	fan.join("Fan")
	fan.open("/games/" + id)
	fan.says("main", "fill out their cards")
	anna.handIn("home")
	for _, b := range []*tab{anna, ben, fan} {
		b.await(`location.pathname === "/games/` + id + `"`)
		b.says(".link-state", "Live")
	}
	fan.says(".desk h2", "In the stands")
	if n := value[int](fan, `document.querySelectorAll(".calls, .dugout").length`); n != 0 {
		t.Errorf("who watches has %d things to press", n)
	}
	anna.says(".link-line", "1 in the stands") // the managers do not count
	turns(anna, ben, 8)
	agree(anna, ben)
	agree(anna, fan)

	ben.expect("ERR_INTERNET_DISCONNECTED", "WebSocket connection")
	ben.network(false)
	ben.says(".banner", "connection is lost")
	ben.says(".link-state", "Connection lost")
	before := value[string](ben, shown)
	if n := value[int](ben, `document.querySelectorAll(".calls button:not(:disabled)").length`); n != 0 {
		t.Error("without a network a call can be made")
	}
	anna.call()
	anna.says(".link-line", "away")
	if after := value[string](ben, shown); after != before {
		t.Errorf("without a network the page went on from %s to %s", before, after)
	}
	ben.network(true)
	ben.says(".link-state", "Live")
	ben.await(`!document.querySelector(".banner")`)
	agree(anna, ben)
	ben.call()
	over := func() bool { return value[bool](anna, `Boolean(document.querySelector(".final"))`) }
	for !over() {
		for _, b := range []*tab{anna, ben} {
			if b.may() && !over() {
				b.do(chromedp.KeyEvent("1"))
				b.drawn()
			}
		}
	}
	anna.await(`document.querySelectorAll(".box tbody tr").length > 18`)
	for _, b := range []*tab{anna, ben, fan} {
		b.says(".final h2", "win")
		b.agrees(id)
	}
	fan.press(`.tabs button:nth-child(3)`)
	fan.await(`document.querySelector(".curve path.chance")`)
	fan.looks("chances")
	anna.press(".final button")
	anna.await(`document.querySelector("#home-card") && !location.pathname.includes("` + id + `")`)
	ben.says(".final a", "rematch")
}

// pressNamed clicks the button that says so.
func (b *tab) pressNamed(words string) {
	b.t.Helper()
	b.await(fmt.Sprintf(`(() => {
		const button = [...document.querySelectorAll("main button:not(:disabled)")].find((e) => e.innerText === %q);
		button?.click();
		return button;
	})()`, words))
}

// At one screen both sides are called one after the other, and neither sees
// what the other one chose.
func TestHotSeat(t *testing.T) {
	t.Parallel()
	b := newTab(t, newAppliance(t))
	b.join("Anna")
	id := b.newGame(map[string]string{"opponent": "same screen", "innings": "three", "turn_seconds": "five minutes"})
	b.handIn("away", "home")
	b.await(`document.querySelector(".calls button:not(:disabled)")`)
	b.says(".clock", "4:")
	first := value[string](b, `document.querySelector("#desk-title").innerText`)
	b.do(chromedp.KeyEvent("2"))
	b.await(fmt.Sprintf(`document.querySelector("#desk-title").innerText !== %q && document.querySelector(".calls button:not(:disabled)")`, first))
	b.press(".dugout summary")
	b.pressNamed("Take the call back")
	b.says("#desk-title", strings.Join(strings.Fields(first), " "))
	b.pressNamed("Pause the game")
	b.says(".banner", "Time is called")
	b.pressNamed("Resume")
	b.await(`!document.querySelector(".banner") && document.querySelector(".calls button:not(:disabled)")`)
	change := value[string](b, `document.querySelector("#sub").selectedOptions[0].text`)
	b.pressNamed("Make the change")
	b.await(fmt.Sprintf(`document.querySelectorAll(".half li").length > 1 && ![...document.querySelectorAll("#sub option")].some((o) => o.text === %q)`, change))
	b.looks("hotseat")
	b.playTo(`document.querySelector(".final")`)
	b.agrees(id)
}

// The wall shows the game that is played, what is announced, and how to join;
// nobody has to sign in there.
func TestKiosk(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	wall, anna := newTab(t, a), newTab(t, a)
	wall.open("/kiosk")
	wall.says(".link-state", "Live")
	wall.says(".wall-said", "field is empty")
	wall.await(`document.querySelector(".wall-join .qr path")`)
	wall.looks("kiosk-empty")
	anna.join("Anna")
	anna.newGame(map[string]string{"opponent": "bench coach", "innings": "three"})
	anna.handIn("home")
	wall.says(".wall-club", "Anna")
	anna.playTo(`document.querySelectorAll(".half").length > 2`)
	score := value[string](anna, `[...document.querySelectorAll(".board tbody tr td:nth-last-child(3)")].map((e) => e.innerText).join(" ")`)
	wall.await(fmt.Sprintf(`[...document.querySelectorAll(".wall-club .plate")].map((e) => e.innerText).join(" ") === %q`, score))
	line := value[string](anna, `document.querySelector(".half ol").lastElementChild.querySelector("a").firstChild.data`)
	wall.says(".wall-said", line)
	anna.open("/announcements")
	anna.do(chromedp.SendKeys("#message", "Dinner is ready."), chromedp.Click("main form .primary"))
	wall.says(".wall-air", "Dinner is ready.")
	wall.looks("kiosk")
}
