package recognize

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// phoneRules returns the rules of telephone numbers that start with a digit.
func phoneRules() []rule {
	return []rule{
		{
			"-", starts(`(1)-(8\d\d)-([A-Z][A-Z-]{3,9})\b`),
			whole(func(_ *tokenizer, m []string) Token {
				return Identifier{Runs: []string{m[1], m[2], m[3]}}
			}),
		},
		{"-. ", starts(`(?:1[ .-])?(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}`), whole((*tokenizer).phone)},
		{" -", starts(`0\d{2,4}(?:[ -/]\d{2,8}){1,4}`), whole((*tokenizer).phone)},
		{"/", starts(`0\d{2,5}/\d{3,8}(?:[ -]\d{1,8}){0,3}`), whole((*tokenizer).phone)},
		{"-", starts(`\d{3}-\d{4}`), whole((*tokenizer).phone)},
		{"-", starts(`\d{3}-\d{2}-\d{4}`), whole((*tokenizer).phone)},        // social security number
		{"-", starts(`\d{5}-\d{4}`), whole((*tokenizer).phone)},              // postal code
		{" -", starts(`\d{4}(?:[ -]\d{4}){2,3}`), whole((*tokenizer).phone)}, // card number
		{"$", starts(`\d{10,11}`), whole(func(s *tokenizer, m []string) Token { return phoneDigits(m[0]) })},
		{" ,.!?:;)", starts(`\d{10}`), whole(func(s *tokenizer, m []string) Token { return phoneDigits(m[0]) })},
	}
}

func (s *tokenizer) phone(m []string) Token {
	if s.followed(len(m[0]), "-") || !s.ends(m[0]) {
		return nil
	}
	plus := strings.HasPrefix(m[0], "+")
	groups := strings.FieldsFunc(m[0], func(c rune) bool { return !IsDigit(c) })
	if plus && len(strings.Join(groups, "")) < 7 {
		return nil
	}
	if len(groups) == 1 && len(groups[0]) >= 10 && strings.HasPrefix(groups[0], "1") {
		d := groups[0]
		groups = []string{d[:1], d[1:4], d[4:7], d[7:]}
	}
	if len(groups) == 2 && len(groups[1]) >= 10 {
		d := groups[1]
		groups = append(groups[:1], d[:3], d[3:6], d[6:])
	}
	return Digits{Groups: groups, Plus: plus}
}

// phoneDigits returns ten digits in the groups of a telephone number, others in groups of four.
func phoneDigits(d string) Token {
	if len(d) == 10 && d[0] != '0' && d[0] != '1' {
		return Digits{Groups: []string{d[:3], d[3:6], d[6:]}}
	}
	return Digits{Groups: fours(d)}
}

// fours splits digits into groups: of three if there are six or nine, otherwise of four; up to five digits
// stay together.
func fours(d string) []string {
	size := 4
	switch {
	case len(d) <= 5:
		return []string{d}
	case len(d)%3 == 0 && len(d) <= 9:
		size = 3
	}
	var groups []string
	for len(d) > size {
		groups, d = append(groups, d[:size]), d[size:]
	}
	return append(groups, d)
}

