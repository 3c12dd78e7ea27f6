// Package hours reads hours of the week, such as those of QUIET_HOURS:
//
//	22:00-07:00
//	Mon-Fri 22:00-06:30, Sat-Sun 23:30-09:00
//
// One law: the hours are those that the wall clock shows. A span includes its first minute and not its last;
// one that ends before it begins ends on the next day. A time that a daylight saving change skips is the
// instant of the change, and of one that it repeats the first counts.
package hours

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressbox/store/clock"
)

const (
	dayMinutes = 24 * 60
	maxSpans   = 32
)

// A Week holds spans of time that recur each week. The zero Week has none.
type Week struct {
	spans []span
	text  string // as it was parsed
}

// String returns the text of which Parse has made w.
func (w Week) String() string { return w.text }

// A span is a time of the day on some days of the week.
type span struct {
	days       [7]bool // by [time.Weekday]: those on which it begins
	start, end int     // minutes of that day; end is larger than start and at most a day later
}

// Parse reads spans separated by commas; "" means none. A span is a time, such as 22:00-07:00, on each day, or
// after a day or a range of days on these: Mon, Tue, Wed, Thu, Fri, Sat, Sun.
func Parse(text string) (Week, error) {
	if strings.TrimSpace(text) == "" {
		return Week{}, nil
	}
	parts := strings.Split(text, ",")
	if len(parts) > maxSpans {
		return Week{}, fmt.Errorf("%d spans, expected at most %d", len(parts), maxSpans)
	}
	w := Week{text: text}
	for _, part := range parts {
		s, err := parseSpan(strings.Fields(part))
		if err != nil {
			return Week{}, err
		}
		w.spans = append(w.spans, s)
	}
	return w, nil
}

// parseSpan reads the words of a span: days, if any, and times.
func parseSpan(words []string) (s span, err error) {
	switch len(words) {
	case 1:
		s.days = [7]bool{true, true, true, true, true, true, true}
	case 2:
		if s.days, err = parseDays(words[0]); err != nil {
			return span{}, err
		}
	default:
		return span{}, fmt.Errorf("%q: expected days and times such as Mon-Fri 22:00-06:30", strings.Join(words, " "))
	}
	times := words[len(words)-1]
	from, to, ok := strings.Cut(times, "-")
	if !ok {
		return span{}, fmt.Errorf("%q: expected two times such as 22:00-07:00", times)
	}
	if s.start, err = parseTime(from); err != nil {
		return span{}, err
	}
	if s.end, err = parseTime(to); err != nil {
		return span{}, err
	}
	switch {
	case s.start == dayMinutes:
		return span{}, fmt.Errorf("%q: a span cannot begin at 24:00; write 00:00 of the next day", times)
	case s.start == s.end:
		return span{}, fmt.Errorf("%q: begins and ends at the same time; write 00:00-24:00 for the whole day", times)
	case s.end < s.start:
		s.end += dayMinutes
	}
	return s, nil
}

// parseDays reads a day or a range of days, which may go over the end of the week.
func parseDays(text string) (days [7]bool, err error) {
	from, to, isRange := strings.Cut(text, "-")
	first, err := parseDay(from)
	if err != nil {
		return days, err
	}
	last := first
	if isRange {
		if last, err = parseDay(to); err != nil {
			return days, err
		}
	}
	for day := first; ; day = (day + 1) % 7 {
		days[day] = true
		if day == last {
			return days, nil
		}
	}
}

func parseDay(text string) (time.Weekday, error) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if strings.EqualFold(text, day.String()[:3]) {
			return day, nil
		}
	}
	return 0, fmt.Errorf("%q: expected a day: Mon, Tue, Wed, Thu, Fri, Sat or Sun", text)
}

// parseTime reads a time of the day in minutes, from 0:00 to 24:00.
func parseTime(text string) (int, error) {
	hour, minute, ok := strings.Cut(text, ":")
	h, errHour := strconv.ParseUint(hour, 10, 8)
	m, errMinute := strconv.ParseUint(minute, 10, 8)
	if !ok || errHour != nil || errMinute != nil || len(minute) != 2 || m > 59 || h*60+m > dayMinutes {
		return 0, fmt.Errorf("%q: expected a time from 00:00 to 24:00", text)
	}
	return int(h*60 + m), nil
}

// An interval is a span on one day.
type interval struct{ from, to time.Time }

// horizon is the number of days that At looks ahead: a span that a daylight saving change removes is there a
// week later.
const horizon = 15

// At reports whether t is in one of the spans, by the wall clock of t's time zone, and when that changes next;
// zero means never.
func (w Week) At(t time.Time) (active bool, until time.Time) {
	for _, i := range w.around(t) {
		switch {
		case !i.to.After(t):
		case i.from.After(t) && !active:
			return false, i.from
		case active && i.from.After(until):
			return true, until
		default:
			if active = true; i.to.After(until) {
				until = i.to
			}
		}
	}
	if until.After(t.AddDate(0, 0, horizon)) {
		until = time.Time{}
	}
	return active, until
}

// around returns the intervals from two days before t to the horizon, in order.
func (w Week) around(t time.Time) []interval {
	var all []interval
	year, month, today := t.Date()
	for day := today - 2; day <= today+horizon; day++ {
		weekday := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Weekday()
		for _, s := range w.spans {
			if !s.days[weekday] {
				continue
			}
			i := interval{
				clock.FirstAt(year, month, day, s.start, t.Location()),
				clock.FirstAt(year, month, day, s.end, t.Location()),
			}
			if i.from.Before(i.to) { // a change of the clocks may skip it
				all = append(all, i)
			}
		}
	}
	slices.SortFunc(all, func(a, b interval) int { return a.from.Compare(b.from) })
	return all
}
