package control

import (
	"context"
	"time"

	"pressbox/voice/announce/policy"
)

// State returns what applies to announcements at a moment, now or later.
func (c *Controls) State(at time.Time) policy.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return policy.State{
		Volume: c.volume.Volume, Muted: c.volume.Muted, Quiet: c.quietAt(at),
		QuietVolume: c.config.QuietVolume, UrgentMinVolume: c.config.UrgentMinVolume,
	}
}

// Quiet returns whether it is quiet at a moment.
func (c *Controls) Quiet(at time.Time) policy.Quiet {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.quietAt(at)
}

// quietAt returns whether it is quiet at a moment, by the switch or else by the hours. c.mu must be held.
func (c *Controls) quietAt(at time.Time) policy.Quiet {
	s := c.switching
	if s == nil || !at.Before(s.until) {
		active, until := c.hoursAt(at)
		if !active {
			return policy.Quiet{Mode: c.config.QuietMode}
		}
		return policy.Quiet{Active: true, Until: until, Mode: c.config.QuietMode, Reason: policy.Hours}
	}
	if !s.on {
		return policy.Quiet{Mode: c.config.QuietMode}
	}
	until := s.until
	if active, end := c.hoursAt(until); active && s.mode == c.config.QuietMode {
		until = end // the hours go on where the switch ends
	}
	return policy.Quiet{Active: true, Until: until, Mode: s.mode, Reason: policy.Switch}
}

// hoursAt returns whether a moment is in QUIET_HOURS, and until when. c.mu must be held.
func (c *Controls) hoursAt(at time.Time) (active bool, until time.Time) {
	zone := c.config.Zone
	if zone == nil {
		zone = time.Local
	}
	return c.config.QuietHours.At(at.In(zone))
}

// SwitchOn makes it quiet for a time from now, at most [MaxQuiet]; mode "" means QUIET_MODE.
func (c *Controls) SwitchOn(ctx context.Context, duration time.Duration, mode policy.Mode) (policy.Quiet, error) {
	c.saving.Lock()
	defer c.saving.Unlock()
	if mode == "" {
		c.mu.Lock()
		mode = c.config.QuietMode
		c.mu.Unlock()
	}
	err := c.setSwitch(ctx, quietRecord{On: true, Mode: mode, For: min(duration, MaxQuiet)})
	return c.Quiet(time.Now()), err
}

// SwitchOff ends quiet: the switch, and QUIET_HOURS until their next end, at most for [MaxQuiet].
func (c *Controls) SwitchOff(ctx context.Context) error {
	c.saving.Lock()
	defer c.saving.Unlock()
	now := time.Now()
	c.mu.Lock()
	active, until := c.hoursAt(now)
	c.mu.Unlock()
	rest := MaxQuiet
	switch {
	case !active:
		rest = 0
	case !until.IsZero():
		rest = min(rest, until.Sub(now))
	}
	return c.setSwitch(ctx, quietRecord{For: rest})
}

// setSwitch saves and applies the switch. c.saving must be held.
func (c *Controls) setSwitch(ctx context.Context, q quietRecord) error {
	now := c.now()
	q.At = moment{now.Wall, now.Instant}
	c.mu.Lock()
	q.Setting = c.config.quiet()
	c.mu.Unlock()
	if err := saveRecord(ctx, c.repo, KeyQuiet, q); err != nil {
		return err
	}
	c.mu.Lock()
	c.switching = nil
	c.restore(q)
	c.mu.Unlock()
	c.publish(ChangedQuiet)
	return nil
}

// ClockChanged makes Run compute its times again: the wall clock was set.
func (c *Controls) ClockChanged() { signal(c.changed) }

// Run calls reconsider after each change, and when quiet begins or ends, until ctx ends. It sets one timer, for
// the next event.
func (c *Controls) Run(ctx context.Context, reconsider func()) error {
	was := c.Quiet(time.Now())
	for {
		var timer <-chan time.Time
		if wait, ok := c.nextEvent(); ok {
			timer = time.After(wait)
		}
		select {
		case <-timer:
		case <-c.changed:
		case <-ctx.Done():
			return nil
		}
		if is := c.Quiet(time.Now()); is.Active != was.Active || is.Reason != was.Reason {
			c.log.Info("quiet changed", "active", is.Active, "reason", is.Reason, "mode", is.Mode)
			c.hub.Publish(ChangedQuiet)
			was = is
		}
		reconsider()
	}
}

// nextEvent returns the time until quiet changes by itself; ok is false if it does not.
func (c *Controls) nextEvent() (wait time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if _, next := c.hoursAt(now); !next.IsZero() {
		wait, ok = next.Sub(now), true
	}
	if s := c.switching; s != nil && now.Before(s.until) && (!ok || s.until.Sub(now) < wait) {
		wait, ok = s.until.Sub(now), true
	}
	return wait, ok
}
