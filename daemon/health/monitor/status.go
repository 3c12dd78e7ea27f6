package monitor

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"pressbox/daemon/health"
	"pressbox/daemon/systemd"
)

// statusInterval is the interval at which "systemctl status" is updated, in addition to
// every announcement.
const statusInterval = 10 * time.Second

// Run updates the status line of "systemctl status" until ctx ends. Without a service
// manager it waits for ctx.
func (m *Monitor) Run(ctx context.Context) error {
	if os.Getenv("NOTIFY_SOCKET") == "" {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(statusInterval)
	defer tick.Stop()
	events, stop := m.Announcer.Watch()
	defer func() { stop() }()
	for last := ""; ; {
		if line := m.StatusLine(); line != last {
			m.Notify(systemd.Status(line))
			last = line
		}
		select {
		case _, more := <-events:
			if !more { // events were lost
				stop()
				events, stop = nil, func() {}
			}
		case <-tick.C:
			if events == nil {
				events, stop = m.Announcer.Watch()
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// Notify logs err, from a notification of the service manager.
func (m *Monitor) Notify(err error) {
	if err != nil {
		m.Log.Warn("sd_notify failed", "err", err)
	}
}

// StatusLine describes the server's state in one line.
func (m *Monitor) StatusLine() string {
	s := m.Announcer.Stats()
	line := "Speaking"
	if s.Current == "" {
		line = "Silent"
	}
	line += fmt.Sprintf(", %d of %d waiting; %d voices; on %s",
		s.Waiting, s.Max, len(m.Voices.Voices()), strings.Join(m.Addresses, ", "))
	if sink := m.Sink.Status().Name; sink != "" {
		line += "; sink " + sink
	}
	for _, check := range m.Checks() {
		if c := check.Report(); c.Health == health.Degraded || c.Health == health.Failing {
			line += fmt.Sprintf("; %s %s: %s", check.Name, c.Health, c.Detail)
		}
	}
	for _, integration := range m.Integrations {
		if detail := integration.Report().Whole().Detail; detail != "" {
			line += fmt.Sprintf("; %s %s: %s", integration.Name, health.Degraded, detail)
		}
	}
	return line
}

// AwaitIdle returns after limit without requests, announcements that wait, also for a time, and games that are
// being played, or when ctx ends; timedOut is true in the first case. A game's clocks run while it is
// played. requests returns the time since the last request, and games the number of those
// games.
func (m *Monitor) AwaitIdle(ctx context.Context, limit time.Duration,
	requests func() time.Duration, games func() int,
) (timedOut bool) {
	for {
		idle := requests()
		if s := m.Announcer.Stats(); s.Current != "" || !s.Oldest.IsZero() || s.Unsaved > 0 || s.Scheduled+s.Away > 0 ||
			games() > 0 {
			idle = 0
		}
		if idle >= limit {
			return true
		}
		select {
		case <-time.After(limit - idle):
		case <-ctx.Done():
			return false
		}
	}
}
