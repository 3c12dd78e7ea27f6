package english

import (
	"strconv"

	"pressbox/voice/speakable/recognize"
)

// clock says a time of day: six thirty p.m.
func (s *grammar) clock(c recognize.Clock) string {
	spoken := s.hour(c)
	switch {
	case c.Central > 0:
		return spoken + ", " + s.cardinal(c.Central) + " central"
	case c.Split != "":
		return spoken + " point " + s.Digits(c.Split)
	case c.Second == -2: // 0300 hours
		return s.military(c)
	case c.Second > 0 || c.Second == 0 && c.Half == 0:
		spoken += " and " + s.Count(recognize.Number{Whole: strconv.Itoa(c.Second)}, s.Forms("period s"), nil)
	case c.Half == 0 && c.Minute == 0:
		return s.fullHour(c.Hour)
	}
	switch c.Half {
	case 'a':
		return spoken + " a.m"
	case 'p':
		return spoken + " p.m"
	}
	return spoken
}

// hour says the hour and, unless it is zero, the minute.
func (s *grammar) hour(c recognize.Clock) string {
	spoken := s.cardinal(c.Hour)
	if c.Minute > 0 {
		spoken += " " + s.pair(c.Minute)
	}
	return spoken
}

// fullHour says an hour without minutes.
func (s *grammar) fullHour(h int) string {
	switch {
	case h == 0 || h == 24:
		return "midnight"
	case h <= 12:
		return s.cardinal(h) + " o'clock"
	}
	return s.cardinal(h) + " hundred"
}

// military says four digits: oh three hundred, fifteen thirty.
func (s *grammar) military(c recognize.Clock) string {
	minutes := "hundred"
	if c.Minute > 0 {
		minutes = s.pair(c.Minute)
	}
	if c.Hour == 0 {
		return "zero " + minutes
	}
	return s.pair(c.Hour) + " " + minutes
}

// day says a date: March third, twenty twenty-six.
func (s *grammar) day(d recognize.Date) string {
	spoken := s.MonthName(d.Month)
	switch {
	case d.Day == 0 && d.Year > 0:
		return spoken + " " + s.year(d.Year)
	case d.DayFirst, s.british && d.Comma:
		spoken = s.ordinal(d.Day) + " of " + spoken
		if d.Article || !d.DayFirst {
			spoken = "the " + spoken
		}
	default:
		spoken += " " + s.ordinal(d.Day)
	}
	if d.To > 0 {
		spoken += " to " + s.ordinal(d.To)
	}
	if d.Year == 0 {
		return spoken
	}
	if d.Comma {
		spoken += ","
	}
	return spoken + " " + s.year(d.Year)
}

// decade says the nineties.
func (s *grammar) decade(d recognize.Decade) string {
	tens := plural(s.cardinal(d.Tens))
	if d.Tens == 0 {
		tens = "hundreds"
	}
	switch {
	case d.Century == 0:
		return tens
	case d.Tens == 0 && d.Century%10 == 0:
		return plural(s.year(d.Century * 100))
	}
	return s.cardinal(d.Century) + " " + tens
}
