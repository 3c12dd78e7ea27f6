package speakable_test

import (
	"strings"
	"testing"

	"pressbox/packaging/check"
	"pressbox/voice/speakable"
)

func TestLexicon_replaces(t *testing.T) {
	t.Parallel()
	const file = "\uFEFF# names\r\n" + `
sql = sequel
Polish = Pole ish
polish = shine
new york = Gotham
New York Yankees = the Yanks
york = Yorick
"#1" = the best
"[de]" = Germany
c++ = see plus plus
[en] boot = trunk
[en-gb] boot = boot of the car
[de] boot = [[ boːt ]]
km run = $5 dash
café = coffee house
wifi = why fi [[ ɪks ]]
`
	lex := check.Must(speakable.ParseLexicon(strings.NewReader(file)))(t)
	for _, row := range append(check.Table(t, "testdata/lexicon-texts.txt"), []string{"en", "new\tYork", "Gotham."}) {
		check.Equal(t, speakable.Text(row[1], row[0], lex), row[2], "Text(%q, %s)", row[1], row[0])
	}
}

func TestLexicon_empty(t *testing.T) {
	t.Parallel()
	for _, lex := range []*speakable.Lexicon{nil, {}} {
		check.Equal(t, speakable.Text("sql", "en", lex), "sql.", "Text without the entry")
	}
}

func TestParseLexicon_errors(t *testing.T) {
	t.Parallel()
	for _, row := range append(check.Table(t, "testdata/lexicon-errors.txt"),
		[]string{"a = ", "line 1: the replacement, right of the =, is empty"},
		[]string{"a = \xff", "line 1: not UTF-8"},
		[]string{"a = b\n" + strings.Repeat("x", 5000), "line 2: "}) {
		file := row[0]
		lex, err := speakable.ParseLexicon(strings.NewReader(file + "\nZyx = the end\n"))
		check.That(t, err != nil && strings.Contains(err.Error(), row[1]),
			"ParseLexicon(%.40q) = %v, want %q", file, err, row[1])
		kept := speakable.Text("Zyx", "en", lex) == "the end."
		check.That(t, kept || len(file) >= 5000, "ParseLexicon(%.40q): the valid line is lost", file)
	}
}

func FuzzParseLexicon(f *testing.F) {
	f.Add("a = b\n[en] C++ = see\n\"#\" = [[ x ]]", "a C++ # text")
	f.Add("New York = x", "new  york New\nYork")
	f.Fuzz(func(t *testing.T, file, s string) {
		lex, err := speakable.ParseLexicon(strings.NewReader(file))
		if err != nil {
			check.Require(t, strings.HasPrefix(err.Error(), "line "),
				"ParseLexicon(%q): %v has no line number", file, err)
		}
		got := speakable.Text(s, "en-us", lex)
		check.Require(t, !strings.ContainsAny(got, "\n\r"), "Text(%q) with %q = %q", s, file, got)
		if speakable.HasSpeech(s) && got == "" {
			t.Fatalf("Text(%q) with %q is empty", s, file)
		}
	})
}
