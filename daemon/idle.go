package main

import (
	"context"
	"time"

	"pressbox/game/protocol"
)

// idles returns, which ends the daemon, when there has been nothing to do for as
// long as EXIT_ON_IDLE says. The socket unit starts it again with the next request.
func (h *house) idles(ctx context.Context) error {
	limit := h.cfg.ExitOnIdle
	if limit > 0 && !h.inherited {
		h.log.Warn("EXIT_ON_IDLE is ignored: no socket was inherited")
		limit = 0
	}
	for limit > 0 {
		left := limit - h.idle()
		if left <= 0 {
			h.log.Info("idle: ending until somebody asks")
			return nil
		}
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return nil
		}
	}
	<-ctx.Done()
	return nil
}

// idle is for how long there has been nothing to do; 0 while there is. A game that is
// being played has clocks that run.
func (h *house) idle() time.Duration {
	s := h.announcer.Stats()
	if s.Current != "" || !s.Oldest.IsZero() || s.Unsaved > 0 || h.hall.CountByStatus()[protocol.Active] > 0 {
		return 0
	}
	return h.web.Idle()
}
