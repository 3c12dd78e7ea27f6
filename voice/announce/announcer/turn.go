package announcer

import (
	"context"
	"errors"
	"time"

	"pressbox/audio"
	"pressbox/voice/announce"
	"pressbox/voice/announce/policy"
)

// A turn is the current announcement while it is synthesized and played.
type turn struct {
	announce.Turn
	stop     context.CancelCauseFunc // stops the sound
	finished chan struct{}           // closed when it has ended or is queued again

	// Guarded by the announcer's mu; how it ended may be read after finished is closed.
	cause   error                 // of the latest stop; nil if it was not stopped
	ended   announce.Announcement // zero if it is queued again
	saveErr error                 // why its end was not saved
}

// take does [announce.Queue.Take]; nil means that none is ready. stop stops the sound.
func (a *Announcer) take(stop context.CancelCauseFunc) (t *turn) {
	a.step(func(q *announce.Queue, c announce.Conditions) announce.Step {
		next, ok, s := q.Take(c)
		if ok {
			t = &turn{Turn: next, stop: stop, finished: make(chan struct{})}
			a.playing = t
		}
		return s
	})
	return t
}

// peek does [announce.Queue.Peek].
func (a *Announcer) peek() (next announce.Announcement, ok bool) {
	a.step(func(q *announce.Queue, c announce.Conditions) (s announce.Step) {
		next, ok, s = q.Peek(c)
		return s
	})
	return next, ok
}

// markPlaying records that the current announcement is being played, and logs another voice than was to speak.
func (a *Announcer) markPlaying(voice string) {
	a.step(func(q *announce.Queue, c announce.Conditions) announce.Step {
		a.sinkErr = nil
		before, s := q.Played(voice, c)
		if voice != before {
			a.log.Warn("another voice speaks", "announcement", a.playing.ID, "voice", before, "instead", voice)
		}
		return s
	})
}

// markHeard does [announce.Queue.Heard] if something was played.
func (a *Announcer) markHeard(pb *playback) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if pb.timeline.Last() >= 0 {
		a.queue.Heard(policy.Cause(pb.unheard))
	}
}

// interrupt does [announce.Queue.Interrupt], and reports whether a sound was stopped.
func (a *Announcer) interrupt() bool { return a.step((*announce.Queue).Interrupt).Stop != nil }

// requeue saves with which sentence the current announcement is to be spoken on, and does [announce.Queue.Requeue].
func (a *Announcer) requeue(ctx context.Context, t *turn, sentence int, sinkErr error) (ok bool) {
	if a.rest(sentence) {
		a.saveRest(ctx, t)
	}
	lost := errors.Is(sinkErr, audio.ErrSinkLost)
	a.step(func(q *announce.Queue, c announce.Conditions) (s announce.Step) {
		if ok, s = q.Requeue(lost, c); !ok {
			return s
		}
		a.playing = nil
		close(t.finished)
		if lost && a.sinkErr == nil {
			a.log.Warn("announcement interrupted, it will be spoken again", "announcement", t.ID, "err", sinkErr)
			a.sinkErr = sinkErr
		}
		return s
	})
	return ok
}

// rest does [announce.Queue.Rest].
func (a *Announcer) rest(sentence int) (changed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.queue.Rest(sentence)
}

// saveRest saves with which sentence an announcement is to be spoken on.
func (a *Announcer) saveRest(ctx context.Context, t *turn) {
	if err := a.save(ctx, t.ID); err != nil {
		a.log.Error("interruption not saved, more of the announcement may be spoken again after a restart",
			"announcement", t.ID, "err", err)
	}
}

// cause returns why the sound of a turn was stopped last; nil if it was not.
func (a *Announcer) cause(t *turn) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return t.cause
}

// repeatLater returns the status of the current announcement, which has been spoken: scheduled if a repetition is left.
func (a *Announcer) repeatLater(ctx context.Context, t *turn) (status announce.Status) {
	a.mu.Lock()
	next, ok := a.queue.NextRepetition(a.now())
	a.mu.Unlock()
	if !ok {
		return announce.Done
	}
	if err := a.parts.Outbox.Update(context.WithoutCancel(ctx), next); err != nil {
		a.log.Error("repetition not saved, one more may be spoken after a restart", "announcement", t.ID, "err", err)
	}
	a.step(func(q *announce.Queue, c announce.Conditions) (s announce.Step) {
		if status, s = q.Repeat(next, c); status == announce.Scheduled {
			a.playing = nil
			close(t.finished)
		}
		return s
	})
	return status
}

// finish ends the current announcement. It does not fail if the end cannot be saved: a full disk must not stop
// the announcements.
func (a *Announcer) finish(ctx context.Context, t *turn, status announce.Status, why string) {
	ends, err := a.recordEnd(ctx, status, why, t.ID)
	t.ended, t.saveErr = ends[0], err
	close(t.finished)
	if err != nil {
		a.log.Error(
			"end of announcement not saved, it may be spoken again after a restart", "announcement", t.ID, "err", err,
		)
	}
	if status == announce.Failed {
		a.log.Warn("announcement failed", "announcement", t.ID, "err", why)
		return
	}
	a.log.Info("announcement ended", "announcement", t.ID, "status", t.ended.Status, "reason", t.ended.Reason,
		"waited", between(t.ended.Created, t.ended.Started), "took", between(t.ended.Started, t.ended.Ended))
}

// between returns the time from one moment to another, 0 if either is zero.
func between(from, to time.Time) time.Duration {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	return to.Sub(from)
}
