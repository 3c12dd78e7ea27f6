package speakable_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pressbox/packaging/check"
	"pressbox/voice/speakable"
)

// rowsOf returns the rows of a table of a language.
func rowsOf(t *testing.T, file string) (rows []string) {
	t.Helper()
	for row := range strings.Lines(string(check.Must(os.ReadFile(file))(t))) {
		row = strings.TrimSpace(row)
		if row != "" && row != "#" && (!strings.HasPrefix(row, "# ") || strings.Contains(row, "\t")) {
			rows = append(rows, row)
		}
	}
	check.Require(t, len(rows) > 10, "%s has %d rows", file, len(rows))
	return rows
}

// where returns a text in which a short form meets its conditions.
func where(short, conditions string) string {
	has := func(name string) bool { return slices.Contains(strings.Fields(conditions), name) }
	before, after := "The ", " is here."
	if has("period") {
		short += "."
	}
	if end, ok := strings.CutPrefix(short, "-"); ok {
		short = "Haupt" + end
	}
	switch {
	case has("after-number"):
		before = "There are 5 "
	case has("named"):
		before, after = "It is at Miller ", ""
	case has("place"):
		before, after = "It is in Springfield, ", ""
	}
	switch {
	case has("number"):
		after = " 5 is here."
	case has("year"):
		after = " 2019 was good."
	case has("name"):
		after = " Miller is here."
	case has("+of"):
		after = " of us."
	}
	return before + short + after
}

// Every row of the tables of units, abbreviations and signs is reached: in one of the texts that meet its conditions it
// is read as it says. A row that another one hides, or that the recognizer takes for something else, is dead.
func TestRows(t *testing.T) {
	t.Parallel()
	for language, lang := range map[string]string{"english": "en-us", "german": "de"} {
		reached := func(row, want string, texts ...string) {
			t.Helper()
			var got []string
			for _, text := range texts {
				said := speakable.Text(text, lang, nil)
				if got = append(got, said); strings.Contains(strings.ToLower(said), strings.ToLower(want)) {
					return
				}
			}
			t.Errorf("%s, %q: of %q Text makes %q, without %q", language, row, texts, got, want)
		}
		for _, row := range rowsOf(t, language+"/units.txt") {
			symbol, names, _ := strings.Cut(strings.ReplaceAll(row, "_", " "), "|")
			name, names, _ := strings.Cut(names, "|")
			_, prefixes, _ := strings.Cut(names, "|")
			symbol = strings.TrimSpace(symbol)
			if prefix, only := strings.CutPrefix(strings.TrimSpace(prefixes), "-"); only {
				symbol = strings.Fields(prefix)[0] + symbol
			}
			var texts []string
			for _, before := range []string{"It is 1 ", "a fuse of 1 ", "Light of 4000 ", "Sicherung: 1 "} {
				texts = append(texts, before+symbol+" now.", before+symbol+" of heat", before+symbol)
			}
			reached(row, strings.TrimSpace(name), texts...)
		}
		for _, row := range rowsOf(t, language+"/abbreviations.txt") {
			rule, conditions, _ := strings.Cut(row, ";")
			short, long, _ := strings.Cut(rule, "=")
			short = strings.TrimSpace(short)
			long = strings.TrimPrefix(strings.TrimSpace(long), "-")
			reached(row, long, where(short, conditions), where(short+".", conditions))
		}
		for _, row := range rowsOf(t, language+"/signs.txt") {
			sign, name, _ := strings.Cut(row, "\t")
			texts, known := map[string][]string{
				"n!": {"5! = 120"}, "arc minutes": {"It is at 5° 6' N"}, "arc seconds": {"It is at 5° 6' 7\" N"},
				"~ home": {"see ~/notes"}, "inch": {"a 5\" pipe"}, "to": {"5–6 boxes", "5-6 Kisten"}, ".": {"in .NET"},
				"$ name": {"in $ now", "The $ is strong"}, "# key": {"press #", "Drück die #"}, "* key": {"dial *69"},
				"@": {"see you @ noon", "wir sind @ home"}, "&": {"you & me"}, "#": {"#5", "ticket #5"}, "/": {"a /b"},
				"x": {"a 2 x 4", "2 x 4"}, "~": {"~5"}, "≈": {"≈5"}, "√": {"√5"}, "§": {"§ 5", "§5"}, "¶": {"¶ 5"},
			}[sign]
			switch kind, rest, _ := strings.Cut(sign, " "); {
			case known:
			case kind == "direction":
				texts = []string{"winds " + rest + " at 5 mph", "Take I-5 " + rest, "at 5 Oak St " + rest}
			case strings.Contains(sign, " "), strings.Contains(name, " | "):
				continue // of the verbalizer, or of a script
			default:
				texts = []string{
					"It is 5 " + sign + " 6", "It is 5" + sign, "a " + sign + " b", "It is done " + sign, sign + "5",
					"It is 5 m" + sign + " now", "Pressbox" + sign + " is here", "Note C" + sign,
				}
			}
			reached(row, strings.TrimSpace(name), texts...)
		}
	}
}
