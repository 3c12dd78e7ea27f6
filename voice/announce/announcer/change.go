package announcer

import (
	"context"

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

// Cancel ends an announcement, in the middle of a word if it is being spoken, and returns it once that is saved; see
// [announce.Queue.Cancel]. The error may also be ctx's, or wrap [announce.ErrUnavailable] if the end could not be
// saved: the announcement is silent then but would be spoken after a crash.
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
	case len(s.Ends) > 0:
		a.log.Info("announcements cancelled", "count", len(s.Ends))
	}
	return a.saveStep(ctx, s)
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

// CancelWaiting does [announce.Queue.CancelWaiting] and returns the number of announcements that it has ended. Its
// errors are those of [Announcer.Cancel].
func (a *Announcer) CancelWaiting(ctx context.Context, scheduled func(announce.Sender) bool) (int, error) {
	s := a.step(func(q *announce.Queue, _ announce.Conditions) announce.Step { return q.CancelWaiting(scheduled) })
	if len(s.Ends) == 0 {
		return 0, nil
	}
	a.log.Info("announcements cancelled", "count", len(s.Ends))
	_, err := a.saveStep(ctx, s)
	return len(s.Ends), err
}

// saveStep saves what a step has changed, and returns the announcement, of several that end the first one.
func (a *Announcer) saveStep(ctx context.Context, s announce.Step) (announce.View, error) {
	if len(s.Ends) > 0 {
		ends, err := a.recordEnd(ctx, s.Status, "", s.Ends...)
		return announce.View{Announcement: ends[0]}, outboxError(ctx, err)
	}
	if s.Save != "" {
		return s.View, outboxError(ctx, a.saveRooms(ctx, s.Save))
	}
	return announce.View{}, nil
}

// Acknowledge does [announce.Queue.Acknowledge] and returns the announcement once that is saved. Its further errors
// are those of [Announcer.Cancel].
func (a *Announcer) Acknowledge(ctx context.Context, id string) (announce.View, error) {
	s, err := a.try(func(q *announce.Queue, c announce.Conditions) (announce.Step, error) {
		return q.Acknowledge(id, c)
	})
	if err != nil {
		return announce.View{}, err
	}
	a.log.Info("announcement acknowledged", "announcement", id)
	return a.saveStep(ctx, s)
}

// SetRoom does [announce.Queue.SetRoom] and saves what has changed; else the error wraps [announce.ErrUnavailable].
func (a *Announcer) SetRoom(ctx context.Context, id, room string, state announce.RoomState) error {
	s, err := a.try(func(q *announce.Queue, c announce.Conditions) (announce.Step, error) {
		return q.SetRoom(id, room, state, c)
	})
	if err == nil {
		_, err = a.saveStep(ctx, s)
	}
	return err
}

// changed does [announce.Queue.Changed].
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

	if err = a.parts.Outbox.Done(context.WithoutCancel(ctx), saved...); err == nil {
		a.forget(saved)
	}

	a.step(func(q *announce.Queue, _ announce.Conditions) (s announce.Step) {
		if err != nil {
			a.unsaved = append(a.unsaved, saved...)
		}
		ends, s = q.End(ids, status, why, c)
		return s
	})
	return ends, err
}
