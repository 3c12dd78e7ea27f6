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
