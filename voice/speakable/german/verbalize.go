package german

import (
	"strconv"
	"strings"

	"pressbox/voice/speakable/recognize"
)

// Verbalize implements [recognize.Verbalizer].
func (s *Verbalizer) Verbalize(t recognize.Token) string {
	switch t := t.(type) {
	case recognize.Word:
		return t.Spoken
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
		return "Hashtag " + camel(t.Name)
	case recognize.Mention:
		return "ät " + camel(t.Name)
	case recognize.Identifier:
		return s.identifier(t)
	case recognize.Version:
		return s.version(t)
	case recognize.Digits:
		return dialed(t)
	case recognize.Label:
		return t.Number + " " + t.Letter
	case recognize.Clock:
		return clock(t)
	case recognize.Date:
		return s.date(t)
	case recognize.Weekday:
		return s.WeekdayName(t.Day)
	case recognize.Month:
		return s.MonthName(t.Month)
	case recognize.Duration:
		return s.duration(t)
	case recognize.Decade:
		return decade(t)
	case recognize.ShortYear:
		return strconv.Itoa(t.Year)
	}
	return s.amount(t)
}

// dialed says digits one by one.
func dialed(d recognize.Digits) string {
	spoken := digits(strings.Join(d.Groups, " "))
	if d.Plus {
		return "plus " + spoken
	}
	return spoken
}

// amount says numbers and what is measured.
func (s *Verbalizer) amount(t recognize.Token) string {
	switch t := t.(type) {
	case recognize.Number:
		return number(t)
	case recognize.Counted:
		return s.counted(t)
	case recognize.Average:
		return "0," + t.Digits
	case recognize.Ordinal:
		if t.Article {
			return "der " + s.ranked(t.N, "", recognize.Definite)
		}
		return s.ranked(t.N, t.Noun, t.Case)
	case recognize.Fraction:
		return s.fraction(t)
	case recognize.Quantity:
		return s.quantity(t)
	case recognize.Unit:
		_, many := s.unit(t)
		return many
	case recognize.Rate:
		return t.Many + " pro " + t.Per
	case recognize.Per:
		return "pro " + s.per("", t.Per, 0)
	case recognize.FeetInches:
		return strconv.Itoa(t.Feet) + " Fuß " + strconv.Itoa(t.Inches)
	case recognize.Size:
		sides := make([]string, 0, len(t.Sides))
		for _, side := range t.Sides {
			sides = append(sides, number(side))
		}
		return strings.Join(sides, " mal ")
	case recognize.Times:
		return number(t.Number) + " mal"
	case recognize.Money:
		return s.money(t)
	case recognize.Pair:
		return s.relation(t)
	case recognize.Scientific:
		exponent := t.Exponent
		if t.Negative {
			exponent = "minus " + exponent
		}
		return number(t.Number) + " mal 10 hoch " + exponent
	}
	return ""
}

// fraction says eineinhalb and drei Viertel.
func (s *Verbalizer) fraction(f recognize.Fraction) string {
	spoken := part(f)
	one, many := s.unit(f.Unit)
	if f.Whole == "" && f.Num == 1 && f.Den == 2 {
		switch {
		case one != "":
			return s.half(one, f.Case) + " " + one
		case f.Noun != "" && strings.ToLower(f.Noun[:1]) != f.Noun[:1]:
			return s.half(f.Noun, f.Case)
		}
	}
	if one == "" {
		return spoken
	}
	if f.Whole == "" {
		return spoken + " " + one
	}
	return spoken + " " + many
}

// part says a fraction without its unit.
func part(f recognize.Fraction) string {
	half := f.Num == 1 && f.Den == 2
	switch {
	case half && f.Whole == "":
		return "ein halb"
	case half && f.Whole == "1":
		return "eineinhalb"
	case half:
		return f.Whole + "einhalb"
	}
	name := strings.ToUpper(ordinal(f.Den)[:1]) + ordinal(f.Den)[1:] + "el"
	spoken := bound(f.Num)
	if f.Num > 9 {
		spoken = strconv.Itoa(f.Num)
	}
	if f.Whole != "" {
		return f.Whole + " " + spoken + " " + name
	}
	return spoken + " " + name
}

// relation says a pair.
func (s *Verbalizer) relation(p recognize.Pair) string {
	word := [...]string{
		recognize.Of: " von ", recognize.Over: " zu ", recognize.To: " zu ", recognize.Plain: " ",
		recognize.And: " zu ", recognize.By: " mal ", recognize.Share: " zu ", recognize.Rates: " zu ",
	}[p.Join]
	spoken := number(p.A) + word + number(p.B)
	if p.Unit.Symbol != "" {
		_, many := s.unit(p.Unit)
		spoken += " " + many
	}
	if p.Unit.Per != "" {
		spoken += " pro " + s.per(p.Unit.PerCount, p.Unit.Per, p.Unit.PerPower)
	}
	return spoken
}

// quantity says a number with a unit.
func (s *Verbalizer) quantity(q recognize.Quantity) string {
	one, many := s.unit(q.Unit)
	var spoken string
	switch {
	case isOne(q.Number) && q.Unit.Symbol == "%":
		spoken = "ein " + one
	case isOne(q.Number):
		spoken = s.article(one, q.Case) + " " + one
	case q.Number.Whole == "1" && q.Number.Fraction == "5" && (q.Unit.Symbol == "Std" || q.Unit.Symbol == "h"):
		spoken = "eineinhalb " + many
	default:
		spoken = number(q.Number) + " " + many
	}
	if q.Unit.Per != "" {
		spoken += " pro " + s.per(q.Unit.PerCount, q.Unit.Per, q.Unit.PerPower)
	}
	return spoken
}

// unit returns the singular and plural of a unit without its denominator.
func (s *Verbalizer) unit(u recognize.Unit) (one, many string) {
	one, many, _ = s.Unit(u.Symbol)
	if u.Power == 0 {
		return one, many
	}
	power := [...]string{2: "Quadrat", 3: "Kubik", 4: ""}[u.Power]
	return power + strings.ToLower(one), power + strings.ToLower(many)
}

// per says a denominator: "Sekunde", "100 Kilometer".
func (s *Verbalizer) per(count, sign string, power int) string {
	one, many, ok := s.Unit(sign)
	if !ok {
		one, many = sign, sign
	}
	if sign == "d" {
		one, many = "Tag", "Tage"
	}
	switch {
	case count != "":
		return count + " " + many
	case power > 0 && (sign == "s" || sign == "h"):
		return one + " zum Quadrat"
	case power == 2:
		return "Quadrat" + strings.ToLower(one)
	case power == 3:
		return "Kubik" + strings.ToLower(one)
	}
	return one
}

// stars says a rating.
func (s *Verbalizer) stars(t recognize.Stars) string {
	switch {
	case t.Of > 0:
		return strconv.Itoa(t.N) + " von " + strconv.Itoa(t.Of) + " Sternen"
	case t.N == 1:
		return "Stern"
	}
	return strconv.Itoa(t.N) + " Sterne"
}
