package auth

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A Source is where the time comes from: the wall clock, the time since the
// machine was started (CLOCK_BOOTTIME: suspend counts, corrections do not) and
// the name of this start (/proc/sys/kernel/random/boot_id).
type Source struct {
	Wall  func() time.Time
	Since func() time.Duration
	Boot  string
}

// An Instant is a moment that no correction of the wall clock can move: how
// long after which start of the machine.
type Instant struct {
	Boot  string        `json:"boot"`
	Since time.Duration `json:"since"` // nanoseconds
}

// A Boot is one start of the machine, placed on the wall clock as well as is
// known by now.
type Boot struct {
	Start time.Time `json:"start"`
	Seen  time.Time `json:"seen"` // the latest time of day that is known to have been in it
}

// step is how far the wall clock must jump to count as corrected.
const step = time.Minute

// maxBoots is how many starts of the machine are remembered.
const maxBoots = 1000

// A Clock tells the age of things on a machine without a battery-backed clock.
// Within one boot an age is a difference of boot times; across boots it is a
// difference of wall-clock times, each boot having been placed on the wall
// clock once, and again whenever the clock was corrected during it. So one
// small record is mended instead of every record made since.
//
// The wall clock is never believed to be before what an earlier boot has seen.
type Clock struct {
	src   Source
	floor time.Time // what earlier boots, and the build of the program, have seen

	mu    sync.Mutex // guards what follows
	boots map[string]Boot
	raw   time.Time // when this boot began, by the uncorrected wall clock
}

// NewClock makes a clock that knows earlier boots. built is when the program
// was built: it cannot be earlier than that.
func NewClock(src Source, built time.Time, boots map[string]Boot) *Clock {
	c := &Clock{src: src, floor: built, boots: make(map[string]Boot, len(boots)+1)}
	for id, b := range boots {
		c.boots[id] = b
		if id != src.Boot && b.Seen.After(c.floor) {
			c.floor = b.Seen
		}
	}
	c.raw = c.rawStart()
	c.place()
	return c
}

// OpenClock makes a clock with the boots that k has, this one included from now
// on.
func OpenClock(ctx context.Context, k Repository, src Source, built time.Time) (*Clock, error) {
	boots := make(map[string]Boot)
	err := k.View(ctx, func(tx Tx) error {
		return each(tx, tableClock, nil, func(key string, b Boot) error {
			boots[key] = b
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the boots: %w", err)
	}
	c := NewClock(src, built, boots)
	return c, c.Save(ctx, k)
}

// Now is this moment.
func (c *Clock) Now() Instant { return Instant{c.src.Boot, c.src.Since()} }

// Age is how long ago i was; never negative. What is older than the boots that
// are remembered is older than anything that is still valid.
func (c *Clock) Age(i Instant) time.Duration {
	now := c.src.Since()
	if i.Boot == c.src.Boot {
		return max(0, now-i.Since)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b, known := c.boots[i.Boot]
	if !known {
		return 1<<63 - 1
	}
	return max(0, c.boots[c.src.Boot].Start.Add(now).Sub(b.Start.Add(i.Since)))
}

// Wall is the time of day, never earlier than any seen before this boot.
func (c *Clock) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.boots[c.src.Boot].Start.Add(c.src.Since())
}

// Corrected says by how much the wall clock was corrected since it was called last;
// 0 means it was not. Whoever has a clock calls it once a minute.
func (c *Clock) Corrected() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	raw := c.rawStart()
	moved := raw.Sub(c.raw)
	if moved.Abs() < step {
		return 0
	}
	c.raw = raw
	c.place()
	return moved
}

// Save writes this boot's place, and forgets boots beyond the newest thousand.
func (c *Clock) Save(ctx context.Context, k Repository) error {
	boot := c.seen()
	err := k.Update(ctx, func(tx Tx) error {
		if err := put(tx, tableClock, []byte(c.src.Boot), boot); err != nil {
			return err
		}
		return c.prune(tx)
	})
	if err != nil {
		return fmt.Errorf("keep the clock's mark: %w", err)
	}
	return nil
}

// seen renews this boot's mark and is this boot.
func (c *Clock) seen() Boot {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.boots[c.src.Boot]
	b.Seen = b.Start.Add(c.src.Since())
	c.boots[c.src.Boot] = b
	return b
}

func (c *Clock) prune(tx Tx) error {
	var n int
	var oldest string
	var start time.Time
	err := each(tx, tableClock, nil, func(key string, b Boot) error {
		if n++; oldest == "" || b.Start.Before(start) {
			oldest, start = key, b.Start
		}
		return nil
	})
	if err != nil || n <= maxBoots {
		return err
	}
	return tx.Delete(tableClock, []byte(oldest))
}

// place puts this boot on the wall clock. c.mu must be held, or c be new.
func (c *Clock) place() {
	since := c.src.Since()
	now := c.raw.Add(since)
	if now.Before(c.floor) {
		now = c.floor
	}
	c.boots[c.src.Boot] = Boot{Start: now.Add(-since), Seen: now}
}

// rawStart is when this boot began if the wall clock is right now. The
// monotonic reading is stripped: it would hide every correction.
func (c *Clock) rawStart() time.Time { return c.src.Wall().Round(0).Add(-c.src.Since()) }
