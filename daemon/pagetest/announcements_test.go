package pagetest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"pressbox/packaging/check"
)

// newAnnouncements is [begin] on the page of announcements.
func newAnnouncements(t *testing.T, settings ...string) *tab {
	t.Helper()
	b := begin(t, settings...)
	b.openAnnouncements()
	return b
}

// openAnnouncements opens the announcements and waits for what the server sends.
func (b *tab) openAnnouncements() {
	b.t.Helper()
	b.open("/announcements")
	b.says(".link-state", "Live")
	b.await(`$$("#voice option").length > 1 && $("#volume") && !$("main .waiting")`)
}

// announce sends a message with the form.
func (b *tab) announce(message string) {
	b.t.Helper()
	b.do(chromedp.SendKeys("#message", message), chromedp.Click("main form .primary"))
	b.await(`$("#message").value === ""`)
}

// set sets the value of a field as a user does.
func (b *tab) set(selector, value string) {
	b.t.Helper()
	b.is(fmt.Sprintf(`(() => {
		const field = $(%q);
		field.value = %q;
		for (const event of ["input", "change"]) field.dispatchEvent(new Event(event, { bubbles: true }));
	})()`, selector, value))
}

// queued returns the messages in the queue.
func (b *tab) queued() string {
	b.t.Helper()
	return value[string](b, `json("/api/notify").then((list) => list.queue.map((a) => a.message).join("|"))`)
}

// Urgent applies to one announcement. Escape and S stop what is being spoken,
// but not while a field has the focus. What was stopped can be said again.
func TestAnnouncements_stopAndSayAgain(t *testing.T) {
	b := newAnnouncements(t)
	b.press("#urgent")
	b.announce("The bus leaves.")
	b.says("#queue .hot", "Urgent")
	b.says("#queue small", "from the network")
	check.That(t, !b.is(`$("#urgent").checked`), "urgent is still ticked")
	b.focus("#message", "s"+kb.Escape)
	if got := value[string](b, `$("#message").value`); got != "s" || b.queued() != "The bus leaves." {
		t.Errorf("the field has %q, the queue %q", got, b.queued())
	}
	b.focus("#queue-title", kb.Escape)
	b.says("#recent .cancelled", "Cancelled")
	b.says("section .empty", "The queue is empty.")
	b.pressNamed("Say again")
	b.says("#queue li", "The bus leaves.")
	b.looks("announcements-again")
	b.focus("#recent-title", "s")
	b.await(`$$("#recent .cancelled").length === 2`)
}

// An announcement for a time waits in a list of its own, in which it can be
// cancelled; a time that is past is refused at its field.
func TestAnnouncements_atATime(t *testing.T) {
	b := newAnnouncements(t)
	at := func(when time.Time) {
		b.press(`[name=when][value=at]`)
		b.shows("#at")
		b.set("#at", when.Format("2006-01-02T15:04"))
	}
	at(time.Now().AddDate(0, 0, 2))
	b.announce("The bins.")
	b.says("#scheduled li", "The bins.")
	b.says("#scheduled .scheduled", "Scheduled")
	b.says("#scheduled small", "Plays at")
	b.says("main form [role=status]", "Scheduled:")
	check.That(t, b.is(`$("[name=when][value=now]").checked`), "the next announcement is for a time as well")
	b.press("#scheduled button")
	b.says("#recent li", "The bins.")
	b.expect("422")
	at(time.Now().AddDate(0, 0, -2))
	b.do(chromedp.SendKeys("#message", "Late."), chromedp.Click("main form .primary"))
	b.says("#wrong-at", "already passed")
	b.looks("announcements-at")
}

