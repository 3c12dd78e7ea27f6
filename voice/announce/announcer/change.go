package announcer

import (
	"context"
	"fmt"

	"pressbox/voice/announce"
)

// Find returns an announcement that is waiting, current or recently ended, or [announce.ErrNotFound].
func (a *Announcer) Find(id string) (announce.View, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.queue.Find(id, a.now())
}

// List returns all announcements.
func (a *Announcer) List() announce.List {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.queue.List(a.now())
}

// Stats returns the state of the queue.
func (a *Announcer) Stats() announce.Stats {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.queue.Stats(a.now())
	s.SinkError, s.Unsaved = a.sinkErr, len(a.unsaved)
	return s
}

// Reconsider applies a change of the [Controls] or of the wall clock to the announcements that wait. It calls
// the Controls, so its caller must hold no lock that they take.
func (a *Announcer) Reconsider() { a.step((*announce.Queue).Reconsider) }

// Cancel ends an announcement, in the middle of a word if it is being spoken, and returns it once that is
// saved; one that has ended here is cancelled in the other rooms that it was sent to. The error is
// [announce.ErrNotFound], [announce.ErrEnded] or ctx's, or it wraps [announce.ErrUnavailable] if the end could
// not be saved: the announcement is silent then but would be spoken after a crash.
func (a *Announcer) Cancel(ctx context.Context, id string) (announce.View, error) {
	var current *turn
	s, err := a.try(func(q *announce.Queue, c announce.Conditions) (announce.Step, error) {
		current = a.playing
		return q.Cancel(id, c)
	})
	switch {
	case err != nil:
		return announce.View{}, err
	case s.Stop != nil:
		return awaitCancelled(ctx, current)
	case s.Save != "":
		return s.View, outboxError(ctx, a.saveRooms(ctx, id))
	}
	ends, err := a.endCancelled(ctx, s.Ends)
	return announce.View{Announcement: ends[0]}, err
}

// try makes a step that may be refused.
func (a *Announcer) try(
	change func(*announce.Queue, announce.Conditions) (announce.Step, error),
) (announce.Step, error) {
	var err error
	s := a.step(func(q *announce.Queue, c announce.Conditions) (s announce.Step) {
		s, err = change(q, c)
		return s
	})
	return s, err
}

// awaitCancelled waits until the playout has finished the announcement of a turn.
func awaitCancelled(ctx context.Context, t *turn) (announce.View, error) {
	if !wait(ctx, t.finished) {
		return announce.View{}, ctx.Err()
	}
	if t.ended.Status != announce.Cancelled {
		return announce.View{}, announce.ErrEnded
	}
	return announce.View{Announcement: t.ended}, outboxError(ctx, t.saveErr)
}

// CancelWaiting ends all announcements in the queue, except the current one, and those that wait for their next
// repetition, and returns their number. Its errors are those of [Announcer.Cancel].
func (a *Announcer) CancelWaiting(ctx context.Context) (int, error) {
	s := a.step(func(q *announce.Queue, _ announce.Conditions) announce.Step { return q.CancelWaiting() })
	if len(s.Ends) == 0 {
		return 0, nil
	}
	_, err := a.endCancelled(ctx, s.Ends)
	return len(s.Ends), err
}

// endCancelled ends announcements that the queue has marked.
func (a *Announcer) endCancelled(ctx context.Context, ids []string) ([]announce.Announcement, error) {
	ends, err := a.recordEnd(ctx, announce.Cancelled, "", ids...)
	a.log.Info("announcements cancelled", "count", len(ids))
	if err != nil {
		return ends, outboxError(ctx, fmt.Errorf("save the cancellation: %w", err))
	}
	return ends, nil
}

// Acknowledge ends the repetitions of an announcement and returns it once that is saved: one that is being
// spoken is spoken to its end, one that waits ends, as done if it was spoken before and otherwise as cancelled.
// The errors are those of [Announcer.Cancel] and [announce.ErrNotRepeated].
func (a *Announcer) Acknowledge(ctx context.Context, id string) (announce.View, error) {
	s, err := a.try(func(q *announce.Queue, c announce.Conditions) (announce.Step, error) {
		return q.Acknowledge(id, c)
	})
	if err != nil {
		return announce.View{}, err
	}
	a.log.Info("announcement acknowledged", "announcement", id)
	if s.Save != "" {
		return s.View, outboxError(ctx, a.saveRooms(ctx, id))
	}
	ends, err := a.recordEnd(ctx, s.Status, "", s.Ends...)
	return announce.View{Announcement: ends[0]}, outboxError(ctx, err)
}

// SetRoom records the state of an announcement in another room. A final state is saved, and never changed. An
// announcement for other rooms only ends when it has ended in each. The error is [announce.ErrNotFound], also
// if it was not sent to that room, or wraps [announce.ErrUnavailable].
func (a *Announcer) SetRoom(ctx context.Context, id, room string, state announce.RoomState) error {
	s, err := a.try(func(q *announce.Queue, c announce.Conditions) (announce.Step, error) {
		return q.SetRoom(id, room, state, c)
	})
	switch {
	case err != nil:
		return err
	case len(s.Ends) > 0:
		_, err = a.recordEnd(ctx, s.Status, "", s.Ends...)
	case s.Save != "":
		err = a.saveRooms(ctx, id)
	}
	return outboxError(ctx, err)
}

// changed returns an announcement as it is now; ok is false if it is no longer in memory.
func (a *Announcer) changed(id string) (ann announce.Announcement, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.queue.Changed(id)
}

// save stores an announcement that was changed, unless it has ended since. Concurrent changes do not undo each
// other: each call stores all that were made before it.
func (a *Announcer) save(ctx context.Context, id string) error {
	a.updating.Lock()
	defer a.updating.Unlock()
	ann, ok := a.changed(id)
	if !ok || ann.Status.Ended() {
		return nil // recordEnd has saved more
	}
	return a.parts.Outbox.Update(context.WithoutCancel(ctx), ann.Waiting())
}

// saveRooms stores an announcement of which Rooms or Acknowledged has changed. If it ends at the same moment,
// the change may be missing in the store: the other room then reports it again.
func (a *Announcer) saveRooms(ctx context.Context, id string) error {
	if err := a.save(ctx, id); err != nil {
		return err
	}
	ann, ok := a.changed(id)
	if !ok || !ann.Status.Ended() {
		return nil
	}
	signal(a.timesChanged) // its texts may not be needed any longer
	return a.parts.Outbox.Done(context.WithoutCancel(ctx), ann)
}

// recordEnd ends announcements that the queue has marked as ending: in the outbox, then in memory, then it
// publishes them. It returns them. If the outbox fails, recordEnd returns its error, and the next call saves
// these ends too.
func (a *Announcer) recordEnd(
	ctx context.Context, status announce.Status, why string, ids ...string,
) (ends []announce.Announcement, err error) {
	a.mu.Lock()
	c := a.now()
	saved := append(a.unsaved, a.queue.Ending(ids, status, why, c)...)
	a.unsaved = nil
	a.mu.Unlock()

	err = a.parts.Outbox.Done(context.WithoutCancel(ctx), saved...)

	a.step(func(q *announce.Queue, _ announce.Conditions) (s announce.Step) {
		if err != nil {
			a.unsaved = append(a.unsaved, saved...)
		}
		ends, s = q.End(ids, status, why, c)
		return s
	})
	return ends, err
}
