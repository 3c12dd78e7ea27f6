package pagetest_test

import (
	"strings"
	"testing"
)

// A league of four bots is made with the form, plays itself, and shows its standings, its calendar and its
// champion, also to a visitor.
func TestLeagues_bots(t *testing.T) {
	anna, visitor := beginTwo(t)
	anna.join("Anna")
	anna.open("/leagues")
	anna.shows("main .empty")
	anna.press("details.fine summary")
	anna.shows("#league-name")
	anna.looks("leagues-form")
	anna.focus("#league-name", "Kitchen league")
	anna.choose("#manager-0", "Bench coach (bot)")
	anna.choose("#meetings", "1")
	anna.choose("#best_of", "No play-off")
	anna.choose("#innings", "3")
	anna.press("main form button.primary")
	anna.says("main h1", "Kitchen league")
	anna.await(`$("main strong")?.innerText.startsWith("Champion: ")`)
	if games, standings := anna.count("section:last-child tbody tr"),
		anna.count("section:nth-child(2) tbody tr"); games != 6 || standings != 4 {
		t.Errorf("%d games and %d standings, want 6 and 4", games, standings)
	}
	anna.looks("league")
	path := value[string](anna, "location.pathname")
	visitor.open(path)
	visitor.says("main h1", "Kitchen league")
	visitor.open("/leagues")
	visitor.shows("main .stubs a")
	visitor.looks("leagues")
	anna.press("section:last-child td a")
	anna.await(`$(".box tbody tr")`)
	anna.press(".league-link a")
	anna.says("main h1", "Kitchen league")
	anna.open("/")
	anna.says("main h2", "The field is yours") // games between bots are in their league only
}

// A series waits for its second manager, who joins with the link; then its first game is open to both.
func TestLeagues_people(t *testing.T) {
	anna, bert := beginTwo(t)
	anna.join("Anna")
	bert.join("Bert")
	anna.open("/leagues")
	anna.press("details.fine summary")
	anna.shows("#league-name")
	anna.choose("#kind", "Series")
	anna.focus("#league-name", "Sunday")
	anna.choose("#manager-1", "Anyone (open invitation)")
	anna.choose("#visibility", "Anyone with the link")
	anna.press("main form button.primary")
	anna.says("main h1", "Sunday")
	anna.looks("series-open")
	bert.open(value[string](anna, "location.pathname"))
	bert.press("main button.primary")
	bert.await(`$("section:last-child td a")?.innerText === "Line-ups"`)
	bert.press("section:last-child td a")
	bert.shows(".card select")
	bert.press(".league-link a")
	bert.says("main h1", "Sunday")
	if question := bert.confirm("main .row button", true); !strings.Contains(question, "for good") {
		t.Errorf("asked %q", question)
	}
	bert.says("main tbody", "Bench coach (bot), for Bert")
	bert.looks("series-left")
	anna.await(`$$("tbody small").some((e) => e.innerText === "Bench coach (bot), for Bert")`)
}
