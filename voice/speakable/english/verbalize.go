package english

import (
	"strings"

	"pressbox/voice/speakable/recognize"
)

// Verbalize implements [recognize.Verbalizer].
func (s *Verbalizer) Verbalize(t recognize.Token) string {
	switch t := t.(type) {
	case recognize.Word:
		return s.words(t.Spoken)
	case recognize.Letters:
		return spelled(t.Letters)
	case recognize.Sign:
		return s.SignName(t.Sign)
	case recognize.Emoji:
		return t.Name
	case recognize.Stars:
		return s.stars(t)
	case recognize.Script:
		return s.SignName("script " + t.Name)
	case recognize.Address:
		return s.address(t.Text)
	case recognize.Tag:
		return "hashtag " + s.camel(t.Name)
	case recognize.Mention:
		return "at " + s.camel(t.Name)
	case recognize.Identifier:
		return s.identifier(t)
	case recognize.Version:
		return s.version(t)
	case recognize.Digits:
		return s.digits(t)
	case recognize.Label:
		return s.labelNumber(t.Number) + " " + spelled(strings.ToUpper(t.Letter))
	case recognize.Clock:
		return s.clock(t)
	case recognize.Date:
		return s.date(t)
	case recognize.Weekday:
		return s.WeekdayName(t.Day)
	case recognize.Month:
		return s.MonthName(t.Month)
	case recognize.Duration:
		return s.duration(t)
	case recognize.Decade:
		return s.decade(t)
	case recognize.ShortYear:
		return s.pair(t.Year)
	}
	return s.amount(t)
}

// amount says numbers and what is measured.
func (s *Verbalizer) amount(t recognize.Token) string {
	switch t := t.(type) {
	case recognize.Number:
		return s.number(t)
	case recognize.Average:
		return s.average(t.Digits)
	case recognize.Ordinal:
		if t.Article {
			return "the " + s.ordinal(t.N)
		}
		return s.ordinal(t.N)
	case recognize.Fraction:
		return s.fraction(t)
	case recognize.Quantity:
		return s.quantity(t)
	case recognize.Unit:
		_, many := s.unit(t)
		if t.Per != "" {
			many += " per " + s.per("", t.Per, 0)
		}
		return many
	case recognize.Rate:
		return t.Many + " per " + t.Per
	case recognize.Per:
		return "per " + s.per("", t.Per, t.Power)
	case recognize.FeetInches:
		return s.cardinal(t.Feet) + " foot " + s.cardinal(t.Inches)
	case recognize.Size:
		var sides []string
		for _, side := range t.Sides {
			sides = append(sides, s.number(side))
		}
		return strings.Join(sides, " by ")
	case recognize.Times:
		return s.number(t.Number) + " times"
	case recognize.Money:
		return s.money(t)
	case recognize.Pair:
		return s.relation(t)
	case recognize.Scientific:
		exponent := s.cardinal(recognize.Atoi(t.Exponent))
		if t.Negative {
			exponent = "minus " + exponent
		}
		return s.number(t.Number) + " e " + exponent
	}
	return ""
}

