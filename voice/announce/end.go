package announce

import (
	"context"
	"errors"
	"slices"
	"time"

	"pressbox/audio"
)

// take moves the first item of the queue to current, or returns nil if none is
// ready. stop stops its sound.
func (a *Announcer) take(stop context.CancelCauseFunc) *item {
	a.mu.Lock()
	defer a.mu.Unlock()
	it := a.firstReady(time.Now())
	if it == nil {
		return nil
	}
	a.queue.remove(it)
	a.current = it
	it.stop = func(why error) {
		it.cause = why
		stop(why)
	}
	it.cause, it.finished = nil, make(chan struct{})
	it.Status = Synthesizing
	a.publish(it)
	return it
}

// peek returns the announcement that take would return.
func (a *Announcer) peek() (Announcement, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	it := a.firstReady(time.Now())
	if it == nil {
		return Announcement{}, false
	}
	return it.Announcement, true
}

// firstReady returns the first waiting item that is to be spoken now, is not
// ending and has not expired; nil means none. It wakes watchTimes for an expired item, because a
// change of the system clock does not. a.mu must be held.
func (a *Announcer) firstReady(now time.Time) *item {
	for _, it := range a.queue {
		switch {
		case it.ending:
		case it.overdue(now):
			signal(a.timesChanged)
		case a.decide(it.Announcement, now).Speak:
			return it
		}
	}
	return nil
}

// markPlaying records that the first sample of it is being played, in a voice.
func (a *Announcer) markPlaying(it *item, voice string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.setVoice(it, voice)
	it.Status, it.interrupted = Playing, false
	if it.Started.IsZero() {
		it.Started = time.Now().UTC()
	}
	a.sinkErr = nil
	a.publish(it)
}

// changeVoice records that another voice speaks the rest of it.
func (a *Announcer) changeVoice(it *item, voice string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.setVoice(it, voice)
	a.publish(it)
}

// setVoice records and logs the voice that speaks it, if that is another one. It is
// not saved before the end: after a crash the voice that was asked for may work
// again. a.mu must be held.
func (a *Announcer) setVoice(it *item, voice string) {
	if voice != it.Voice {
		a.log.Warn("another voice speaks", "announcement", it.ID, "voice", it.Voice, "instead", voice)
		it.Voice = voice
	}
}

// interrupt stops the sound of the current item if an urgent one waits and it is
// not urgent itself, and reports whether it did.
func (a *Announcer) interrupt(it *item) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	next := a.firstReady(time.Now())
	if next == nil || !next.Urgent || it.Urgent || it.ending {
		return false
	}
	it.stop(errInterrupted)
	return true
}

// requeue moves the current item back to its place in the queue, to be spoken on
// from a sentence, which it saves before. sinkErr is the sink's error. It returns
// false if the item is being ended.
func (a *Announcer) requeue(ctx context.Context, it *item, sentence int, sinkErr error) bool {
	a.saveSentence(ctx, it, sentence)
	a.mu.Lock()
	defer a.mu.Unlock()
	if it.ending {
		return false
	}
	lost := errors.Is(sinkErr, audio.ErrSinkLost)
	if lost && a.sinkErr == nil {
		a.log.Warn("announcement interrupted, it will be spoken again", "announcement", it.ID, "err", sinkErr)
		a.sinkErr = sinkErr
	}
	a.current = nil
	it.interrupted = !lost && (it.interrupted || it.Status == Playing)
	it.Status = Queued
	if !it.interrupted {
		it.Started = time.Time{}
	}
	a.queue.add(it)
	close(it.finished)
	a.publish(it)
	signal(a.timesChanged)
	return true
}

// saveSentence records with which sentence the current item is to be spoken on.
// If that cannot be saved, more of it may be spoken twice after a crash.
func (a *Announcer) saveSentence(ctx context.Context, it *item, sentence int) {
	a.mu.Lock()
	unchanged := it.ending || it.Sentence == sentence
	it.Sentence = sentence
	a.mu.Unlock()
	if unchanged {
		return
	}
	if err := a.save(ctx, it); err != nil {
		a.log.Error("interruption not saved, more of the announcement may be spoken again after a restart", "announcement", it.ID, "err", err)
	}
}

