package speakable

import (
	"regexp"
	"strconv"
	"strings"
)

const (
	monthNames = "january february march april may june july august september october november december"
	monthShort = "jan feb mar apr may jun jul aug sep oct nov dec"
	monthWords = `(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`
)

// monthTable maps the names and short names of months to their numbers.
func monthTable() map[string]int {
	months := map[string]int{"sept": 9}
	for i, name := range strings.Fields(monthNames) {
		months[name] = i + 1
	}
	for i, name := range strings.Fields(monthShort) {
		months[name] = i + 1
	}
	return months
}

// dates returns the forms of dates that start with a digit.
func dates() []form {
	return []form{
		{regexp.MustCompile(`^(\d{4})[-/](\d\d)[-/](\d\d)(?:[T ](\d\d):(\d\d)(?::\d\d(?:[.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?`), (*reader).isoDate},
		{regexp.MustCompile(`^(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})`), (*reader).slashDate},
		{regexp.MustCompile(`^(\d{1,2})[.-](\d{1,2})[.-](\d{4})`), (*reader).dottedDate},
		{regexp.MustCompile(`^(\d{1,2})(?:st|nd|rd|th)? (?:of )?(` + monthWords + `)\b\.?(?:,? (\d{4}))?`), (*reader).dayMonth},
	}
}

// monthFirst matches a date that starts with the month's name.
var monthFirst = regexp.MustCompile(`^(` + monthWords + `)\.? (\d{1,2})(?:st|nd|rd|th)?(?:\s?[-–]\s?(\d{1,2})(?:st|nd|rd|th)?)?(?:(,?) (\d{4}))?`)

// monthYear matches a month's name before a year.
var monthYear = regexp.MustCompile(`^(` + monthWords + `)\.? (\d{4})`)

func (r *reader) isoDate(m []string) string {
	spoken := r.date(m[1], m[2], m[3])
	if spoken == "" || m[4] == "" {
		return spoken
	}
	clock := r.clock(m[4], m[5])
	if clock == "" {
		return ""
	}
	if m[6] == "Z" {
		clock += " UTC"
	}
	return spoken + ", " + clock
}

func (r *reader) slashDate(m []string) string {
	month, day := m[1], m[2]
	if r.region == british {
		month, day = day, month
	}
	if spoken := r.date(m[3], month, day); spoken != "" {
		return spoken
	}
	return r.date(m[3], day, month)
}

func (r *reader) dottedDate(m []string) string {
	if spoken := r.date(m[3], m[2], m[1]); spoken != "" {
		return spoken
	}
	return r.date(m[3], m[1], m[2])
}

func (r *reader) dayMonth(m []string) string {
	day := atoi(m[1])
	if day < 1 || day > 31 {
		return ""
	}
	spoken := r.ordinal(day) + " of " + r.month(r.months[strings.ToLower(m[2])])
	if !strings.EqualFold(r.word, "the") {
		spoken = "the " + spoken
	}
	if m[3] != "" {
		spoken += ", " + r.year(atoi(m[3]))
	}
	return spoken
}

// date returns a numeric date in words, "" if it is invalid.
func (r *reader) date(year, month, day string) string {
	y, m, d := atoi(year), atoi(month), atoi(day)
	if m < 1 || m > 12 || d < 1 || d > 31 {
		return ""
	}
	if len(year) == 2 {
		y += 1900
		if y < 1970 {
			y += 100
		}
	}
	if r.region == british {
		return "the " + r.ordinal(d) + " of " + r.month(m) + ", " + r.year(y)
	}
	return r.month(m) + " " + r.ordinal(d) + ", " + r.year(y)
}

// month returns the name of month m, 1–12.
func (r *reader) month(m int) string {
	name := strings.Fields(monthNames)[m-1]
	return strings.ToUpper(name[:1]) + name[1:]
}

// monthDate reads a date that starts with the month's name at the reader's
// position.
func (r *reader) monthDate(word string) bool {
	month := r.months[strings.ToLower(word)]
	if month == 0 || !capital(word) {
		return false
	}
	if m := monthFirst.FindStringSubmatch(r.clip(0)); m != nil && r.ends(m[0]) && atoi(m[2]) >= 1 && atoi(m[2]) <= 31 && atoi(m[3]) <= 31 {
		spoken := r.month(month) + " " + r.ordinal(atoi(m[2]))
		if m[3] != "" {
			spoken += " to " + r.ordinal(atoi(m[3]))
		}
		if m[5] != "" {
			spoken += m[4] + " " + r.year(atoi(m[5]))
		}
		r.emit(spoken, len(m[0]))
		return true
	}
	if m := monthYear.FindStringSubmatch(r.clip(0)); m != nil && r.ends(m[0]) {
		r.emit(r.month(month)+" "+r.year(atoi(m[2])), len(m[0]))
		return true
	}
	return false
}

// atoi returns the number in a few digits, 0 for none.
func atoi(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
