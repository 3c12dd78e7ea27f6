package pagetest_test

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// canCall is true when a decision can be made, a play is shown, which any key ends, or the game is over.
const canCall = callout + ` || $(".final") || $(".calls button:not(:disabled)")`

// callout is true while a play is shown.
const callout = `$(".over-field:not([hidden])")`

// newGame creates a game of nine innings with an open invitation, or with the options
// that are given by their texts in the form, and returns its id.
func (b *tab) newGame(options map[string]string) string {
	b.t.Helper()
	b.open("/new")
	b.await(`$$(".clubs .hint").length === 2`) // both rosters have arrived, and the layout is final
	all := map[string]string{"opponent": "Anyone", "innings": "9"}
	maps.Copy(all, options)
	for field, text := range all {
		b.choose("#"+field, text)
	}
	b.press("main form button.primary")
	b.await(`location.pathname.endsWith("/lineup") && $(".card")`)
	return b.gameID()
}

// gameID returns the id of the game in the address.
func (b *tab) gameID() string {
	b.t.Helper()
	return strings.Split(value[string](b, "location.pathname"), "/")[2]
}

// choose selects the option with a text.
func (b *tab) choose(selector, text string) {
	b.t.Helper()
	if !value[bool](b, fmt.Sprintf(`(() => {
		const list = $(%q), at = [...list.options].findIndex((o) => o.text.includes(%q));
		list.selectedIndex = at;
		list.dispatchEvent(new Event("change", { bubbles: true }));
		return at >= 0;
	})()`, selector, text)) {
		b.t.Fatalf("%s has no %q", selector, text)
	}
}

// handIn has the server fill in the cards, and hands them in.
func (b *tab) handIn(sides ...string) {
	b.t.Helper()
	for _, side := range sides {
		card := "#" + side + "-card"
		b.press(card + " .spread button")
		b.await(`$$(%q).every((s) => s.value)`, card+` [data-control="player"]`)
		b.press(card + " button.primary")
		b.await(`!location.pathname.endsWith("/lineup") || $(%q)`, card+" .good-inline")
	}
}

// hotSeat starts a game in which the tab manages both sides.
func (b *tab) hotSeat(options map[string]string) (id string) {
	b.t.Helper()
	all := map[string]string{"opponent": "on this screen"}
	maps.Copy(all, options)
	b.join("Anna")
	id = b.newGame(all)
	b.handIn("away", "home")
	b.await(canCall)
	return id
}

