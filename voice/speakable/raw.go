package speakable

import (
	"regexp"
	"strings"
)

// hidden replaces a block of raw phonemes while the text around it is processed. It is a private-use
// character, which no step matches.
const hidden = "\uE000"

// ipa matches characters of phonemes: lower-case Latin letters, the letters, modifiers and diacritics of the
// International Phonetic Alphabet, and marks.
const (
	ipaSign = `æçðøœŋħβθχɐ-˿\x{300}-\x{36F}ᴀ-ᶿⱱ`
	ipa     = `[a-z .,;:!?'|‖` + ipaSign + `]*`
)

// rawBlock matches a block of raw phonemes. One that could be words, as in "[[main page]]", has no sign of
// the phonetic alphabet and is text.
var rawBlock = regexp.MustCompile(`\[\[` + ipa + `[` + ipaSign + `]` + ipa + `\]\]`)

// around processes the text around blocks of raw phonemes; other double brackets are text. change must
// preserve each [hidden] and their order.
func around(s string, change func(string) string) string {
	var blocks []string
	if strings.Contains(s, "[[") {
		blocks = rawBlock.FindAllString(s, -1)
	}
	parts := []string{s}
	if len(blocks) > 0 {
		parts = rawBlock.Split(s, -1)
	}
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(part, hidden, "")
	}
	changed := strings.Split(change(strings.Join(parts, hidden)), hidden)
	var b strings.Builder
	for i, part := range changed {
		if i > 0 {
			b.WriteString(blocks[i-1])
		}
		b.WriteString(part)
	}
	return b.String()
}
