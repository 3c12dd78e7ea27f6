package english

import (
	"strings"

	"pressbox/voice/speakable/recognize"
	"pressbox/voice/speakable/verbalize"
)

// identifier says a code: letters one by one, short numbers as numbers, longer ones digit by digit, a year as
// a year.
func (s *grammar) identifier(t recognize.Identifier) string {
	runs := t.Runs
	var spoken []string
	mixed := strings.Join(runs, "")
	dense := len(runs) > 3 && len(mixed) > 5
	for i, run := range runs {
		switch {
		case strings.Contains(run, "."):
			whole, fraction, _ := strings.Cut(run, ".")
			spoken = append(spoken, s.Number(recognize.Number{Whole: whole, Fraction: fraction}))
		case t.Paired && recognize.IsDigit(rune(run[0])):
			spoken = append(spoken, s.labelNumber(run))
		case recognize.IsDigit(rune(run[0])):
			spoken = append(spoken, s.codeNumber(run, dense && !verbalize.IsYear(run), i+1 < len(runs)))
		case len(runs) == 3 && runs[0] == "1" && i == 2, // 1-800-FLOWERS
			len(run) > 1 && strings.ToUpper(run) != run, len(run) > 3:
			spoken = append(spoken, strings.ToLower(run))
		default:
			spoken = append(spoken, s.Spelled(strings.ToUpper(run)))
		}
	}
	if len(runs) == 3 && runs[0] == "1" && runs[1][0] == '8' {
		spoken[1] = s.shortHundred(runs[1])
	}
	return strings.Join(spoken, " ")
}

func (s *grammar) shortHundred(digits string) string {
	if strings.HasSuffix(digits, "00") {
		return s.whole(digits)
	}
	return s.Digits(digits)
}

// codeNumber says a run of digits in a code. With more, others follow it.
func (s *grammar) codeNumber(run string, spell, more bool) string {
	switch {
	case verbalize.IsYear(run) && more:
		return s.year(recognize.Atoi(run))
	case len(run) <= 2 && !spell:
		return s.whole(run)
	case len(run) == 1:
		return s.whole(run)
	}
	return strings.ReplaceAll(s.Digits(run), ",", "")
}

// labelNumber says the number of a label: twelve, two twenty-one.
func (s *grammar) labelNumber(digits string) string {
	if len(digits) == 3 && digits[1:] != "00" && digits[0] != '0' {
		return s.cardinal(recognize.Atoi(digits[:1])) + " " + s.pair(recognize.Atoi(digits[1:]))
	}
	if v := recognize.Atoi(digits); len(digits) == 4 && digits[0] != '0' && v%1000 > 9 {
		return s.year(v)
	}
	return s.Number(recognize.Number{Whole: digits})
}

// AddressPart says a part of an address; three or more digits are spelled, and all letters of a hexadecimal one.
func (s *grammar) AddressPart(part string, hex bool) string {
	return recognize.SayRuns(part, func(run string, digits bool) string {
		switch {
		case digits && len(run) > 2:
			return s.Digits(run)
		case digits:
			return s.whole(run)
		case hex,
			run == "a" || s.Is(recognize.Spelled, run) && !s.Is(recognize.Lower, run) && !s.Is(recognize.TopLevel, run):
			return s.Spelled(strings.ToUpper(run))
		}
		return run
	})
}
