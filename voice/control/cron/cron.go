// Package cron reads the five fields of crontab(5) and computes when they match:
//
//	minute (0–59)  hour (0–23)  day of month (1–31)  month (1–12, jan–dec)  day of week (0–7, sun–sat)
//
// A field is *, a number, a range 1-5, or one of these with a step /2; commas make a list. If both days are
// restricted, either is sufficient, as in crontab(5). A field that begins with * is not a restriction.
//
// One law: the fields are what the wall clock shows. A time that a daylight saving change skips matches at the
// instant of the change, and one that it repeats matches the first time only.
package cron

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressbox/store/clock"
)

// An Expr is a valid expression.
type Expr struct {
	minutes, hours, days, months, weekdays set
	anyDay, anyWeekday                     bool // the field begins with *
}

// A set holds numbers from 0 to 63.
type set uint64

func (s set) has(n int) bool { return s&(1<<n) != 0 }

// A field describes one of the five.
type field struct {
	name  string
	first int
	last  int
	names []string // of the numbers from first on
}

//nolint:gochecknoglobals // a table
var fields = [5]field{
	{name: "minute", last: 59},
	{name: "hour", last: 23},
	{name: "day of month", first: 1, last: 31},
	{
		name: "month", first: 1, last: 12,
		names: []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"},
	},
	{name: "day of week", last: 7, names: []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// Parse reads an expression. It rejects one that never matches.
func Parse(text string) (Expr, error) {
	words := strings.Fields(text)
	if len(words) != len(fields) {
		return Expr{}, fmt.Errorf(
			"%d fields, expected 5: minute, hour, day of the month, month and weekday", len(words),
		)
	}
	var sets [len(fields)]set
	for i, f := range fields {
		var err error
		if sets[i], err = f.parse(words[i]); err != nil {
			return Expr{}, err
		}
	}
	e := Expr{
		minutes: sets[0], hours: sets[1], days: sets[2], months: sets[3], weekdays: sets[4],
		anyDay: words[2][0] == '*', anyWeekday: words[4][0] == '*',
	}
	if e.weekdays.has(7) {
		e.weekdays |= 1
	}
	if !e.possible() {
		return Expr{}, fmt.Errorf("%q: no month has such a day", text)
	}
	return e, nil
}

// parse reads the list of a field.
func (f field) parse(text string) (set, error) {
	var all set
	for item := range strings.SplitSeq(text, ",") {
		s, err := f.parseItem(item)
		if err != nil {
			return 0, err
		}
		all |= s
	}
	return all, nil
}

// parseItem reads *, a number or a range, and a step.
func (f field) parseItem(item string) (set, error) {
	span, stepText, hasStep := strings.Cut(item, "/")
	step := 1
	if hasStep {
		var err error
		if step, err = strconv.Atoi(stepText); err != nil || step < 1 || step > f.last {
			return 0, fmt.Errorf("%s %q: expected a step from 1 to %d", f.name, item, f.last)
		}
	}
	from, to := f.first, f.last
	if span != "*" {
		first, last, isRange := strings.Cut(span, "-")
		var err error
		if from, err = f.number(first); err != nil {
			return 0, err
		}
		switch {
		case isRange:
			if to, err = f.number(last); err != nil {
				return 0, err
			}
		case !hasStep:
			to = from
		}
	}
	if to < from {
		return 0, fmt.Errorf("%s %q: the range ends before it begins", f.name, item)
	}
	var s set
	for n := from; n <= to; n += step {
		s |= 1 << n
	}
	return s, nil
}

// number reads a number or a name.
func (f field) number(text string) (int, error) {
	if i := slices.Index(f.names, strings.ToLower(text)); i >= 0 {
		return f.first + i, nil
	}
	n, err := strconv.ParseUint(text, 10, 8)
	if err != nil || int(n) < f.first || int(n) > f.last {
		return 0, fmt.Errorf("%s %q: expected %s", f.name, text, f.expected())
	}
	return int(n), nil
}

func (f field) expected() string {
	numbers := fmt.Sprintf("%d to %d", f.first, f.last)
	if len(f.names) == 0 {
		return numbers
	}
	return fmt.Sprintf("%s or %s to %s", numbers, f.names[0], f.names[len(f.names)-1])
}

// possible reports whether one of the months has one of the days.
func (e Expr) possible() bool {
	if !e.anyDay && !e.anyWeekday {
		return true // a day of the week is sufficient
	}
	for month := time.January; month <= time.December; month++ {
		last := time.Date(2000, month+1, 0, 0, 0, 0, 0, time.UTC).Day() // a leap year
		if e.months.has(int(month)) && e.days&(1<<(last+1)-1) != 0 {
			return true
		}
	}
	return false
}

// searchDays is the longest time between two matching days, 40 years: a 29 February on a given day of the week,
// over a century that has no leap day.
const searchDays = 40 * 366

// Next returns the first time after a moment that e matches, in that moment's time zone.
func (e Expr) Next(after time.Time) time.Time {
	year, month, today := after.Date()
	zone := after.Location()
	for day := today; day <= today+searchDays; day++ {
		date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
		if !e.matchesDay(date) {
			continue
		}
		for minute := range 24 * 60 {
			if !e.hours.has(minute/60) || !e.minutes.has(minute%60) {
				continue
			}
			if t := clock.FirstAt(year, month, day, minute, zone); t.After(after) {
				return t
			}
		}
	}
	return time.Time{}
}

// matchesDay reports whether e matches at some time of a day.
func (e Expr) matchesDay(date time.Time) bool {
	if !e.months.has(int(date.Month())) {
		return false
	}
	day, weekday := e.days.has(date.Day()), e.weekdays.has(int(date.Weekday()))
	if e.anyDay || e.anyWeekday {
		return day && weekday
	}
	return day || weekday
}
