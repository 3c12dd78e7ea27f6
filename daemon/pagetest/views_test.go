package pagetest_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"pressbox/packaging/check"
)

// A user signs up, sees the session, changes the passphrase and signs out.
func TestAccount_signUpToSignOut(t *testing.T) {
	b := begin(t)
	b.toForms()
	// it looks like the page
	b.await(`document.fonts.check("1rem Bevan") && getComputedStyle($("h1")).fontFamily.startsWith("Bevan")`)
	b.looks("signin")
	b.join("Anna")
	b.press(`header a[href="/account"]`)
	b.says("main h1", "Anna")
	b.says("main li", "This device")
	b.looks("account")
	change := func(current, next string) {
		b.do(
			chromedp.SetValue(`input[name="current"]`, current),
			chromedp.SetValue(`input[name="passphrase"]`, next),
			chromedp.Click("main form button"),
		)
	}
	change(passphrase, "another good phrase")
	b.says("[role=status]", "changed")
	b.expect("/api/auth/passphrase") // the second change fails
	change(passphrase, "a third good phrase")
	b.shows("main [role=alert]")
	b.press("main .row .primary")
	b.shows("header a.signin")
	b.says("main h1", "Tickets")
}

// Deleting an account asks for its passphrase again where the server does, ends its sessions in all browsers, and frees
// its name for another account.
func TestAccount_delete(t *testing.T) {
	b, other := beginTwo(t)
	b.join("Anna")
	id := func() string { return get[map[string]any](b, "/api/auth/me")["id"].(string) }
	deleted := id()
	other.signIn("Anna", passphrase)
	other.says(`header a[href="/account"]`, "Anna")
	b.press(`header a[href="/account"]`)
	b.shows("main .danger")
	check.Contains(t, b.confirm("main .danger", false), "cannot be undone", "the question")
	b.open("/account")
	b.says("main h1", "Anna")
	b.asksAgain("DELETE", "/api/auth/me")
	b.confirm("main .danger", true)
	b.do(chromedp.SendKeys("#again", passphrase+"\r"))
	b.shows("header a.signin")
	b.says("main h1", "Tickets")
	check.Equal(t, b.status("GET", "/api/auth/me"), 401, "status of GET /api/auth/me")
	other.expect("401")
	other.press(`header a[href="/account"]`)
	other.says("main h1", "Tickets")
	other.expect("422")
	other.signIn("Anna", passphrase)
	other.shows("[role=alert]")
	b.join("Anna")
	check.That(t, id() != deleted, "the new account has the id of the deleted one")
}

// Each error of a sign-in has an explanation. Nothing of the address is shown but the reference.
func TestCallback_explainsEachError(t *testing.T) {
	b := begin(t)
	for code, text := range map[string]string{
		"access_denied":          "cancelled or refused",
		"invalid_state":          "already finished",
		"state_expired":          "ten minutes",
		"state_browser_mismatch": "cookies",
		"issuer_mismatch":        "another identity provider",
		"exchange_failed":        "did not confirm",
		"idp_unreachable":        "cannot be reached",
		"userinfo_failed":        "did not return your account",
		"idp_error":              "reported an error",
		"not_invited":            "invite",
		"account_disabled":       "disabled",
		"clock_unsynced":         "clock",
		"insecure_transport":     "https",
		"rate_limited":           "Too many",
		"server_error":           "went wrong",
		"<b>made up</b>":         "went wrong",
	} {
		b.open("/auth/callback?error_description=%3Cb%3Eevil%3C%2Fb%3E&error_id=ABC123&error=" + code)
		b.says("main [role=alert]", text)
		b.says("main", "ABC123")
		if !b.is(`$('main a[href^="/api/auth/idp/login"]') && !document.body.innerText.includes("evil") &&
			!$("main b")`) {
			t.Errorf("%s: %s", code, b.content())
		}
	}
	b.looks("callback")
	b.open("/auth/callback?error=not_invited") // an invite is entered where it is missing
	b.focus("[name=invite]", "xi_x")
	b.press("main form button")
	b.await(`location.pathname === "/api/auth/local/authorize" && location.search.includes("invite=xi_x")`)
	b.open("/api/auth/idp/login")
	b.shows("#new-name")
	b.looks("forms")
	b.press(`a[href*="access_denied"]`)
	b.says("main h1", "Changed your mind")
}

