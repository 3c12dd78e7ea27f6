package german

import (
	"strconv"
	"strings"

	"pressbox/voice/speakable/recognize"
)

// small returns a number below twenty.
func small(v int) string {
	return [...]string{
		"null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf",
		"dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn",
	}[v]
}

// tens returns ten times v.
func tens(v int) string {
	return [...]string{
		"", "zehn", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig",
	}[v]
}

// stem returns the ordinals that are not their number with a t, "" for others.
func stem(v int) string {
	return map[int]string{1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}[v]
}

// cardinal returns 0 ≤ v < 1000 in words, larger numbers in digits.
func cardinal(v int) string {
	switch {
	case v < 20:
		return small(v)
	case v < 100 && v%10 == 0:
		return tens(v / 10)
	case v < 100:
		return bound(v%10) + "und" + tens(v/10)
	case v < 1000 && v%100 == 0:
		return bound(v/100) + "hundert"
	case v < 1000:
		return bound(v/100) + "hundert" + cardinal(v%100)
	}
	return strconv.Itoa(v)
}

// bound returns a digit as the first part of a number: "ein" of einhundert.
func bound(v int) string {
	if v == 1 {
		return "ein"
	}
	return small(v)
}

// ordinal returns an ordinal without its ending: erst, zwanzigst.
func ordinal(v int) string {
	if last := stem(v % 100); last != "" && v < 1000 {
		if v < 100 {
			return last
		}
		return bound(v/100) + "hundert" + last
	}
	switch {
	case v == 100:
		return "hundertst"
	case v%100 == 6: // of "sechste", espeak-ng does not know that the e is short
		return strings.TrimSuffix(cardinal(v), "sechs") + "seckst"
	case v%100 > 0 && v%100 < 20:
		return cardinal(v) + "t"
	}
	return cardinal(v) + "st"
}

// year returns a year. espeak-ng reads 1987 as a thousand nine hundred …; the years from 2000 on it reads
// right.
func year(v int) string {
	switch {
	case v < 1100 || v >= 2000:
		return strconv.Itoa(v)
	case v%100 == 0:
		return cardinal(v/100) + "hundert"
	}
	return cardinal(v/100) + "hundert " + strconv.Itoa(v%100)
}

// digits returns the names of the digits in text; other characters separate groups.
func digits(text string) string {
	var b strings.Builder
	group := false // a group ended
	for _, c := range text {
		if !recognize.IsDigit(c) {
			group = b.Len() > 0
			continue
		}
		switch {
		case group:
			b.WriteString(", ")
		case b.Len() > 0:
			b.WriteByte(' ')
		}
		b.WriteString(small(int(c - '0')))
		group = false
	}
	return b.String()
}

// maxRead is the largest number of digits that espeak-ng reads as a number.
const maxRead = 12

// number returns a number as espeak-ng reads it: digits, with a comma before the decimals.
func number(n recognize.Number) string {
	whole := strings.TrimLeft(n.Whole, "0")
	switch {
	case len(n.Whole) > maxRead, len(n.Whole) > 1 && n.Whole[0] == '0' && n.Fraction == "":
		return digits(n.Whole)
	case whole == "":
		whole = "0"
	}
	if n.Fraction == "" {
		return whole
	}
	if len(n.Fraction) > 6 {
		return whole + " Komma " + digits(n.Fraction)
	}
	return whole + "," + n.Fraction
}

func isOne(n recognize.Number) bool { return n.Whole == "1" && n.Fraction == "" }
