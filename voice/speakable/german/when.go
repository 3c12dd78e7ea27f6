package german

import (
	"strconv"
	"strings"

	"pressbox/voice/speakable/recognize"
)

// clock says a time of day: 19 Uhr 30.
func clock(c recognize.Clock) string {
	spoken := strconv.Itoa(c.Hour)
	if c.Hour == 1 {
		spoken = "ein"
	}
	if c.Split != "" {
		return strconv.Itoa(c.Hour) + " Minuten " + strconv.Itoa(c.Minute) + "," + c.Split + " Sekunden"
	}
	spoken += " Uhr"
	if c.Minute > 0 {
		spoken += " " + strconv.Itoa(c.Minute)
	}
	if c.Second > 0 {
		spoken += " und " + strconv.Itoa(c.Second) + " Sekunden"
	}
	return spoken
}

// date says a date, and the time that is written with it.
func (s *Verbalizer) date(d recognize.Date) string {
	spoken := s.MonthName(d.Month)
	if d.Day > 0 {
		spoken = s.ranked(d.Day, "", d.Case) + " " + spoken
	}
	if d.Year > 0 {
		spoken += " " + year(d.Year)
	}
	if d.Clock != nil {
		spoken += ", " + clock(*d.Clock)
	}
	if d.UTC {
		spoken += " U T C"
	}
	return strings.TrimSpace(spoken)
}

// period returns the names of a unit of a duration: one, several, and several in the dative.
func period(unit byte) [3]string {
	return map[byte][3]string{
		'y': {"Jahr", "Jahre", "Jahren"}, 'w': {"Woche", "Wochen", "Wochen"}, 'd': {"Tag", "Tage", "Tagen"},
		'h': {"Stunde", "Stunden", "Stunden"}, 'm': {"Minute", "Minuten", "Minuten"},
		's': {"Sekunde", "Sekunden", "Sekunden"},
	}[unit]
}

// duration says a duration: eine Stunde 5 Minuten.
func (s *Verbalizer) duration(d recognize.Duration) string {
	var parts []string
	for _, part := range d.Parts {
		names := period(part.Unit)
		switch {
		case isOne(part.Number):
			parts = append(parts, s.article(names[0], d.Case)+" "+names[0])
		case part.Number.Whole == "1" && part.Number.Fraction == "5":
			parts = append(parts, "eineinhalb "+names[1])
		case d.Case == recognize.Dative:
			parts = append(parts, number(part.Number)+" "+names[2])
		default:
			parts = append(parts, number(part.Number)+" "+names[1])
		}
	}
	return strings.Join(parts, " ")
}

// decade says the nineties.
func decade(d recognize.Decade) string {
	if d.Century > 0 {
		return strings.ReplaceAll(year(d.Century*100+d.Tens), " ", "") + "er"
	}
	return strconv.Itoa(d.Tens) + "er"
}