// words says the numbers in a text of the recognizer, such as "2 for 4".
func (s *Verbalizer) words(text string) string {
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

// number says a number; four digits from 1010 to 2099 as a year, which also suits counts.
func (s *Verbalizer) number(n recognize.Number) string {
	if n.Whole == "" {
		return "point " + s.spell(n.Fraction)
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
	return spoken + " point " + s.spell(n.Fraction)
}

// average says a batting average: two seventy-five.
func (s *Verbalizer) average(digits string) string {
	if digits[1:] == "00" {
		return s.whole(digits[:1]) + " hundred"
	}
	return s.whole(digits[:1]) + " " + s.pair(recognize.Atoi(digits[1:]))
}

// fraction says 2 1/2 and 3/4 mile.
func (s *Verbalizer) fraction(f recognize.Fraction) string {
	spoken := s.part(f.Num, f.Den)
	if f.Whole != "" {
		spoken = s.whole(f.Whole) + " and " + spoken
	}
	if f.Unit.Symbol == "" {
		return spoken
	}
	one, many := s.unit(f.Unit)
	if f.Whole == "" || f.Compound {
		return spoken + " " + one
	}
	return spoken + " " + many
}

// part says a of b equal parts.
func (s *Verbalizer) part(a, b int) string {
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

// relation says a pair.
func (s *Verbalizer) relation(p recognize.Pair) string {
	word := [...]string{
		recognize.Of: " of ", recognize.Over: " over ", recognize.To: " to ", recognize.Plain: " ",
		recognize.And: " and ", recognize.By: " times ", recognize.Share: " ", recognize.Rates: " slash ",
	}[p.Join]
	spoken := s.number(p.A) + word + s.number(p.B)
	if p.Unit.Symbol != "" {
		_, many := s.unit(p.Unit)
		spoken += " " + many
	}
	if p.Unit.Per != "" {
		spoken += " per " + s.per(p.Unit.PerCount, p.Unit.Per, p.Unit.PerPower)
	}
	return spoken
}

// quantity says a number with a unit.
func (s *Verbalizer) quantity(q recognize.Quantity) string {
	one, many := s.unit(q.Unit)
	if recognize.Atoi(q.Number.Whole)%100 > 0 {
		q.Number.Grouped = true // 1013 hPa is no year
	}
	spoken := s.number(q.Number)
	switch {
	case q.Compound && q.Unit.Symbol != "%":
		spoken = strings.ReplaceAll(spoken, " ", "-") + "-" + one
	case q.Number.Whole == "1" && q.Number.Fraction == "":
		spoken += " " + one
	default:
		spoken += " " + many
	}
	if q.Unit.Per != "" {
		spoken += " per " + s.per(q.Unit.PerCount, q.Unit.Per, q.Unit.PerPower)
	}
	return spoken
}

// unit returns the singular and plural of a unit without its denominator.
func (s *Verbalizer) unit(u recognize.Unit) (one, many string) {
	one, many, _ = s.Unit(u.Symbol)
	power := [...]string{0: "", 1: "", 2: "square ", 3: "cubic ", 4: "fluid "}[u.Power]
	return power + one, power + many
}

// per says a denominator: "second", "hundred kilometers".
func (s *Verbalizer) per(count, sign string, power int) string {
	one, many, ok := s.Unit(sign)
	if !ok {
		one, many = sign, sign+"s"
	}
	if long, ok := map[string]string{
		"d": "day", "wk": "week", "mo": "month", "yr": "year", "y": "year", "w": "week",
	}[sign]; ok {
		one, many = long, long+"s"
	}
	switch {
	case count != "":
		return s.whole(count) + " " + many
	case power > 0 && (sign == "s" || sign == "h"):
		return one + " squared"
	case power == 2:
		return "square " + one
	case power == 3:
		return "cubic " + one
	}
	return one
}

// stars says a rating.
func (s *Verbalizer) stars(t recognize.Stars) string {
	switch {
	case t.Of > 0:
		return s.cardinal(t.N) + " of " + s.count(t.Of, "star")
	case t.N == 1:
		return "star"
	}
	return s.count(t.N, "star")
}

// count says a number of things.
func (s *Verbalizer) count(n int, thing string) string {
	if n == 1 {
		return "one " + thing
	}
	return s.cardinal(n) + " " + thing + "s"
}

// spelled writes letters so that espeak-ng spells them: with points between them; a lone A is respelled,
// because it would be the article.
func spelled(letters string) string {
	if letters == "A" {
		return "eh"
	}
	var b strings.Builder
	for i, c := range letters {
		if '0' <= c && c <= '9' { // CO2
			b.WriteString(" " + strings.Fields(small)[c-'0'])
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteRune(c)
	}
	return b.String()
}
