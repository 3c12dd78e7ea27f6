package cron_test

import (
	"strings"
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice/control/cron"
)

const layout = "2006-01-02 15:04 -07"

func TestNext(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cron, zone, after string
		want              string // the next times, separated by commas
	}{
		{"* * * * *", "UTC", "2026-12-31 23:59 +00", "2027-01-01 00:00 +00, 2027-01-01 00:01 +00"},
		{"30 7 * * *", "UTC", "2026-01-01 07:30 +00", "2026-01-02 07:30 +00"},
		{"30 7 * * mon-fri", "UTC", "2026-01-02 07:30 +00", "2026-01-05 07:30 +00"},
		{"0 9 * * 6-7", "UTC", "2026-01-02 07:30 +00", "2026-01-03 09:00 +00, 2026-01-04 09:00 +00, 2026-01-10 09:00 " +
			"+00"},
		{"0 9 * * Sun", "UTC", "2026-01-02 07:30 +00", "2026-01-04 09:00 +00"},
		{"*/20 8-9 * * *", "UTC", "2026-01-01 09:20 +00", "2026-01-01 09:40 +00, 2026-01-02 08:00 +00"},
		{"5/25 0 * * *", "UTC", "2026-01-01 00:05 +00", "2026-01-01 00:30 +00, 2026-01-01 00:55 +00, 2026-01-02 " +
			"00:05 +00"},
		{"0 0 1,15 Jan,jul *", "UTC", "2026-01-15 00:00 +00", "2026-07-01 00:00 +00, 2026-07-15 00:00 +00"},
		{"0 0 31 * *", "UTC", "2026-01-31 00:00 +00", "2026-03-31 00:00 +00"},
		// Two restricted days: either is sufficient.
		{"0 0 13 * fri", "UTC", "2026-02-01 00:00 +00", "2026-02-06 00:00 +00, 2026-02-13 00:00 +00, 2026-02-20 " +
			"00:00 +00"},
		{"0 0 */2 * fri", "UTC", "2026-01-01 00:00 +00", "2026-01-09 00:00 +00, 2026-01-23 00:00 +00"},
		{"0 0 31 2 fri", "UTC", "2026-01-01 00:00 +00", "2026-02-06 00:00 +00"},
		// Leap days.
		{"0 12 29 2 *", "UTC", "2026-01-01 00:00 +00", "2028-02-29 12:00 +00, 2032-02-29 12:00 +00"},
		{"0 12 29 2 *", "UTC", "2096-02-29 12:00 +00", "2104-02-29 12:00 +00"},
		{"0 12 29 2 */6", "UTC", "2096-02-29 12:00 +00", "2116-02-29 12:00 +00"},

		// In Berlin 02:00–03:00 does not exist on 29 March 2026, and exists twice on 25 October.
		{"30 2 * * *", "Europe/Berlin", "2026-03-28 12:00 +01", "2026-03-29 03:00 +02, 2026-03-30 02:30 +02"},
		{"0 2 * * *", "Europe/Berlin", "2026-03-28 12:00 +01", "2026-03-29 03:00 +02, 2026-03-30 02:00 +02"},
		{"0,30 2-3 * * *", "Europe/Berlin", "2026-03-29 01:00 +01", "2026-03-29 03:00 +02, 2026-03-29 03:30 +02"},
		{"*/30 * * * *", "Europe/Berlin", "2026-03-29 01:00 +01", "2026-03-29 01:30 +01, 2026-03-29 03:00 +02, " +
			"2026-03-29 03:30 +02"},
		{"30 2 * * *", "Europe/Berlin", "2026-10-24 12:00 +02", "2026-10-25 02:30 +02, 2026-10-26 02:30 +01"},
		{"30 2 * * *", "Europe/Berlin", "2026-10-25 02:15 +01", "2026-10-26 02:30 +01"},
		{"*/30 * * * *", "Europe/Berlin", "2026-10-25 02:00 +02", "2026-10-25 02:30 +02, 2026-10-25 03:00 +01"},
		{"0 0 * * *", "America/Sao_Paulo", "2018-11-03 12:00 -03", "2018-11-04 01:00 -02, 2018-11-05 00:00 -02"},
		{"30 23 * * *", "America/Sao_Paulo", "2018-02-17 12:00 -02", "2018-02-17 23:30 -02, 2018-02-18 23:30 -03"},
		{"0 */2 * * *", "Africa/Cairo", "2025-04-24 22:00 +02", "2025-04-25 01:00 +03, 2025-04-25 02:00 +03"},
		{"0 12 30 12 *", "Pacific/Apia", "2011-12-01 12:00 -10", "2011-12-31 00:00 +14, 2012-12-30 12:00 +14"},
	} {
		zone := check.Must(time.LoadLocation(tt.zone))(t)
		e, err := cron.Parse(tt.cron)
		if err != nil {
			t.Errorf("%s: %v", tt.cron, err)
			continue
		}
		at := check.Must(time.Parse(layout, tt.after))(t).In(zone)
		var got []string
		for range strings.SplitSeq(tt.want, ", ") {
			at = e.Next(at)
			got = append(got, at.Format(layout))
		}
		check.Equal(t, strings.Join(got, ", "), tt.want, "%s in %s after %s", tt.cron, tt.zone, tt.after)
	}
}