// An announcement is sent once, appears in each browser's queue, can be heard
// and read in words before and cancelled after. A violation is shown at its field.
func TestAnnouncements_previewQueueCancel(t *testing.T) {
	b, other := beginTwo(t)
	for _, tab := range []*tab{other, b} {
		tab.open("/announcements")
		tab.says(".link-state", "Live")
	}
	b.await(`$$("#voice option").length > 1`)
	b.do(chromedp.SendKeys("#message", "Dinner in 5m."))
	b.pressNamed("Show the wording")
	b.says("#shown", "Dinner in five minutes.")
	b.is(`(() => {
		const button = $("button[aria-pressed]");
		window.labels = []; // all labels of the button, as a second of speech may be over before the test looks
		new MutationObserver(() => window.labels.push(button.textContent)).observe(button,
			{ childList: true, characterData: true, subtree: true });
	})()`)
	b.press(`button[aria-pressed]`)
	b.await(`window.labels.some((label) => label.includes("Stop"))`)
	b.says(`button[aria-pressed]`, "Preview")
	b.press("main form .primary")
	b.says("[role=status]", "to the queue")
	b.says(".stubs li", "Dinner in 5m.")
	other.says(".stubs li", "Dinner in 5m.")
	check.Equal(t, other.count(".stubs li"), 1, "times in the queue")
	b.expect("422")
	b.do(chromedp.SendKeys("#message", "…"), chromedp.Click("main form .primary"))
	b.await(`$("#wrong-message") && $("#message").getAttribute("aria-invalid") === "true"`)
	text := value[string](b, `$$("main [role=alert]").map((e) => e.innerText).join("|")`)
	check.That(t, strings.HasPrefix(text, "The message ") && !strings.Contains(text, "|"),
		"the violation is shown as %q", text)
	b.looks("announcements")
	other.press(".stubs li button")
	b.says(".ledger li", "Dinner in 5m.")
	b.says(".ledger .tag", "cancelled")
}

// An address or a game that does not exist is answered with 404 and a way out.
func TestPage_notFound(t *testing.T) {
	b := begin(t)
	b.expect("404")
	b.open("/left/field")
	b.says("main h1", "Foul ball")
	b.press("main a.button")
	b.says("main h1", "Baseball tonight")
	b.looks("cover")
	b.open("/about")
	b.says("main h1", "About")
	b.looks("about")
	b.join("Anna")
	for _, path := range []string{"/games/unknown", "/games/unknown/lineup", "/games/unknown/replay"} {
		b.open(path)
		b.says("main h1", "Foul ball")
		b.says("main [role=alert]", "nothing at this address")
	}
}

var ofASeason = regexp.MustCompile(`^/api/(?:teams|teams/[^/]+/|stats/)(teams|roster|standings|players)?(?:\?|$)`)

// Clubs, rosters and statistics are requested for the season of the setting DEFAULT_SEASON, which is 3 by default.
func TestPage_requestsDefaultSeason(t *testing.T) {
	t.Parallel()
	for season, settings := range map[string][]string{"3": nil, "2": {"DEFAULT_SEASON=2"}} {
		t.Run(season, func(t *testing.T) {
			t.Parallel()
			b := newTab(t, newServer(t, settings...))
			b.join("Anna")
			b.open("/new")
			b.await(`$$(".clubs .hint").length === 2`) // both rosters
			for _, path := range []string{"/standings", "/players"} {
				b.open(path)
				b.shows("main .empty")
			}
			seasons := value[[]string](b, `$$("main select").at(-1).innerText.split(/\s+/)`)
			check.That(t, seasons[0] == season && seasons[len(seasons)-1] == "1", "the seasons are %q", seasons)
			b.mu.Lock()
			defer b.mu.Unlock()
			requested := map[string]bool{}
			for _, path := range b.paths {
				if found := ofASeason.FindStringSubmatch(path); found != nil {
					requested[found[1]] = true
					_, query, _ := strings.Cut(path, "?")
					check.That(t, slices.Contains(strings.Split(query, "&"), "season="+season),
						"requested %s, want season %s", path, season)
				}
			}
			if len(requested) != 4 { // "" are the teams
				t.Errorf("not all kinds were requested: %q", b.paths)
			}
		})
	}
}

// moving lists the elements with a transition longer than some seconds, an animation, or smooth scrolling.
const moving = `$$("*").flatMap((e) => ["", "::before", "::after"].flatMap((part) => {
	const style = getComputedStyle(e, part), long = style.transitionDuration.split(",").some((d) => parseFloat(d) > %g);
	return long || style.animationName !== "none" || style.scrollBehavior !== "auto"
		? [e.tagName + "." + e.getAttribute("class") + part] : [];
}))`

