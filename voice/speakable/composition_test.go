package speakable_test

import (
	"strings"
	"testing"

	"pressbox/packaging/check"
	"pressbox/voice/speakable"
)

// The kinds of tokens of a language, and the separators with the word that each adds.
var compositions = map[string]struct {
	kinds  map[string][]string
	joints map[string]string
}{
	"en-us": {map[string][]string{
		"date": {"May 25"}, "time": {"3 pm", "15:30"}, "price": {"€15", "$20.50"},
		"label": {"Bus 42", "Room 12", "#12"}, "duration": {"5 min", "1h 30m"},
		"temperature": {"12 °C"}, "percentage": {"20 %"}, "weight": {"8 kg"},
		"weekday": {"Monday"}, "version": {"v1.2.3"}, "code": {"A4"}, "word": {"dinner"}, "fraction": {"3/4 cup"},
		"ordinal": {"22nd"}, "year": {"2026"}, "number": {"1,234"}, "telephone": {"555-1234"}, "host": {"192.168.1.10"},
		"mail": {"anna@example.org"}, "acronym": {"NAS"}, "capitals": {"GAS"}, "height": {`5'11"`}, "size": {"2x4"},
		"name": {"Dr. Smith"}, "street": {"5 Main St."}, "decimal": {"3.5"}, "minus": {"-3"}, "speed": {"60 mph"},
		"data": {"5 GB"}, "identifier": {"ABC-123"}, "address": {"example.org/menu"},
	}, map[string]string{
		", ": "", "; ": "", ": ": "", " – ": "", " - ": "", " / ": "", " | ": "", " + ": " plus", " & ": " and",
		". ": "", "\n": "", " (": "", " and ": " and",
	}},
	"de": {map[string][]string{
		"date": {"25. Mai", "24.11."}, "time": {"15 Uhr", "15:30 Uhr"}, "price": {"15 €", "20,50 €"},
		"label": {"Bus 42", "Zimmer 12", "Nr. 5"}, "duration": {"5 min", "1 Std. 30 Min."}, "temperature": {"12 °C"},
		"percentage": {"20 %"}, "weight": {"8 kg"}, "weekday": {"Montag"}, "version": {"Version 1.2.3"}, "code": {"A4"},
		"word": {"Essen"}, "fraction": {"½"}, "year": {"2026"}, "number": {"1.234"}, "telephone": {"030 901820"},
		"host": {"192.168.1.10"}, "mail": {"anna@example.org"}, "acronym": {"NAS"}, "capitals": {"GAS"},
		"name": {"Dr. Schmidt"}, "street": {"Hauptstr."}, "decimal": {"3,5"}, "minus": {"-3"}, "speed": {"50 km/h"},
		"data": {"5 GB"}, "identifier": {"ABC-123"}, "address": {"example.org/menu"},
		"energy": {"5 kWh"}, "length": {"1,80 m"},
	}, map[string]string{
		", ": "", "; ": "", ": ": "", " – ": "", " - ": "", " / ": "", " | ": "", " + ": " plus", " & ": " und",
		". ": "", "\n": "", " (": "", " und ": " und",
	}},
}

// Two tokens are read as each is alone, whatever stands between them. Two of a kind may be a range.
func TestText_composition(t *testing.T) {
	t.Parallel()
	// The pairs that are read as one, with a dash or a slash between them.
	together := map[[2]string]bool{
		{"price", "number"}: true, {"price", "year"}: true, {"price", "decimal"}: true, // €15 – 20
		{"date", "ordinal"}:   true,                            // May 5 – 7th
		{"decimal", "street"}: true, {"minus", "street"}: true, // 3 – 5 Main St.
		{"decimal", "number"}: true, {"number", "decimal"}: true, {"minus", "number"}: true, {"minus", "decimal"}: true,
	}
	for measured := range strings.FieldsSeq("price duration temperature percentage weight speed data length energy") {
		together[[2]string{"decimal", measured}] = true // 3.5 – 5 kg
		together[[2]string{"minus", measured}] = true   // -3 – 5 °C
	}
	for lang, c := range compositions {
		alone := map[string]string{}
		kinds := map[string]string{}
		for kind, tokens := range c.kinds {
			for _, token := range tokens {
				alone[token], kinds[token] = words(speakable.Text(token, lang, nil)), kind
			}
		}
		pairs := 0
		for a := range alone {
			for b := range alone {
				for sep, joint := range c.joints {
					one := kinds[a] == kinds[b] || together[[2]string{kinds[a], kinds[b]}]
					if one && strings.ContainsAny(sep, "-–/") {
						continue
					}
					pairs++
					text := a + sep + b
					got := words(speakable.Text(text, lang, nil))
					check.Equal(t, got, alone[a]+joint+" "+alone[b], "%s: %q", lang, text)
				}
			}
		}
		check.That(t, pairs >= 8000, "%s: %d pairs", lang, pairs)
	}
}

// words returns the words of a text, in small letters.
func words(text string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(text, func(c rune) bool {
		return strings.ContainsRune(" ,.;:!?\t\n()-", c)
	}), " "))
}
