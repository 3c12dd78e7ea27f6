package speakable

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// ordinals are 1st, 22nd, and the decades: 1990s, '90s, 80s.
func ordinals() []form {
	return []form{
		{regexp.MustCompile(`^(\d{1,3}(?:,\d{3})+|\d{1,9})(?:st|nd|rd|th|ST|ND|RD|TH)`), func(r *reader, m []string) string {
			return r.ordinal(atoi(strings.ReplaceAll(m[1], ",", "")))
		}},
		{regexp.MustCompile(`^'?(\d{0,2})(\d0)'?s`), (*reader).decade},
		{regexp.MustCompile(`^'(\d\d)`), (*reader).shortYear},
	}
}

// decade says 1990s and '90s; a bare 30s is seconds unless a word before says
// that it is not.
func (r *reader) decade(m []string) string {
	tens := plural(r.cardinal(atoi(m[2])))
	if m[2] == "00" {
		tens = "hundreds"
	}
	switch {
	case len(m[1]) == 2 && m[2] == "00" && atoi(m[1])%10 == 0:
		return plural(r.year(atoi(m[1] + m[2])))
	case len(m[1]) == 2:
		return r.cardinal(atoi(m[1])) + " " + tens
	case m[1] == "" && m[2] != "00" && m[2] != "10" && (m[0][0] == '\'' || r.is("owners", r.word)):
		return tens
	}
	return ""
}

// shortYear is a year without its century: '99.
func (r *reader) shortYear(m []string) string {
	if r.quote || strings.HasPrefix(r.clip(len(m[0])), "'") {
		return ""
	}
	return r.pair(atoi(m[1]))
}

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

// mixedSign is 2½, also with a unit.
func (r *reader) mixedSign(m []string) string {
	return r.withUnit(r.whole(m[1])+" and "+vulgarName(m[2]), m[3:])
}

// mixed is 2 1/2, also with a unit.
func (r *reader) mixed(m []string) string {
	part := r.part(atoi(m[2]), atoi(m[3]))
	if part == "" || atoi(m[2]) >= atoi(m[3]) {
		return ""
	}
	return r.withUnit(r.whole(m[1])+" and "+part, m[4:])
}

// mixedInches is 7 1/4", where no quotation ends.
func (r *reader) mixedInches(m []string) string {
	said := r.mixed(m)
	if r.quote || said == "" {
		return ""
	}
	return said + " inches"
}

// partOfUnit is 1/2 in. and 3/4 mile.
func (r *reader) partOfUnit(m []string) string {
	part := r.part(atoi(m[1]), atoi(m[2]))
	u, ok := r.unit(inch(m[4], m[3], m[9]), m[5])
	if part == "" || !ok || m[7] != "" {
		return ""
	}
	return part + " " + u.one
}

// withUnit adds a unit, whose parts are those of [unitSign] after what parts it
// from the number. What is no unit is a word: its number is said without it.
func (r *reader) withUnit(said string, m []string) string {
	if len(m) == 0 {
		return said
	}
	u, ok := r.unit(inch(m[1], m[0], m[6]), m[2])
	if !ok || m[4] != "" {
		return ""
	}
	return said + " " + u.many
}

// fraction says a/b: a half, three quarters, nine tenths; else "a over b". What
// people say in one breath has no "over": 24/7.
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
	return r.figure(m[1]) + " over " + r.figure(m[2])
}

// part says a of b equal parts; "" when they are not counted like that.
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

// dotted are addresses of hosts and numbers of versions.
func dotted() []form {
	return []form{
		{regexp.MustCompile(`^(\d{1,3}(?:\.\d{1,3}){3})(?::(\d{1,5})|/(\d{1,2}))?`), (*reader).host},
		{regexp.MustCompile(`^[1-9]\d{0,2}(?:\.\d{3}){2}`), func(r *reader, m []string) string { return r.whole(strings.ReplaceAll(m[0], ".", ",")) }},
		{regexp.MustCompile(`^\d{1,5}(?:\.\d{1,5}){2,5}`), func(r *reader, m []string) string { return r.version(m[0]) }},
	}
}

func (r *reader) host(m []string) string {
	parts := strings.Split(m[1], ".")
	for i, part := range parts {
		parts[i] = r.spell(part)
		if len(part) < 3 && part[0] != '0' {
			parts[i] = r.whole(part)
		}
	}
	said := strings.Join(parts, " dot ")
	if m[2] != "" {
		said += " colon " + r.spell(m[2])
	}
	if m[3] != "" {
		said += " slash " + r.whole(m[3])
	}
	return said
}

// version says 1.2.3 as "one point two point three".
func (r *reader) version(s string) string {
	parts := strings.Split(s, ".")
	for i, part := range parts {
		parts[i] = r.whole(part)
	}
	return strings.Join(parts, " point ")
}

// baseball are the ways of writing a game.
func baseball() []form {
	return []form{
		{regexp.MustCompile(`^(\d{1,2})-for-(\d{1,2})`), func(r *reader, m []string) string {
			return strings.Replace(r.whole(m[1]), "zero", "oh", 1) + " for " + r.whole(m[2])
		}},
		{regexp.MustCompile(`^([0-3])[-–]([0-2]) (count|pitch)`), func(r *reader, m []string) string {
			return r.whole(m[1]) + "-" + r.whole(m[2]) + " " + m[3]
		}},
		{regexp.MustCompile(`^(\d{1,3})[-–](\d{1,3}) record`), func(r *reader, m []string) string {
			return r.whole(m[1]) + " and " + r.whole(m[2]) + " record"
		}},
		{regexp.MustCompile(`^\d{1,2}(?:-\d{1,2}){2,}`), func(r *reader, m []string) string {
			parts := strings.Split(m[0], "-")
			for i, part := range parts {
				parts[i] = r.whole(part)
			}
			return strings.Join(parts, " ")
		}},
		{regexp.MustCompile(`^\.([1-9])(\d)(\d)`), (*reader).average},
	}
}

// average says three places after a bare point as hitters do: two seventy-five.
func (r *reader) average(m []string) string {
	if r.units[r.nextWord(len(m[0]))].one != "" {
		return ""
	}
	if m[2] == "0" && m[3] == "0" {
		return r.whole(m[1]) + " hundred"
	}
	return r.whole(m[1]) + " " + r.pair(atoi(m[2]+m[3]))
}

func plainNumbers() []form {
	return []form{
		{regexp.MustCompile(`^[1-9]\d{0,2}(?: 000)+`), func(r *reader, m []string) string { return r.whole(strings.ReplaceAll(m[0], " ", ",")) }},
		{regexp.MustCompile(`^` + amount), (*reader).plainNumber},
		{regexp.MustCompile(`^()(\.\d+)`), (*reader).plainNumber},
	}
}

// plainNumber says four digits like a year from 1010 to 2099, which also suits
// counts; other numbers as they are.
func (r *reader) plainNumber(m []string) string {
	said := r.decimal(m[1], m[2])
	if v := atoi(m[1]); m[2] == "" && len(m[1]) == 4 && 1010 <= v && v < 2100 {
		said = r.year(v)
	}
	return said
}