// drawn waits until the page has rendered.
func (b *tab) drawn() {
	b.t.Helper()
	value[bool](b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// key presses a key and waits until the page has rendered.
func (b *tab) key(key string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(key))
	b.drawn()
}

// settle waits until a decision can be made, and ends the play that is shown before.
func (b *tab) settle() {
	b.t.Helper()
	b.await(canCall)
	for b.is(callout) {
		b.key(kb.Escape)
		b.await(canCall)
	}
}

// call makes the first legal decision.
func (b *tab) call() {
	b.t.Helper()
	b.settle()
	b.key("1")
}

// playTo makes the first legal decision until a condition is true.
func (b *tab) playTo(condition string) {
	b.t.Helper()
	for range 800 {
		b.await(canCall + " || " + condition)
		if b.is(condition) {
			return
		}
		b.key("1")
	}
	b.t.Fatalf("not %s after 800 keys: %s", condition, b.content())
}

// is reports whether a condition, or what it promises, is true.
func (b *tab) is(condition string) bool {
	b.t.Helper()
	return value[bool](b, "(async () => Boolean(await ("+condition+")))()")
}

// A box is the part of GET /api/games/{id}/boxscore that the page shows outside the tables.
type box struct {
	Teams [2]struct {
		Line    []int `json:"line"`
		Runs    int   `json:"runs"`
		Hits    int   `json:"hits"`
		Errors  int   `json:"errors"`
		Batting []struct {
			Left int `json:"lob"`
		} `json:"batting"`
		Pitching []struct {
			Hold         bool `json:"hold"`
			BlownSave    bool `json:"blown_save"`
			QualityStart bool `json:"quality_start"`
		} `json:"pitching"`
		Fielding []struct {
			Name     string `json:"name"`
			Errors   int    `json:"e"`
			Throwing int    `json:"te"`
		} `json:"fielding"`
	} `json:"teams"`
}

// hasBoxScore fails the test unless the tab of the box score names those who made errors, marks the pitchers
// and adds up the runners left on base.
func (b *tab) hasBoxScore(id string) {
	b.t.Helper()
	for i, team := range get[box](b, "/api/games/"+id+"/boxscore").Teams {
		in := fmt.Sprintf(`$$(".box")[%d]`, i)
		notes := value[string](b, in+`.querySelector(".notes").innerText`)
		var errors []string
		for _, f := range team.Fielding {
			if f.Errors == 0 {
				continue
			}
			text := f.Name
			if f.Errors > 1 {
				text += fmt.Sprint(" ", f.Errors)
			}
			if f.Throwing > 0 {
				text += " (throw)"
			}
			errors = append(errors, text)
		}
		if want := " E: " + cmp.Or(strings.Join(errors, ", "), "0"); !strings.HasSuffix(notes, want) {
			b.t.Errorf("the notes are %q, want %q at the end", notes, want)
		}
		left := 0
		for _, l := range team.Batting {
			left += l.Left
		}
		if got := value[string](b, in+`.querySelector("tfoot td:last-child").innerText`); got != fmt.Sprint(left) {
			b.t.Errorf("%s runners left by the batters, want %d", got, left)
		}
		for j, p := range team.Pitching {
			shown := value[string](b, fmt.Sprintf(`%s.querySelectorAll("table")[1]
				.querySelectorAll("tbody th")[%d].innerText`, in, j))
			for mark, is := range map[string]bool{"(H)": p.Hold, "(BS)": p.BlownSave, "(QS)": p.QualityStart} {
				if strings.Contains(shown, mark) != is {
					b.t.Errorf("%q is shown for %+v", shown, p)
				}
			}
		}
	}
}

// agrees fails the test unless the scoreboard shows the official box score once no play is shown.
func (b *tab) agrees(id string) {
	b.t.Helper()
	b.await("!" + callout)
	for i, team := range get[box](b, "/api/games/"+id+"/boxscore").Teams {
		shown := strings.Fields(value[string](b,
			fmt.Sprintf(`[...$$(".board tbody tr")[%d].querySelectorAll(".plate")].map((e) => e.innerText).join(" ")`,
				i)))
		innings := strings.TrimSuffix(strings.Join(shown[:len(shown)-3], " "), " X")
		want, sums := strings.Trim(fmt.Sprint(team.Line), "[]"), fmt.Sprint(team.Runs, team.Hits, team.Errors)
		if innings != want || strings.Join(shown[len(shown)-3:], " ") != sums {
			b.t.Errorf("the scoreboard shows %q, the box score has %s and %s", shown, want, sums)
		}
	}
}

// Players can be dragged from the roster to the order and to the chart, and
// places up and down the order. Each violation is shown at its field.
func TestLineup_dragAndDrop(t *testing.T) {
	b := begin(t)
	b.do(chromedp.EmulateViewport(1280, 2400)) // no scrolling
	b.join("Anna")
	b.newGame(map[string]string{"opponent": "on this screen"})
	catcher := `$$("#away-card .roster button").find((e) => / C /.test(" " + e.querySelector("small").innerText + " "))`
	name := value[string](b, `(() => { const b = `+catcher+`; b.id = "dragged";
		return b.querySelector("span").innerText; })()`)
	b.do(chromedp.DragAndDrop("#dragged", "#away-slot-3"))
	b.await(`$("#away-slot-3 select").selectedOptions[0].text.includes(%q)`, name)
	b.says("#away-slot-3", "out of position")
	b.do(chromedp.DragAndDrop("#away-slot-3 .grip", "#away-slot-0"))
	b.await(`$("#away-slot-0 select").selectedOptions[0].text.includes(%q)`, name)
	b.choose(`#away-slot-0 [data-control="position"]`, "C")
	b.await(`$("#away-card .chart").getAttribute("aria-label").includes("C " + %q)`,
		strings.Join(strings.Fields(name)[1:], " "))
	b.open(value[string](b, "location.pathname")) // the draft survives
	b.await(`$("#away-slot-0 select").selectedOptions[0].text.includes(%q)`, name)
	b.await(`(() => { const b = ` + catcher + `; b.id = "dragged"; return true; })()`)
	b.do(chromedp.Click("#dragged"))
	b.await(`!$("#away-slot-0 select").value`)
	b.expect("422")
	b.do(chromedp.Click("#dragged"), chromedp.Click("#away-card button.primary"))
	b.await(`$$("#away-card .slot .wrong").length === 8 && $("#away-pitcher-wrong")`)
	if !b.is(`$$("#away-card .slot [aria-invalid]").every((e) =>
		document.getElementById(e.getAttribute("aria-describedby")).innerText.includes("No player selected."))`) {
		t.Error("a field does not describe its violation")
	}
}

// A whole game against the bot, from the cover to the replay and the
// statistics, with the keyboard alone once the clubs are chosen.
func TestAll_gameByKeyboard(t *testing.T) {
	b := begin(t)
	b.join("Anna")
	b.press(`main a[href="/new"]`)
	b.await(`$$(".club-pick").length === 16`)
	b.looks("new")
	id := b.newGame(map[string]string{"opponent": "bot", "innings": "3"})
	b.expect("422")
	b.focus("#home-card button.primary", "\r")
	b.await(`document.activeElement.getAttribute("aria-invalid") === "true"`)
	b.looks("violations")
	if n := b.count("#home-card .slot .wrong"); n != 9 {
		t.Errorf("%d of nine empty places have a violation", n)
	}
	b.shows("#home-pitcher-wrong")
	b.focus("#home-card .spread button", "\r")
	b.await(`$$('#home-card [data-control="player"]').every((s) => s.value)`)
	b.looks("card")
	second := value[string](b, `$("#home-slot-1 select").value`)
	b.focus(`#home-slot-1 [data-control="up"]`, " ")
	b.await(`$("#home-slot-0 select").value === %q`, second)
	b.focus(`#home-slot-0 [data-control="player"]`, kb.ArrowDown, chromedp.KeyModifiers(kb.ModifierAlt))
	b.await(`$("#home-slot-1 select").value === %q && document.activeElement.closest("#home-slot-1")`, second)
	b.focus("#home-card button.primary", "\r")
	b.await(`location.pathname === "/games/` + id + `"`)
	b.says(".link-state", "Live")
	b.await(`!$(".link-line small")`) // no watchers
	b.playTo(`$(".final")`)
	b.says(".final h2", "win")
	if b.count(".lamps, .at-bat") > 0 {
		t.Error("there is a batter after the last out")
	}
	b.await(`$$(".box tbody tr").length >= 20`)
	b.agrees(id)
	b.hasBoxScore(id)
	b.looks("final")
	won := value[string](b, `$(".final .hit").innerText`)
	b.press(".final summary")
	b.says(".dice", "Seed")
	b.press(`.final a[href$="/replay"]`)
	b.says("#moment", "")
	b.do(chromedp.KeyEvent(kb.End))
	b.says(".situation", "Final")
	b.agrees(id)
	last := value[string](b, "location.pathname")
	b.do(chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft))
	b.await("location.pathname !== %q", last)
	b.looks("replay")
	moment := value[string](b, `$("#moment").innerText`)
	b.open(value[string](b, "location.pathname"))
	b.says("#moment", strings.Join(strings.Fields(moment), " "))
	b.await(`document.activeElement.id === "moment"`) // a link to a play leads to it
	b.await(`((r) => r.top >= 0 && r.bottom <= innerHeight)($("#moment").getBoundingClientRect())`)
	b.await(`((line, list) => line.top >= list.top &&
		line.bottom <= list.bottom)(...[".plays [aria-current]", ".scroller"]
		.map((s) => $(s).getBoundingClientRect()))`)
	for path, rows := range map[string]int{"standings": 2, "players": 20} {
		b.open("/" + path)
		b.await(`$$("tbody tr").length >= %d`, rows)
		b.looks(path)
	}
	b.open("/games/" + id) // without its events until a tab needs them
	b.shows(".box tbody tr")
	if later := value[string](b, `$(".final .hit").innerText`); later != won {
		t.Errorf("opened later, it was won by %q, before by %q", later, won)
	}
	b.agrees(id)
	b.press(".tabs button")
	b.shows(".half li")
	b.agrees(id)
}
