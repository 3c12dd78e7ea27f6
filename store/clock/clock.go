// Package clock measures ages on a host whose wall clock may be wrong: a
// Raspberry Pi has no battery-backed clock and learns the time after it has
// started.
//
// Within one boot an age is a difference of boot times, which no correction of
// the wall clock changes. Across boots it is a difference of wall-clock times:
// each boot has one [Boot] record with its start, which is corrected whenever
// the wall clock is, so the records made during the boot need no correction.
//
// The package has no I/O: the time comes in as a [Source] (see clock/system),
// and its caller stores the boots.
package clock

import (
	"sync"
	"time"
)

// A Source provides the time. Since counts from the boot and includes suspend
// (CLOCK_BOOTTIME); Boot identifies the boot (/proc/sys/kernel/random/boot_id).
type Source struct {
	Wall  func() time.Time
	Since func() time.Duration
	Boot  string
}

// Moment returns the present moment.
func (s Source) Moment() Moment {
	return Moment{Wall: s.Wall(), Instant: Instant{Boot: s.Boot, Since: s.Since()}}
}

// An Instant is a point in time that no correction of the wall clock moves: the
// time since a boot.
type Instant struct {
	Boot  string        `json:"boot"`
	Since time.Duration `json:"since"` // nanoseconds
}

// A Moment is an [Instant] and what the wall clock showed then. Two moments can
// be compared without the [Boot] records.
type Moment struct {
	Wall time.Time
	Instant
}

// Sub returns the time from then to m, at least 0: by boot time within one boot,
// otherwise by the wall clock.
func (m Moment) Sub(then Moment) time.Duration {
	if m.Boot == then.Boot {
		return max(0, m.Since-then.Since)
	}
	return max(0, m.Wall.Sub(then.Wall))
}

// Add returns the moment d after m, in the same boot.
func (m Moment) Add(d time.Duration) Moment {
	return Moment{Wall: m.Wall.Add(d), Instant: Instant{Boot: m.Boot, Since: m.Since + d}}
}

// A Boot places one boot of the host on the wall clock.
type Boot struct {
	Start time.Time `json:"start"`
	Seen  time.Time `json:"seen"` // latest wall-clock time known to lie in this boot
}

// minCorrection is the smallest jump of the wall clock that is a correction.
const minCorrection = time.Minute

// unknownAge is the age of an instant of an unknown boot: more than any lifetime.
const unknownAge = time.Duration(1<<63 - 1)

// A Clock returns the age of instants. Its wall-clock time is never earlier than
// what an earlier boot has seen. Its methods may be called concurrently.
type Clock struct {
	src   Source
	floor time.Time // the latest of the build time and what earlier boots have seen

	mu       sync.Mutex // guards what follows
	boots    map[string]Boot
	rawStart time.Time // start of this boot by the uncorrected wall clock
}

// New returns a clock that knows the given boots. built is when the program was
// built: the time cannot be earlier.
func New(src Source, built time.Time, boots map[string]Boot) *Clock {
	c := &Clock{src: src, floor: built, boots: make(map[string]Boot, len(boots)+1)}
	for id, b := range boots {
		c.boots[id] = b
		if id != src.Boot && b.Seen.After(c.floor) {
			c.floor = b.Seen
		}
	}
	c.rawStart = c.readStart()
	c.place()
	return c
}

// Now returns the present instant.
func (c *Clock) Now() Instant { return Instant{c.src.Boot, c.src.Since()} }

// Age returns the time since i, at least 0. An instant of an unknown boot is
// older than any lifetime.
func (c *Clock) Age(i Instant) time.Duration {
	now := c.src.Since()
	if i.Boot == c.src.Boot {
		return max(0, now-i.Since)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b, known := c.boots[i.Boot]
	if !known {
		return unknownAge
	}
	return max(0, c.boots[c.src.Boot].Start.Add(now).Sub(b.Start.Add(i.Since)))
}

// Wall returns the wall-clock time, never earlier than what an earlier boot has
// seen.
func (c *Clock) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.boots[c.src.Boot].Start.Add(c.src.Since())
}

// Corrected returns by how much the wall clock was corrected since the previous
// call, 0 if it was not, and follows the correction. The owner of a clock calls
// it when the system reports a change, and every few minutes.
func (c *Clock) Corrected() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	start := c.readStart()
	moved := start.Sub(c.rawStart)
	if moved.Abs() < minCorrection {
		return 0
	}
	c.rawStart = start
	c.place()
	return moved
}

// Boot returns the id and the record of the present boot, for the caller to
// store.
func (c *Clock) Boot() (id string, b Boot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b = c.boots[c.src.Boot]
	b.Seen = b.Start.Add(c.src.Since())
	c.boots[c.src.Boot] = b
	return c.src.Boot, b
}

// place computes the record of this boot. c.mu must be held, or c be new.
func (c *Clock) place() {
	since := c.src.Since()
	now := c.rawStart.Add(since)
	if now.Before(c.floor) {
		now = c.floor
	}
	c.boots[c.src.Boot] = Boot{Start: now.Add(-since), Seen: now}
}

// readStart returns the start of this boot by the present wall clock. It strips
// the monotonic reading, which would hide every correction.
func (c *Clock) readStart() time.Time { return c.src.Wall().Round(0).Add(-c.src.Since()) }