// save stores the current item, which was changed, unless it has ended since.
// Concurrent changes do not undo each other: each call stores all that were made
// before it.
func (a *Announcer) save(ctx context.Context, it *item) error {
	a.updating.Lock()
	defer a.updating.Unlock()
	a.mu.Lock()
	ann := it.Announcement
	a.mu.Unlock()
	if ann.Status.Ended() {
		return nil // recordEnd has saved more
	}
	ann.Status, ann.Started = Queued, time.Time{}
	return a.outbox.Update(context.WithoutCancel(ctx), ann)
}

// finish ends the current item. It does not fail if the end cannot be saved: a
// full disk must not stop the announcements.
func (a *Announcer) finish(ctx context.Context, it *item, status Status, why string) {
	a.mu.Lock()
	it.ending = true
	a.mu.Unlock()
	it.saveErr = a.recordEnd(ctx, status, why, it)
	close(it.finished)
	if it.saveErr != nil {
		a.log.Error("end of announcement not saved, it may be spoken again after a restart", "announcement", it.ID, "err", it.saveErr)
	}
	if status == Failed {
		a.log.Warn("announcement failed", "announcement", it.ID, "err", why)
		return
	}
	a.log.Info("announcement ended", "announcement", it.ID, "status", status, "waited", between(it.Created, it.Started), "took", between(it.Started, it.Ended))
}

// between returns the time from one moment to another, 0 if either is zero.
func between(from, to time.Time) time.Duration {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	return to.Sub(from)
}

// recordEnd ends items that the caller has marked as ending: in the outbox,
// then in memory, then it publishes them. If the outbox fails, recordEnd
// returns its error, and the next call saves these ends too.
func (a *Announcer) recordEnd(ctx context.Context, status Status, why string, items ...*item) error {
	now := time.Now().UTC()
	a.mu.Lock()
	ends := a.unsaved
	a.unsaved = nil
	for _, it := range items {
		ends = append(ends, a.endedForm(it.Announcement, status, why, now))
	}
	a.mu.Unlock()

	err := a.outbox.Done(context.WithoutCancel(ctx), ends...)

	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.unsaved = append(a.unsaved, ends...)
	}
	for _, it := range items {
		it.Announcement = a.endedForm(it.Announcement, status, why, now)
		if a.current == it {
			a.current, it.stop = nil, nil
		}
		a.addEnded(it)
		a.publish(it)
	}
	hasEnded := func(it *item) bool { return it.Status.Ended() }
	a.queue, a.scheduled = slices.DeleteFunc(a.queue, hasEnded), slices.DeleteFunc(a.scheduled, hasEnded)
	a.away = slices.DeleteFunc(a.away, hasEnded)
	signal(a.queueChanged)
	return err
}

// endedForm returns an announcement as it ends: without its texts if these are
// not to be saved.
func (a *Announcer) endedForm(ann Announcement, status Status, why string, now time.Time) Announcement {
	ann.Status, ann.SpeaksAt, ann.Error, ann.Ended = status, time.Time{}, why, now
	if !a.config.Load().History && !ann.Rooms.Open() {
		ann.Title, ann.Message = "", ""
	}
	return ann
}

// addEnded appends an ended item and drops the oldest evictable ones. a.mu must
// be held.
func (a *Announcer) addEnded(it *item) {
	a.ended = append(a.ended, it)
	a.endedBytes += it.size()
	a.byID[it.ID] = it
	for Evictable(time.Since(a.ended[0].Ended), len(a.ended), a.endedBytes) {
		delete(a.byID, a.ended[0].ID)
		a.endedBytes -= a.ended[0].size()
		a.ended[0] = nil
		a.ended = a.ended[1:]
	}
}
