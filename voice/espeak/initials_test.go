package espeak

import (
	"strings"
	"testing"

	"pressbox/packaging/check"
)

func TestBreakInitials(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("a.", 15) + "word." + strings.Repeat("a.", 15)
	for _, tt := range []struct{ clause, want string }{
		{"U.S.A.", "U.S.A."},
		{strings.Repeat("a.", maxInitials-1), strings.Repeat("a.", maxInitials-1)},
		{strings.Repeat("a.", maxInitials), strings.Repeat("a.", maxInitials-1) + "a "},
		{strings.Repeat("é.", 20), strings.Repeat("é.", 15) + "é " + strings.Repeat("é.", 4)},
		{strings.Repeat("e\u0301. ", 17), strings.Repeat("e\u0301. ", 15) + "e\u0301  e\u0301. "},
		{strings.Repeat("word.", 17), strings.Repeat("word.", 17)},
		{whole, whole},
	} {
		check.Equal(t, breakInitials(tt.clause), tt.want, "%q", tt.clause)
	}
}

// espeak-ng 1.51 overflows a buffer on its stack for long runs of initials.
func TestPhonemizer_longInitials(t *testing.T) {
	p := parallel(t, "")
	mustPhonemes(t, p, "en-us", "hello")
	child := p.children[0]
	alive := func() bool { return len(p.children) == 1 && p.children[0] == child }
	for _, initial := range []string{
		"a.", "é.", "я.", "中.", "𐐨.", "e\u0301.", "a. ", "a .", " a . ", "ß.", "가.", "ﬁ.", "A.", "a.\u00ad", "\u200ba.",
	} {
		for _, n := range []int{58, 100} {
			if _, err := p.Phonemes(t.Context(), "en-us", strings.Repeat(initial, n)); err != nil || !alive() {
				t.Fatalf("%d times %q: %v; the same child is alive: %t", n, initial, err, alive())
			}
		}
	}
	mustPhonemes(t, p, "en-us", strings.Repeat("a.", maxClause/2))
	check.Equal(t, strings.Count(mustPhonemes(t, p, "en-us", strings.Repeat("x.", 40)), "ɛks"), 40, "letters spoken")
}
