package english

import (
	"strconv"
	"strings"
)

// maxNamed is the largest number of digits that is not spelled.
const maxNamed = 15

// whole returns a run of digits in words: as a number, or digit by digit if it starts with a zero or has ten
// digits or more, as codes and telephone numbers do.
func (s *grammar) whole(digits string) string {
	plain := strings.ReplaceAll(digits, ",", "")
	if len(plain) > 1 && plain[0] == '0' || len(plain) > maxNamed || len(plain) >= 10 && plain == digits {
		return s.Digits(plain)
	}
	v, err := strconv.Atoi(plain)
	if err != nil {
		return s.Digits(plain)
	}
	return s.cardinal(v)
}

// cardinal returns v ≥ 0 in words.
func (s *grammar) cardinal(v int) string {
	switch {
	case v < 20:
		return s.small[v]
	case v < 100 && v%10 == 0:
		return s.tens[v/10]
	case v < 100:
		return s.tens[v/10] + "-" + s.small[v%10]
	case v < 1000:
		return s.join(s.small[v/100]+" hundred", s.and, v%100)
	}
	unit, scale := 1000, 1
	for v/unit >= 1000 && scale+1 < len(s.scales) {
		unit, scale = unit*1000, scale+1
	}
	and := " "
	if v%unit < 100 {
		and = s.and
	}
	return s.join(s.cardinal(v/unit)+" "+s.scales[scale], and, v%unit)
}

// join appends the words of the rest of a number, nothing for 0.
func (s *grammar) join(head, and string, rest int) string {
	if rest == 0 {
		return head
	}
	return head + and + s.cardinal(rest)
}

// ordinal returns the ordinal of v in words.
func (s *grammar) ordinal(v int) string {
	spoken := s.cardinal(v)
	cut := strings.LastIndexAny(spoken, " -") + 1
	head, last := spoken[:cut], spoken[cut:]
	if irregular := map[string]string{
		"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
		"twelve": "twelfth",
	}[last]; irregular != "" {
		return head + irregular
	}
	if stem, ok := strings.CutSuffix(last, "y"); ok {
		return head + stem + "ieth"
	}
	return spoken + "th"
}

// year returns a year in words: nineteen ninety-nine, two thousand five.
func (s *grammar) year(v int) string {
	century, rest := v/100, v%100
	switch {
	case v < 1000 || v >= 10000 || v%1000 < 10:
		return s.cardinal(v)
	case rest == 0:
		return s.cardinal(century) + " hundred"
	}
	return s.cardinal(century) + " " + s.pair(rest)
}

// pair returns the last two digits of a year or a time in words: "oh five", "thirty".
func (s *grammar) pair(v int) string {
	if v < 10 {
		return "oh " + s.small[v]
	}
	return s.cardinal(v)
}

// plural returns the plural of a number's last word: nineties, hundreds, sixes.
func plural(spoken string) string {
	switch {
	case strings.HasSuffix(spoken, "y"):
		return strings.TrimSuffix(spoken, "y") + "ies"
	case strings.HasSuffix(spoken, "x"), strings.HasSuffix(spoken, "s"):
		return spoken + "es"
	}
	return spoken + "s"
}
