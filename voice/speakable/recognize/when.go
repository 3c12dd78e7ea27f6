package recognize

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// dateRules returns the rules of dates that start with a digit.
func dateRules() []rule {
	return []rule{
		{
			"-/",
			starts(`(\d{4})[-/](\d\d)[-/](\d\d)` +
				`(?:(?:T|,? )(\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?(?:(Z)|[+-]\d\d:?\d\d)?\b)?`),
			whole((*tokenizer).isoDate),
		},
		{"/", starts(`(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})`), whole(func(s *tokenizer, m []string) Token {
			month, day := m[1], m[2]
			if !s.MonthFirst {
				month, day = day, month
			}
			if t := date(m[3], month, day); t != nil {
				return t
			}
			return date(m[3], day, month)
		})},
		{".-", starts(`(\d{1,2})[.-](\d{1,2})[.-](\d{4})`), whole(func(_ *tokenizer, m []string) Token {
			if t := date(m[3], m[2], m[1]); t != nil {
				return t
			}
			return date(m[3], m[1], m[2])
		})},
		{"/", starts(`(0[1-9]|1[0-2])/(20\d\d)`), whole(func(_ *tokenizer, m []string) Token {
			return Date{Month: Atoi(m[1]), Year: Atoi(m[2])}
		})},
		{
			" a.", starts(`(\d{1,2})(\.|\p{L}{2})? (?:(\p{L}{2}) )?(\p{L}{3,9})\.?(?:,? (\d{4}))?`),
			(*tokenizer).dayMonth,
		},
		{"/", starts(`(\d{1,2})/(\d{1,2})`), (*tokenizer).monthDay},
	}
}

// isoDate recognizes 2026-11-20T19:00Z. Another offset than Z is not said.
func (s *tokenizer) isoDate(m []string) Token {
	d, ok := date(m[1], m[2], m[3]).(Date)
	if !ok {
		return nil
	}
	if m[4] != "" {
		c, ok := clock(m[4], m[5], strings.Trim(m[6], "0"), 0).(Clock)
		if !ok {
			return nil
		}
		d.Clock, d.UTC = &c, m[7] != ""
	}
	return d
}

// date returns a numeric date, nil if it is invalid.
func date(year, month, day string) Token {
	y, m, d := Atoi(year), Atoi(month), Atoi(day)
	if m < 1 || m > 12 || d < 1 || d > 31 {
		return nil
	}
	if len(year) == 2 {
		y += 1900
		if y < 1970 {
			y += 100
		}
	}
	return Date{Year: y, Month: m, Day: d, Comma: true}
}

// dayMonth recognizes 4 July 2026 and 4th of July.
func (s *tokenizer) dayMonth(m []string) (Token, int) {
	day, month, of := Atoi(m[1]), s.months[strings.ToLower(m[4])], s.Is(Partitive, m[3])
	if day < 1 || day > 31 || month == 0 || m[3] != "" && !of || m[4] == "may" || !of && !capital(m[4]) ||
		!s.ordinal(m[2]) && (m[2] != "." || !s.PeriodOrdinal) { // Room 12. May 25
		return nil, 0
	}
	n := len(m[0])
	if m[5] != "" && !s.ends(m[0]) {
		n -= len(m[5]) + 1
		m[5] = ""
	}
	article := !s.preceded(Article) && !of
	return Date{Year: Atoi(m[5]), Month: month, Day: day, DayFirst: true, Article: article, Comma: true}, n
}

// monthDay recognizes 11/22 where a word near it makes it a date, or where it can be nothing else. A slash
// after it makes it a path or a longer list.
func (s *tokenizer) monthDay(m []string) (Token, int) {
	month, day := Atoi(m[1]), Atoi(m[2])
	if !s.MonthFirst {
		month, day = day, month
	}
	n := len(m[0])
	if month < 1 || month > 12 || day < 1 || day > 31 || m[1][0] == '0' && len(m[1]) == 1 ||
		s.followed(n, "/") || s.previous() == '/' {
		return nil, 0
	}
	if m[0] == "9/11" || m[0] == "24/7" ||
		s.preceded(Part) && s.before(0) != "" && !s.preceded(DateBefore) {
		return nil, 0
	}
	if !s.dated(n, m[2], Atoi(m[1]) > Atoi(m[2])) {
		return nil, 0
	}
	return Date{Month: month, Day: day}, n
}