// Nothing moves for users who prefer reduced motion, and nothing but a play for longer than 150 ms for others.
func TestPage_reducedMotion(t *testing.T) {
	b := begin(t)
	still := func(name string) {
		t.Helper()
		for preference, seconds := range map[string]float64{"reduce": 0, "no-preference": .15} {
			b.emulate("prefers-reduced-motion", preference)
			if found := value[[]string](b, fmt.Sprintf(moving, seconds)); len(found) > 0 {
				t.Errorf("%s with %s: %q move", name, preference, found)
			}
			if n := value[int](b, `document.getAnimations()
				.filter((a) => !(a instanceof CSSTransition)).length`); n > 0 {
				t.Errorf("%s with %s: %d animations", name, preference, n)
			}
		}
	}
	b.open("/")
	still("the cover")
	b.hover()
	b.open("/api/auth/idp/login")
	b.shows("#passphrase")
	still("the forms")
	b.join("Anna")
	id := b.newGame(map[string]string{"opponent": "bot"})
	still("the card")
	b.handIn("home")
	b.await(canCall)
	b.press(".offers summary")
	b.call()
	b.settle()
	still("the game")
	for path, selector := range map[string]string{
		"/": ".game-stub", "/new": ".club-pick", "/games/" + id + "/replay": "#moment", "/standings": "main .empty",
		"/players": "main .empty",
		"/leaders": "main .empty", "/managers": "main .empty", "/leagues": "main .empty",
		"/announcements": "#message", "/account": "main .stubs", "/about": "main h2", "/kiosk": ".wall-game",
		"/auth/callback?error=idp_error": "[role=alert]",
	} {
		b.open(path)
		b.shows(selector)
		still(path)
	}
}

// hover points at a button, whose border changes at once with reduced motion and with a transition without.
func (b *tab) hover() {
	b.t.Helper()
	point := func(x, y float64) {
		send(b, input.DispatchMouseEvent,
			input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: x, Y: y})
	}
	for preference, want := range map[string]bool{"reduce": false, "no-preference": true} {
		b.emulate("prefers-reduced-motion", preference)
		point(1, 1)
		b.drawn()
		b.is(`window.ran = false, document.addEventListener("transitionrun", () => { window.ran = true; })`)
		center := value[[]float64](b, `(({ x, y, width, height }) =>
			[x + width / 2, y + height / 2])($('main a.button.primary').getBoundingClientRect())`)
		point(center[0], center[1])
		b.shows("main a.button.primary:hover")
		b.drawn()
		check.Equal(b.t, b.is("window.ran"), want, "transition with %s", preference)
	}
}

// locks counts the wake locks that the page holds.
const locks = `{
	globalThis.locks = 0;
	const request = navigator.wakeLock.request.bind(navigator.wakeLock);
	navigator.wakeLock.request = async (type) => {
		const lock = await request(type);
		if (type === "screen") locks++;
		lock.addEventListener("release", () => locks--);
		return lock;
	};
}`

// The wall display and a game keep the screen on and have a button for the full screen; other views do neither.
func TestScreen(t *testing.T) {
	b := begin(t)
	b.preload(locks)
	send(b, browser.SetPermission, browser.SetPermissionParams{ // the headless shell refuses it otherwise
		Permission: &browser.PermissionDescriptor{Name: "screen-wake-lock"}, Setting: browser.PermissionSettingGranted,
		BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
	})
	b.join("Anna")
	id := b.newGame(map[string]string{"opponent": "bot"})
	b.handIn("home")
	for _, path := range []string{"/games/" + id, "/kiosk"} {
		b.open(path)
		b.await(`locks === 1`)
		b.focus(".screen", "\r") // a click could miss it, as the page still moves
		b.await(`document.fullscreenElement === document.documentElement`)
		b.says(".screen", "Exit full screen")
		b.focus(".screen", "\r")
		b.await(`!document.fullscreenElement`)
	}
	b.open("/games/" + id)
	b.await(`locks === 1`)
	b.is(`$("footer a[href='/about']").click()`) // loads no page
	b.says("main h1", "About")
	b.await(`locks === 0`)
	check.That(t, !b.is(`$(".screen")`), "the page about Pressbox has a button for the full screen")
}

// Chromium can install the page from a secure origin; at another one /about names what is missing.
func TestInstall(t *testing.T) {
	b := begin(t)
	b.open("/about")
	b.says("main", "Install Pressbox from your browser")
	manifest := send(b, page.GetAppManifest, page.GetAppManifestParams{})
	check.That(t, len(manifest.Errors) == 0 && manifest.URL == b.URL+"/manifest.webmanifest",
		"the manifest %s has errors: %v", manifest.URL, manifest.Errors)
	found := send(b, page.GetInstallabilityErrors, cdp.Empty{})
	for _, e := range found.InstallabilityErrors {
		if e.ErrorID != "in-incognito" { // each tab of the tests is
			t.Errorf("not installable: %s %v", e.ErrorID, e.ErrorArguments)
		}
	}
	b.preload(`Object.defineProperty(window, "isSecureContext", { value: false });`)
	b.open("/about")
	b.says("main", "only over https")
}

