package speakable

import (
	_ "embed"
	"regexp"
	"strings"
)

//go:embed others.txt
var others string

// signs are the words of a language for signs beside a number.
type signs struct{ minus, degrees, euros, dollars string }

// signsOf returns the words of a language without a verbalizer.
func signsOf(lang string) (signs, bool) {
	base, _, _ := strings.Cut(lang, "-")
	for row := range strings.Lines(others) {
		if words := strings.Fields(row); len(words) == 5 && words[0] == base {
			return signs{words[1], words[2], words[3], words[4]}, true
		}
	}
	return signs{}, false
}

var (
	minusSign   = regexp.MustCompile(`(^|[\s(])[-−](\d)`)
	degreeSign  = regexp.MustCompile(`(\d) ?°(?: ?C\b)?`)
	moneyBefore = regexp.MustCompile(`([€$]) ?(\d+(?:[.,]\d+)*)`)
	moneyAfter  = regexp.MustCompile(`(\d) ?([€$])`)
)

// named returns a text in which a minus, degrees Celsius and amounts of money have the words of a language.
func named(s, lang string) string {
	words, ok := signsOf(lang)
	if !ok || !strings.ContainsAny(s, "-−°€$") {
		return s
	}
	name := strings.NewReplacer("€", words.euros, "$", words.dollars)
	s = minusSign.ReplaceAllString(s, "${1}"+words.minus+" $2")
	s = degreeSign.ReplaceAllString(s, "$1 "+words.degrees)
	s = moneyBefore.ReplaceAllString(s, "$2 $1")
	return moneyAfter.ReplaceAllStringFunc(s, func(m string) string {
		return m[:1] + " " + name.Replace(strings.TrimLeft(m[1:], " "))
	})
}