// The form offers every field of the document, and sends what is filled in.
func TestAnnouncements_everyField(t *testing.T) {
	b := newAnnouncements(t, "ROOM=hall")
	b.is(`$("#more").open = true`)
	b.shows("[name=room][value=hall]")
	b.press("[name=when][value=at]")
	b.shows("[name=at]")
	b.press("[name=when][value=in]")
	const offered = `[...$("main form").elements].map((e) => e.name)`
	missing := value[string](b, `fetch("/openapi.json").then((r) => r.json()).then((api) =>
		Object.keys(api.components.schemas.AnnouncementRequest.properties)
			.filter((name) => name !== "at" && !`+offered+`.includes(name)).join())`)
	check.That(t, missing == "", "the form does not offer %s", missing)

	b.shows("[name=chime] [value=alert]")
	for selector, value := range map[string]string{
		"[name=title]": "Laundry", "[name=priority]": "2", "[name=volume]": "40", "[name=chime]": "alert",
		"[name=sound]": "ding",
		"[name=ttl]":   "5", "[name=repeat]": "own", "[name=in]": "30",
	} {
		b.set(selector, value)
	}
	b.shows("[name=times]")
	b.set("[name=times]", "4")
	b.set("[name=every]", "2")
	b.press("[name=room][value=hall]")
	b.looks("announcements-fields")
	b.announce("The washer is done.")
	b.says("#scheduled li", "Laundry: The washer is done.")
	got := value[string](b, `fetch("/api/notify").then((r) => r.json()).then(({ scheduled: [a] }) => {
		const seconds = (from, to) => Math.round((new Date(to) - new Date(from)) / 1000);
		return [a.title, a.priority, a.volume, a.sound, a.chime, a.repeat.times, a.repeat.every,
			seconds(a.created_at, a.at), seconds(a.at, a.expires_at)].join(" ");
	})`)
	check.Equal(t, got, "Laundry 2 40 ding alert 4 120 1800 300", "it was sent as")
	check.That(t, b.is(`$("[name=title]").value === "" && !$("[name=room]:checked")`),
		"the next announcement has fields of this one")

	b.expect("422")
	b.set("[name=title]", strings.Repeat("x", 251)) // a script is not held by maxlength
	b.do(chromedp.SendKeys("#message", "Late."), chromedp.Click("main form .primary"))
	b.says("#wrong-title", "The title")
}

// An announcement that is repeated is acknowledged with a button.
func TestAnnouncements_acknowledge(t *testing.T) {
	b := newAnnouncements(t)
	b.announce("First.") // the one that is being spoken is spoken to its end
	b.is(`$("form details").open = true`)
	b.choose("#repeat", "Every minute")
	b.announce("The washer is done.")
	b.says("#queue li:nth-child(2)", "The washer is done.")
	b.pressNamed("Acknowledge")
	b.says("#recent li", "The washer is done.")
	b.announce("Once.")
	check.Equal(t, value[int](b, `json("/api/notify").then((list) => list.queue.filter((a) => a.repeat).length)`),
		0, "announcements that are repeated")
}

// A favorite is spoken with one press, and shown in each browser.
func TestAnnouncements_favorites(t *testing.T) {
	b := newAnnouncements(t, "CONTROL_ACCESS=lan")
	other := newTab(t, b.server)
	other.openAnnouncements()
	b.press("#urgent")
	b.do(chromedp.SendKeys("#message", "Dinner is ready."))
	b.pressNamed("Save as favorite")
	b.says(".favorites .speak", "Dinner is ready.")
	other.press(".favorites .speak")
	other.says("#queue .urgent", "Dinner is ready.")
	b.says("#queue .urgent", "Dinner is ready.")
	b.looks("announcements-favorites")
	other.confirm(".favorites .remove", false)
	b.says(".favorites .speak", "Dinner is ready.")
	other.confirm(".favorites .remove", true)
	other.says("main .empty", "No favorites yet")
	b.says("main .empty", "No favorites yet")
}

