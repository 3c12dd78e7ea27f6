package pagetest_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Each call shows what it is worth and does, and one is the coach's pick. What hardly matters has no number.
func TestChoice_worth(t *testing.T) {
	b := begin(t)
	id := b.hotSeat(map[string]string{"innings": "3"})
	seen := map[string]bool{}
	for len(seen) < 2 {
		legal := get[struct {
			Legal []struct {
				Group, Side string
				Runs, Win   *float64
				Coach       bool
			} `json:"legal"`
		}](b, "/api/games/"+id).Legal
		group, calls, coach := legal[0].Group, 0, -1
		for _, c := range legal {
			if c.Group != group {
				continue
			}
			if c.Coach {
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
		if !strings.Contains(terms, term) {
			t.Errorf("the glossary has no %s: %s", term, terms)
		}
	}
	if missing := value[string](b, `$$(".terms dt, .terms dd")
		.filter((e) => /^$|^(name|term|does|help)\./.test(e.textContent.trim())).map((e) => e.textContent)
		.join()`); missing != "" {
		t.Errorf("texts are missing: %q", missing)
	}
}
