package pagetest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pressbox/daemon/browsertest"
	"pressbox/packaging/check"
)

// The main ways through the page work in Firefox: an account is made, a game of three innings is played against the
// bot by keyboard, watched from another tab and replayed, something is announced, and the wall display shows it.
// Nothing is logged as an error.
func TestAll_firefox(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	f := browsertest.StartFirefox(t)
	f.Preload(shorthand)
	tab := f.Tab()
	tab.Resize(1280, 800)
	look := func(name string) {
		if screenshots != "" {
			check.NoError(t, os.WriteFile(filepath.Join(screenshots, "firefox-"+name+".png"), tab.Screenshot(), 0o600))
		}
	}
	tab.Open(s.URL)
	tab.Press(`main a[href^="/api/auth/idp/login"]`)
	tab.Type("#new-name", "Anna")
	tab.Type("#new-passphrase", passphrase+"\ue007") // Enter
	tab.Says(`header a[href="/account"]`, "Anna")

	tab.Open(s.URL + "/new")
	tab.Await(`$$(".clubs .hint").length === 2`)
	for field, text := range map[string]string{"opponent": "bot", "innings": "3"} {
		tab.Text(fmt.Sprintf(`((list) => {
			list.selectedIndex = [...list.options].findIndex((o) => o.text.includes(%q));
			list.dispatchEvent(new Event("change", { bubbles: true }));
		})(document.getElementById(%q))`, text, field))
	}
	tab.Press("main form button.primary")
	tab.Press("#home-card .spread button")
	tab.Await(`$$("#home-card [data-control='player']").every((s) => s.value)`)
	tab.Press("#home-card button.primary")
	tab.Await(canCall)
	look("game")
	game := tab.Text("location.pathname")
	watching := tab.Beside()
	watching.Open(s.URL + game)
	watching.Await(canCall)
	for tab.Text(`$(".final") !== null`) != "true" {
		tab.Keys("1")
		tab.Await(canCall)
	}
	look("final")
	watching.Await(`$(".final")`)
	watching.Close()
	tab.Open(s.URL + game + "/replay")
	tab.Await(`$("#moment").textContent.length > 5`)

	firefoxStreams(tab, s)
	tab.Open(s.URL + "/kiosk")
	tab.Says("body", "Dinner is ready.")
	look("wall")

	tab.Text(`document.cookie = "pressbox_language=de; path=/"`)
	tab.Open(s.URL)
	tab.Says("nav", "Durchsagen")
}

// firefoxStreams announces from one of more tabs than a browser has connections to a server: all
// receive it. A tab that is left for another page, and for more of them than there are connections,
// receives again when the user goes back.
func firefoxStreams(tab *browsertest.FirefoxTab, s *server) {
	const live = `$(".link-state.on")`
	tabs := []*browsertest.FirefoxTab{tab}
	for range 7 {
		tabs = append(tabs, tab.Beside())
	}
	for _, t := range tabs {
		t.Open(s.URL + "/announcements")
		t.Await(live)
	}
	announce := func(t *browsertest.FirefoxTab, message string) {
		t.Type("#message", message)
		t.Press("main form button.primary")
	}
	announce(tabs[7], "Dinner is ready.")
	for _, t := range tabs {
		t.Says("main", "Dinner is ready.")
	}
	for i := range 8 {
		tab.Open(s.URL + []string{"/kiosk", "/announcements"}[i%2])
		tab.Await([]string{`$(".wall.live")`, live}[i%2])
	}
	tab.Text("history.go(-2)")
	tab.Await(`location.pathname === "/announcements" && ` + live)
	announce(tabs[7], "Bedtime.")
	tab.Says("main", "Bedtime.")
	for _, t := range tabs[1:] {
		t.Close()
	}
}
