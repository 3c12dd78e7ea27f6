package german

import (
	"strconv"
	"strings"

	"pressbox/voice/speakable/recognize"
	"pressbox/voice/speakable/verbalize"
)

// A grammar is that of German. It is not changed once it is made.
type grammar struct{ *verbalize.Verbalizer }

// Say implements [verbalize.Grammar].
func (s *grammar) Say(t recognize.Token) string {
	switch t := t.(type) {
	case recognize.Word:
		return t.Spoken
	case recognize.Clock:
		return clock(t)
	case recognize.Date:
		return s.day(t)
	case recognize.Identifier:
		return s.identifier(t)
	case recognize.Label:
		return t.Number + " " + t.Letter
	case recognize.Decade:
		if t.Century > 0 {
			return strings.ReplaceAll(s.year(t.Century*100+t.Tens), " ", "") + "er"
		}
		return strconv.Itoa(t.Tens) + "er"
	case recognize.ShortYear:
		return strconv.Itoa(t.Year)
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
	}
	return ""
}

// fraction says eineinhalb and drei Viertel.
func (s *grammar) fraction(f recognize.Fraction) string {
	spoken := s.part(f)
	one, many := s.UnitNames(f.Unit)
	if f.Whole == "" && f.Num == 1 && f.Den == 2 {
		switch {
		case one != "":
			return s.half(one, f.Case) + " " + one
		case f.Noun != "" && strings.ToLower(f.Noun[:1]) != f.Noun[:1]:
			return s.half(f.Noun, f.Case)
		}
	}
	switch {
	case one == "":
		return spoken
	case f.Whole == "":
		return spoken + " " + one
	}
	return spoken + " " + many
}

// part says a fraction without its unit.
func (s *grammar) part(f recognize.Fraction) string {
	half := f.Num == 1 && f.Den == 2
	switch {
	case half && f.Whole == "":
		return "ein halb"
	case half && f.Whole == "1":
		return "eineinhalb"
	case half:
		return f.Whole + "einhalb"
	}
	name := strings.ToUpper(s.ordinal(f.Den)[:1]) + s.ordinal(f.Den)[1:] + "el"
	spoken := s.bound(f.Num)
	if f.Num > 9 {
		spoken = strconv.Itoa(f.Num)
	}
	if f.Whole != "" {
		return f.Whole + " " + spoken + " " + name
	}
	return spoken + " " + name
}

// Count implements [verbalize.Grammar]. The last name of a duration's unit is that of the dative.
func (s *grammar) Count(n recognize.Number, names []string, of recognize.Token) string {
	c, half, many := recognize.Bare, false, names[1]
	switch of := of.(type) {
	case recognize.Quantity:
		c, half = of.Case, of.Unit.Symbol == "Std" || of.Unit.Symbol == "h"
		if of.Unit.Symbol == "%" {
			c = recognize.Bare // ein Prozent
		}
	case recognize.Duration:
		c, half = of.Case, true
		if c == recognize.Dative {
			many = names[2]
		}
	}
	_, coins := of.(recognize.Money)
	switch {
	case isOne(n) && coins:
		return "ein " + names[0]
	case isOne(n):
		return s.article(names[0], c) + " " + names[0]
	case half && n.Whole == "1" && n.Fraction == "5":
		return "eineinhalb " + names[1]
	}
	return s.Number(n) + " " + many
}

// clock says a time of day: 19 Uhr 30.
func clock(c recognize.Clock) string {
	if c.Split != "" {
		return strconv.Itoa(c.Hour) + " Minuten " + strconv.Itoa(c.Minute) + "," + c.Split + " Sekunden"
	}
	spoken := strconv.Itoa(c.Hour) + " Uhr"
	if c.Hour == 1 {
		spoken = "ein Uhr"
	}
	if c.Minute > 0 {
		spoken += " " + strconv.Itoa(c.Minute)
	}
	if c.Second > 0 {
		spoken += " und " + strconv.Itoa(c.Second) + " Sekunden"
	}
	return spoken
}

func (s *grammar) day(d recognize.Date) string {
	spoken := s.MonthName(d.Month)
	if d.Day > 0 {
		spoken = s.ranked(d.Day, "", d.Case) + " " + spoken
	}
	if d.Year > 0 {
		spoken += " " + s.year(d.Year)
	}
	return spoken
}

// identifier says a code: letters one by one, numbers of up to two digits as numbers, longer ones digit by digit, a
// year as a year.
func (s *grammar) identifier(t recognize.Identifier) string {
	spoken := make([]string, len(t.Runs))
	for i, run := range t.Runs {
		switch {
		case strings.ContainsAny(run, ",."):
			whole, fraction, _ := strings.Cut(strings.ReplaceAll(run, ".", ","), ",")
			spoken[i] = s.Number(recognize.Number{Whole: whole, Fraction: fraction})
		case recognize.IsDigit(rune(run[0])):
			spoken[i] = s.codeNumber(run, i+1 < len(t.Runs))
		case len(run) > 3:
			spoken[i] = strings.ToLower(run)
		default:
			spoken[i] = s.Spelled(strings.ToUpper(run))
		}
	}
	return strings.Join(spoken, " ")
}

// codeNumber says a run of digits in a code. With more, others follow it.
func (s *grammar) codeNumber(run string, more bool) string {
	year := len(run) == 4 && strings.HasPrefix(run, "20")
	if year && more || len(run) < 3 && run[0] != '0' {
		return s.Number(recognize.Number{Whole: run})
	}
	return s.Digits(run)
}

// AddressPart implements [verbalize.Grammar]; three or more digits are spelled, and so is the name of a country.
func (s *grammar) AddressPart(part string, _ bool) string {
	if len(part) == 2 && s.Is(recognize.TopLevel, part) || s.Is(recognize.Spelled, part) {
		return s.Spelled(strings.ToUpper(part))
	}
	return recognize.SayRuns(part, func(run string, digits bool) string {
		if digits {
			return s.codeNumber(run, false)
		}
		return run
	})
}

// Spelled implements [verbalize.Grammar], with spaces; a digit of CO2 is a number.
func (s *grammar) Spelled(letters string) string {
	return strings.Join(strings.Split(letters, ""), " ")
}
