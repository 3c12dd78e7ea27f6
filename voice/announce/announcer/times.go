package announcer

import (
	"context"
	"time"

	"pressbox/voice/announce"
)

// watchTimes does [announce.Queue.Advance] when it is due, until ctx ends. It sets one timer, for the next event.
func (a *Announcer) watchTimes(ctx context.Context) {
	for {
		a.forgetTexts(ctx)
		var next time.Time
		s := a.step(func(q *announce.Queue, c announce.Conditions) (s announce.Step) {
			next, s = q.Advance(c)
			return s
		})
		if len(s.Ends) > 0 {
			a.log.Info("announcements expired", "count", len(s.Ends))
			if _, err := a.recordEnd(ctx, s.Status, "", s.Ends...); err != nil {
				a.log.Error("expiry of announcements not saved", "err", err)
			}
			continue
		}
		var timer <-chan time.Time
		if !next.IsZero() {
			timer = time.After(time.Until(next))
		}
		select {
		case <-timer:
		case <-a.timesChanged:
		case <-ctx.Done():
			return
		}
	}
}

// endUnspoken does [announce.Queue.EndUnspoken].
func (a *Announcer) endUnspoken(ctx context.Context) {
	s := a.step((*announce.Queue).EndUnspoken)
	if len(s.Ends) == 0 {
		return
	}
	a.log.Info("announcements silenced", "count", len(s.Ends))
	if _, err := a.recordEnd(ctx, s.Status, "", s.Ends...); err != nil {
		a.log.Error("end of announcements not saved, they may be spoken after a restart", "err", err)
	}
}

// forgetTexts does [announce.Queue.ForgetTexts].
func (a *Announcer) forgetTexts(ctx context.Context) {
	a.mu.Lock()
	changed := a.queue.ForgetTexts(a.now())
	a.mu.Unlock()
	if len(changed) == 0 {
		return
	}
	if err := a.parts.Outbox.Done(context.WithoutCancel(ctx), changed...); err != nil {
		a.log.Error("texts of ended announcements not deleted", "err", err)
	}
}
