package clock_test

import (
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/store/clock"
)

// A jump of a minute is a correction. Shorter ones are none until they add up to a minute.
func TestClock_smallestCorrection(t *testing.T) {
	t.Parallel()
	wall := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	source := clock.Source{
		Wall:  func() time.Time { return wall },
		Since: func() time.Duration { return time.Hour },
		Boot:  "first",
	}
	c := clock.New(source, time.Time{}, nil)
	for _, tt := range []struct{ jump, want time.Duration }{
		{59_999 * time.Millisecond, 0},
		{time.Millisecond, time.Minute},
		{-59_999 * time.Millisecond, 0},
		{-time.Millisecond, -time.Minute},
	} {
		wall = wall.Add(tt.jump)
		check.Equal(t, c.Corrected(), tt.want, "after a jump of %v: corrected by", tt.jump)
	}
}

// FirstAt is compared with a search through the instants around changes of the
// offset: forward, back, at midnight, by half an hour, and by a whole day.
func TestFirstAt_everyMinute(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ zone, day string }{
		{"UTC", "2026-01-01"},
		{"Europe/Berlin", "2026-03-29"},
		{"Europe/Berlin", "2026-10-25"},
		{"America/New_York", "2026-03-08"},
		{"America/New_York", "2026-11-01"},
		{"America/Sao_Paulo", "2018-11-04"}, // midnight is skipped
		{"America/Sao_Paulo", "2018-02-18"}, // midnight is repeated
		{"Africa/Cairo", "2025-04-25"},
		{"Australia/Lord_Howe", "2026-10-04"},
		{"Australia/Lord_Howe", "2026-04-05"},
		{"Pacific/Apia", "2011-12-30"}, // the day is skipped
	} {
		zone := check.Must(time.LoadLocation(tt.zone))(t)
		day := check.Must(time.Parse(time.DateOnly, tt.day))(t)
		instant := day.Add(-30 * time.Hour)
		for minute := range 24 * 60 {
			face := day.Add(time.Duration(minute) * time.Minute)
			for shown(instant.In(zone)).Before(face) {
				instant = instant.Add(time.Minute)
			}
			got := clock.FirstAt(day.Year(), day.Month(), day.Day(), minute, zone)
			check.Require(t, got.Equal(instant) && got.Location() == zone,
				"%s %s: %s, want %s", tt.zone, face.Format("2006-01-02 15:04"), got, instant.In(zone))
		}
	}
}

// shown returns what the wall clock shows at t, as a time in UTC.
func shown(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}
