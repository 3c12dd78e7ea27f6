package announce

import (
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice/announce/policy"
)

// nightly is quiet from 22:00 to 07:00 in a time zone, in the mode hold.
type nightly struct{ zone *time.Location }

func (n nightly) State(at time.Time) policy.State {
	s := policy.State{Volume: 100}
	local := at.In(n.zone)
	until := time.Date(local.Year(), local.Month(), local.Day(), 7, 0, 0, 0, n.zone)
	if local.Hour() >= 22 {
		until = time.Date(local.Year(), local.Month(), local.Day()+1, 7, 0, 0, 0, n.zone)
	}
	s.Quiet = policy.Quiet{
		Active: local.Hour() >= 22 || local.Hour() < 7, Until: until, Mode: policy.Hold, Reason: policy.Hours,
	}
	return s
}

// A time of day follows the wall clock, wherever it is set to; quiet is that of the moment at which an
// announcement is to be spoken. The moments have no monotonic reading, as if the clock had been set to them.
func TestPlan_timeOfDay(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	moment := func(text string) time.Time {
		at, err := time.Parse("2006-01-02 15:04 -07", text)
		if err != nil {
			at, err = time.Parse(time.RFC3339, text)
		}
		return check.Must(at, err)(t)
	}
	for _, tt := range []struct {
		name     string
		at, ttl  string
		now      string
		speaksAt string // "": it is queued
		quiet    bool
	}{
		{"before", "2026-11-22 18:00 +01", "10m", "2026-11-22T17:59:59+01:00", "2026-11-22 18:00 +01", false},
		{"due", "2026-11-22 18:00 +01", "10m", "2026-11-22 18:00 +01", "", false},
		{"another offset", "2026-11-22T12:00:00-05:00", "10m", "2026-11-22 18:00 +01", "", false},
		{"clock set past it", "2026-11-22 18:00 +01", "10m", "2026-11-22T18:09:59+01:00", "", false},
		{"clock set back", "2026-11-22 18:00 +01", "10m", "2026-11-22 15:00 +01", "2026-11-22 18:00 +01", false},
		{"clock set to 1970", "2026-11-22 18:00 +01", "10m", "1970-01-01T00:00:10Z", "2026-11-22 18:00 +01", false},
		{"leap day", "2028-02-29T12:00:00Z", "10m", "2028-02-28T12:00:00Z", "2028-02-29T12:00:00Z", false},

		{"quiet at its time", "2026-11-22 23:00 +01", "10h", "2026-11-22 18:00 +01", "2026-11-23 07:00 +01", true},
		{"quiet now, not then", "2026-11-23 08:00 +01", "10m", "2026-11-23 01:00 +01", "2026-11-23 08:00 +01", false},
		{"midnight", "2026-11-23 00:00 +01", "10h", "2026-11-23 00:00 +01", "2026-11-23 07:00 +01", true},
		{"quiet, at its end", "2026-11-23T06:59:59+01:00", "10m", "2026-11-22 18:00 +01", "2026-11-23 07:00 +01", true},
		{"just after quiet", "2026-11-23 07:00 +01", "10m", "2026-11-22 18:00 +01", "2026-11-23 07:00 +01", false},
		{"expires in quiet", "2026-11-22 23:00 +01", "8h", "2026-11-22 18:00 +01", "2026-11-22 23:00 +01", true},

		// On 2026-03-29 in Berlin 02:00 becomes 03:00, on 2026-10-25 03:00 becomes 02:00.
		{"short night", "2026-03-29 01:30 +01", "10h", "2026-03-28 18:00 +01", "2026-03-29 07:00 +02", true},
		{"short night, expires", "2026-03-29 01:30 +01", "4h30m", "2026-03-28 18:00 +01", "2026-03-29 01:30 +01", true},
		{"long night", "2026-10-25 01:30 +02", "10h", "2026-10-24 18:00 +02", "2026-10-25 07:00 +01", true},
		{"first 02:30", "2026-10-25 02:30 +02", "10m", "2026-10-25 02:30 +02", "", true},
		{"second 02:30", "2026-10-25 02:30 +01", "10m", "2026-10-25 02:30 +02", "2026-10-25 02:30 +01", true},
	} {
		ttl, err := time.ParseDuration(tt.ttl)
		if err != nil {
			t.Fatal(err)
		}
		it := &item{Announcement: Announcement{At: moment(tt.at), FixedTime: true, Expires: moment(tt.at).Add(ttl)}}
		it.plan(Conditions{Now: moment(tt.now), ClockSet: true, State: nightly{berlin}.State})
		status, speaksAt := Queued, time.Time{}
		if tt.speaksAt != "" {
			status, speaksAt = Scheduled, moment(tt.speaksAt)
		}
		if it.Status != status || !it.SpeaksAt.Equal(speaksAt) || it.Quiet != tt.quiet {
			t.Errorf(
				"%s: %s at %v, quiet %v; want %s at %v, %v", tt.name, it.Status, it.SpeaksAt, it.Quiet, status,
				speaksAt, tt.quiet,
			)
		}
	}
}

// When the clock is set while an announcement is due or scheduled, each event happens once, and next is the
// time of the next one.
func TestAdvance_clockSet(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name    string
		now     []time.Time // the wall clock at each look, after changes of it
		status  Status
		overdue int
		next    time.Time
	}{
		{"before", []time.Time{noon.Add(-time.Hour)}, Scheduled, 0, noon},
		{"at the time", []time.Time{noon.Add(-1), noon}, Queued, 0, noon.Add(10 * time.Minute)},
		{
			"set forward",
			[]time.Time{noon.Add(-time.Hour), noon.Add(5 * time.Minute)},
			Queued, 0,
			noon.Add(10 * time.Minute),
		},
		{"set forward too far", []time.Time{noon.Add(-time.Hour), noon.Add(10 * time.Minute)}, Queued, 1, time.Time{}},
		{"set back while due", []time.Time{noon, noon.Add(-time.Hour)}, Scheduled, 0, noon},
		{
			"set back and forward",
			[]time.Time{noon, noon.Add(-time.Hour), noon.Add(time.Second)},
			Queued, 0,
			noon.Add(10 * time.Minute),
		},
	} {
		at := func(now time.Time) Conditions {
			return Conditions{Config: Config{Volume: 100}, Now: now, ClockSet: true}
		}
		var q Queue
		it := &item{Announcement: Announcement{At: noon, FixedTime: true, Expires: noon.Add(10 * time.Minute)}}
		it.plan(at(tt.now[0]))
		q.insert(it)
		next, step := q.Advance(at(tt.now[0]))
		for _, now := range tt.now[1:] {
			q.Reconsider(at(now))
			next, step = q.Advance(at(now))
		}
		if it.Status != tt.status || len(step.Ends) != tt.overdue || !next.Equal(tt.next) ||
			len(q.waiting)+len(q.scheduled) != 1 {
			t.Errorf(
				"%s: %s, %d overdue, next at %v; want %s, %d, %v", tt.name, it.Status, len(step.Ends), next,
				tt.status, tt.overdue, tt.next,
			)
		}
	}
}
