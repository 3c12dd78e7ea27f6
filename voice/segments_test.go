package voice

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pressbox/packaging/check"
)

// format returns clauses as text|mark, raw ones in brackets, joined ones after a plus sign.
func format(clauses []clause) string {
	var b strings.Builder
	for i, c := range clauses {
		if i > 0 && !c.joined {
			b.WriteByte(' ')
		} else if i > 0 {
			b.WriteByte('+')
		}
		text := c.text
		if c.raw {
			text = "[" + text + "]"
		}
		b.WriteString("{" + text)
		if c.mark != 0 {
			b.WriteString("|" + string(c.mark))
		}
		b.WriteByte('}')
	}
	return b.String()
}

func TestNewClauses_splits(t *testing.T) {
	t.Parallel()
	for _, row := range append(check.Table(t, "testdata/clauses.txt"), []string{"a\xffb", "{ab|.}"}) {
		check.Equal(t, format(newClauses(row[0])), strings.ReplaceAll(row[1], "|}", "}"), "%q", row[0])
	}
}

func TestSegments_sizes(t *testing.T) {
	t.Parallel()
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	for _, tt := range []struct {
		name, text string
		want       string // sizes of the segments; a bar starts a sentence, a semicolon follows one
	}{
		{"a sentence", "Dinner is ready.", "15"},
		{"two sentences", "Dinner is ready. Come down.", "15|9"},
		{"first cut at a mark", "Dinner is ready in the kitchen, please come and wash your hands.", "30 31"},
		{"first clause alone", "Good morning, the coffee is ready.", "12 19"},
		{"first clause of 8 characters", "Calendar, dinner is ready.", "8 15"},
		{"last clause of 8 characters", "Dinner is ready, children.", "15 8"},
		{"not before one short word", "Dinner is ready, Matthew.", "22"},
		{"not after one short word", "Weather, dinner is ready, please come down.", "22 16"},
		{"first clause without a mark", "Hello [[wɜːld]] good morning, all of you.", "22 10"},
		{"later sentences whole", "Dinner is ready in the hall. When it rains, please come, all of you.", "27|34"},
		{"they grow", "One. " + strings.Repeat("A clause of a few words, ", 20), "3|69 138 184 69"},
		{"no mark", words(100), "69 138 138 149"},
		{"a semicolon", "Dinner is ready; please come down.", "15;16"},
		{"a dash", "When dinner is ready,\tplease come down, all of you.", "20;26"},
		{"a short word before it", "Weather; dinner is ready.", "22"},
		{"a short word after it", "Dinner is ready; Matthew.", "22"},
	} {
		var got strings.Builder
		for p := range newClauses(tt.text).segments() {
			size := 0
			for _, c := range p.clauses {
				size += c.characters()
			}
			switch {
			case p.pause == ClausePause:
				got.WriteByte(';')
			case p.pause > 0:
				got.WriteByte('|')
			case got.Len() > 0:
				got.WriteByte(' ')
			}
			fmt.Fprint(&got, size)
		}
		check.Equal(t, got.String(), tt.want, "%s: segments of", tt.name)
	}
}

// No speech is lost, nothing is too long, and every clause is in exactly one segment.
func FuzzNewClauses(f *testing.F) {
	f.Add("Hello, world. [[ x ]] 3.14? yes")
	f.Add(strings.Repeat("word", 200))
	f.Add(strings.Repeat("语", 500))
	f.Add("[[[[a]]]]")
	f.Fuzz(func(t *testing.T, text string) {
		s := newClauses(text)
		for _, c := range s {
			n := utf8.RuneCountInString(c.text)
			check.That(t, n > 0 && (c.raw || n <= maxClause), "a clause of %d characters", n)
		}
		check.That(t, len(s) == 0 || s[len(s)-1].ends(), "the last clause of %q does not end", text)
		segments, total := 0, textLength{}
		var again []clause
		for p := range s.segments() {
			segments++
			again = append(again, p.clauses...)
			check.Equal(t, p.length().segments, 1, "length of a segment")
			total = total.minus(p.length())
		}
		check.That(t, format(again) == format(s), "the segments have %s, the clauses %s", format(again), format(s))
		check.Equal(t, s.length().minus(textLength{}), (textLength{}).minus(total), "the length of the clauses")
		check.Equal(t, s.length().segments, segments, "segments")
		got, want := spoken(format(s)), spoken(strings.ToValidUTF8(text, ""))
		check.That(t, got == want, "%q is the speech of %q", got, want)
	})
}

// spoken returns the letters and digits of s.
func spoken(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}
