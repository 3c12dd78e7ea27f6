// Package policy decides whether an announcement is spoken at a moment, how loud, and until when it waits
// otherwise.
//
// One law: an urgent announcement is always spoken, and at no less than the minimum volume of urgent ones.
// Everything else is a table: see [Decide].
package policy

import "time"

// A Mode selects what quiet does to announcements that are not urgent.
type Mode string

// The modes of quiet.
const (
	Silence Mode = "silence" // they end unspoken
	Hold    Mode = "hold"    // they wait for the end of quiet, if they do not expire before it
	Soft    Mode = "soft"    // they are spoken at State.QuietVolume
)

// A Reason is why it is quiet.
type Reason string

// The reasons for quiet.
const (
	Hours  Reason = "hours"  // QUIET_HOURS
	Switch Reason = "switch" // a client switched it on
)

// A Cause is why an announcement is not heard, or not yet.
type Cause string

// The causes.
const (
	Muted        Cause = "muted"
	Volume       Cause = "volume" // is 0, or nearly
	QuietHours   Cause = "quiet_hours"
	DoNotDisturb Cause = "do_not_disturb"
	NoOutput     Cause = "no_output"
)

// Enum returns the causes, for schemas.
func (Cause) Enum() []any { return []any{Muted, Volume, QuietHours, DoNotDisturb, NoOutput} }

// Quiet is the state of quiet at a moment.
type Quiet struct {
	Active bool
	Until  time.Time // its end, which does not belong to it; zero: unknown
	Mode   Mode
	Reason Reason
}

// A State is what applies to all announcements at a moment.
type State struct {
	Volume          int // percent, 0–100
	Muted           bool
	Quiet           Quiet
	QuietVolume     int // percent, of soft quiet
	UrgentMinVolume int // percent; 0 means none
}

// Priorities of announcements that differ from the others. The usual ones are 3 and 4.
const (
	Listed = 1 // not spoken
	Low    = 2 // without a chime, and only when no other one waits
	Usual  = 3
	Most   = 5 // urgent
)

// An Announcement is what decides about an announcement.
type Announcement struct {
	Urgent   bool
	Priority int       // 1–5; 0 means 3
	Volume   int       // its own, percent; 0 means that of the state
	Expires  time.Time // it is not spoken later
}

// A Decision is what happens to an announcement at a moment: it is spoken, waits, or ends unspoken.
type Decision struct {
	Speak  bool
	Until  time.Time // when to decide again, if it waits; zero means that it does not wait
	Volume int       // percent, if it is spoken
	Quiet  bool      // quiet changes what happens to it
	Cause  Cause     // why it is not spoken; "" if it is, or if that is what its priority says
}

// cause returns the cause of quiet.
func (q Quiet) cause() Cause {
	if q.Reason == Hours {
		return QuietHours
	}
	return DoNotDisturb
}

// at reports whether it is quiet at a moment.
func (q Quiet) at(now time.Time) bool { return q.Active && (q.Until.IsZero() || now.Before(q.Until)) }

// Decide returns the decision about an announcement at a moment with a state.
//
//	urgent             spoken at its volume, at least UrgentMinVolume
//	priority 1         ends unspoken
//	muted, volume 0    ends unspoken
//	quiet, silence     ends unspoken
//	quiet, hold        waits until the end of quiet; ends unspoken if it expires before
//	quiet, soft        spoken at its volume, at most QuietVolume
//	otherwise          spoken at its volume
//
// Its volume is its own, else that of the state. A mute counts more than its own volume, but not for urgent
// ones.
func Decide(a Announcement, s State, now time.Time) Decision {
	volume := s.Volume
	if a.Volume > 0 {
		volume = a.Volume
	}
	if a.Urgent {
		return Decision{Speak: true, Volume: max(volume, s.UrgentMinVolume)}
	}
	d := Decision{Quiet: s.Quiet.at(now) && a.Priority != Listed}
	switch {
	case a.Priority == Listed:
		return d
	case s.Muted:
		d.Cause = Muted
	case !d.Quiet:
		d.Volume, d.Cause = volume, Volume
	case s.Quiet.Mode == Soft:
		d.Volume, d.Cause = min(volume, s.QuietVolume), Volume
	case s.Quiet.Mode == Hold && s.Quiet.Until.Before(a.Expires):
		d.Until, d.Cause = s.Quiet.Until, s.Quiet.cause()
	default:
		d.Cause = s.Quiet.cause()
	}
	if d.Speak = d.Volume > 0; d.Speak {
		d.Cause = ""
	}
	return d
}
