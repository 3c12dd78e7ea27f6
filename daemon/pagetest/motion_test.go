package pagetest_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// longest is how long something may move for who does not mind, in seconds.
const longest = .15

// moving is what could move for longer than some seconds: by a transition, an
// animation, or scrolling that glides.
const moving = `[...document.querySelectorAll("*")].flatMap((e) => ["", "::before", "::after"].flatMap((part) => {
	const style = getComputedStyle(e, part), long = style.transitionDuration.split(",").some((d) => parseFloat(d) > %g);
	return long || style.animationName !== "none" || style.scrollBehavior !== "auto" ? [e.tagName + "." + e.getAttribute("class") + part] : [];
}))`

// Who has asked for less motion sees none, on any page; for everybody else
// nothing takes long.
func TestMotion(t *testing.T) {
	t.Parallel()
	b := newTab(t, newAppliance(t))
	b.open("/")
	b.still("the cover")
	b.open("/api/auth/idp/login")
	b.await(`document.querySelector("#passphrase")`)
	b.still("the forms")
	b.join("Anna")
	id := b.newGame(map[string]string{"opponent": "bench coach"})
	b.still("the card")
	b.handIn("home")
	b.await(canCall)
	b.press(".dugout summary")
	b.call()
	b.await(canCall)
	b.still("the game")
	for path, shown := range map[string]string{
		"/": ".game-stub", "/new": ".club-pick", "/games/" + id + "/replay": "#moment", "/standings": "main .empty", "/players": "main .empty",
		"/announcements": "#message", "/account": "main .stubs", "/about": "main h2", "/kiosk": ".wall-club", "/auth/callback?error=idp_error": "[role=alert]",
	} {
		b.open(path)
		b.await(fmt.Sprintf("document.querySelector(%q)", shown))
		b.still(path)
	}
}

// still holds what is shown against what may move.
func (b *tab) still(name string) {
	b.t.Helper()
	for asked, most := range map[string]float64{"reduce": 0, "no-preference": longest} {
		b.emulate("prefers-reduced-motion", asked)
		if found := value[[]string](b, fmt.Sprintf(moving, most)); len(found) > 0 {
			b.t.Errorf("%s: with %s these move: %q", name, asked, found)
		}
		if runs := value[int](b, `document.getAnimations().filter((a) => !(a instanceof CSSTransition)).length`); runs > 0 {
			b.t.Errorf("%s: with %s %d animations run", name, asked, runs)
		}
	}
}

// A button that is pointed at changes its border: at once for who has asked for
// less motion, and gently for everybody else.
func TestMotionWhenPointed(t *testing.T) {
	t.Parallel()
	b := newTab(t, newAppliance(t))
	b.open("/")
	for asked, want := range map[string]bool{"reduce": false, "no-preference": true} {
		b.emulate("prefers-reduced-motion", asked)
		b.point(1, 1)
		b.drawn()
		value[bool](b, `window.ran = false, document.addEventListener("transitionrun", () => { window.ran = true; }), true`)
		at := value[[]float64](b, `(({ x, y, width, height }) => [x + width / 2, y + height / 2])(document.querySelector('main a.button.primary').getBoundingClientRect())`)
		b.point(at[0], at[1])
		b.await(`document.querySelector("main a.button.primary:hover")`)
		b.drawn()
		if got := value[bool](b, "window.ran"); got != want {
			t.Errorf("with %s a transition ran: %t", asked, got)
		}
	}
}

// point moves the mouse.
func (b *tab) point(x, y float64) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{
		Type: input.DispatchMouseEventTypeMouseMoved, X: x, Y: y,
	})
	if err != nil {
		b.t.Fatal(err)
	}
}
