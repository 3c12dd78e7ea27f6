package wyoming

import (
	"slices"
	"strings"
	"unicode"
)

// titles are abbreviations that names follow, so that their full stop ends no sentence.
var titles = []string{ //nolint:gochecknoglobals // a lookup table
	"mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "hr", "fr", "no", "nr", "vs", "ca",
}

// complete cuts a text that is not complete after the last sentence that certainly is. When in doubt it waits
// for more text: it is only faster to speak a sentence before the next one is there, and worse to speak a part
// of one.
func complete(text string) (sentences, rest string) {
	rs := []rune(text)
	for i := range slices.Backward(rs) {
		if endsSentence(rs, i) {
			return string(rs[:i+1]), string(rs[i+1:])
		}
	}
	return "", text
}

// endsSentence reports whether the rune at i is the last of a sentence.
func endsSentence(rs []rune, i int) bool {
	const maxClosers = 4
	mark := i
	for mark > 0 && i-mark < maxClosers && strings.ContainsRune(`)]}"'»”’`, rs[mark]) {
		mark--
	}
	if strings.ContainsRune("。！？।", rs[mark]) {
		return i+1 < len(rs) && !strings.ContainsRune(`)]}"'»”’」』。！？`, rs[i+1]) // what follows is another sentence
	}
	if !strings.ContainsRune(".?!؟", rs[mark]) || i+1 == len(rs) || !unicode.IsSpace(rs[i+1]) {
		return false
	}
	next := slices.IndexFunc(rs[i+1:], func(r rune) bool { return !unicode.IsSpace(r) })
	if next < 0 || unicode.IsLower(rs[i+1+next]) {
		return false
	}
	return rs[mark] != '.' || !abbreviates(rs[:mark])
}

// abbreviates reports whether a full stop after rs may mark an abbreviation, an ordinal number or an ellipsis.
func abbreviates(rs []rune) bool {
	start := len(rs)
	for start > 0 && (unicode.IsLetter(rs[start-1]) || unicode.IsDigit(rs[start-1]) || rs[start-1] == '.') {
		start--
	}
	word := strings.ToLower(string(rs[start:]))
	return len(rs)-start < 2 || strings.ContainsAny(word, "0123456789.") || slices.Contains(titles, word)
}
