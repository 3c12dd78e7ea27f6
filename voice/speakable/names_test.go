package speakable_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pressbox/packaging/check"
	"pressbox/voice/speakable"
)

// vowel matches a vowel of espeak-ng's American voice.
var vowel = regexp.MustCompile(`^(?:aɪ|aʊ|eɪ|oʊ|ɔɪ|ɜː|iː|uː|ɑː|ɔː|oː|iə|[aæɑɔʌəɐᵻɪɛʊiuɚeo])`)

// sounds has for each vowel of the dictionary, in its own notation, those of espeak-ng that are heard as it.
func sounds() map[string][]string {
	return map[string][]string{
		"AA": {"ɑː", "ɑ", "ɔː", "ɔ"}, "AE": {"æ"}, "AH": {"ʌ", "ə", "ɐ", "ᵻ", "ɪ"}, "AO": {"ɔː", "ɔ", "ɑː", "oː"},
		"AW": {"aʊ"}, "AY": {"aɪ"}, "EH": {"ɛ", "e"}, "ER": {"ɜː", "ɚ", "ʌ"}, "EY": {"eɪ"}, "IH": {"ɪ", "ᵻ", "i", "iə"},
		"IY": {"iː", "i", "iə", "ɪ"}, "OW": {"oʊ", "oː"}, "OY": {"ɔɪ"}, "UH": {"ʊ", "ɔː", "uː"}, "UW": {"uː", "ʊ", "u"},
	}
}

// stressed returns the number of the syllable with the main stress, from 0, and its vowel.
func stressed(phonemes string) (syllable int, sound string) {
	stress := false
	for rest := phonemes; rest != ""; {
		if after, ok := strings.CutPrefix(rest, "ˈ"); ok {
			stress, rest = true, after
			continue
		}
		if v := vowel.FindString(rest); v != "" {
			if stress {
				return syllable, v
			}
			syllable, rest = syllable+1, rest[len(v):]
			continue
		}
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	return 0, vowel.FindString(strings.TrimLeft(phonemes, "bcdfghjklmnpqrstvwxyzɡɹʃʒθðŋ"))
}

// Of the 1,000 commonest first and family names of the United States (500 first names of the Census of 1990, then
// family names; public domain), at most ten have another stressed syllable or vowel than a pronouncing dictionary:
// names.tsv has those that it knows, such as 0AA of John; r marks a vowel before R, where Mary and marry are one.
func TestText_names(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it needs espeak-ng")
	}
	rows := strings.Split(strings.TrimSpace(string(check.Must(os.ReadFile("testdata/names.tsv"))(t))), "\n")
	check.Equal(t, len(rows), 1000, "names")
	texts := make([]string, len(rows))
	for i, row := range rows {
		name, _, _ := strings.Cut(row, "\t")
		texts[i] = speakable.Text(name, "en-us", nil)
	}
	cmd := exec.CommandContext(t.Context(), check.Part(t, "espeak-ng"), "-v", "en-us", "--ipa", "-q")
	cmd.Stdin = strings.NewReader(strings.Join(texts, "\n") + "\n")
	spoken := strings.Split(strings.TrimSpace(string(check.Must(cmd.Output())(t))), "\n")
	check.Equal(t, len(spoken), len(rows), "lines of espeak-ng")
	var wrong []string
	for i, row := range rows {
		name, want, _ := strings.Cut(row, "\t")
		phonemes := spoken[i]
		if _, block, ok := strings.Cut(texts[i], "[["); ok {
			phonemes, _, _ = strings.Cut(block, "]]")
		}
		if !pronounced(phonemes, want) {
			wrong = append(wrong, name+" "+phonemes+" "+want)
		}
	}
	check.That(t, len(wrong) <= 10, "%d of %d names differ:\n%s", len(wrong), len(rows), strings.Join(wrong, "\n"))
	t.Logf("%d of %d names differ: %q", len(wrong), len(rows), wrong)
}

// pronounced reports whether phonemes have the stress and the vowel of one of the ways that a dictionary has.
func pronounced(phonemes, want string) bool {
	syllable, sound := stressed(phonemes)
	for way := range strings.FieldsSeq(want) {
		name, beforeR := strings.CutSuffix(way[1:], "r")
		permitted := sounds()[name]
		if beforeR && (name == "AE" || name == "EH") {
			permitted = append(permitted, "æ", "ɛ")
		}
		for _, p := range permitted {
			if int(way[0]-'0') == syllable && sound == p {
				return true
			}
		}
	}
	return false
}
