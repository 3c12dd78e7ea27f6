package pagetest_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Somebody makes an account, sees where it is signed in, changes the
// passphrase, and goes.
func TestAccount(t *testing.T) {
	t.Parallel()
	b := newTab(t, newAppliance(t))
	b.join("Anna")
	b.press(`header a[href="/account"]`)
	b.says("main h1", "Anna")
	b.says("main li", "this one")
	b.looks("account")
	change := func(current, next string) {
		b.do(
			chromedp.SetValue(`input[name="current"]`, current),
			chromedp.SetValue(`input[name="passphrase"]`, next),
			chromedp.Click("main form button"),
		)
	}
	change(phrase, "another good phrase")
	b.says("[role=status]", "changed")
	b.expect("/api/auth/passphrase") // refuses
	change(phrase, "a third good phrase")
	b.await(`document.querySelector("main [role=alert]")`)
	b.press("main .row .primary")
	b.await(`document.querySelector('header a.signin')`)
	b.says("main h1", "Tickets")
}

// An account that is deleted is gone, everywhere and at once: its sessions, its
// passphrase, and its name, which somebody else may take.
func TestDeleteAccount(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	b, other := newTab(t, a), newTab(t, a)
	b.join("Anna")
	who := value[string](b, `fetch("/api/auth/me").then((r) => r.json()).then((me) => me.id)`)
	other.signIn("Anna", phrase)
	other.says(`header a[href="/account"]`, "Anna")
	b.press(`header a[href="/account"]`)
	b.await(`document.querySelector("main .danger")`)
	if asked := b.confirm("main .danger", false); !strings.Contains(asked, "cannot be undone") {
		t.Errorf("asked was %q", asked)
	}
	b.open("/account")
	b.says("main h1", "Anna")
	b.confirm("main .danger", true)
	b.await(`document.querySelector("header a.signin")`)
	b.says("main h1", "Tickets")
	if status := value[int](b, `fetch("/api/auth/me").then((r) => r.status)`); status != 401 {
		t.Errorf("who is signed in is answered with %d", status)
	}
	other.expect("401")
	other.press(`header a[href="/account"]`)
	other.says("main h1", "Tickets")
	other.expect("422")
	other.signIn("Anna", phrase)
	other.says("[role=alert]", "name or passphrase is wrong")
	b.join("Anna")
	if again := value[string](b, `fetch("/api/auth/me").then((r) => r.json()).then((me) => me.id)`); again == who {
		t.Error("the account is back")
	}
}

// Each error of a sign-in is explained, with the way out, and none of what the
// address says is shown as it came.
func TestCallbackErrors(t *testing.T) {
	t.Parallel()
	b := newTab(t, newAppliance(t))
	for code, says := range map[string]string{
		"access_denied":          "cancelled or refused",
		"invalid_state":          "already finished",
		"state_expired":          "ten minutes",
		"state_browser_mismatch": "cookies",
		"issuer_mismatch":        "another identity provider",
		"exchange_failed":        "did not confirm",
		"idp_unreachable":        "cannot be reached",
		"userinfo_failed":        "did not say who",
		"idp_error":              "reported an error",
		"not_invited":            "invite",
		"account_disabled":       "disabled",
		"clock_unsynced":         "know the time",
		"insecure_transport":     "https",
		"rate_limited":           "Too many",
		"server_error":           "went wrong",
		"<b>made up</b>":         "went wrong",
	} {
		b.open("/auth/callback?error_description=%3Cb%3Eevil%3C%2Fb%3E&error_id=ABC123&error=" + code)
		b.says("main [role=alert]", says)
		b.says("main", "ABC123")
		if !value[bool](b, `document.querySelector('main a[href^="/api/auth/idp/login"]') !== null && !document.body.innerText.includes("evil") && !document.querySelector("main b")`) {
			t.Errorf("%s: %s", code, b.seen())
		}
	}
	b.looks("callback")
	b.open("/api/auth/idp/login")
	b.await(`document.querySelector("#new-name")`)
	b.looks("forms")
	b.press(`a[href*="access_denied"]`)
	b.says("main h1", "Changed your mind")
}

// What is typed is announced, once; the queue shows it by itself, in another
// browser too; it can be heard first, and cancelled.
func TestAnnouncements(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	b, other := newTab(t, a), newTab(t, a)
	other.open("/announcements")
	b.open("/announcements")
	b.says(".link-state", "Live")
	other.says(".link-state", "Live")
	b.await(`document.querySelectorAll("#voice option").length > 1`)
	b.do(chromedp.SendKeys("#message", "Dinner is ready."))
	value[bool](b, `(() => {
		const button = document.querySelector("button[aria-pressed]");
		window.said = []; // all that it says, as a second of speech may be over when somebody looks
		new MutationObserver(() => window.said.push(button.textContent)).observe(button, { childList: true, characterData: true, subtree: true });
		return true;
	})()`)
	b.press(`button[aria-pressed]`)
	b.await(`window.said.some((words) => words.includes("Stop"))`)
	b.says(`button[aria-pressed]`, "Hear it")
	b.press("main form .primary")
	b.says("[role=status]", "in the queue")
	b.says(".stubs li", "Dinner is ready.")
	other.says(".stubs li", "Dinner is ready.")
	if n := value[int](other, `document.querySelectorAll(".stubs li").length`); n != 1 {
		t.Errorf("it is there %d times", n)
	}
	b.expect("422")
	b.do(chromedp.SendKeys("#message", "…"), chromedp.Click("main form .primary"))
	b.await(`document.querySelector("#wrong-message") && document.querySelector("#message").getAttribute("aria-invalid") === "true"`)
	if said := value[string](b, `[...document.querySelectorAll("main [role=alert]")].map((e) => e.innerText).join("|")`); said != "The message has nothing that can be spoken." {
		t.Errorf("what is wrong is said as %q", said)
	}
	b.looks("announcements")
	other.press(".stubs li button")
	b.says(".ledger li", "Dinner is ready.")
	b.says(".ledger .tag", "cancelled")
}

// An address that leads nowhere says so, with the status of one; so does that of
// a game which is not there.
func TestLost(t *testing.T) {
	t.Parallel()
	b := newTab(t, newAppliance(t))
	b.expect("404")
	b.open("/left/field")
	b.says("main h1", "Foul ball")
	b.press("main a.button")
	b.says("main h1", "Base ball tonight")
	b.looks("cover")
	b.open("/about")
	b.says("main h1", "About")
	b.looks("about")
	b.join("Anna")
	for _, path := range []string{"/games/nobodys", "/games/nobodys/lineup", "/games/nobodys/replay"} {
		b.open(path)
		b.says("main h1", "Foul ball")
		b.says("main [role=alert]", "nothing at this address")
	}
}
