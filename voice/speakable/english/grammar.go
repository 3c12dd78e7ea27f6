package english

import (
	"strings"

	"pressbox/voice/speakable/recognize"
	"pressbox/voice/speakable/verbalize"
)

// A grammar is that of one variety of English. It is not changed once it is made.
type grammar struct {
	*verbalize.Verbalizer
	small, tens, scales []string
	and                 string // between hundreds and the rest: " " or " and "
	british             bool
}

func newGrammar(v *verbalize.Verbalizer, british bool) *grammar {
	s := &grammar{v, v.Forms("small"), v.Forms("tens"), v.Forms("scales"), " ", british}
	if british {
		s.and = " and "
	}
	return s
}

// Say implements [verbalize.Grammar].
func (s *grammar) Say(t recognize.Token) string {
	switch t := t.(type) {
	case recognize.Word:
		return s.words(t.Spoken)
	case recognize.Clock:
		return s.clock(t)
	case recognize.Date:
		return s.day(t)
	case recognize.Identifier:
		return s.identifier(t)
	case recognize.Label:
		return s.labelNumber(t.Number) + " " + s.Spelled(strings.ToUpper(t.Letter))
	case recognize.Decade:
		return s.decade(t)
	case recognize.ShortYear:
		return s.pair(t.Year)
	case recognize.Average: // two seventy-five
		if t.Digits[1:] == "00" {
			return s.whole(t.Digits[:1]) + " hundred"
		}
		return s.whole(t.Digits[:1]) + " " + s.pair(recognize.Atoi(t.Digits[1:]))
	case recognize.Ordinal:
		if t.Article {
			return "the " + s.ordinal(t.N)
		}
		return s.ordinal(t.N)
	case recognize.Fraction:
		return s.fraction(t)
	}
	return ""
}

// words says the numbers in a text of the recognizer, such as "2 for 4".
func (s *grammar) words(text string) string {
	if !strings.ContainsAny(text, "0123456789") {
		return text
	}
	fields := strings.Fields(text)
	for i, f := range fields {
		if strings.Trim(f, "0123456789") == "" {
			fields[i] = s.whole(f)
		}
	}
	return strings.Join(fields, " ")
}

// Number says a number; four digits from 1010 to 2099 as a year, which also suits counts.
func (s *grammar) Number(n recognize.Number) string {
	if n.Whole == "" {
		return "point " + s.Digits(n.Fraction)
	}
	spoken := s.whole(n.Whole)
	if n.Grouped && len(n.Whole) <= maxNamed {
		spoken = s.cardinal(recognize.Atoi(n.Whole))
	}
	if v := recognize.Atoi(n.Whole); !n.Grouped && len(n.Whole) == 4 && v >= 1010 && v < 2100 {
		spoken = s.year(v)
	}
	if n.Fraction == "" {
		return spoken
	}
	return spoken + " point " + s.Digits(n.Fraction)
}

// fraction says 2 1/2 and 3/4 mile.
func (s *grammar) fraction(f recognize.Fraction) string {
	spoken := s.part(f.Num, f.Den)
	if f.Whole != "" {
		spoken = s.whole(f.Whole) + " and " + spoken
	}
	if f.Unit.Symbol == "" {
		return spoken
	}
	one, many := s.UnitNames(f.Unit)
	if f.Whole == "" || f.Compound {
		return spoken + " " + one
	}
	return spoken + " " + many
}

// part says a of b equal parts.
func (s *grammar) part(a, b int) string {
	name := s.ordinal(b)
	switch b {
	case 2:
		name = "half"
	case 4:
		name = "quarter"
	}
	if a == 1 {
		return "one " + name
	}
	return s.cardinal(a) + " " + plural(strings.Replace(name, "half", "halve", 1))
}

// Count implements [verbalize.Grammar]: five minutes, and five-minute before a noun.
func (s *grammar) Count(n recognize.Number, names []string, of recognize.Token) string {
	compound := false
	switch of := of.(type) {
	case recognize.Money:
		n.Grouped = true // no year
	case recognize.Quantity:
		n.Grouped = n.Grouped || recognize.Atoi(n.Whole)%100 > 0 // nor is 1013 hPa
		compound = of.Compound && of.Unit.Symbol != "%"
	case recognize.Duration:
		if whole := strings.TrimLeft(n.Whole, "0"); whole != "" {
			n.Whole = whole
		}
		compound = of.Compound
	}
	spoken := s.Number(n)
	switch {
	case compound:
		return strings.ReplaceAll(spoken, " ", "-") + "-" + names[0]
	case n.Whole == "1" && n.Fraction == "":
		return spoken + " " + names[0]
	}
	return spoken + " " + names[1]
}

// Spelled implements [verbalize.Grammar]: there are points between the letters; a lone A is respelled, because it would
// be the article.
func (s *grammar) Spelled(letters string) string {
	if letters == "A" {
		return "eh"
	}
	var b strings.Builder
	for i, c := range letters {
		if '0' <= c && c <= '9' { // CO2
			b.WriteString(" " + s.small[c-'0'])
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteRune(c)
	}
	return b.String()
}
