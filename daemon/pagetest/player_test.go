package pagetest_test

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// closed reports that no card is open and the focus is back on the name.
const closed = `!$("dialog") && document.activeElement.matches(".player-name")`

// A name opens the player's card by keyboard, in the line-up, at bat and in the dugout; Esc closes it, and
// the focus goes back.
func TestPlayer_card(t *testing.T) {
	b := begin(t)
	b.join("Anna")
	b.newGame(map[string]string{"opponent": "bot", "innings": "3"})
	b.focus(".roster .player-name", kb.Enter)
	b.await(`$$(".player-card .grade").length === 6 && document.activeElement.closest("dialog")`)
	b.says(".player-card", "No games yet this season.")
	b.looks("player-card")
	b.key(kb.Escape)
	b.await(closed)
	b.handIn("home")
	b.await(canCall)
	b.await(`$(".matchup").textContent.includes("0 for 0 today")`)
	b.focus(`.matchup > div:nth-child(2) .player-name`, kb.Enter)
	b.await(`$$(".player-card .grade").length === 3 && $(".player-card tbody").rows.length === 1`)
	b.says(".player-card", "Fresh (")
	b.key(kb.Escape)
	b.await(closed)
	b.press(".offers summary")
	b.press(".substitutions .player-name")
	b.await(`$(".player-card h2")?.textContent.trim().startsWith($(".substitutions .player-name").textContent.trim())`)
	b.press(".player-card form button")
	b.await(closed)
}

// A name opens its player's card wherever it stands: at bat, on the field, in the play-by-play, in the
// box score and its notes, at the end of a game and in the statistics.
func TestAll_everyName(t *testing.T) {
	b := begin(t)
	id := b.hotSeat(map[string]string{"innings": "3"})
	opens := func(selector string) {
		t.Helper()
		b.await(`$(%q)`, selector)
		b.is(`$(` + quote(selector) + `).dispatchEvent(new MouseEvent("click", { bubbles: true }))`)
		b.await(`$(".player-card .grade") && $(".player-card h2").textContent.includes($(%q).textContent.trim())`,
			selector)
		b.key(kb.Escape)
		b.await(`!$("dialog")`)
	}
	b.playTo(`$(".half li .player-name")`)
	b.settle()
	for _, place := range []string{
		".matchup > div:nth-child(1)", ".matchup > div:nth-child(2)",
		".matchup > div:nth-child(3)", ".half li",
	} {
		opens(place + " .player-name")
	}
	opens(".field .fielders:not(.resting) [data-player]")
	opens(".field .runners .at-bat")
	b.playTo(`$(".final .how dd .player-name")`)
	for _, place := range []string{".final .how", ".box table", ".box .scroll:last-child"} {
		opens(place + " .player-name")
	}
	if notes := ".box .notes .player-name"; b.count(notes) > 0 { // in most games
		opens(notes)
	}
	if name := value[string](b, `$$(".box .notes").flatMap((p) => [...p.childNodes])
		.map((node) => node.data?.match(/[A-Z][a-z]{2,}/)?.[0] ?? "").join("")`); name != "" {
		t.Errorf("%q in the notes opens no card", name)
	}
	b.open("/games/" + id)
	opens(".final .how .player-name")
	b.open("/players")
	opens("tbody .player-name")
	b.open("/leaders")
	opens("li .player-name")
	opens("tbody .player-name")
}
