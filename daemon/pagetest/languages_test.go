package pagetest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pressbox/game/chance"
)

// The page is in the language of the browser, until its user selects another.
// What the server says in words is marked as English.
func TestLanguage(t *testing.T) {
	b := begin(t)
	b.speaks("de-DE,de;q=0.9")
	b.open("/")
	b.says("nav", "Durchsagen")
	b.await(`document.documentElement.lang === "de"`)
	b.looks("german-lobby")
	choose := func(name, heading string) {
		value[bool](b, fmt.Sprintf(`(() => {
			const language = $$("footer select").at(-1);
			language.value = %q;
			return language.dispatchEvent(new Event("change"));
		})()`, name))
		b.says("nav", heading)
	}
	choose("en", "Announce")
	choose("", "Durchsagen")
}

// In English the names of choices and questions, which the page composes from
// actions, are the server's labels; a double switch says more.
func TestLanguage_choices(t *testing.T) {
	b := begin(t)
	id := b.hotSeat(map[string]string{"dh": "Pitchers bat"})
	const names = `(async () => {
		const folder = $("script[type=module]").src.replace("app.js", "");
		const { nameOf, questionText } = await import(folder + "play.js");
		const { fetchGame, fetchScorebook } = await import(folder + "board.js");
		%s
	})()`
	compared := map[string]int{}
	for range 12 {
		for _, c := range value[[]struct{ Verb, Name, Label string }](b, fmt.Sprintf(names, fmt.Sprintf(`
			const game = await fetchGame(%q), match = { game, book: await fetchScorebook(game), state: game.state };
			return [...game.legal, ...game.offers].filter((c) => c.action.subs?.length !== 2)
				.map((c) => ({ Verb: c.action.a, Name: nameOf(c, match), Label: c.label }))`, id))) {
			compared[c.Verb]++
			if c.Name != c.Label {
				t.Errorf("%s: %q, the server says %q", c.Verb, c.Name, c.Label)
			}
		}
		b.call()
		b.settle()
	}
	for _, verb := range []string{"offense", "defense", "substitute", "pause", "concede"} {
		if compared[verb] == 0 {
			t.Errorf("no choice to %s: %v", verb, compared)
		}
	}
	for _, kind := range []chance.Question{chance.SendRunner, chance.ThrowHome, chance.TurnTwo, chance.ThrowPlate} {
		bold, safe := kind.Labels()
		want := []string{"fly ball to center field. " + kind.Text() + "?", bold, safe}
		got := value[[]string](b, fmt.Sprintf(names, fmt.Sprintf(`
			const question = { kind: %q, ball: { contact: "fly ball", place: "8D" } };
			return [questionText(question),
				...[true, false].map((bold) => nameOf({ action: { a: "answer", bold } }, { state: { question } }))]`,
			kind)))
		if !slices.EqualFunc(got, want, strings.EqualFold) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
