package speakable

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	vulgar      = `½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞`
	vulgarNames = "one_half one_third two_thirds one_quarter three_quarters one_fifth two_fifths three_fifths four_fifths one_sixth five_sixths one_eighth three_eighths five_eighths seven_eighths"
)

func fractions() []form {
	return []form{
		{regexp.MustCompile(`^(\d{1,3}) ?([` + vulgar + `])( ?)` + unitSign), (*reader).mixedSign},
		{regexp.MustCompile(`^(\d{1,3}) ?([` + vulgar + `])`), (*reader).mixedSign},
		{regexp.MustCompile(`^[` + vulgar + `]`), func(_ *reader, m []string) string { return vulgarName(m[0]) }},
		{regexp.MustCompile(`^(\d{1,3})[ -](\d{1,2})/(\d{1,2})"`), (*reader).mixedInches},
		{regexp.MustCompile(`^(\d{1,3})[ -](\d{1,2})/(\d{1,2})( ?)` + unitSign), (*reader).mixed},
		{regexp.MustCompile(`^(\d{1,3})[ -](\d{1,2})/(\d{1,2})`), (*reader).mixed},
		{regexp.MustCompile(`^(\d{1,2})/(\d{1,3})( ?)` + unitSign), (*reader).partOfUnit},
		{regexp.MustCompile(`^(\d{1,4})/(\d{1,4})`), (*reader).fraction},
	}
}

// mixedSign expands 2½, also with a unit.
func (r *reader) mixedSign(m []string) string {
	return r.withUnit(r.whole(m[1])+" and "+vulgarName(m[2]), m[3:])
}

// mixed expands 2 1/2, also with a unit.
func (r *reader) mixed(m []string) string {
	part := r.part(atoi(m[2]), atoi(m[3]))
	if part == "" || atoi(m[2]) >= atoi(m[3]) {
		return ""
	}
	return r.withUnit(r.whole(m[1])+" and "+part, m[4:])
}

// mixedInches expands 7 1/4", unless the mark ends a quotation.
func (r *reader) mixedInches(m []string) string {
	spoken := r.mixed(m)
	if r.quote || spoken == "" {
		return ""
	}
	return spoken + " inches"
}

// partOfUnit expands 1/2 in. and 3/4 mile.
func (r *reader) partOfUnit(m []string) string {
	part := r.part(atoi(m[1]), atoi(m[2]))
	u, ok := r.unit(inch(m[4], m[3], m[9]), m[5])
	if part == "" || !ok || m[7] != "" {
		return ""
	}
	return part + " " + u.one
}

// withUnit adds a unit, given as the submatches of [unitSign] after the
// separator from the number. Without a known unit it returns the number only.
func (r *reader) withUnit(spoken string, m []string) string {
	if len(m) == 0 {
		return spoken
	}
	u, ok := r.unit(inch(m[1], m[0], m[6]), m[2])
	if !ok || m[4] != "" {
		return ""
	}
	return spoken + " " + u.many
}

// fraction returns a/b in words: a half, three quarters, nine tenths; otherwise
// "a over b". Fixed phrases such as 24/7 have no "over".
func (r *reader) fraction(m []string) string {
	a, b := atoi(m[1]), atoi(m[2])
	if strings.HasPrefix(r.clip(len(m[0])), "/") || strings.HasSuffix(r.src[:r.at], "/") {
		return ""
	}
	if m[0] == "24/7" || m[0] == "9/11" || a == b && a > 9 {
		return r.cardinal(a) + " " + r.cardinal(b)
	}
	if part := r.part(a, b); part != "" && a < b {
		return part
	}
	return r.shortNumber(m[1]) + " over " + r.shortNumber(m[2])
}

// part returns a of b equal parts in words, "" if these have no name.
func (r *reader) part(a, b int) string {
	var name string
	switch b {
	case 2:
		name = "half"
	case 4:
		name = "quarter"
	case 3, 5, 6, 7, 8, 9, 10, 12, 16, 32, 64, 100:
		name = r.ordinal(b)
	default:
		return ""
	}
	switch a {
	case 0:
		return ""
	case 1:
		return "one " + name
	}
	return r.cardinal(a) + " " + plural(strings.Replace(name, "half", "halve", 1))
}

func vulgarName(sign string) string {
	at := utf8.RuneCountInString(vulgar[:strings.Index(vulgar, sign)])
	return spaced(strings.Fields(vulgarNames)[at])
}
