package pagetest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A card is filled out with the mouse as well: players are dragged from the
// roster to their places, and places up and down the order; on the chart too.
// What the umpire hands back says what is wrong where it is wrong.
func TestCardByTheMouse(t *testing.T) {
	t.Parallel()
	b := newTab(t, newAppliance(t))
	b.do(chromedp.EmulateViewport(1280, 2400)) // nothing has to be scrolled to
	b.join("Anna")
	b.newGame(map[string]string{"opponent": "same screen"})
	catcher := `[...document.querySelectorAll("#away-card .roster button")].find((e) => / C /.test(" " + e.querySelector("small").innerText + " "))`
	name := value[string](b, `(() => { const b = `+catcher+`; b.id = "dragged"; return b.querySelector("span").innerText; })()`)
	b.do(chromedp.DragAndDrop("#dragged", "#away-slot-3"))
	b.await(fmt.Sprintf(`document.querySelector("#away-slot-3 select").selectedOptions[0].text.includes(%q)`, name))
	b.says("#away-slot-3", "out of position")
	b.do(chromedp.DragAndDrop("#away-slot-3 .grip", "#away-slot-0"))
	b.await(fmt.Sprintf(`document.querySelector("#away-slot-0 select").selectedOptions[0].text.includes(%q)`, name))
	b.choose(`#away-slot-0 [data-control="position"]`, "C")
	b.await(fmt.Sprintf(`document.querySelector("#away-card .chart").getAttribute("aria-label").includes("C %s")`, strings.Join(strings.Fields(name)[1:], " ")))
	b.do(chromedp.Click("#dragged"))
	b.await(`!document.querySelector("#away-slot-0 select").value`)
	b.expect("422")
	b.do(chromedp.Click("#dragged"), chromedp.Click("#away-card button.primary"))
	b.await(`document.querySelectorAll("#away-card .slot .wrong").length === 8 && document.querySelector("#away-pitcher-wrong")`)
	if !value[bool](b, `[...document.querySelectorAll("#away-card .slot [aria-invalid]")].every((e) =>
		document.getElementById(e.getAttribute("aria-describedby")).innerText.includes("Nobody is chosen."))`) {
		t.Error("a field does not say what is wrong with it")
	}
}

// A box is the part of GET /api/games/{id}/boxscore that the tests hold the
// page against.
type box struct {
	Teams [2]struct {
		Line   []int `json:"line"`
		Runs   int   `json:"runs"`
		Hits   int   `json:"hits"`
		Errors int   `json:"errors"`
	} `json:"teams"`
}

// newGame makes a game with the form, in which one chooses the options by
// their words, and is its id.
func (b *tab) newGame(options map[string]string) string {
	b.t.Helper()
	b.open("/new")
	b.await(`document.querySelectorAll(".clubs .hint").length === 2`) // of both rosters; then nothing moves any more
	for field, words := range options {
		b.choose("#"+field, words)
	}
	b.press("main form button.primary")
	b.await(`location.pathname.endsWith("/lineup") && document.querySelector(".card")`)
	return strings.Split(value[string](b, "location.pathname"), "/")[2]
}

// choose takes the option of a list that says so.
func (b *tab) choose(selector, words string) {
	b.t.Helper()
	if !value[bool](b, fmt.Sprintf(`(() => {
		const list = document.querySelector(%q), at = [...list.options].findIndex((o) => o.text.includes(%q));
		list.selectedIndex = at;
		list.dispatchEvent(new Event("change", { bubbles: true }));
		return at >= 0;
	})()`, selector, words)) {
		b.t.Fatalf("%s has no %q", selector, words)
	}
}

// handIn has the bench coach fill out the cards, and hands them in.
func (b *tab) handIn(sides ...string) {
	b.t.Helper()
	for _, side := range sides {
		card := "#" + side + "-card"
		b.press(card + " .spread button")
		b.await(fmt.Sprintf(`[...document.querySelectorAll(%q)].every((s) => s.value)`, card+` [data-control="player"]`))
		b.press(card + " button.primary")
		b.await(fmt.Sprintf(`!location.pathname.endsWith("/lineup") || document.querySelector(%q)`, card+" .good-inline"))
	}
}

// canCall is whether a decision can be made, or the game is over.
const canCall = `document.querySelector(".final") || document.querySelector(".calls button:not(:disabled)")`

// playTo makes the first of the legal decisions by its key until the page
// shows something.
func (b *tab) playTo(shown string) {
	b.t.Helper()
	for range 400 {
		b.await(canCall + " || " + shown)
		if value[bool](b, fmt.Sprintf("Boolean(%s)", shown)) {
			return
		}
		b.do(chromedp.KeyEvent("1"))
		b.drawn()
	}
	b.t.Fatalf("400 decisions later: %s", b.seen())
}

