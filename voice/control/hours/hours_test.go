package hours_test

import (
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice/control/hours"
)

const layout = "Mon 2006-01-02 15:04 -07"

func TestAt(t *testing.T) {
	t.Parallel()
	const night, week = "22:00-07:00", "Mon-Fri 22:00-06:30, Sat-Sun 23:30-09:00"
	for _, tt := range []struct {
		hours, zone, at string
		active          bool
		until           string // "" means never
	}{
		{"", "UTC", "Thu 2026-01-01 03:00 +00", false, ""},
		{night, "UTC", "Thu 2026-01-01 21:59 +00", false, "Thu 2026-01-01 22:00 +00"},
		{night, "UTC", "Thu 2026-01-01 22:00 +00", true, "Fri 2026-01-02 07:00 +00"},
		{night, "UTC", "Fri 2026-01-02 00:00 +00", true, "Fri 2026-01-02 07:00 +00"},
		{night, "UTC", "Fri 2026-01-02 06:59 +00", true, "Fri 2026-01-02 07:00 +00"},
		{night, "UTC", "Fri 2026-01-02 07:00 +00", false, "Fri 2026-01-02 22:00 +00"},
		{night, "UTC", "Thu 2024-02-29 23:00 +00", true, "Fri 2024-03-01 07:00 +00"},

		{week, "Europe/Berlin", "Fri 2026-01-02 22:00 +01", true, "Sat 2026-01-03 06:30 +01"},
		{week, "Europe/Berlin", "Sat 2026-01-03 22:00 +01", false, "Sat 2026-01-03 23:30 +01"},
		{week, "Europe/Berlin", "Mon 2026-01-05 08:59 +01", true, "Mon 2026-01-05 09:00 +01"},
		{week, "Europe/Berlin", "Mon 2026-01-05 09:00 +01", false, "Mon 2026-01-05 22:00 +01"},

		// Spans that touch or overlap are one.
		{"20:00-00:00, 00:00-06:00", "UTC", "Thu 2026-01-01 21:00 +00", true, "Fri 2026-01-02 06:00 +00"},
		{"22:00-07:00, Sat 06:00-10:00", "UTC", "Fri 2026-01-02 23:00 +00", true, "Sat 2026-01-03 10:00 +00"},
		{"22:00-07:00, 23:00-01:00", "UTC", "Thu 2026-01-01 23:30 +00", true, "Fri 2026-01-02 07:00 +00"},
		{"00:00-24:00", "Europe/Berlin", "Sun 2026-03-29 12:00 +02", true, ""},
		{"Sun-Mon 00:00-24:00", "UTC", "Sun 2026-01-04 12:00 +00", true, "Tue 2026-01-06 00:00 +00"},
		{"Fri-Mon 10:00-11:00", "UTC", "Mon 2026-01-05 11:00 +00", false, "Fri 2026-01-09 10:00 +00"},
		{"sat 0:00-1:00", "UTC", "Sat 2026-01-03 01:00 +00", false, "Sat 2026-01-10 00:00 +00"},

		// In Berlin 02:00–03:00 does not exist on 29 March 2026, and exists twice on 25 October.
		{night, "Europe/Berlin", "Sat 2026-03-28 23:00 +01", true, "Sun 2026-03-29 07:00 +02"},
		{"22:00-02:30", "Europe/Berlin", "Sun 2026-03-29 01:59 +01", true, "Sun 2026-03-29 03:00 +02"},
		{"02:30-04:00", "Europe/Berlin", "Sun 2026-03-29 01:59 +01", false, "Sun 2026-03-29 03:00 +02"},
		{"02:10-02:50", "Europe/Berlin", "Sun 2026-03-29 01:00 +01", false, "Mon 2026-03-30 02:10 +02"},
		{"Sun 02:10-02:50", "Europe/Berlin", "Sun 2026-03-29 00:00 +01", false, "Sun 2026-04-05 02:10 +02"},
		{night, "Europe/Berlin", "Sat 2026-10-24 23:00 +02", true, "Sun 2026-10-25 07:00 +01"},
		{"22:00-02:30", "Europe/Berlin", "Sun 2026-10-25 01:00 +02", true, "Sun 2026-10-25 02:30 +02"},
		{"22:00-02:30", "Europe/Berlin", "Sun 2026-10-25 02:15 +01", false, "Sun 2026-10-25 22:00 +01"},
		{"02:30-04:00", "Europe/Berlin", "Sun 2026-10-25 02:15 +01", true, "Sun 2026-10-25 04:00 +01"},
		// In São Paulo midnight was skipped on 4 November 2018.
		{"22:00-00:00", "America/Sao_Paulo", "Sat 2018-11-03 23:00 -03", true, "Sun 2018-11-04 01:00 -02"},
		{"00:00-06:00", "America/Sao_Paulo", "Sat 2018-11-03 23:59 -03", false, "Sun 2018-11-04 01:00 -02"},
	} {
		zone := check.Must(time.LoadLocation(tt.zone))(t)
		at := check.Must(time.Parse(layout, tt.at))(t).In(zone)
		active, until := check.Must(hours.Parse(tt.hours))(t).At(at)
		got := ""
		if !until.IsZero() {
			got = until.Format(layout)
		}
		check.That(t, active == tt.active && got == tt.until,
			"%q at %s: %v until %q, want %v until %q", tt.hours, tt.at, active, got, tt.active, tt.until)
	}
}

