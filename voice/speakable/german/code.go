package german

import (
	"strings"
	"unicode"

	"pressbox/voice/speakable/recognize"
)

// identifier says a code: letters one by one, numbers of up to two digits as numbers, longer ones digit by
// digit, a year as a year.
func (s *Verbalizer) identifier(t recognize.Identifier) string {
	var spoken []string
	for i, run := range t.Runs {
		switch {
		case strings.ContainsAny(run, ",."):
			whole, fraction, _ := strings.Cut(strings.ReplaceAll(run, ".", ","), ",")
			spoken = append(spoken, number(recognize.Number{Whole: whole, Fraction: fraction}))
		case recognize.IsDigit(rune(run[0])):
			spoken = append(spoken, codeNumber(run, i+1 < len(t.Runs)))
		case len(run) > 3:
			spoken = append(spoken, run)
		default:
			spoken = append(spoken, spelled(strings.ToUpper(run)))
		}
	}
	return strings.Join(spoken, " ")
}

// codeNumber says a run of digits in a code. With more, others follow it.
func codeNumber(run string, more bool) string {
	year := len(run) == 4 && strings.HasPrefix(run, "20")
	if year && more || len(run) < 3 && run[0] != '0' {
		return number(recognize.Number{Whole: run})
	}
	return digits(run)
}

// version says 1.2.3: 1 Punkt 2 Punkt 3.
func (s *Verbalizer) version(v recognize.Version) string {
	var parts []string
	if v.Named {
		parts = append(parts, "Version")
	}
	for i, part := range v.Parts {
		if part == "" {
			continue
		}
		if i > 0 && v.Parts[i-1] != "" && recognize.IsDigit(rune(part[0])) && recognize.IsDigit(rune(v.Parts[i-1][0])) {
			parts = append(parts, "Punkt")
		}
		switch {
		case !recognize.IsDigit(rune(part[0])) && len(part) < 3:
			part = spelled(strings.ToUpper(part))
		case recognize.IsDigit(rune(part[0])):
			part = number(recognize.Number{Whole: part})
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

// signName returns the name of a sign in addresses, "" for others.
func signName(sign rune) string {
	return map[rune]string{
		'.': "Punkt", '/': "Schrägstrich", '@': "ät", ':': "Doppelpunkt", '-': "Minus", '_': "Unterstrich",
		'+': "plus", '~': "Tilde", '\\': "Backslash",
	}[sign]
}

// address says an address: example Punkt D E Schrägstrich hilfe.
func (s *Verbalizer) address(a string) string {
	return recognize.SayAddress(a, signName, s.name)
}

// name says a part of an address; three or more digits are spelled, and so is the name of a country.
func (s *Verbalizer) name(part string) string {
	if len(part) == 2 && s.Is(recognize.TopLevel, part) || s.Is(recognize.Spelled, part) {
		return spelled(strings.ToUpper(part))
	}
	return recognize.SayRuns(part, func(run string, digits bool) string {
		if digits {
			return codeNumber(run, false)
		}
		return run
	})
}

// camel splits a name such as TagDerOffenenTür into its words.
func camel(name string) string {
	var b strings.Builder
	before := ' '
	for _, c := range name {
		switch {
		case c == '_' || c == '-':
			c = ' '
		case unicode.IsUpper(c) && unicode.IsLower(before), recognize.IsDigit(c) && unicode.IsLetter(before),
			unicode.IsLetter(c) && recognize.IsDigit(before):
			b.WriteByte(' ')
		}
		b.WriteRune(c)
		before = c
	}
	return strings.TrimSpace(b.String())
}

// spelled writes letters with spaces, so that espeak-ng spells them; a digit of CO2 is a number.
func spelled(letters string) string {
	var names []string
	for _, c := range letters {
		names = append(names, string(c))
	}
	return strings.Join(names, " ")
}