func TestParse_invalid(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":               "0 fields, expected 5: minute, hour, day of the month, month and weekday",
		"0 0 * * * *":    "6 fields, expected 5: minute, hour, day of the month, month and weekday",
		"@daily":         "1 fields, expected 5: minute, hour, day of the month, month and weekday",
		"60 0 * * *":     `minute "60": expected 0 to 59`,
		"-1 0 * * *":     `minute "": expected 0 to 59`,
		"0 24 * * *":     `hour "24": expected 0 to 23`,
		"0 0 0 * *":      `day of month "0": expected 1 to 31`,
		"0 0 L * *":      `day of month "L": expected 1 to 31`,
		"0 0 * 13 *":     `month "13": expected 1 to 12 or jan to dec`,
		"0 0 * * 8":      `day of week "8": expected 0 to 7 or sun to sat`,
		"0 0 * * mo":     `day of week "mo": expected 0 to 7 or sun to sat`,
		"0 0 * * fri-mo": `day of week "mo": expected 0 to 7 or sun to sat`,
		"0 0 * * fri-1":  `day of week "fri-1": the range ends before it begins`,
		"*/0 0 * * *":    `minute "*/0": expected a step from 1 to 59`,
		"*/60 0 * * *":   `minute "*/60": expected a step from 1 to 59`,
		"1,,2 0 * * *":   `minute "": expected 0 to 59`,
		"0 0 30 2 *":     `"0 0 30 2 *": no month has such a day`,
		"0 0 31 4,6 *":   `"0 0 31 4,6 *": no month has such a day`,
	} {
		if _, err := cron.Parse(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Each valid expression matches later, at a whole minute, and not in between.
func FuzzNext(f *testing.F) {
	for _, text := range []string{"* * * * *", "0 12 29 feb */6", "1-5/2,7 2 31 * fri", "30 2 29 3 *"} {
		f.Add(text, int64(1_774_746_000))
	}
	zones := []*time.Location{
		time.UTC, check.Must(time.LoadLocation("Europe/Berlin"))(f), check.Must(time.LoadLocation("Africa/Cairo"))(f),
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		e, err := cron.Parse(text)
		if err != nil || unix < 0 || unix > 1<<33 {
			return
		}
		after := time.Unix(unix, 0).In(zones[int(unix)%len(zones)])
		next := e.Next(after)
		check.Require(t, next.After(after), "%q after %s: %s", text, after, next)
		between := e.Next(next.Add(-time.Nanosecond))
		check.That(t, between.Equal(next), "%q after %s: %s, and just before that %s", text, after, next, between)
		check.That(t, next.Equal(next.Truncate(time.Minute)),
			"%q after %s: %s is not a whole minute", text, after, next)
	})
}