// dated reports whether 11/22 of n bytes is a date. If the first number exceeds the second, it is no x of y.
func (s *tokenizer) dated(n int, second string, exceeds bool) bool {
	after := strings.TrimLeft(s.rest(n), " ")
	inUnit := !exceeds && (s.follows(Portion, n, 1) || s.follows(Parts, n, 1))
	_, _, unit := s.Unit(s.nextWord(n))
	switch {
	case (is[Weekday](s.last) || is[Date](s.last) || s.Is(DateAfter, s.nextWord(n))) && !inUnit,
		strings.HasPrefix(after, "@"):
		return true
	case dateTo.MatchString(after):
		return true
	case s.before(1) != "" && s.preceded(DateBefore) && !inUnit && !unit,
		s.preceded(DateBefore) && !inUnit && !unit:
		return true
	}
	if strings.HasPrefix(after, ",") && clockNear.MatchString(after) {
		return true
	}
	for _, word := range s.nextWords(n, 3) {
		if s.Is(DateAfter, word) && !s.Is(Time, word) && !inUnit && !unit {
			return true
		}
	}
	v := Atoi(second)
	return !inUnit && !unit && !s.nears(Part) && !s.nears(Pressure) && v != 12 && v != 16 && v > 10 && v != 20 &&
		v != 24 && v != 25 && v != 30 ||
		s.before(0) == "" && strings.TrimRight(after, ".!") == "" && v > 12 && v <= 31 && v != 16
}

var (
	clockNear = regexp.MustCompile(`^, \d{1,2}(?:[-–]\d{1,2}|:\d\d)? ?[apAP]\.?[mM]?\b|^, \d{1,2}:\d\d`)
	dateTo    = regexp.MustCompile(`^[-–] ?\d{1,2}/\d{1,2}\b`)
)

var (
	// monthFirst matches what follows a month's name in a date.
	monthFirst = regexp.MustCompile(
		`^\.? (\d{1,2})(\p{L}{2})?(?: ?[-–] ?(\d{1,2})(\p{L}{2})?)?(?:(,?) (\d{4}))?`,
	)
	colonDigit   = regexp.MustCompile(`^:\d`)
	longerNumber = regexp.MustCompile(`^[:.,/-]?\d`)
	// monthYear matches a year after a month's name.
	monthYear = regexp.MustCompile(`^\.? (\d{4})`)
)

// monthDate recognizes a date that starts with the month's name.
func (s *tokenizer) monthDate(word string) bool {
	month := s.months[strings.ToLower(word)]
	if month == 0 || !capital(word) {
		return false
	}
	view := s.rest(len(word))
	m := monthFirst.FindStringSubmatch(view)
	if m != nil && m[3] != "" {
		day := beforeDash(m[0])
		longer := longerNumber.MatchString(view[len(m[0]):]) // the end of the range is the beginning of something else
		if day != "" && (longer || !s.continues(len(word)+len(day), Atoi(m[1]), "number", "ordinal")) {
			m = []string{day, m[1], m[2], "", "", "", ""}
		}
	}
	if m != nil && !s.PeriodOrdinal && Atoi(m[1]) >= 1 && Atoi(m[1]) <= 31 && Atoi(m[3]) <= 31 &&
		s.ordinal(m[2]) && s.ordinal(m[4]) && (m[6] != "" || !colonDigit.MatchString(view[len(m[0]):])) {
		d := Date{Month: month, Day: Atoi(m[1]), To: Atoi(m[3]), Year: Atoi(m[6]), Comma: m[5] != ""}
		if n := len(word) + len(m[0]); s.ends(s.src[s.at : s.at+n]) {
			return s.take(d, n)
		}
	}
	if m = monthYear.FindStringSubmatch(view); m != nil {
		if n := len(word) + len(m[0]); s.ends(s.src[s.at : s.at+n]) {
			return s.take(Date{Month: month, Year: Atoi(m[1])}, n)
		}
	}
	return false
}

// ordinal reports whether the letters after a day are an ordinal's, or none.
func (s *tokenizer) ordinal(letters string) bool { return letters == "" || s.Is(Ending, letters) }

