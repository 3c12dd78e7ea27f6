package speakable_test

import (
	"regexp"
	"strings"
	"testing"

	"pressbox/packaging/check"
	"pressbox/voice/speakable"
)

// shouted matches a word in capitals, which espeak-ng would spell or read by what is around it, beside no digit and
// outside phonemes.
var shouted = regexp.MustCompile(`(?:^|[^\p{L}\d\[])\p{Lu}{2,}(?:[^\p{L}\d\]]|$)`)

// No word in capitals is left to espeak-ng, whether a table has it or not.
func TestText_capitals(t *testing.T) {
	t.Parallel()
	for dir, lang := range map[string]string{"en": "en-us", "de": "de"} {
		for _, row := range comparisons(t, dir) {
			said := speakable.Text(row.written, lang, nil)
			check.That(t, !shouted.MatchString(said), "%s: Text(%q) = %q", lang, row.written, said)
		}
		for word, want := range map[string]string{
			"XYZZY": "xyzzy", "FOOBAR": "foobar", "HACS": "hacs", "ÜBER": "über", "BRRR": "B R R R", "ZHA": "Z H A",
		} {
			for _, context := range []string{"The % is off.", "%: offline", "% offline", "Nothing from %", "a, %, b"} {
				text := strings.Replace(context, "%", word, 1)
				check.Contains(t, words(speakable.Text(text, lang, nil)), words(want), "%s", lang)
			}
		}
		check.Equal(t, speakable.Text("THE OVEN ABOVE IS ON", "en-us", nil), "the oven above is on.", "a sentence")
	}
}
