package speakable_test

import (
	"strings"
	"testing"

	"pressbox/voice/speakable"

	"pressbox/packaging/check"
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
	lex, err := speakable.ParseLexicon(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ lang, written, spoken string }{
		{"en", "SQL and sql", "sequel and sequel."},
		{"en", "mysql sqlite sql's sql-free", "mysql sqlite sequel's sequel-free."},
		{"en", "Polish the floor; polish it; POLISH it", "Pole ish the floor; shine it; shine it."},
		{"en", "New York Yankees, new york, york", "the Yanks, Gotham, Yorick."},
		{"en", "new\tYork", "Gotham."},
		{"en", "We are #1", "We are the best."},
		{"en", "the [de] team", "the Germany team."},
		{"en", "C++ and C++11", "see plus plus and see plus plus eleven."},
		{"en-us", "boot", "trunk."},
		{"en_GB", "boot", "boot of the car."},
		{"de", "Boot", "[[ boːt ]]."},
		{"fr", "boot", "boot."},
		{"en", "5 km run", "five five dollars dash."},
		{"en", "CAFE\u0301", "coffee house."},
		{"en", "**sql** [sql](http://x.y)", "sequel sequel."},
		{"en", "[[ sqˈl ]] wifi [[ sqˈl ]]", "[[ sqˈl ]] why fi [[ ɪks ]] [[ sqˈl ]]."},
	} {
		check.Equal(t, speakable.Text(tt.written, tt.lang, lex), tt.spoken, "Text(%q, %s)", tt.written, tt.lang)
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
	for _, tt := range []struct{ file, want string }{
		{"a = b\nno sign", "line 2: want "},
		{"a=b", "line 1: want "},
		{"\n\n = b", "line 3: want "},
		{`"" = b`, "line 1: the pattern, left of the =, is empty"},
		{"a = ", "line 1: the replacement, right of the =, is empty"},
		{"a = ...", "line 1: the replacement, right of the =, has no sound"},
		{"a = [[ x", "line 1: phonemes are written [[ like this ]]"},
		{"a = x ]]", "line 1: phonemes are written [[ like this ]]"},
		{"[[ a ]] = b", "line 1: a pattern cannot have phonemes"},
		{"a = b\n# c\na = d", `line 3: "a" is already on line 1`},
		{"a = \xff", "line 1: not UTF-8"},
		{"a = b\n" + strings.Repeat("x", 5000), "line 2: "},
		{"bad\na = b\nworse", "line 3: want "},
		{strings.Repeat("bad\n", 12), "; 2 more"},
	} {
		lex, err := speakable.ParseLexicon(strings.NewReader(tt.file + "\nZyx = the end\n"))
		check.That(t, err != nil && strings.Contains(err.Error(), tt.want),
			"ParseLexicon(%.40q) = %v, want %q", tt.file, err, tt.want)
		if got := speakable.Text("Zyx", "en", lex); got != "the end." && len(tt.file) < 5000 {
			t.Errorf("ParseLexicon(%.40q): the valid line is lost", tt.file)
		}
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
