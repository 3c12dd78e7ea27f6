package german

import (
	"strconv"
	"strings"

	"pressbox/voice/speakable/recognize"
)

// cardinal returns 0 ≤ v < 1000 in words, larger numbers in digits.
func (s *grammar) cardinal(v int) string {
	switch {
	case v < 20:
		return s.Forms("small")[v]
	case v < 100 && v%10 == 0:
		return s.Forms("tens")[v/10]
	case v < 100:
		return s.bound(v%10) + "und" + s.Forms("tens")[v/10]
	case v < 1000 && v%100 == 0:
		return s.bound(v/100) + "hundert"
	case v < 1000:
		return s.bound(v/100) + "hundert" + s.cardinal(v%100)
	}
	return strconv.Itoa(v)
}

// bound returns a digit as the first part of a number: "ein" of einhundert.
func (s *grammar) bound(v int) string {
	if v == 1 {
		return "ein"
	}
	return s.Forms("small")[v]
}

// ordinal returns an ordinal without its ending: erst, zwanzigst.
func (s *grammar) ordinal(v int) string {
	// those that are not their number with a t
	if last := map[int]string{1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}[v%100]; last != "" && v < 1000 {
		if v < 100 {
			return last
		}
		return s.bound(v/100) + "hundert" + last
	}
	switch {
	case v == 100:
		return "hundertst"
	case v%100 == 6: // of "sechste", espeak-ng does not know that the e is short
		return strings.TrimSuffix(s.cardinal(v), "sechs") + "seckst"
	case v%100 > 0 && v%100 < 20:
		return s.cardinal(v) + "t"
	}
	return s.cardinal(v) + "st"
}

// year returns a year. espeak-ng reads 1987 as a thousand nine hundred …; the years from 2000 on it reads
// right.
func (s *grammar) year(v int) string {
	switch {
	case v < 1100 || v >= 2000:
		return strconv.Itoa(v)
	case v%100 == 0:
		return s.cardinal(v/100) + "hundert"
	}
	return s.cardinal(v/100) + "hundert " + strconv.Itoa(v%100)
}

// maxRead is the largest number of digits that espeak-ng reads as a number.
const maxRead = 12

// Number says a number as espeak-ng reads it: digits, with a comma before the decimals.
func (s *grammar) Number(n recognize.Number) string {
	whole := strings.TrimLeft(n.Whole, "0")
	switch {
	case len(n.Whole) > maxRead, len(n.Whole) > 1 && n.Whole[0] == '0' && n.Fraction == "":
		return s.Digits(n.Whole)
	case whole == "":
		whole = "0"
	}
	if n.Fraction == "" {
		return whole
	}
	if len(n.Fraction) > 6 {
		return whole + " Komma " + s.Digits(n.Fraction)
	}
	return whole + "," + n.Fraction
}

func isOne(n recognize.Number) bool { return n.Whole == "1" && n.Fraction == "" }
