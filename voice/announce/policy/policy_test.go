package policy_test

import (
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice/announce/policy"
)

var (
	now     = time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC)
	morning = now.Add(8 * time.Hour)
)

func quiet(mode policy.Mode) policy.Quiet {
	return policy.Quiet{Active: true, Until: morning, Mode: mode, Reason: policy.Hours}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	day := policy.State{Volume: 70, QuietVolume: 25, UrgentMinVolume: 40}
	in := func(change func(*policy.State)) policy.State {
		s := day
		change(&s)
		return s
	}
	night := func(mode policy.Mode) policy.State { return in(func(s *policy.State) { s.Quiet = quiet(mode) }) }
	muted := in(func(s *policy.State) { s.Muted = true })
	mutedNight := in(func(s *policy.State) { s.Muted, s.Quiet = true, quiet(policy.Hold) })
	noFloor := in(func(s *policy.State) { s.UrgentMinVolume = 0 })
	volume := func(v int) policy.State { return in(func(s *policy.State) { s.Volume = v }) }
	soft := func(v, quiet int) policy.State {
		s := night(policy.Soft)
		s.Volume, s.QuietVolume = v, quiet
		return s
	}
	urgent := policy.Announcement{Urgent: true, Priority: 5}
	usual := policy.Announcement{Priority: 3}
	speak := func(v int) policy.Decision { return policy.Decision{Speak: true, Volume: v} }
	softly := func(v int) policy.Decision { return policy.Decision{Speak: true, Volume: v, Quiet: true} }
	unspoken := func(why policy.Cause) policy.Decision { return policy.Decision{Cause: why} }
	byQuiet := func(why policy.Cause) policy.Decision { return policy.Decision{Quiet: true, Cause: why} }
	held := policy.Decision{Until: morning, Quiet: true, Cause: policy.QuietHours}
	switched := night(policy.Silence)
	switched.Quiet.Reason = policy.Switch

	for _, tt := range []struct {
		name string
		a    policy.Announcement
		s    policy.State
		want policy.Decision
	}{
		{"usual", usual, day, speak(70)},
		{"no priority", policy.Announcement{}, day, speak(70)},
		{"low", policy.Announcement{Priority: 2}, day, speak(70)},
		{"own volume", policy.Announcement{Volume: 1}, day, speak(1)},
		{"own volume above", policy.Announcement{Volume: 100}, day, speak(100)},
		{"listed", policy.Announcement{Priority: 1, Volume: 100}, day, unspoken("")},
		{"listed at night", policy.Announcement{Priority: 1}, night(policy.Soft), unspoken("")},

		{"volume 1", usual, volume(1), speak(1)},
		{"volume 0", usual, volume(0), unspoken(policy.Volume)},
		{"own volume, volume 0", policy.Announcement{Volume: 30}, volume(0), speak(30)},
		{"muted", usual, muted, unspoken(policy.Muted)},
		{"own volume, muted", policy.Announcement{Volume: 100}, muted, unspoken(policy.Muted)},

		{"silence", usual, night(policy.Silence), byQuiet(policy.QuietHours)},
		{"switched on", usual, switched, byQuiet(policy.DoNotDisturb)},
		{"own volume, silence", policy.Announcement{Volume: 100}, night(policy.Silence), byQuiet(policy.QuietHours)},
		{"unknown mode", usual, night(""), byQuiet(policy.QuietHours)},
		{"held", policy.Announcement{Expires: morning.Add(1)}, night(policy.Hold), held},
		{"expires at the end", policy.Announcement{Expires: morning}, night(policy.Hold), byQuiet(policy.QuietHours)},
		{"held while muted", policy.Announcement{Expires: morning.Add(1)}, mutedNight, byQuiet(policy.Muted)},
		{"soft", usual, soft(70, 25), softly(25)},
		{"soft, volume below", usual, soft(10, 25), softly(10)},
		{"soft, own volume above", policy.Announcement{Volume: 80}, soft(70, 25), softly(25)},
		{"soft, own volume below", policy.Announcement{Volume: 5}, soft(70, 25), softly(5)},
		{"soft at 0", usual, soft(70, 0), byQuiet(policy.Volume)},

		{"urgent", urgent, day, speak(70)},
		{"urgent, silence", urgent, night(policy.Silence), speak(70)},
		{"urgent, hold", urgent, night(policy.Hold), speak(70)},
		{"urgent, soft", urgent, night(policy.Soft), speak(70)},
		{"urgent, muted", urgent, muted, speak(70)},
		{"urgent, listed", policy.Announcement{Urgent: true, Priority: 1}, day, speak(70)},
		{"urgent at the floor", urgent, volume(40), speak(40)},
		{"urgent below the floor", urgent, volume(39), speak(40)},
		{"urgent, volume 0", urgent, volume(0), speak(40)},
		{"urgent, own volume", policy.Announcement{Urgent: true, Volume: 90}, day, speak(90)},
		{"urgent, own volume below", policy.Announcement{Urgent: true, Volume: 10}, day, speak(40)},
		{"urgent, no floor", policy.Announcement{Urgent: true, Volume: 10}, noFloor, speak(10)},
	} {
		check.Equal(t, policy.Decide(tt.a, tt.s, now), tt.want, "%s", tt.name)
	}
}

// Quiet begins with its first moment and does not include its end.
func TestDecide_quietEnds(t *testing.T) {
	t.Parallel()
	s := policy.State{Volume: 70, Quiet: quiet(policy.Silence)}
	until := map[time.Time]bool{now: false, morning.Add(-1): false, morning: true, morning.Add(time.Hour): true}
	for at, want := range until {
		d := policy.Decide(policy.Announcement{}, s, at)
		check.That(t, d.Speak == want && d.Quiet != want, "at %v: %+v", at, d)
	}
}

// An announcement is spoken, waits or ends: never two of these. Quiet that has no known end holds nothing.
func TestDecide_oneOutcome(t *testing.T) {
	t.Parallel()
	for _, mode := range []policy.Mode{policy.Silence, policy.Hold, policy.Soft} {
		for _, until := range []time.Time{{}, morning} {
			s := policy.State{Volume: 70, QuietVolume: 25, Quiet: policy.Quiet{Active: true, Mode: mode, Until: until}}
			d := policy.Decide(policy.Announcement{Expires: morning.Add(time.Hour)}, s, now)
			waits := !d.Until.IsZero()
			if d.Speak && waits || waits != (mode == policy.Hold && !until.IsZero()) || (d.Volume > 0) != d.Speak {
				t.Errorf("%s until %v: %+v", mode, until, d)
			}
		}
	}
}