// clockRules returns the rules of clock times.
func clockRules() []rule {
	return []rule{
		{
			":", starts(`(\d\d):(\d\d)(?::(\d\d))?(?:[.,]\d+)?(Z)`),
			whole(func(_ *tokenizer, m []string) Token { return clock(m[1], m[2], "", 0) }),
		},
		{":", starts(`(\d{1,2}):([0-5]\d)\.(\d{1,3})`), whole(func(_ *tokenizer, m []string) Token {
			return Clock{Hour: Atoi(m[1]), Minute: Atoi(m[2]), Second: -1, Split: m[3]}
		})},
		{
			":",
			starts(`(\d{1,2}):(\d\d)(?::(\d\d))?(?: ?([AaPp])\.?[Mm]\b\.?| ?([ap])\b)?`),
			(*tokenizer).clockTime,
		},
		{
			"a .", starts(`(\d{1,2})(?:\.(\d\d))? ?([AaPp])\.?[Mm]\b\.?`),
			whole(func(s *tokenizer, m []string) Token {
				if h := Atoi(m[1]); h < 1 || h > 12 || Atoi(m[2]) > 59 || !s.TwelveHours {
					return nil
				}
				return Clock{Hour: Atoi(m[1]), Minute: Atoi(m[2]), Second: -1, Half: lower(m[3])}
			}),
		},
		{"a", starts(`(\d{1,2})([ap])\b`), whole((*tokenizer).shortHour)},
		{" ", starts(`([01]\d|2[0-3])([0-5]\d) (\p{L}+)\b`), (*tokenizer).zonedDigits},
		{":", starts(`(\d{1,4}):(\d{1,4})`), whole(func(s *tokenizer, m []string) Token {
			if s.followed(len(m[0]), ":") {
				return nil
			}
			return Pair{A: Number{Whole: m[1]}, B: Number{Whole: m[2]}, Join: To}
		})},
		{"/", starts(`(\d{1,2})/(\d{1,2})c\b`), whole(func(_ *tokenizer, m []string) Token {
			return Clock{Hour: Atoi(m[1]), Second: -1, Central: Atoi(m[2])}
		})},
	}
}

// zonedDigits recognizes 1745 before a time zone.
func (s *tokenizer) zonedDigits(m []string) (Token, int) {
	if !s.Is(Zone, m[3]) {
		return nil, 0
	}
	return Clock{Hour: Atoi(m[1]), Minute: Atoi(m[2]), Second: -2}, 4
}

// lower returns the half of the day of a letter, 0 for none.
func lower(letter string) byte {
	if letter == "" {
		return 0
	}
	return strings.ToLower(letter)[0]
}

// clock returns a time of day, nil if it is invalid.
func clock(hour, minute, second string, half byte) Token {
	h, m, sec := Atoi(hour), Atoi(minute), -1
	if second != "" {
		sec = Atoi(second)
	}
	if m > 59 || sec > 59 || h > 24 && (half != 0 || sec >= 0) || h == 24 && m > 0 && sec >= 0 {
		return nil
	}
	return Clock{Hour: h, Minute: m, Second: sec, Half: half}
}

func (s *tokenizer) clockTime(m []string) (Token, int) {
	t := clock(m[1], m[2], m[3], lower(m[4]+m[5]))
	c, ok := t.(Clock)
	if !ok || len(m[1])+len(m[2]) < 3 {
		return nil, 0
	}
	n := len(m[0])
	name := s.clockName(n)
	if c.Second >= 0 && c.Half == 0 && name == 0 && s.lasts(len(m[1]), n) {
		return stopwatch(c), n
	}
	n += name
	if !s.TwelveHours && m[4]+m[5] != "" { // 19:30 am Bahnhof
		n, c.Half = strings.IndexFunc(m[0], func(r rune) bool { return !IsDigit(r) && r != ':' }), 0
	}
	if after := s.rest(n); strings.HasPrefix(after, ":") && startsWithDigit(after[1:]) {
		return nil, 0
	}
	return c, n
}

// clockName returns the length of the word after the next n bytes that says that they are a time of day, with its
// space: 5:00 o'clock, 17:00 h. 0: there is none.
func (s *tokenizer) clockName(n int) int {
	rest, name := s.rest(n), " "+s.signs["word clock"]
	switch {
	case len(rest) >= len(name) && strings.EqualFold(rest[:len(name)], name):
	case !s.TwelveHours && strings.HasPrefix(rest, " h"):
		name = " h"
	default:
		return 0
	}
	if !s.ends(s.src[s.at : s.at+n+len(name)]) {
		return 0
	}
	return len(name)
}

// lasts reports whether H:MM:SS of n bytes is a duration: unless it stands at the start with two digits of the hour, as
// in a log, or after a word or beside what makes it a time of day.
func (s *tokenizer) lasts(digits, n int) bool {
	return !is[Date](s.last) && !is[Weekday](s.last) && !s.preceded(Instant) &&
		(s.before(0) != "" || digits == 1) && !s.Is(Zone, s.nextWord(n))
}

