package pagetest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// smallScreens are those of phones, and of displays at a Raspberry Pi.
var smallScreens = [][2]int64{{360, 740}, {390, 844}, {800, 480}, {1024, 600}}

// outside returns what is not to be seen, or not to be hit, of the elements on the screen, and the names that are cut.
const outside = `$$(".situation .score b, .situation .inning, .diamond, .lamps, .field, .headline .moment," +
	".matchup > :nth-child(-n+2) .player-name, .calls button, .pick").flatMap((e) => {
	const name = e.className.baseVal ?? e.className, text = e.textContent.trim();
	const r = e.getBoundingClientRect(), hit = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
	if (r.width < 12 || r.top < 0 || r.left < 0 || r.bottom > innerHeight || r.right > innerWidth) {
		return [name + " " + text + " at " + [r.left, r.top, r.right, r.bottom].map(Math.round).join()];
	}
	if (!hit || !(e.contains(hit) || hit.contains(e))) return [name + " is covered by " + hit?.outerHTML.slice(0, 60)];
	if (e.matches(".player-name") && e.scrollWidth > e.clientWidth) return [text + " is cut"];
	// A finger's height where there is room.
	const least = !e.matches(".calls button, .pick") ? 24 : innerHeight < 500 ? 32 : 40;
	return /button|label/i.test(e.tagName) && r.height < least ? [text + " is " + r.height + " high"] : [];
})`

// On a small screen all that a turn needs is on one screen without scrolling:
// score, inning, bases, count, batter and pitcher, last play and the calls; at bat, and
// in the field with the most calls.
func TestAll_gameSmallScreen(t *testing.T) {
	b := begin(t)
	id := b.hotSeat(nil)
	b.open("/about")
	b.shows("main h1")
	value[bool](b, fmt.Sprintf(client, id))
	value[bool](b, `until(({ bases }, legal) => bases.every((b) => b.player) && legal[0].group === "offense",
		(c) => c.action.pitch === "intentional walk").then(() => true)`)
	b.open("/games/" + id)
	b.settle()
	check := func(turn string, calls int) {
		for _, size := range smallScreens {
			b.do(chromedp.EmulateViewport(size[0], size[1]))
			b.drawn()
			if n := b.count(".calls button, .pick input"); n < calls {
				t.Errorf("%s: %d calls, want at least %d", turn, n, calls)
			}
			if missing := value[[]string](b, outside); len(missing) > 0 {
				t.Errorf("%s, %d × %d:\n%s", turn, size[0], size[1], strings.Join(missing, "\n"))
			}
		}
		b.do(chromedp.EmulateViewport(360, 740), chromedp.Evaluate[chromedp.Void](`scrollTo(0, 400)`))
		b.await(`scrollY > 300`)
		if top := value[float64](b, `$(".situation").getBoundingClientRect().top`); top != 0 {
			t.Errorf("%s: scrolled, the score is at %g", turn, top)
		}
		b.do(chromedp.Evaluate[chromedp.Void](`scrollTo(0, 0)`))
	}
	check("at bat", 6)
	b.do(chromedp.EmulateViewport(1440, 900)) // where each call has its words below
	if n := value[int](b, `$$(".calls li")
		.filter((li) => li.querySelector(".does").getBoundingClientRect().top < li
		.querySelector(".call").getBoundingClientRect().bottom).length`); n > 0 {
		t.Errorf("%d calls cover their words", n)
	}
	b.key("1")
	b.await(`$(".combine button:not(:disabled)")`)
	check("in the field", 13)
	b.speaks("de") // whose words are longer
	b.open("/games/" + id)
	b.await(`$(".combine button:not(:disabled)")`)
	check("in the field, in German", 13)
	question := b.playedUntil(`legal[0]?.group === "answer"`)
	b.open(question)
	b.await(canCall)
	check("a question, in German", 2)
	b.open(b.playedUntil(`legal[0]?.group === "offense" && state.bases.every((b) => b.player)`))
	b.await(canCall)
	check("at bat, in German", 4)
}
