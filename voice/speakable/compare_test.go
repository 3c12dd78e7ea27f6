package speakable_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pressbox/packaging/check"
	"pressbox/voice/speakable"
)

// A comparison is a row of testdata/LANG/CLASS.tsv.
type comparison struct {
	class, written string
	wordings       []string
}

// TestText_soundsAsTheWords compares, as phonemes of espeak-ng, what Text returns with the words that a person
// says. A text that espeak-ng alone reads as well should be left to it, which the error says.
func TestText_soundsAsTheWords(t *testing.T) {
	if testing.Short() {
		t.Skip("runs espeak-ng")
	}
	t.Parallel()
	for dir, lang := range map[string]string{"en": "en-us", "de": "de"} {
		rows := comparisons(t, dir)
		ipa := phonemes(t, lang, rows)
		for _, row := range rows {
			spoken := speakable.Text(row.written, lang, nil)
			if !same(spoken, row.wordings) && !ipa.equal(spoken, row.wordings) {
				t.Errorf("%s/%s: %q is spoken %q, want %q; espeak-ng alone is right: %t", dir, row.class, row.written,
					spoken, row.wordings, ipa.equal(row.written, row.wordings))
			}
		}
	}
}

// comparisons reads the tables of a language.
func comparisons(tb testing.TB, dir string) []comparison {
	tb.Helper()
	files := check.Must(filepath.Glob("testdata/" + dir + "/*.tsv"))(tb)
	var rows []comparison
	for _, file := range files {
		text := check.Must(os.ReadFile(file))(tb)
		for line := range strings.Lines(string(text)) {
			written, words, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if !ok {
				continue
			}
			rows = append(rows, comparison{
				class:    strings.TrimSuffix(filepath.Base(file), ".tsv"),
				written:  strings.ReplaceAll(written, `\n`, "\n"),
				wordings: strings.Split(words, " | "),
			})
			if dir == "de" {
				last := &rows[len(rows)-1]
				last.wordings = strings.Split(numerals(words), " | ")
			}
		}
	}
	check.Require(tb, len(rows) >= 100, "testdata/%s has %d rows", dir, len(rows))
	return rows
}

// A pronunciation maps texts to their phonemes.
type pronunciation map[string]string

// equal reports whether spoken sounds as one of the wordings does, with or without pauses.
func (p pronunciation) equal(spoken string, wordings []string) bool {
	for _, words := range wordings {
		if p[spoken] == p[words] || p[unpaused(spoken)] == p[unpaused(words)] {
			return true
		}
	}
	return false
}

// same reports whether spoken has the letters of one of the wordings and no digits, so that espeak-ng need
// not be run.
func same(spoken string, wordings []string) bool {
	return !strings.ContainsFunc(spoken, unicode.IsDigit) &&
		slices.ContainsFunc(wordings, func(words string) bool { return letters(spoken) == letters(words) })
}

func letters(text string) string {
	return strings.Join(
		strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && c != '\'' }), " ",
	)
}

// phonemes runs espeak-ng once on the texts of the rows that are not the same.
func phonemes(tb testing.TB, lang string, rows []comparison) pronunciation {
	tb.Helper()
	espeak, err := exec.LookPath("espeak-ng")
	if err != nil {
		tb.Fatal("espeak-ng is missing (\"make parts\" installs it)")
	}
	var texts []string
	for _, row := range rows {
		spoken := speakable.Text(row.written, lang, nil)
		if same(spoken, row.wordings) {
			continue
		}
		for _, text := range append([]string{row.written, spoken}, row.wordings...) {
			texts = append(texts, text, unpaused(text))
		}
	}
	const mark, markIPA = "[[????]]", "ʔʔʔʔ"
	var in bytes.Buffer
	for _, text := range texts {
		in.WriteString(strings.ReplaceAll(text, "\n", " ") + "\n" + mark + "\n")
	}
	cmd := exec.CommandContext(tb.Context(), espeak, "-q", "--ipa", "-b", "1", "-v", lang)
	cmd.Stdin = &in
	out := check.Must(cmd.Output())(tb)
	all := pronunciation{}
	var ipa strings.Builder
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != markIPA {
			ipa.WriteString(line)
			continue
		}
		check.Require(tb, len(texts) != 0, "espeak-ng has answered more often than it was asked")
		all[texts[0]] = unstressed.Replace(ipa.String())
		texts = texts[1:]
		ipa.Reset()
	}
	if len(texts) > 0 {
		tb.Fatalf("espeak-ng has not answered %q", texts[0])
	}
	return all
}

var (
	unstressed = strings.NewReplacer("ˈ", "", "ˌ", "", " ", "", "_", "")
	pauses     = strings.NewReplacer(", ", " ", "; ", " ", ": ", " ", ". ", " ", "! ", " ", "? ", " ")
)

// unpaused returns a text without the marks between words.
func unpaused(text string) string { return strings.TrimRight(pauses.Replace(text), ".!?,;:") }