// A schedule is created by weekdays and a time, which are sent as cron; one that
// has others is shown as its cron expression. It is turned off and removed.
func TestAnnouncements_schedules(t *testing.T) {
	b := newAnnouncements(t, "CONTROL_ACCESS=lan")
	b.press("[name=when][value=weekly]")
	b.press(".day input:checked") // today
	for _, day := range []string{"Monday", "Tuesday", "Wednesday", "Thursday"} {
		b.press(`.day input[aria-label="` + day + `"]`)
	}
	b.set("#time", "06:30")
	b.announce("Wake up.")
	b.says("#schedules strong", "Mon, Tue, Wed, Thu at 6:30 AM")
	b.says("#schedules small", "Next: ")
	b.says("#schedules .quote", "Wake up.")
	const first = `json("/api/schedules").then((list) => list.schedules[0].`
	cron := value[string](b, first+"cron)")
	next := check.Must(time.Parse(time.RFC3339, value[string](b, first+"next_at)")))(t).Local()
	if day := next.Weekday(); cron != "30 6 * * 1,2,3,4" || next.Format("15:04") != "06:30" ||
		day < time.Monday || day > time.Thursday {
		t.Errorf("the schedule is %q, next at %s", cron, next)
	}
	b.looks("announcements-schedules")

	b.pressNamed("Skip next")
	b.says("#schedules small", "Skips ")
	skipped := check.Must(time.Parse(time.RFC3339, value[string](b, first+"skip_at)")))(t).Local()
	check.Equal(t, skipped, next, "what is skipped")
	b.pressNamed("Restore")
	b.await(`!$("#schedules small").innerText.includes("Skips")`)

	b.pressNamed("Edit")
	b.await(`$("#message").value === "Wake up." && $("#time").value === "06:30" && $$(".day :checked").length === 4`)
	b.press(`.day input[aria-label="Thursday"]`)
	b.set("#time", "06:45")
	b.looks("announcements-edit")
	b.pressNamed("Save")
	b.says("#schedules strong", "Mon, Tue, Wed at 6:45 AM")
	check.Equal(t, value[int](b, `$$("#schedules li").length`), 1, "schedules after one was changed")
	b.await(`$("#message").value === "" && !$("#time")`)

	b.press("#schedules input")
	b.says("#schedules small", "Off")
	check.That(t, !value[bool](b, first+"enabled)"), "it is still on")
	b.confirm("#schedules button:last-of-type", true)
	b.says("main .empty", "No schedules yet")
	b.is(`fetch("/api/schedules", { method: "POST", headers: { "Content-Type": "application/json" },
		body: '{"name": "Rent", "cron": "0 9 1 * *", "message": "The rent is due."}' }).then((r) => r.ok)`)
	b.says("#schedules code", "0 9 1 * *")
	b.pressNamed("Edit")
	b.await(`$("#cron").value === "0 9 1 * *"`)
	b.set("#cron", "0 9 2 * *")
	b.pressNamed("Save")
	b.says("#schedules code", "0 9 2 * *")
	b.press("[name=when][value=weekly]")
	b.press(".day input:checked")
	b.do(chromedp.SendKeys("#message", "Never."), chromedp.Click("main form .primary"))
	b.says("#wrong-cron", "at least one weekday")
}

// The volume is set with the keyboard, muted, and applies in each browser.
func TestAnnouncements_volume(t *testing.T) {
	b := newAnnouncements(t, "CONTROL_ACCESS=lan", "VOLUME=50")
	other := newTab(t, b.server)
	other.openAnnouncements()
	b.says("#level", "50 %")
	b.focus("#volume", kb.Home)
	b.says("#level", "0 %")
	b.focus("#volume", kb.ArrowRight)
	other.says("#level", "1 %")
	b.focus("#volume", strings.Repeat(kb.ArrowRight, 4))
	b.await(`$("#volume").value === "5"`)
	b.says("#level", "25 %") // half the way of the slider is half as loud to the ear
	other.says("#level", "25 %")
	other.await(`$("#volume").value === "5"`)
	b.pressNamed("Mute")
	other.says("#level", "muted (25 %)")
	other.says("main form .hint", "Muted")
	other.announce("Hello.")
	other.says("#recent .silenced", "Not spoken")
	other.says("#recent small", "The loudspeaker was muted")
	b.pressNamed("Mute")
	other.await(`$("#level").innerText === "25 %"`)
}

