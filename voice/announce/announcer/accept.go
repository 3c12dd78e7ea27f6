package announcer

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"pressbox/voice/announce"
)

// Check returns the announcement that r asks for, without number, status and position, or an
// [*announce.RequestError] that lists every violation. It accepts nothing.
func (a *Announcer) Check(r announce.Request) (announce.Announcement, error) {
	ann, err := a.CheckSpeech(r)
	if err != nil || a.parts.Estimate == nil {
		return ann, err
	}
	if err := announce.CheckSpeech(a.parts.Estimate(ann.Voice, ann.Text(), ann.Rate)); err != nil {
		return announce.Announcement{}, err
	}
	return ann, nil
}

// CheckSpeech is Check without the limit of the duration.
func (a *Announcer) CheckSpeech(r announce.Request) (announce.Announcement, error) {
	r.ID = cmp.Or(r.ID, strings.ToLower(rand.Text()))
	var found announce.Found
	found.Voice, found.VoiceErr = a.parts.Speaker.Voice(r.Voice)
	if gone, ok := errors.AsType[*announce.UnknownVoiceError](found.VoiceErr); ok && r.Stored && gone.Instead != "" {
		found.Voice, found.VoiceErr = gone.Instead, nil
	}
	found.Rooms, found.RoomsErr = a.resolveRooms(r)
	a.findSounds(r, &found)
	return r.Check(a.now(), found)
}

// resolveRooms returns the rooms of an announcement that is requested.
func (a *Announcer) resolveRooms(r announce.Request) (announce.Rooms, error) {
	if len(r.Rooms) == 0 {
		return announce.Rooms{From: r.From}, nil
	}
	if a.parts.Rooms == nil {
		return announce.Rooms{}, &announce.UnknownRoomError{Name: r.Rooms[0]}
	}
	here, others, err := a.parts.Rooms.Resolve(r.Rooms)
	if err != nil || len(others) == 0 {
		return announce.Rooms{}, err
	}
	states := map[string]announce.RoomState{}
	for _, name := range others {
		states[name] = announce.RoomWaiting
	}
	return announce.Rooms{Only: !here, Voice: r.Voice, Rate: r.Rate}.With(states), nil
}

// Announce accepts a request. When it returns, the announcement is saved and will be spoken, expire or end
// silenced. If its client used the idempotency key for the same request in the last 24 hours, Announce returns
// that announcement as it is now and accepts nothing, even if the queue is full; only ID and Status are set if
// the announcement is no longer stored.
//
// The error is an [*announce.RequestError], [announce.ErrFull], [announce.ErrScheduleFull],
// [announce.ErrKeyReused], [announce.ErrRoomUnreachable] or ctx's, or it wraps [announce.ErrUnavailable].
// Nothing is saved then, unless ctx ended or the disk failed during the write.
func (a *Announcer) Announce(ctx context.Context, r announce.Request) (announce.View, error) {
	key := r.Key()
	if earlier, ok, err := a.acceptedEarlier(ctx, key); err != nil {
		return announce.View{}, err
	} else if ok {
		return a.viewOf(earlier), nil
	}
	ann, err := a.Check(r)
	if err != nil {
		return announce.View{}, err
	}
	if ann, err = a.reserve(ann, r.Limited); err != nil {
		return announce.View{}, err
	}
	stored, fresh, err := a.parts.Outbox.Append(ctx, ann, key)
	if err != nil || !fresh {
		a.release(ann.ID)
	}
	if err != nil {
		return announce.View{}, outboxError(ctx, err)
	}
	if !fresh {
		return a.viewOf(stored), nil
	}
	view := announce.View{Announcement: ann}
	a.step(func(q *announce.Queue, c announce.Conditions) announce.Step {
		view.ClockUnset = ann.Status == announce.Scheduled && ann.FixedTime && !c.ClockSet
		return q.Enqueue(ann.ID, c)
	})
	a.log.Info("announcement accepted", "announcement", ann.ID, "characters", utf8.RuneCountInString(ann.Message),
		"voice", ann.Voice, "rate", ann.Rate, "urgent", ann.Urgent, "status", ann.Status, "place", ann.InitialPosition,
		"sender", ann.Sender.Kind)
	if ann.Status == announce.Queued && !ann.Rooms.Only {
		view.Position = &ann.InitialPosition
	}
	return view, nil
}

// acceptedEarlier looks for the announcement of a repeated request. It precedes the checks: an accepted request
// stays accepted even if its voice was removed.
func (a *Announcer) acceptedEarlier(ctx context.Context, key announce.IdempotencyKey) (announce.Accepted, bool, error) {
	if key.Key == "" || len(key.Key) > announce.MaxKeyLength {
		return announce.Accepted{}, false, nil
	}
	earlier, ok, err := a.parts.Outbox.Find(ctx, key)
	return earlier, ok, outboxError(ctx, err)
}

// viewOf returns an accepted announcement as it is now.
func (a *Announcer) viewOf(earlier announce.Accepted) announce.View {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.queue.Accepted(earlier, a.now())
}

// reserve reserves a place for an announcement, and returns it as it is to be saved.
func (a *Announcer) reserve(ann announce.Announcement, limited bool) (announce.Announcement, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.queue.Reserve(ann, limited, a.now())
}

// release releases the place of an announcement that is not saved.
func (a *Announcer) release(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue.Release(id)
}

// outboxError wraps an error of the outbox in [announce.ErrUnavailable] unless the request or its context caused it.
func outboxError(ctx context.Context, err error) error {
	for _, own := range []error{announce.ErrKeyReused, announce.ErrScheduleFull, announce.ErrUnavailable} {
		if errors.Is(err, own) {
			return err
		}
	}
	if err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", announce.ErrUnavailable, err)
}

// Again accepts the text of an announcement once more, with the same content, to be spoken now. by has the
// sender and the idempotency key of the request. If the voice was removed, the default voice speaks. The errors
// are those of [Announcer.Announce], [announce.ErrNotFound] and [announce.ErrNoText].
func (a *Announcer) Again(ctx context.Context, id string, by announce.Request) (announce.View, error) {
	v, err := a.Find(id)
	if err != nil {
		return announce.View{}, err
	}
	switch {
	case v.Recording > 0:
		return announce.View{}, announce.ErrGone
	case v.Message == "" && v.Sound == "":
		return announce.View{}, announce.ErrNoText
	}
	r := announce.Request{
		Content: v.Content, Stored: true, TTL: v.TTL, Rooms: slices.Sorted(maps.Keys(v.Rooms.States())),
		Sender: by.Sender, Limited: by.Limited, IdempotencyKey: by.IdempotencyKey,
	}
	if len(r.Rooms) > 0 {
		r.Voice, r.Rate = v.Rooms.Voice, v.Rooms.Rate
		if !v.Rooms.Only {
			r.Rooms = append(r.Rooms, a.parts.Rooms.Own())
		}
	}
	return a.Announce(ctx, r)
}
