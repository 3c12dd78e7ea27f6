package pagetest_test

import (
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/network"

	"pressbox/packaging/check"
)

// connected connects the tab to the network, or cuts it off.
func (b *tab) connected(on bool) {
	b.t.Helper()
	send(b, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: !on, DownloadThroughput: -1, UploadThroughput: -1}},
	})
	send(b, network.OverrideNetworkState, network.OverrideNetworkStateParams{
		Offline: !on, DownloadThroughput: -1, UploadThroughput: -1,
	})
}

// turns has both managers make calls, each as soon as they can, until there
// were that many and both can make the next one, or the game is over.
func turns(one, other *tab, calls int) {
	one.t.Helper()
	for made := 0; !one.is(`$(".final")`); {
		first, second := one.is(canCall), other.is(canCall)
		if made >= calls && first && second {
			return
		}
		if first {
			one.key("1")
			made++
		}
		if second {
			other.key("1")
			made++
		}
	}
}

// shown evaluates to what all tabs must show of a game.
const shown = `JSON.stringify($$(".board .plate, .situation, .lamps, .half-head, .half li")
	.map((e) => e.ariaLabel ?? e.textContent).concat($$(".runners g:not(.gone)")
	.map((e) => e.textContent + e.getAttribute("transform")).sort()))`

// agree waits until the other tab shows what this one does.
func agree(one, other *tab) {
	one.t.Helper()
	other.await(shown + " === " + quote(value[string](one, shown)))
}

// Two managers and a watcher: the invitation is opened, both cards go in, and all three tabs go to the game. A
// manager who loses the network sees so at once, and resumes where the others are.
func TestAll_twoManagersAndWatcher(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	anna, ben, fan := newTab(t, s), newTab(t, s), newTab(t, s)
	anna.join("Anna")
	id := anna.newGame(map[string]string{"innings": "3"})
	anna.shows(".invite .qr path")
	anna.looks("invite")
	ben.join("Ben")
	ben.says(".game-stub", "Needs a second manager")
	ben.looks("lobby")
	ben.open("/games/" + id)
	ben.press("main section button.primary")
	ben.shows("#away-card")
	anna.says(".stubs", "Ben")
	ben.handIn("away")
	anna.says(".stubs", "Line-up in")
	fan.join("Fan")
	fan.open("/games/" + id)
	fan.says("main", "setting their line-ups")
	anna.handIn("home")
	for _, b := range []*tab{anna, ben, fan} {
		b.await(`location.pathname === "/games/` + id + `"`)
		b.says(".link-state", "Live")
	}
	fan.says(".panel h2", "In the stands")
	check.Equal(t, fan.count(".calls, .offers"), 0, "a watcher's decisions")
	anna.says(".link-line", "1 in the stands") // managers do not count
	turns(anna, ben, 8)
	agree(anna, ben)
	agree(anna, fan)

	ben.expect("ERR_INTERNET_DISCONNECTED", "WebSocket connection")
	ben.connected(false)
	ben.says(".banner", "connection lost")
	ben.says(".link-state", "Connection lost")
	ben.await("!" + callout) // the play is over, not only agreed on
	before := value[string](ben, shown)
	check.That(t, ben.count(".calls button:not(:disabled)") == 0, "a call can be made without the network")
	anna.call()
	anna.says(".link-line", "offline")
	seconds := `Number(/gone in (\d+) s/.exec($(".link-line").innerText)[1])`
	anna.await(seconds+" < %d", value[int](anna, seconds)) // it counts down
	check.Equal(t, value[string](ben, shown), before, "the page without the network")
	ben.connected(true)
	ben.says(".link-state", "Live")
	ben.await(`!$(".banner")`)
	agree(anna, ben)
	ben.says(".chip", "Anna has made a call")
	ben.call()
	turns(anna, ben, 1000)
	anna.await(`$$(".box tbody tr").length > 18`)
	for _, b := range []*tab{anna, ben, fan} {
		b.says(".final h2", "win")
		b.agrees(id)
	}
	fan.press(`.tabs button:nth-child(3)`)
	fan.shows(".curve path.chance")
	fan.looks("chances")
	ben.press(`header a[href="/standings"]`)
	rematchOffers(anna, ben, id)
}

// rematchOffers has one ask the other, who is on another page, for a rematch of a game twice: it is declined
// and accepted.
func rematchOffers(one, other *tab, id string) {
	one.t.Helper()
	ask := func() {
		one.t.Helper()
		one.press(".final .row button")
		one.await(`$(".card") && !location.pathname.includes(%q)`, id)
		one.says("main h2", "You asked Ben for a rematch")
		other.says(".notices", "Anna wants a rematch")
	}
	ask()
	other.looks("offer")
	other.press(".notices button:not(.primary)")
	other.await(`!$(".notices")`)
	one.says(".notices", "Ben declines the rematch")
	one.says("main", "was called off")
	one.press(".notices button")
	one.open("/games/" + id)
	ask()
	other.open("/players") // it is still there
	other.press(".notices button.primary")
	other.shows(".card")
	one.says(".stubs", "Ben")
}

// A network that falls silent is noticed. A call made just before is made once,
// and the page resumes where the game is.
func TestAll_silentNetwork(t *testing.T) {
	b := begin(t)
	b.join("Anna")
	id := b.newGame(map[string]string{"opponent": "bot"})
	b.handIn("home")
	b.says(".link-state", "Live")
	b.playTo(`$$(".half").length > 2 && $(".base.taken")`)
	b.settle()
	b.looks("game")
	b.expect("WebSocket", "ERR_")
	before, plays := value[string](b, shown), len(b.defenses(id))
	b.Signal(t, syscall.SIGSTOP)
	b.call()
	b.says(".chip", "Sent")
	b.says(".banner", "connection lost")
	check.Equal(t, value[string](b, shown), before, "the page without an event")
	b.Signal(t, syscall.SIGCONT)
	b.says(".link-state", "Live")
	b.await(`!$(".chip")`)
	b.await(shown + " !== " + quote(before))
	if more := len(b.defenses(id)) - plays; more > 1 {
		t.Errorf("the call made %d plays, want at most one", more)
	}
	b.playTo(`$$(".half").length > 4`)
}