// Do not disturb is turned on for an hour, until the morning or a time, and off.
func TestAnnouncements_doNotDisturb(t *testing.T) {
	b := newAnnouncements(t, "CONTROL_ACCESS=lan")
	b.says("#quiet", "Off")
	until := func() time.Time {
		return check.Must(time.Parse(time.RFC3339, get[map[string]any](b, "/api/quiet")["until"].(string)))(t).Local()
	}
	soon := time.Now().Add(30 * time.Minute)
	b.is(fmt.Sprintf(`fetch("/api/schedules", { method: "POST", headers: { "Content-Type": "application/json" },
		body: '{"name": "Bus", "cron": "%d %d * * *", "message": "The bus."}' }).then((r) => r.ok)`,
		soon.Minute(), soon.Hour()))
	b.says("#schedules small", "Next: ")
	check.That(t, !b.is(`$("#schedules small").innerText.includes("urgent")`), "it is quiet then")
	b.pressNamed("For 1 hour")
	b.says("#schedules small", "Only urgent announcements are spoken")
	b.says("#quiet", "(switched on)")
	if left := time.Until(until()); left > time.Hour || left < 30*time.Minute {
		t.Errorf("it is quiet for %s", left)
	}
	b.says("main form .hint", "Do not disturb: On until")
	b.announce("Hello.")
	b.says("#recent .silenced", "Not spoken")
	b.says("#recent small", "Do not disturb was on")
	b.looks("announcements-quiet")
	before := value[string](b, `$("#quiet").innerText`)
	b.pressNamed("Until 7 AM")
	b.await(`$("#quiet").innerText !== %q`, before)
	check.Equal(t, until().Format("15:04:05"), "07:00:00", "the end of quiet")
	b.set(`#quiet ~ .row input`, "05:45")
	b.pressNamed("Until")
	b.says("#quiet", "5:45 AM")
	b.pressNamed("Turn off")
	b.says("#quiet", "Off")
}

// Without permission the controls are disabled, with the reason beside them.
func TestAnnouncements_controlsDisabled(t *testing.T) {
	b := newAnnouncements(t)
	for _, selector := range []string{"#volume", "[value=weekly]", "#quiet ~ .row button"} {
		if !b.is(fmt.Sprintf(`(() => {
			const control = $(%q), reason = document.getElementById(control.getAttribute("aria-describedby"));
			return control.disabled && reason.innerText.includes("Only administrators") &&
				reason.querySelector('a[href^="/api/auth/idp/login"]');
		})()`, selector)) {
			t.Errorf("%s is enabled, or has no reason", selector)
		}
	}
	b.join("Anna")
	b.openAnnouncements()
	check.That(t, b.is(`$("#volume").disabled && !$(".hint a")`),
		"an account without the administrator's flag may change the volume")
	b.looks("announcements-disabled")
}

// An administrator's account may change everything without CONTROL_ACCESS=lan, and sees the addresses of senders.
func TestAnnouncements_administrator(t *testing.T) {
	b := begin(t)
	visitor := newTab(t, b.server)
	b.join("Anna")
	b.command("users", "admin", "Anna")
	b.openAnnouncements()
	b.focus("#volume", kb.ArrowLeft)
	check.That(t, !b.is(`$("main :disabled[aria-describedby], main #why-speaker")`), "something is disabled")
	visitor.openAnnouncements()
	visitor.says("#level", "81 %")
	visitor.announce("Hello.")
	b.says("#queue small", "from 127.0.0.1")
	visitor.says("#queue small", "from the network")
}

