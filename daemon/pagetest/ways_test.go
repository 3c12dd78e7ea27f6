package pagetest_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"pressbox/packaging/check"
)

// A way is what a person does on a phone to reach something, counted.
type way struct {
	*tab
	taps, fields int
}

// tap taps an element.
func (w *way) tap(selector string) {
	w.t.Helper()
	w.press(selector)
	w.taps++
}

// tapNamed taps the button or link with a text.
func (w *way) tapNamed(text string) {
	w.t.Helper()
	w.await(`(() => {
		for (const e of $$("[data-way]")) e.removeAttribute("data-way");
		const named = [...$$("button:not(:disabled), a, label")]
			.find((e) => e.checkVisibility() && e.innerText.trim() === %q);
		named?.setAttribute("data-way", "");
		return named;
	})()`, text)
	w.tap("[data-way]")
}

// fill types into a field.
func (w *way) fill(selector, text string) {
	w.t.Helper()
	w.shows(selector)
	w.do(chromedp.SendKeys(selector, text))
	w.fields++
}

// account creates an account.
func (w *way) account(name string) {
	w.t.Helper()
	w.tapNamed("Sign in")
	w.fill("#new-name", name)
	w.fill("#new-passphrase", passphrase)
	w.tapNamed("Create account")
}

// say announces a message.
func (w *way) say(message string) {
	w.t.Helper()
	w.tapNamed("Announce")
	w.fill("#message", message)
	w.tap("#announce")
	w.says("#queue, .onair", message)
}

// firstCall starts a game against the bot, and makes the first call.
func (w *way) firstCall() {
	w.t.Helper()
	w.tapNamed("Play the bot now")
	w.await(canCall)
	w.tap(".calls button")
}

// The ways that people go most often take few taps and fields, from the first screen on a phone: each row has the most.
// A name and a passphrase are two fields; the time of a machine is logged, without limit.
func TestAll_ways(t *testing.T) {
	t.Parallel()
	s := newServer(t, "CONTROL_ACCESS=lan")
	host := newTab(t, s)
	host.join("Host")
	host.command("users", "admin", "Host")
	guest := host.newGame(map[string]string{"innings": "3"})
	host.pressNamed("Seat for a guest, without an account")
	host.await(`$("#invite").value.includes("/join/")`)
	seat := value[string](host, `new URL($("#invite").value).pathname`)
	host.openAnnouncements()
	host.announce("Dinner is ready.")
	host.says("#queue li, .onair", "Dinner is ready.")
	host.focus("#queue-title", kb.Escape)
	host.shows("#recent .cancelled")
	for _, tt := range []struct {
		name         string
		by           *tab // nil is one who was never here
		taps, fields int
		walk         func(*way)
	}{
		{"announce", nil, 2, 1, func(w *way) { w.say("Dinner is ready.") }},
		{"say it again", nil, 2, 0, func(w *way) {
			w.tapNamed("Announce")
			w.tapNamed("Say again")
			w.await(`$("#queue li")`)
		}},
		{"a weekly reminder", nil, 3, 2, func(w *way) {
			w.tapNamed("Announce")
			w.fill("#message", "The bins.")
			w.tapNamed("Every week")
			w.fill("#time", "0630PM")
			w.tap("#announce")
			w.says("#schedules", "The bins.")
		}},
		{"a child takes the seat by QR", nil, 2, 1, func(w *way) {
			w.open(seat)
			w.fill(`[name="name"]`, "Mia")
			w.tap("main form button.primary")
			w.await(`location.pathname === "/games/%s/lineup"`, guest)
			w.tap("#away-card button.primary")
			w.await(`$("#away-card .good-inline")`)
		}},
		{"invite a person", host, 3, 0, func(w *way) {
			w.tapNamed("Admin")
			w.tapNamed("People")
			w.tapNamed("Create an invite")
			w.shows("#secret .qr")
		}},
		{"the first call against the bot", nil, 4, 2, func(w *way) {
			w.account("Ben")
			w.firstCall()
		}},
		{"the owner's first evening: an account, an announcement, a game", nil, 7, 3, func(w *way) {
			w.account("Anna")
			w.say("Good evening.")
			w.tapNamed("Games")
			w.firstCall()
		}},
		{"silence tonight", nil, 2, 0, func(w *way) {
			w.tapNamed("Announce")
			w.tapNamed("Until 7 AM")
			w.says("#quiet", "(switched on)")
		}},
	} {
		b := tt.by
		if b == nil {
			b = newTab(t, s)
		}
		b.do(chromedp.EmulateViewport(360, 740))
		b.open("/")
		b.shows("footer")
		w, begun := &way{tab: b}, time.Now()
		tt.walk(w)
		t.Logf("%s: %d taps, %d fields, %.1f s", tt.name, w.taps, w.fields, time.Since(begun).Seconds())
		check.That(t, w.taps <= tt.taps && w.fields <= tt.fields,
			"%s takes %d taps and %d fields, want at most %d and %d", tt.name, w.taps, w.fields, tt.taps, tt.fields)
	}
}