// drawn waits until what was done can be seen.
func (b *tab) drawn() {
	b.t.Helper()
	value[bool](b, `new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(() => seen(true))))`)
}

// board is what the scoreboard shows of the visitors or the home team, from the
// first inning to the errors.
func (b *tab) board(row int) string {
	b.t.Helper()
	return value[string](b, fmt.Sprintf(`[...document.querySelectorAll(".board tbody tr")[%d].querySelectorAll(".plate")].map((e) => e.innerText).join(" ")`, row))
}

// agrees fails the test unless the scoreboard shows the official box score.
func (b *tab) agrees(id string) {
	b.t.Helper()
	official := value[box](b, fmt.Sprintf(`fetch("/api/games/%s/boxscore").then((r) => r.json())`, id))
	for i, team := range official.Teams {
		want := strings.Trim(fmt.Sprint(team.Line), "[]")
		shown := strings.Fields(b.board(i))
		sums := fmt.Sprint(team.Runs, team.Hits, team.Errors)
		innings := strings.TrimSuffix(strings.Join(shown[:len(shown)-3], " "), " X")
		if innings != want || strings.Join(shown[len(shown)-3:], " ") != sums {
			b.t.Errorf("the scoreboard shows %q, the box score has %s and %s", shown, want, sums)
		}
	}
}

// From the cover to the last out of nine innings against the bot, with the
// keyboard alone once the club is chosen.
func TestNineInningsAgainstTheBot(t *testing.T) {
	t.Parallel()
	b := newTab(t, newAppliance(t))
	b.join("Anna")
	b.press(`main a[href="/new"]`)
	b.await(`document.querySelectorAll(".club-pick").length === 16`)
	b.looks("new")
	id := b.newGame(map[string]string{"opponent": "bench coach"})
	b.expect("422")
	const card = `document.querySelector("#home-card")`
	b.do(chromedp.Focus("#home-card button.primary"), chromedp.KeyEvent("\r"))
	b.await(`document.activeElement.getAttribute("aria-invalid") === "true"`)
	b.looks("violations")
	if n := value[int](b, `document.querySelectorAll("#home-card .slot .wrong").length`); n != 9 {
		t.Errorf("%d of nine empty places say what is wrong with them", n)
	}
	b.await(`document.querySelector("#home-pitcher-wrong")`)
	b.do(chromedp.Focus("#home-card .spread button"), chromedp.KeyEvent("\r"))
	b.await(`[...` + card + `.querySelectorAll('[data-control="player"]')].every((s) => s.value)`)
	b.looks("card")
	second := value[string](b, card+`.querySelector("#home-slot-1 select").value`)
	b.do(chromedp.Focus(`#home-slot-1 [data-control="up"]`), chromedp.KeyEvent(" "))
	b.await(card + fmt.Sprintf(`.querySelector("#home-slot-0 select").value === %q`, second))
	b.do(chromedp.Focus(`#home-slot-0 [data-control="player"]`), chromedp.KeyEvent(kb.ArrowDown, chromedp.KeyModifiers(kb.ModifierAlt)))
	b.await(card + fmt.Sprintf(`.querySelector("#home-slot-1 select").value === %q && document.activeElement.closest("#home-slot-1")`, second))
	b.do(chromedp.Focus("#home-card button.primary"), chromedp.KeyEvent("\r"))
	b.await(`location.pathname === "/games/` + id + `"`)
	b.says(".link-state", "Live")
	b.await(`!document.querySelector(".link-line small")`) // nobody is in the stands
	b.playTo(`document.querySelector(".base.taken") && document.querySelectorAll(".half").length > 3`)
	b.looks("game")
	b.playTo(`document.querySelector(".final")`)
	b.says(".final h2", "win")
	if n := value[int](b, `document.querySelectorAll(".lamps, .at-bat").length`); n > 0 {
		t.Error("after the last out somebody bats")
	}
	b.await(`document.querySelectorAll(".box tbody tr").length >= 20`)
	b.agrees(id)
	b.looks("final")
	b.press(".final summary")
	b.says(".dice", "Seed")
	b.press(`.final a[href$="/replay"]`)
	b.says("#moment", "")
	b.do(chromedp.KeyEvent(kb.End))
	b.says(".situation", "Final")
	b.agrees(id)
	here := value[string](b, "location.pathname")
	b.do(chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft))
	b.await(fmt.Sprintf("location.pathname !== %q", here))
	b.looks("replay")
	moment := value[string](b, `document.querySelector("#moment").innerText`)
	b.open(value[string](b, "location.pathname"))
	b.says("#moment", strings.Join(strings.Fields(moment), " "))
	b.open("/standings")
	b.await(`document.querySelectorAll("tbody tr").length >= 2`)
	b.looks("standings")
	b.open("/players")
	b.await(`document.querySelectorAll("tbody tr").length >= 20`)
	b.looks("players")
}
