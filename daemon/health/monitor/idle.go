package monitor

import (
	"context"
	"time"
)

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
