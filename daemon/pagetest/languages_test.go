package pagetest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressbox/game/chance"
	"pressbox/packaging/check"
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
			check.That(t, c.Name == c.Label, "%s: %q, the server says %q", c.Verb, c.Name, c.Label)
		}
		b.call()
		b.settle()
	}
	for _, verb := range []string{"offense", "defense", "substitute", "pause", "concede"} {
		check.That(t, compared[verb] != 0, "no choice to %s: %v", verb, compared)
	}
	for _, kind := range []chance.Question{chance.SendRunner, chance.ThrowHome, chance.TurnTwo, chance.ThrowPlate} {
		bold, safe := kind.Labels()
		want := []string{"fly ball to center field. " + kind.Text() + "?", bold, safe}
		got := value[[]string](b, fmt.Sprintf(names, fmt.Sprintf(`
			const question = { kind: %q, ball: { contact: "fly ball", place: "8D" } };
			return [questionText(question),
				...[true, false].map((bold) => nameOf({ action: { a: "answer", bold } }, { state: { question } }))]`,
			kind)))
		check.That(t, slices.EqualFunc(got, want, strings.EqualFold), "%q, want %q", got, want)
	}
}

// importing matches imports, also those of types and those at run time.
var importing = regexp.MustCompile(`(?:\bfrom |\bimport\()"\./([\w.-]+\.js)"`)

// The graph of the page's modules has no cycles, types included, and only the document loads the root.
func TestModules_noCycles(t *testing.T) {
	t.Parallel()
	const static = root + "/daemon/web/static/"
	files, err := filepath.Glob(static + "page/*.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("no modules: %v", err)
	}
	imports := map[string][]string{}
	for _, file := range files {
		source := check.Must(os.ReadFile(file))(t)
		for _, found := range importing.FindAllStringSubmatch(string(source), -1) {
			imports[filepath.Base(file)] = append(imports[filepath.Base(file)], found[1])
		}
	}
	visited := map[string]bool{}
	var walk func(path []string)
	walk = func(path []string) {
		module := path[len(path)-1]
		if slices.Contains(path[:len(path)-1], module) {
			t.Errorf("import cycle: %s", strings.Join(path, " → "))
			return
		}
		if module == "app.js" && len(path) > 1 {
			t.Errorf("%s imports the root", path[len(path)-2])
		}
		if visited[module] {
			return
		}
		for _, imported := range imports[module] {
			walk(append(slices.Clone(path), imported))
		}
		visited[module] = true
	}
	for module := range imports {
		walk([]string{module})
	}
	check.That(t, len(visited) >= 10, "only %d modules: %v", len(visited), visited)
}

// text matches a text of a language: its key and its value.
var text = regexp.MustCompile(`(?m)^  "([^"]+)":\s((?:.*\n    )*.*),$`)

// placeholder matches what is replaced in a text.
var placeholder = regexp.MustCompile(`\{\w+\}`)

// All languages have the same texts, with the same placeholders. In English the server's errors have its own words.
func TestLanguages_sameTexts(t *testing.T) {
	t.Parallel()
	const folder = root + "/daemon/web/static/page/languages/"
	files := check.Must(filepath.Glob(folder + "*.js"))(t)
	english := textsOf(t, folder+"en.js")
	check.Require(t, len(files) >= 2 && len(english) >= 100, "%d languages, %d texts", len(files), len(english))
	for _, file := range files {
		texts := textsOf(t, file)
		for key, want := range english {
			if got, ok := texts[key]; !ok || !slices.Equal(got, want) {
				t.Errorf("%s: %s has %v, in English %v (missing: %v)", filepath.Base(file), key, got, want, !ok)
			}
			delete(texts, key)
		}
		for key := range texts {
			if strings.HasPrefix(key, "problem.") || strings.HasPrefix(key, "violation.") {
				continue
			}
			t.Errorf("%s: %s is not in English", filepath.Base(file), key)
		}
	}
}

// textsOf returns the placeholders of each text of a language, sorted.
func textsOf(t *testing.T, file string) map[string][]string {
	t.Helper()
	texts := map[string][]string{}
	for _, found := range text.FindAllStringSubmatch(string(check.Must(os.ReadFile(file))(t)), -1) {
		all := placeholder.FindAllString(strings.ReplaceAll(found[2], "${", "{"), -1)
		slices.Sort(all)
		texts[found[1]] = slices.Compact(all)
	}
	return texts
}
