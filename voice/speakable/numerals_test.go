package speakable_test

import (
	"slices"
	"strconv"
	"strings"
)

// numerals returns German text with numbers in digits, as espeak-ng reads them: it says "achtundvierzig" with
// a w and 48 as people do, so that phonemes of numbers in words would be those of no person. Of the years
// before 2000 only the last two digits are converted.
func numerals(text string) string {
	words := strings.Split(text, " ")
	for i, word := range words {
		bare := strings.TrimRight(word, ".,;:!?")
		marks := word[len(bare):]
		if century, rest, ok := strings.Cut(bare, "zehnhundert"); ok && century != "" {
			if v, ok := numeral(rest); ok && rest != "" {
				words[i] = century + "zehnhundert " + strconv.Itoa(v) + marks
			}
			continue
		}
		if v, ok := numeral(bare); ok && v > 12 {
			words[i] = strconv.Itoa(v) + marks
		}
	}
	return strings.Join(words, " ")
}

func digitNames() []string {
	return []string{
		"", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf",
		"dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn",
	}
}

func tenNames() []string {
	return []string{"-", "-", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"}
}

// numeral returns the value of a German number in words below a million.
func numeral(word string) (int, bool) {
	if head, rest, ok := strings.Cut(word, "tausend"); ok {
		return sum(head, rest, 1000)
	}
	if head, rest, ok := strings.Cut(word, "hundert"); ok {
		return sum(head, rest, 100)
	}
	if v := slices.Index(digitNames(), strings.Replace(word, "eins", "ein", 1)); v >= 0 {
		return v, true
	}
	one, ten, ok := strings.Cut(word, "und")
	if !ok {
		one, ten = "", word
	}
	v, t := slices.Index(digitNames(), one), slices.Index(tenNames(), ten)
	return 10*t + v, v >= 0 && v < 10 && t > 1
}

// sum returns head · unit + rest; an empty head is one.
func sum(head, rest string, unit int) (int, bool) {
	h, r := 1, 0
	ok := true
	if head != "" {
		h, ok = numeral(head)
	}
	if ok && rest != "" {
		r, ok = numeral(rest)
	}
	return h*unit + r, ok
}