// An announcement that quiet holds shows when it is spoken, and goes back to the queue when quiet is turned off.
func TestAnnouncements_held(t *testing.T) {
	b := newAnnouncements(t, "CONTROL_ACCESS=lan", "QUIET_MODE=hold", "NOTIFY_TTL=86400")
	b.pressNamed("For 1 hour")
	b.says("main form .hint", "Announcements wait until then")
	b.announce("Hello.")
	b.says("#scheduled small", "Do not disturb: plays at")
	b.says("main form [role=status]", "Scheduled:")
	b.pressNamed("Turn off")
	b.says("#queue li", "Hello.")
	b.await(`!$("#scheduled")`)
}

// The page writes cron, and reads what it can show as a time on weekdays.
func TestAnnouncements_cron(t *testing.T) {
	b := begin(t)
	b.open("/about")
	b.shows("main h1")
	const module = `import($$("link").find((l) => l.href.endsWith("/ui.js")).href)`
	reads := func(cron, want string) {
		got := value[string](b, fmt.Sprintf(`%s.then(({ parseCron }) => parseCron(%q))
			.then((c) => c ? c.hour + ":" + c.minute + " " + [...c.days].sort() : "")`, module, cron))
		check.Equal(t, got, want, "%q is read as", cron)
	}
	for cron, want := range map[string]string{
		"30 6 * * 1,2,3": "6:30 1,2,3", "0 0 * * *": "0:0 0,1,2,3,4,5,6", "59 23 * * mon-fri": "23:59 1,2,3,4,5",
		"5 07 * * SUN,6": "7:5 0,6", "0 9 * * 5-7": "9:0 0,5,6",
	} {
		reads(cron, want)
	}
	for _, other := range []string{
		"0 9 1 * *", "0 9 * 6 1", "*/5 9 * * 1", "0 9-17 * * 1", "0 24 * * 1", "60 9 * * 1", "0 9 * * 5-1",
		"0 9 * * 1-3-5", "0 9 * * 8", "0 9 * * 1#2", "0 9 * *",
	} {
		reads(other, "")
	}
	got := value[string](b, module+`.then(({ cronOf }) =>
		[cronOf(new Set([5, 1]), "06:05"), cronOf(new Set([0, 1, 2, 3, 4, 5, 6]), "23:59")].join("|"))`)
	check.Equal(t, got, strings.Join([]string{"5 6 * * 1,5", "59 23 * * *"}, "|"), "it wrote")
}

// Twelve tabs of one browser receive announcements at once, and fifty full loads in a row each finish: with HTTP/1.1
// a browser has six connections, which the tabs' streams, or those of pages that were left, would use up.
func TestAll_manyTabs(t *testing.T) {
	first := begin(t)
	tabs := []*tab{first}
	for range 11 {
		tabs = append(tabs, first.another())
	}
	for _, b := range tabs {
		b.open("/announcements")
		b.shows(".link-state.on")
	}
	tabs[11].do(chromedp.SendKeys("#message", "Dinner is ready."), chromedp.Click("main form .primary"))
	for _, b := range tabs {
		b.says("main", "Dinner is ready.")
	}
	var slowest time.Duration
	b := first.another()
	for i := range 50 {
		began := time.Now()
		b.open([]string{"/announcements", "/kiosk", "/about", "/"}[i%4])
		b.shows([]string{".link-state.on", ".wall.live", "main h1", ".cover"}[i%4])
		slowest = max(slowest, time.Since(began))
	}
	t.Logf("the slowest load took %v", slowest)
	tabs[0].do(chromedp.Navigate("about:blank")) // the one that opened the stream
	b.open("/announcements")
	b.do(chromedp.SendKeys("#message", "Bedtime."), chromedp.Click("main form .primary"))
	tabs[5].says("main", "Bedtime.")
}

// seen reports whether an element is on the screen as a whole.
func (b *tab) seen(selector string) bool {
	return b.is(fmt.Sprintf(`(() => {
		const { top, bottom, left, right } = $(%q).getBoundingClientRect();
		return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
	})()`, selector))
}

