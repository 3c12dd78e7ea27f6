package announce

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// UrgentPlaces is the number of places in the queue, beyond its limit, for urgent
// announcements.
const UrgentPlaces = 10

// Announce accepts a request. When it returns, the announcement is saved and
// will be spoken, expire or end silenced. If its client used the idempotency key
// for the same request in the last 24 hours, Announce returns that announcement as
// it is now and accepts nothing, even if the queue is full; only ID and Status are
// set if the announcement is no longer stored.
//
// The error is a [*RequestError], [ErrFull], [ErrScheduleFull], [ErrKeyReused],
// [ErrRoomUnreachable] or ctx's, or it wraps [ErrUnavailable]. Nothing is saved then, unless ctx ended or
// the disk failed during the write.
//
// Saving waits for the disk, so it happens without the lock, and concurrent
// requests share one sync. The place in the queue is reserved before and
// released if saving fails.
func (a *Announcer) Announce(ctx context.Context, r Request) (View, error) {
	key := r.idempotencyKey()
	if earlier, ok, err := a.acceptedEarlier(ctx, key); err != nil {
		return View{}, err
	} else if ok {
		return a.viewOf(earlier), nil
	}
	ann, err := a.Check(r)
	if err != nil {
		return View{}, err
	}
	it := &item{Announcement: ann}
	if err := a.reserve(it); err != nil {
		return View{}, err
	}
	ann = it.Announcement // with number and position; enqueue shares it
	stored, fresh, err := a.outbox.Append(ctx, ann, key)
	if err != nil {
		a.unreserve(it)
		return View{}, outboxError(ctx, err)
	}
	if !fresh {
		a.unreserve(it)
		return a.viewOf(stored), nil
	}
	a.enqueue(it)
	a.log.Info("announcement accepted", "announcement", ann.ID, "characters", utf8.RuneCountInString(ann.Message),
		"voice", ann.Voice, "rate", ann.Rate, "urgent", ann.Urgent, "status", ann.Status, "place", ann.InitialPosition,
		"sender", ann.Sender.Kind)
	view := View{Announcement: ann, ClockUnset: ann.Status == Scheduled && a.clockUnset(ann)}
	if ann.Status == Queued && !ann.Rooms.Only {
		view.Position = &ann.InitialPosition
	}
	return view, nil
}

// acceptedEarlier looks for the announcement of a repeated request. It precedes
// the checks: an accepted request stays accepted even if its voice was removed.
func (a *Announcer) acceptedEarlier(ctx context.Context, key IdempotencyKey) (Accepted, bool, error) {
	if key.Key == "" || len(key.Key) > keyMaxLength {
		return Accepted{}, false, nil
	}
	earlier, ok, err := a.outbox.Find(ctx, key)
	return earlier, ok, outboxError(ctx, err)
}

// viewOf returns an accepted announcement as it is now, also one that was just
// saved by a concurrent request; only its ID and Status if it is not in memory.
func (a *Announcer) viewOf(earlier Accepted) View {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, items := range []map[string]*item{a.byID, a.saving} {
		if it, ok := items[earlier.ID]; ok {
			return a.view(it)
		}
	}
	return View{Announcement: Announcement{ID: earlier.ID, Status: earlier.Status}}
}

// outboxError wraps an error of the outbox in [ErrUnavailable] unless the
// request or its context caused it.
func outboxError(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, ErrKeyReused), errors.Is(err, ErrScheduleFull), errors.Is(err, ErrUnavailable):
		return err
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return err
	default:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
}

// reserve numbers it, plans it and reserves a place in the queue or among the
// scheduled ones, or returns [ErrFull] or [ErrScheduleFull].
func (a *Announcer) reserve(it *item) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.plan(it, time.Now())
	it.place = placeOf(it)
	if it.planned() && a.countPlanned()+a.reserved.planned >= MaxScheduled {
		return ErrScheduleFull
	}
	if it.place.queued && a.waiting() >= a.places(it.Urgent) {
		return ErrFull
	}
	a.seq++
	it.Seq = a.seq
	if it.place.queued {
		it.InitialPosition = a.queue.place(it) + a.reserved.before(it.place.rank)
		if a.current != nil {
			it.InitialPosition++
		}
	}
	a.reserved.add(it.place, 1)
	a.saving[it.ID] = it
	return nil
}

// waiting returns the number of announcements that wait behind the current one,
// with those being saved and without interrupted ones. a.mu must be held.
func (a *Announcer) waiting() int {
	resuming := a.queue.resuming() // they were accepted before, and come first
	n := len(a.queue) - resuming + a.reserved.total()
	if a.current == nil && resuming == 0 {
		n-- // the first of them becomes the current one
	}
	return n
}

// places returns how many announcements may wait for a new one to be accepted.
func (a *Announcer) places(urgent bool) int {
	n := a.config.Load().Max
	if urgent {
		n += UrgentPlaces
	}
	return n
}

// unreserve releases the place reserved for it.
func (a *Announcer) unreserve(it *item) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reserved.add(it.place, -1)
	delete(a.saving, it.ID)
}

// enqueue puts it, which is saved, into its reserved place. It plans it again,
// because the controls may have changed meanwhile.
func (a *Announcer) enqueue(it *item) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reserved.add(it.place, -1)
	delete(a.saving, it.ID)
	a.plan(it, time.Now())
	a.insert(it)
	a.byID[it.ID] = it
	a.publish(it)
	signal(a.queueChanged)
	event := it.Expires
	if it.Status == Scheduled {
		event = it.SpeaksAt
	}
	if a.nextEvent.IsZero() || event.Before(a.nextEvent) {
		signal(a.timesChanged)
	}
}

// idempotencyKey returns the request's key with a digest of its other fields. The digest of a request that
// version 0.5.0 could express is that of 0.5.0, whose keys are stored.
func (r Request) idempotencyKey() IdempotencyKey {
	if r.IdempotencyKey == "" {
		return IdempotencyKey{}
	}
	if r.From != "" { // what another room repeats has a shorter time to live
		return IdempotencyKey{Sender: r.Client, Key: r.IdempotencyKey, Digest: sha256.Sum256([]byte(r.ID))}
	}
	text := fmt.Appendf(nil, "%q %q %d %t %d", r.Message, r.Voice, r.Rate, r.Urgent, r.TTL)
	at := int64(0)
	if !r.At.IsZero() {
		at = r.At.UnixNano()
	}
	timed := at != 0 || r.In != 0 || r.Repeat != (Repeat{})
	if timed || r.Title != "" || r.Priority != 0 || r.Volume != 0 || r.Chime != "" {
		text = fmt.Appendf(text, " %q %d %d %q %d %d %d %d",
			r.Title, r.Priority, r.Volume, r.Chime, at, r.In, r.Repeat.Times, r.Repeat.Every)
	}
	if len(r.Rooms) > 0 {
		text = fmt.Appendf(text, " rooms %q", r.Rooms)
	}
	rest := r.Content
	rest.Title, rest.Message, rest.Voice, rest.Rate = "", "", "", 0
	rest.Urgent, rest.Priority, rest.Volume, rest.Chime = false, 0, 0, ""
	if rest != (Content{}) {
		newer, _ := json.Marshal(rest) // texts, numbers and truth values: never an error
		text = append(text, newer...)
	}
	return IdempotencyKey{Sender: r.Client, Key: r.IdempotencyKey, Digest: sha256.Sum256(text)}
}