// codeRules returns the rules of codes that start with a digit.
func codeRules() []rule {
	return []rule{
		{"a", starts(`0x[0-9A-Fa-f]{1,16}\b`), whole(func(_ *tokenizer, m []string) Token {
			return Identifier{Runs: runs(m[0])}
		})},
		{
			"a:", starts(`[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){3,7}\b`),
			whole(func(_ *tokenizer, m []string) Token {
				return Identifier{Runs: runs(m[0])}
			}),
		},
		{"a", starts(`\d[0-9A-Z]{4,24}\b`), whole(func(_ *tokenizer, m []string) Token {
			if strings.ContainsFunc(strings.TrimLeft(m[0], "0123456789"), IsDigit) &&
				strings.ContainsFunc(m[0], unicode.IsUpper) {
				return Identifier{Runs: runs(m[0])}
			}
			return nil
		})},
		{
			".", starts(`(\d{1,5}(?:\.\d{1,5}){2,4})-(alpha|beta|rc|pre|dev|b)\.?(\d*)`),
			whole(func(_ *tokenizer, m []string) Token {
				return Version{Parts: append(strings.Split(m[1], "."), m[2], m[3])}
			}),
		},
		{"-", starts(`\d+(?:-[0-9A-Za-z]+)+`), whole((*tokenizer).dashed)},
		{
			" .,!?:$", starts(`(?:911|112|999|311|988|211|411|511|110)\b`),
			whole(func(s *tokenizer, m []string) Token {
				if s.Is(Dialed, s.nextWord(len(m[0]))) || s.preceded(Dialed) {
					return Digits{Groups: []string{m[0]}}
				}
				return nil
			}),
		},
		{"a", starts(`(\d{1,4})([A-Za-z])\b`), whole((*tokenizer).label)},
		{"", starts(`\d{2,16}(?: \d{2,4}){0,4}\b`), whole((*tokenizer).code)},
		{".", starts(`[1-9]\d{0,2}(?:\.\d{3}){2}\b`), whole(func(s *tokenizer, m []string) Token {
			return Number{Whole: plainDigits(m[0]), Grouped: true}
		})},
		{
			".", starts(`(20[1-4]\d)\.(1[0-2]|0?[1-9])\b`),
			whole(func(s *tokenizer, m []string) Token {
				if _, _, unit := s.Unit(s.nextWord(len(m[0]))); unit || s.DecimalComma ||
					s.followed(len(m[0]), ".") ||
					strings.ContainsAny(s.next(len(m[0]))[:min(1, len(s.next(len(m[0]))))], "%°$€£+=×/") {
					return nil
				}
				return Version{Parts: m[1:]}
			}),
		},
		{".", starts(`\d{1,5}(?:\.\d{1,5}){2,5}`), whole(func(_ *tokenizer, m []string) Token {
			return Version{Parts: strings.Split(m[0], ".")}
		})},
	}
}

// runs splits a code into runs of letters and of digits.
func runs(code string) []string {
	var parts []string
	for code != "" {
		c := First(code)
		digit := IsDigit(c)
		n := strings.IndexFunc(code, func(c rune) bool { return IsDigit(c) != digit || !IsWord(c) })
		switch {
		case n < 0:
			n = len(code)
		case n == 0:
			code = code[len(string(c)):]
			continue
		}
		parts, code = append(parts, code[:n]), code[n:]
	}
	return parts
}

// dashed recognizes groups of digits with dashes that are no range: with a word before that names a code,
// with a leading zero, or with more than two groups.
func (s *tokenizer) dashed(m []string) Token {
	groups := strings.Split(m[0], "-")
	digits, zero := true, false
	for _, group := range groups {
		digits = digits && allDigits(group)
		zero = zero || len(group) > 1 && group[0] == '0'
	}
	switch {
	case m[0] == "10-4" && s.before(0) == "":
		return Identifier{Runs: groups}
	case len(groups) == 2 && groups[0] == groups[1] && len(groups[0]) < 3 && s.words[0] != "":
		return Pair{A: Number{Whole: groups[0]}, B: Number{Whole: groups[1]}, Join: Plain}
	case !digits && len(groups) > 2 && strings.ContainsFunc(groups[1], IsDigit) && allDigits(groups[1]):
		return Identifier{Runs: runs(m[0])}
	case !digits:
		return nil
	case s.preceded(Carrier):
		return Identifier{Runs: groups, Paired: true}
	case s.nears(Lock) && len(groups) > 2 &&
		!slices.ContainsFunc(groups, func(group string) bool { return len(group) > 2 || group[0] == '0' }):
		return Identifier{Runs: groups} // the numbers of a combination lock
	case s.coded(), s.previous() == '#':
		return Digits{Groups: groups}
	case len(groups) > 2, zero && len(groups[0]) != 4:
		return Identifier{Runs: groups}
	}
	return nil
}

// coded reports whether the words before are those of a code: "code", "PIN is", "code changed to".
func (s *tokenizer) coded() bool {
	for _, word := range s.words {
		if s.Is(Code, word) {
			return true
		}
		if !s.Is(Filler, word) {
			return false
		}
	}
	return false
}

