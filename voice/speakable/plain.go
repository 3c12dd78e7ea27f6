package speakable

import (
	"regexp"
	"strings"
)

// ordinals returns the forms of 1st, 22nd, and decades: 1990s, '90s, 80s.
func ordinals() []form {
	return []form{
		{regexp.MustCompile(`^(\d{1,3}(?:,\d{3})+|\d{1,9})(?:st|nd|rd|th|ST|ND|RD|TH)`), func(r *reader, m []string) string {
			return r.ordinal(atoi(strings.ReplaceAll(m[1], ",", "")))
		}},
		{regexp.MustCompile(`^'?(\d{0,2})(\d0)'?s`), (*reader).decade},
		{regexp.MustCompile(`^'(\d\d)`), (*reader).shortYear},
	}
}

// decade expands 1990s and '90s; a bare 30s means seconds unless the word
// before excludes that.
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

// shortYear expands a year without its century: '99.
func (r *reader) shortYear(m []string) string {
	if r.quote || strings.HasPrefix(r.clip(len(m[0])), "'") {
		return ""
	}
	return r.pair(atoi(m[1]))
}

func plainNumbers() []form {
	return []form{
		{regexp.MustCompile(`^[1-9]\d{0,2}(?: 000)+`), func(r *reader, m []string) string { return r.whole(strings.ReplaceAll(m[0], " ", ",")) }},
		{regexp.MustCompile(`^` + amount), (*reader).plainNumber},
		{regexp.MustCompile(`^()(\.\d+)`), (*reader).plainNumber},
	}
}

// plainNumber returns four digits from 1010 to 2099 as a year, which also suits
// counts, and other numbers as they are.
func (r *reader) plainNumber(m []string) string {
	spoken := r.decimal(m[1], m[2])
	if v := atoi(m[1]); m[2] == "" && len(m[1]) == 4 && 1010 <= v && v < 2100 {
		spoken = r.year(v)
	}
	return spoken
}
