package speakable

import "regexp"

func clocks() []form {
	return []form{
		{regexp.MustCompile(`^(\d{1,2}):(\d\d)(?::(\d\d))?(?: ?([AaPp])\.?[Mm]\b\.?| o'clock)?`), (*reader).clockTime},
		{regexp.MustCompile(`^(\d{1,2})(?:\.(\d\d))? ?([AaPp])\.?[Mm]\b\.?`), (*reader).halfDay},
		{regexp.MustCompile(`^(\d{1,4}):(\d{1,4})`), (*reader).ratio},
	}
}

func (r *reader) clockTime(m []string) string {
	spoken := r.clock(m[1], m[2])
	if spoken == "" {
		return ""
	}
	if m[4] != "" {
		spoken = r.hour(m[1], m[2])
	}
	if m[3] != "" {
		spoken = r.hour(m[1], m[2]) + " and " + r.count(m[3], "second")
	}
	return spoken + half(m[4])
}

func (r *reader) halfDay(m []string) string {
	if h := atoi(m[1]); h < 1 || h > 12 || atoi(m[2]) > 59 {
		return ""
	}
	return r.hour(m[1], m[2]) + half(m[3])
}

// half returns a half of the day as letters that espeak-ng spells; a final
// point would end the clause.
func half(letter string) string {
	switch letter {
	case "a", "A":
		return " a.m"
	case "p", "P":
		return " p.m"
	}
	return ""
}

// clock returns a time of day in words, "" if it is invalid.
func (r *reader) clock(hour, minute string) string {
	h, m := atoi(hour), atoi(minute)
	switch {
	case h > 24 || m > 59 || h == 24 && m > 0:
		return ""
	case m > 0:
		return r.hour(hour, minute)
	case h == 0 || h == 24:
		return "midnight"
	case h <= 12:
		return r.cardinal(h) + " o'clock"
	}
	return r.cardinal(h) + " hundred"
}

// hour returns the hour and, unless it is zero, the minute in words.
func (r *reader) hour(hour, minute string) string {
	spoken := r.cardinal(atoi(hour))
	if m := atoi(minute); m > 0 {
		spoken += " " + r.pair(m)
	}
	return spoken
}

func (r *reader) ratio(m []string) string {
	return r.whole(m[1]) + " to " + r.whole(m[2])
}

// count returns a number of things in words.
func (r *reader) count(digits, thing string) string {
	if atoi(digits) != 1 {
		thing += "s"
	}
	return r.cardinal(atoi(digits)) + " " + thing
}