// code recognizes digits after a word such as "code": a code of three or more digits, or of several groups.
func (s *tokenizer) code(m []string) Token {
	after := s.rest(len(m[0]))
	if strings.HasPrefix(after, ":") || strings.HasPrefix(after, ".") && startsWithDigit(after[1:]) ||
		strings.HasPrefix(after, ",") && startsWithDigit(after[1:]) ||
		strings.HasPrefix(after, "%") || strings.HasPrefix(after, "/") {
		return nil
	}
	if _, _, unit := s.Unit(s.nextWord(len(m[0]))); unit && strings.HasPrefix(after, " ") {
		return nil
	}
	groups := strings.Fields(m[0])
	switch {
	case len(m[0]) == 5 && s.postal(),
		(len(m[0]) == 5 || len(m[0]) == 6) && s.preceded(Filler) && s.Is(Dialed, s.before(2)):
		return Digits{Groups: groups}
	case len(groups) > 1 && (s.coded() || s.preceded(Dialed)):
		return Digits{Groups: groups}
	case len(groups) > 1:
		return nil
	case len(m[0]) > 2 && (s.coded() || s.preceded(Dialed)):
		return Digits{Groups: fours(m[0])}
	case len(m[0]) > 2 && s.preceded(Carrier):
		return Identifier{Runs: []string{m[0]}, Paired: true}
	case len(m[0]) > 10 || len(m[0]) > 1 && m[0][0] == '0':
		return Digits{Groups: fours(m[0])}
	}
	return nil
}

// postal reports whether a city and the letters of a state stand before.
func (s *tokenizer) postal() bool {
	state := s.before(0)
	return s.Is(State, state) && strings.ToUpper(state) == state && capital(s.before(1)) && !s.loud &&
		s.previous() == ' '
}

// label recognizes the number and letter of a seat, a gate or an apartment.
func (s *tokenizer) label(m []string) Token {
	_, after := s.last.(Label)
	after = after || s.Is(Seat, s.before(2)) && startsWithDigit(s.before(1)) && s.preceded(Joiner)
	switch {
	case durationPart.MatchString(m[0]) && durationPart.MatchString(s.next(len(m[0]))): // 1h 30m
		return nil
	case s.seated(), after:
	case s.PeriodOrdinal && strings.Contains("abcef", m[2]): // Gartenstraße 5a
	case !unicode.IsUpper(First(m[2])):
		return nil
	case strings.Contains("CFVWJLAhs", m[2]) && !s.named(len(m[0])):
		return nil
	case m[2] == "A" && s.nears(Electric), strings.Contains("MB", m[2]) && s.Is(Countable, s.nextWord(len(m[0]))):
		return nil
	}
	return Label{m[1], m[2]}
}

// seated reports whether the words before are those of a seat, a gate or an apartment: "row", "seat is",
// "neighbor in".
func (s *tokenizer) seated() bool {
	if s.preceded(Seat) {
		return !s.Is(Space, s.before(1))
	}
	if s.preceded(Whereabouts) && s.Is(Occupant, s.before(1)) {
		return true
	}
	for i, word := range s.words {
		if !s.Is(Filler, word) {
			return i > 0 && s.Is(Boarding, word)
		}
	}
	return false
}

// named reports whether a capitalized word follows on the same line, as in 221B Baker Street.
func (s *tokenizer) named(n int) bool {
	word := s.nextWord(n)
	if startsWithDigit(word) { // 77 W 12th St
		end := strings.TrimLeft(word, "0123456789")
		return len(end) == 2 && strings.Contains("st nd rd th", end)
	}
	return word != "" && capital(word) && len(word) > 2 && !s.loud && strings.ToUpper(word) != word
}

var identifier = regexp.MustCompile(`^([A-Z][A-Z0-9]{1,9}|[A-Z])-?((?:\d+)(?:-[0-9A-Z]+)*|[0-9]+[A-Z]+[0-9A-Z]*)\b`)

// identified recognizes CVE-2024-3094, OPS-417, UA1542 and F-16.
func (s *tokenizer) identified(word string) bool {
	if !capital(word) || len(word) > 12 {
		return false
	}
	m := identifier.FindString(s.rest(0))
	if m == "" || !s.ends(m) ||
		s.followed(len(m), ".") && len(s.rest(len(m))) > 1 && IsWord(First(s.rest(len(m))[1:])) {
		return false
	}
	parts := runs(m)
	dash := strings.Contains(m, "-")
	switch {
	case !dash && (len(parts) < 2 || len(parts[0]) > 3 && len(parts) == 2):
		return false
	case dash && word == "T":
		return false
	case !dash && len(parts) == 2 && len(parts[1]) < 3 && !s.preceded(Seat):
		return false // A4, MP3, H2O are left to espeak-ng
	case dash && s.Is(Zone, parts[0]):
		return false
	}
	return s.take(
		Identifier{
			Runs:   parts,
			Paired: (len(parts) == 2 || s.preceded(Carrier)) && len(parts[1]) < 5 && parts[1][0] != '0',
		},
		len(m),
	)
}