// A page whose style sheet or one of whose modules cannot be loaded is loaded again, until it is whole.
func TestPage_missingFile(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, file := range []string{"style.css", "lit-html.js", "kiosk.js", "lean-qr.js"} {
		b := newTab(t, s)
		b.expect("/page/", "dynamically imported module")
		b.open("/about")
		blocked := []*network.BlockPattern{{URLPattern: "*://*:*/*/" + file, Block: true}}
		send(b, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: blocked})
		b.is(`(location.href = "/kiosk", true)`)
		b.await(`Number(sessionStorage.getItem("pressbox.reloads")) > 1`)
		send(b, network.SetBlockedURLs, network.SetBlockedURLsParams{})
		b.await(`!reloading && $(".wall-join .qr path") && getComputedStyle($(".wall-clock")).display === "grid"`)
	}
}

// A script that an extension of the browser adds is not the page's: without it, the page stays.
func TestPage_missingExtension(t *testing.T) {
	b := begin(t)
	b.expect("extension.example")
	b.open("/about")
	if value[bool](b, `new Promise((done) => {
		const script = Object.assign(document.createElement("script"),
			{ src: "https://extension.example/x.js", onerror: () => done(Boolean(reloading)) });
		document.head.append(script);
	})`) {
		t.Error("the page is loaded again")
	}
}

// Each button that copies does so also without https, where browsers have no clipboard, and keeps the focus.
func TestCopy_insecure(t *testing.T) {
	b := begin(t)
	b.preload(`Object.defineProperty(navigator, "clipboard", { value: undefined });
		addEventListener("copy", (e) => { window.copied = e.target.value; });`)
	over := "/games/" + b.hotSeat(nil)
	b.playTo(`$$(".half li").length > 0`)
	check.Equal(t, b.status("POST", "/api"+over+"/concede"), 200, "status of concede")
	open := "/games/" + b.newGame(map[string]string{"opponent": "Anyone"})
	for _, tt := range []struct{ path, button, want string }{
		{"/admin", ".command button", "sudo pressbox users admin Anna"},
		{open, ".invite .row button", open},
		{over + "/replay", "main p:has(select) > button:last-of-type", over + "/replay"},
	} {
		b.open(tt.path)
		b.shows(tt.button)
		b.press(tt.button)
		b.await(`window.copied?.includes(` + quote(tt.want) + `)`)
		b.await(`document.activeElement === $(` + quote(tt.button) + `)`)
	}
}

// What is wrong in the forms of the sign-in page has the focus.
func TestSignIn_focus(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	b := newTab(t, s)
	newTab(t, s).join("Anna")
	for _, tt := range []struct{ name, phrase, form, focus string }{
		{"Anna", "wrong", "", "passphrase"},
		{"Bob", "short", "new-", "new-passphrase"},
		{"Anna", passphrase, "new-", "new-name"},
	} {
		b.toForms()
		b.expect("422")
		b.do(chromedp.SendKeys("#"+tt.form+"name", tt.name),
			chromedp.SendKeys("#"+tt.form+"passphrase", tt.phrase+"\r"))
		b.shows("[role=alert]")
		b.await(`document.activeElement.id === %q`, tt.focus)
		const described = `document.getElementById(document.activeElement.getAttribute("aria-describedby"))`
		check.That(t, b.is(described+`.role === "alert"`), "what is wrong is not read out with %s", tt.focus)
	}
}

// That the server does not respond is said no longer once it does.
func TestPage_respondsAgain(t *testing.T) {
	b := begin(t)
	b.openAnnouncements()
	b.expect("net::ERR_")
	b.connected(false)
	b.set("#message", "Dinner is ready.")
	b.press("main form .primary")
	b.says("main .alert", "Pressbox does not respond")
	b.connected(true)
	b.command("say", "--server", b.URL, "Lunch is ready.")
	b.await(`!$("main .alert")`)
}

// A link to a view that is not loaded, while the server does not answer, says so instead of leaving the page; once the
// server answers, the view is there.
func TestPage_lostServer(t *testing.T) {
	b := begin(t)
	b.open("/")
	b.says("nav", "Players")
	b.expect("net::ERR_", "dynamically imported module")
	b.connected(false)
	b.press("nav a[href='/players']")
	b.says("main", "Pressbox does not respond")
	check.That(t, b.is(`location.pathname === "/players" && document.contentType === "text/html"`), "another document")
	b.connected(true)
	b.says("main h1", "Players")
}