// stopwatch returns the duration of a clock's hours, minutes and seconds.
func stopwatch(c Clock) Duration {
	var d Duration
	for i, n := range []int{c.Hour, c.Minute, c.Second} {
		if n > 0 || i == 2 && len(d.Parts) == 0 {
			d.Parts = append(d.Parts, DurationPart{Number{Whole: strconv.Itoa(n)}, "hms"[i]})
		}
	}
	return d
}

// shortHour recognizes 9a and 5p near another time.
func (s *tokenizer) shortHour(m []string) Token {
	h := Atoi(m[1])
	if h < 1 || h > 12 || !s.TwelveHours || s.preceded(Seat) {
		return nil
	}
	before, ok := s.last.(Clock)
	switch {
	case ok && before.Half != 0, s.preceded(Time), s.previous() == '@',
		strings.HasSuffix(strings.TrimRight(s.src[max(0, s.at-3):s.at], " "), "@"),
		s.hourFollows(len(m[0])):
		return Clock{Hour: h, Second: -1, Half: m[2][0]}
	}
	return nil
}

// hourFollows reports whether another hour is joined to the next n bytes: to 10a.
func (s *tokenizer) hourFollows(n int) bool {
	m := joinedHour.FindStringSubmatch(s.rest(n))
	return m != nil && (m[1] == "" || s.Is(Joiner, m[1]))
}

var joinedHour = regexp.MustCompile(`^(?: ?[-–] ?| (\p{L}+) )\d{1,2}(?::\d\d)?[ap]\b`)

// weekdayShort recognizes a weekday's short form: before a date or time, in a range or list, after a word
// such as "on", and alone; not where it is a word.
func (s *tokenizer) weekdayShort(word string, n int) bool {
	day, ok := s.weekdays[strings.ToLower(word)]
	if len(word) == 2 && ok && !s.PeriodOrdinal && !s.inRange(n) {
		return false
	}
	if !ok || !capital(word) || len(word) > 5 || s.followed(len(word), "'") ||
		s.loud && s.Is(NameDay, word) {
		return false
	}
	labels := s.followed(n, ":") && !s.PeriodOrdinal // Sat: soup
	if s.Is(NameDay, word) && !labels && !s.calendar(n) && !s.dayWithPeriod(word, n) {
		return false
	}
	if n > len(word) && (s.short(s.nextWord(n)) || s.dayWithPeriod(word, n)) {
		s.takeInner(Weekday{day}, n)
		return true
	}
	return s.take(Weekday{day}, n)
}

// dayWithPeriod reports whether a short form of n bytes with its period stands before a word that does not
// start a sentence: Sat. closed.
func (s *tokenizer) dayWithPeriod(word string, n int) bool {
	after := s.nextWord(n)
	return n > len(word) && after != "" && (unicode.IsLower(First(after)) || s.Is(DateAfter, after))
}

// monthShort recognizes a month's short form.
func (s *tokenizer) monthShort(word string, n int) bool {
	month := s.months[strings.ToLower(word)]
	if month == 0 || !capital(word) || len(word) > 4 || s.followed(len(word), "'") {
		return false
	}
	if s.Is(NameDay, word) && !s.calendar(n) {
		return false
	}
	return s.take(Month{month}, n)
}

// inRange reports whether a short form stands in a range or list of others.
func (s *tokenizer) inRange(n int) bool {
	switch s.last.(type) {
	case Weekday, Month:
		return true
	}
	m := joins.FindStringSubmatch(s.rest(n))
	return m != nil && (m[1] == "" || s.Is(Joiner, m[1]) || s.Is(Until, m[1])) && capital(m[2]) && s.short(m[2])
}

var joins = regexp.MustCompile(`^(?: ?[-–/&,] ?| (\p{L}+) )(\p{L}{2,9})`)

// calendar reports whether the neighbors of a short form of n bytes are those of a calendar: another short
// form, a time, or a word such as "on" or "until".
func (s *tokenizer) calendar(n int) bool {
	switch s.last.(type) {
	case Date, Clock:
		return true
	}
	after := s.next(n)
	if s.PeriodOrdinal {
		after = strings.TrimLeft(after, ", ")
	}
	return s.inRange(n) || startsWithDigit(after) || s.preceded(DateBefore) || s.preceded(Time)
}

// short reports whether a word is the name of a day or month.
func (s *tokenizer) short(word string) bool {
	_, day := s.weekdays[strings.ToLower(word)]
	return day || s.months[strings.ToLower(word)] > 0
}