func TestParse_invalid(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"22:00":                `"22:00": expected two times such as 22:00-07:00`,
		"22:00-":               `"": expected a time from 00:00 to 24:00`,
		"22-7":                 `"22": expected a time from 00:00 to 24:00`,
		"24:01-07:00":          `"24:01": expected a time from 00:00 to 24:00`,
		"22:60-07:00":          `"22:60": expected a time from 00:00 to 24:00`,
		"22:0-07:00":           `"22:0": expected a time from 00:00 to 24:00`,
		"-1:00-07:00":          `"": expected a time from 00:00 to 24:00`,
		"24:00-07:00":          `"24:00-07:00": a span cannot begin at 24:00; write 00:00 of the next day`,
		"07:00-07:00":          `"07:00-07:00": begins and ends at the same time; write 00:00-24:00 for the whole day`,
		"Mo 22:00-07:00":       `"Mo": expected a day: Mon, Tue, Wed, Thu, Fri, Sat or Sun`,
		"Mon-Frei 22:00-07:00": `"Frei": expected a day: Mon, Tue, Wed, Thu, Fri, Sat or Sun`,
		"Mon Tue 22:00-07:00":  `"Mon Tue 22:00-07:00": expected days and times such as Mon-Fri 22:00-06:30`,
		"22:00-07:00,":         `"": expected days and times such as Mon-Fri 22:00-06:30`,
	} {
		if _, err := hours.Parse(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestParse_spanLimit(t *testing.T) {
	t.Parallel()
	text := "1:00-2:00"
	for n := 1; n <= 33; n++ {
		if _, err := hours.Parse(text); (err == nil) != (n <= 32) {
			t.Errorf("%d spans: %v, want at most 32", n, err)
		}
		text += ",1:00-2:00"
	}
}

// until is a change: just before it At says the same as now, and at it the opposite.
func FuzzAt(f *testing.F) {
	f.Add("Mon-Fri 22:00-06:30, Sat-Sun 23:30-09:00", int64(1_774_746_000))
	f.Add("02:10-02:50,sun 0:00-24:00", int64(1_792_890_000))
	zone := check.Must(time.LoadLocation("Europe/Berlin"))(f)
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		w, err := hours.Parse(text)
		if err != nil || unix < 0 || unix > 1<<33 {
			return
		}
		at := time.Unix(unix, 0).In(zone)
		active, until := w.At(at)
		if until.IsZero() {
			return
		}
		before, same := w.At(until.Add(-1))
		after, _ := w.At(until)
		check.That(t, until.After(at) && before == active && same.Equal(until) && after != active,
			"%q at %s: %v until %s; just before %v until %s, then %v", text, at, active, until, before, same, after)
	})
}
