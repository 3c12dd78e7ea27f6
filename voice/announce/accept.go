package announce

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"pressbox/voice/speakable"
)

// Limits of a request.
const (
	MaxMessage = 5000 // characters, without surrounding white space

	minRate, maxRate = 60, 400 // words per minute
	minTTL, maxTTL   = 5 * time.Second, 24 * time.Hour
)

// Announce accepts a request. When it returns, the announcement is saved and
// will be spoken or expire. If its sender used the idempotency key for the same
// request in the last 24 hours, Announce returns that announcement as it is now
// and accepts nothing, even if the queue is full; only ID and Status are set if
// the announcement is no longer stored.
//
// The error is a [*RequestError], [ErrFull], [ErrKeyReused] or ctx's, or it
// wraps [ErrUnavailable]. Nothing is saved then, unless ctx ended or the disk
// failed during the write.
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
		"voice", ann.Voice, "rate", ann.Rate, "urgent", ann.Urgent, "place", ann.InitialPosition)
	return View{Announcement: ann, Position: &ann.InitialPosition}, nil
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

// viewOf returns an accepted announcement as it is now; only its ID and Status
// if it is not in memory.
func (a *Announcer) viewOf(earlier Accepted) View {
	view, err := a.Find(earlier.ID)
	if err != nil {
		return View{Announcement: Announcement{ID: earlier.ID, Status: earlier.Status}}
	}
	return view
}

// outboxError wraps an error of the outbox in [ErrUnavailable] unless the
// request or its context caused it.
func outboxError(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, ErrKeyReused), errors.Is(err, ErrUnavailable):
		return err
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return err
	default:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
}

// reserve numbers it and reserves a place in the queue, or returns [ErrFull].
func (a *Announcer) reserve(it *item) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	waiting := len(a.queue) + a.reserved.total()
	if a.current == nil {
		waiting-- // the first of them becomes the current one
	}
	if waiting >= a.config.Load().Max {
		return ErrFull
	}
	a.seq++
	it.Seq = a.seq
	it.InitialPosition = a.queue.place(it) + a.reserved.before(it.Urgent)
	if a.current != nil {
		it.InitialPosition++
	}
	a.reserved.add(it.Urgent, 1)
	return nil
}

// unreserve releases the place reserved for it.
func (a *Announcer) unreserve(it *item) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reserved.add(it.Urgent, -1)
}

// enqueue puts it, which is saved, into its reserved place.
func (a *Announcer) enqueue(it *item) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reserved.add(it.Urgent, -1)
	a.queue.add(it)
	a.byID[it.ID] = it
	a.publish(it)
	signal(a.queueChanged)
	if a.nextExpiry.IsZero() || it.Expires.Before(a.nextExpiry) {
		signal(a.expirySooner)
	}
}

// idempotencyKey returns the request's key with a digest of its other fields.
func (r Request) idempotencyKey() IdempotencyKey {
	if r.IdempotencyKey == "" {
		return IdempotencyKey{}
	}
	return IdempotencyKey{
		Sender: r.Sender,
		Key:    r.IdempotencyKey,
		Digest: sha256.Sum256(fmt.Appendf(nil, "%q %q %d %t %d", r.Message, r.Voice, r.Rate, r.Urgent, r.TTL)),
	}
}

// Check returns the announcement that r asks for, without number and position,
// or a [*RequestError] that lists every violation. It accepts nothing.
func (a *Announcer) Check(r Request) (Announcement, error) {
	now := time.Now()
	ann := Announcement{
		ID:      strings.ToLower(rand.Text()),
		Message: strings.TrimSpace(strings.ToValidUTF8(r.Message, "\uFFFD")), // as JSON stores it
		Rate:    r.Rate,
		Urgent:  r.Urgent,
		Created: now.UTC(),
		Status:  Queued,
	}
	if ann.Rate == 0 {
		ann.Rate = a.config.Load().Rate
	}
	ttl := r.TTL
	if ttl == 0 {
		ttl = a.config.Load().TTL
	}
	ann.Expires = now.Add(ttl) // not UTC(), which drops the monotonic clock reading

	var wrong RequestError
	wrong.checkMessage(ann.Message)
	if ann.Rate < minRate || ann.Rate > maxRate {
		wrong.add("rate", CodeOutOfRange, fmt.Sprintf("must be %d to %d words per minute", minRate, maxRate))
	}
	if ttl < minTTL || ttl > maxTTL {
		wrong.add("ttl", CodeOutOfRange, fmt.Sprintf("must be %d to %d seconds", int(minTTL.Seconds()), int(maxTTL.Seconds())))
	}
	if len(r.IdempotencyKey) > keyMaxLength {
		wrong.add("Idempotency-Key", CodeTooLong, fmt.Sprintf("must have at most %d bytes", keyMaxLength))
	}
	name, err := a.speaker.Voice(r.Voice)
	if errors.As(err, &wrong.Voice) {
		wrong.add("voice", CodeUnknownVoice, wrong.Voice.Error())
	} else if err != nil {
		return Announcement{}, fmt.Errorf("find the voice: %w", err)
	}
	ann.Voice = name
	if len(wrong.Violations) > 0 {
		return Announcement{}, &wrong
	}
	return ann, nil
}

func (e *RequestError) checkMessage(message string) {
	switch n := utf8.RuneCountInString(message); {
	case n == 0:
		e.add("message", CodeRequired, "must not be empty")
	case n > MaxMessage:
		e.add("message", CodeTooLong, fmt.Sprintf("must have at most %d characters, has %d", MaxMessage, n))
	case !speakable.HasSpeech(message):
		e.add("message", CodeNotSpeakable, "has nothing that can be spoken")
	}
}

func (e *RequestError) add(path, code, detail string) {
	e.Violations = append(e.Violations, Violation{Path: path, Code: code, Detail: detail})
}