// On a phone the button and what becomes of the announcement are on the first screen, in both languages; afterwards
// Escape stops it. What is wrong has the focus, also a weekday, and among the other options.
func TestAnnouncements_phone(t *testing.T) {
	t.Parallel()
	s := newServer(t, "CONTROL_ACCESS=lan")
	b := newTab(t, s)
	b.open("/announcements")
	b.is(`fetch("/api/favorites", { method: "PUT", headers: { "Content-Type": "application/json" },
		body: JSON.stringify({ favorites: ["Dinner is ready.", "The laundry is done, and it rains.", "Good night."]
			.map((message) => ({ message })) }) }).then((r) => r.ok)`)
	for _, language := range []string{"en", "de"} {
		b := newTab(t, s)
		b.speaks(language)
		b.do(chromedp.EmulateViewport(360, 740))
		b.open("/announcements")
		b.await(`$$("#voice option").length > 1 && $$(".favorites li").length === 3`)
		if screenshots != "" {
			b.shoot(filepath.Join(screenshots, "announcements-phone-"+language+".png"), chromedp.CaptureScreenshot())
		}
		check.That(t, b.seen("#announce"), "%s: the button is not on the first screen", language)
		b.do(chromedp.SendKeys("#message", "Dinner."), chromedp.Click("#announce"))
		b.await(`$("main form [role=status]").textContent !== ""`)
		check.That(t, b.seen("main form [role=status]"), "%s: what became of it is not on the screen", language)
		b.await(`document.activeElement === $("#announce")`)
		b.do(chromedp.KeyEvent(kb.Escape))
		b.await(`$("#recent .cancelled")`)

		b.press("[name=when][value=weekly]")
		b.await(`$(".day :checked")`)
		check.Equal(t, value[int](b, `$$(".day :checked").length`), 1, "days of a new schedule")
		b.press(".day:has(:checked)")
		b.await(`!$(".day :checked")`)
		b.do(chromedp.SendKeys("#message", "The bins."), chromedp.Click("#announce"))
		b.await(`document.activeElement === $(".day input")`)
		b.await(`$("#wrong-cron")`)
		check.That(t, b.seen("#wrong-cron"), "%s: what is wrong is not on the screen", language)

		b.press("[name=when][value=now]")
		b.is(`$("#more").open = true`)
		b.await(`$("[name=chime] [value=ding]")`)
		b.expect("422")
		b.is(`$("main form").noValidate = true`)
		b.set("#field-volume", "101")
		b.is(`$("#more").open = false`)
		b.do(chromedp.Click("#announce"))
		b.await(`document.activeElement === $("#field-volume") && $("#more").open`)
	}
}

// What is typed stays where it was over Back and a reload; Ctrl+Enter sends it. A view is scrolled to where it was.
func TestAnnouncements_draft(t *testing.T) {
	b := newAnnouncements(t, "ROOM=hall")
	b.do(chromedp.SendKeys("#message", "The bus"))
	b.is(`$("#more").open = true`)
	b.shows("[name=room][value=hall]")
	b.press("[name=room][value=hall]")
	b.set("#field-title", "School")
	b.do(chromedp.EmulateViewport(1280, 300), chromedp.Evaluate[chromedp.Void](`scrollTo(0, 200)`))
	b.await(`history.state?.y === 200`)
	back := func() {
		b.await(`$("#message")?.value === "The bus" && $("#field-title").value === "School" &&
			$("[name=room][value=hall]")?.checked`)
		b.await(`scrollY === 200`)
	}
	b.is(`$("footer a[href='/about']").click()`)
	b.says("main h1", "About")
	b.await(`scrollY === 0`)
	b.do(chromedp.Evaluate[chromedp.Void](`history.back()`))
	back()
	b.do(chromedp.Reload())
	back()
	b.do(chromedp.SendKeys("#message", " is late."))
	b.focus("#message", kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl))
	b.says("#queue li", "School: The bus is late.")
	b.do(chromedp.Reload())
	b.await(`$("#message")?.value === ""`)
}
