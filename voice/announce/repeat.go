package announce

import (
	"context"
	"errors"
	"time"
)

// Again accepts the text of an announcement once more, with the same
// content, to be spoken now. by has the sender and the
// idempotency key of the request. If the voice was removed, the default voice
// speaks. The errors are those of [Announcer.Announce], [ErrNotFound] and
// [ErrNoText].
func (a *Announcer) Again(ctx context.Context, id string, by Request) (View, error) {
	v, err := a.Find(id)
	if err != nil {
		return View{}, err
	}
	if v.Message == "" {
		return View{}, ErrNoText
	}
	r := Request{
		Content: v.Content, TTL: v.TTL, Rooms: a.roomNames(v.Announcement),
		Sender: by.Sender, IdempotencyKey: by.IdempotencyKey, Client: by.Client,
	}
	if len(r.Rooms) > 0 {
		r.Voice, r.Rate = v.Rooms.Voice, v.Rooms.Rate
	}
	if _, err := a.speaker.Voice(r.Voice); err != nil {
		if _, unknown := errors.AsType[*UnknownVoiceError](err); unknown {
			r.Voice = ""
		}
	}
	return a.Announce(ctx, r)
}

// Acknowledge ends the repetitions of an announcement and returns it once that is
// saved: one that is being spoken is spoken to its end, one that waits ends, as
// done if it was spoken before and otherwise as cancelled. The errors are those of
// [Announcer.Cancel] and [ErrNotRepeated].
func (a *Announcer) Acknowledge(ctx context.Context, id string) (View, error) {
	a.mu.Lock()
	it, ok := a.byID[id]
	switch {
	case !ok:
		a.mu.Unlock()
		return View{}, ErrNotFound
	case it.Repeat.Times > 0 && it.Rooms.Open() && (it.Rooms.Only && !it.ending || it.Status.Ended()):
		return a.changeRooms(ctx, it, func() { it.Acknowledged = true })
	case it.ending || it.Status.Ended():
		a.mu.Unlock()
		return View{}, ErrEnded
	case it.Repeat.Times == 0:
		a.mu.Unlock()
		return View{}, ErrNotRepeated
	}
	it.Acknowledged = true
	current := a.current == it
	it.ending = !current
	changed := a.view(it)
	a.mu.Unlock()
	a.log.Info("announcement acknowledged", "announcement", id, "spoken", changed.Spoken)
	if current {
		return changed, outboxError(ctx, a.save(ctx, it))
	}
	status := Done
	if changed.Spoken == 0 {
		status = Cancelled
	}
	err := a.recordEnd(ctx, status, "", it)
	return View{Announcement: a.read(it)}, outboxError(ctx, err)
}

// repeatLater returns the status of the current item, which has been spoken. If a
// repetition is left, repeatLater saves and schedules it, unless the item was
// cancelled or acknowledged meanwhile.
func (a *Announcer) repeatLater(ctx context.Context, it *item) Status {
	next, ok := a.nextRepetition(it)
	if !ok {
		return Done
	}
	if err := a.outbox.Update(context.WithoutCancel(ctx), next); err != nil {
		a.log.Error("repetition not saved, one more may be spoken after a restart", "announcement", it.ID, "err", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case it.ending:
		return Cancelled
	case it.Acknowledged:
		return Done
	}
	it.Announcement, a.current, it.stop = next, nil, nil
	a.plan(it, time.Now())
	a.insert(it)
	close(it.finished)
	a.publish(it)
	signal(a.queueChanged)
	signal(a.timesChanged)
	return Scheduled
}

// nextRepetition counts a repetition of the current item that ends now. It returns
// the item as it waits for the next one, and whether there is one.
func (a *Announcer) nextRepetition(it *item) (next Announcement, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if it.Repeat.Times == 0 {
		return Announcement{}, false
	}
	it.Spoken++
	next = it.Announcement
	next.Status, next.Started, next.Sentence = Scheduled, time.Time{}, 0
	next.At, next.FixedTime = time.Now().Add(next.Repeat.Every), false
	next.Expires = next.At.Add(next.TTL)
	return next, next.Spoken < next.Repeat.Times && !next.Acknowledged
}
