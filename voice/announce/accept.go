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

// What a request may ask for.
const (
	MaxMessage = 5000 // characters, without the white space around them

	minRate, maxRate = 60, 400 // words per minute
	minTTL, maxTTL   = 5 * time.Second, 24 * time.Hour
)

// Announce accepts a request: when it returns, the announcement is kept and
// will be spoken or expire. With an idempotency key that was used for the same
// request in the last 24 hours it returns the first answer again and accepts
// nothing, even when the queue is full.
//
// Its errors are a [*RequestError], [ErrFull], [ErrKeyReused], ctx's, or wrap
// [ErrUnavailable]; then nothing is kept, unless ctx ended or the disk broke while
// keeping.
//
// Keeping waits for the disk, so it is done outside the lock, where requests
// share one sync; the place in the queue is promised before and given back
// when keeping fails.
func (a *Announcer) Announce(ctx context.Context, r Request) (View, error) {
	key := r.key()
	if n, ok, err := a.answered(ctx, key); err != nil {
		return View{}, err
	} else if ok {
		return firstAnswer(n), nil
	}
	n, err := a.Check(r)
	if err != nil {
		return View{}, err
	}
	e := &entry{Announcement: n}
	if err := a.reserve(e); err != nil {
		return View{}, err
	}
	kept, fresh, err := a.outbox.Append(ctx, e.Announcement, key)
	if err != nil {
		a.release(e)
		return View{}, refusal(ctx, err)
	}
	if !fresh {
		a.release(e)
		return firstAnswer(kept), nil
	}
	a.admit(e)
	a.log.Info("announcement accepted", "announcement", kept.ID, "characters", utf8.RuneCountInString(kept.Message),
		"voice", kept.Voice, "rate", kept.Rate, "urgent", kept.Urgent, "place", kept.InitialPosition)
	return firstAnswer(kept), nil
}

// answered looks for the first answer to a repeated request. It comes before
// the checks: what was accepted stays so, even if its voice has gone.
func (a *Announcer) answered(ctx context.Context, key IdempotencyKey) (Announcement, bool, error) {
	if key.Key == "" || len(key.Key) > keyMaxLength {
		return Announcement{}, false, nil
	}
	n, ok, err := a.outbox.Find(ctx, key)
	return n, ok, refusal(ctx, err)
}

// refusal makes an outbox's error one that says that nothing can be accepted,
// unless it is about the request.
func refusal(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, ErrKeyReused), errors.Is(err, ErrUnavailable):
		return err
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return err
	default:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
}

// firstAnswer returns what is answered to the one who asked, now and whenever
// the request is repeated.
func firstAnswer(n Announcement) View {
	return View{Announcement: n, Position: &n.InitialPosition}
}

// reserve gives e its number and promises it a place in the line, if there is
// one.
func (a *Announcer) reserve(e *entry) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	behind := len(a.line) + a.promised.sum() // and the head, which makes room for one
	if a.head == nil {
		behind--
	}
	if behind >= a.config.Load().Max {
		return ErrFull
	}
	a.seq++
	e.Seq = a.seq
	e.InitialPosition = a.line.place(e) + a.promised.before(e.Urgent)
	if a.head != nil {
		e.InitialPosition++
	}
	a.promised.add(e.Urgent, 1)
	return nil
}

// release gives e's promised place back.
func (a *Announcer) release(e *entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.promised.add(e.Urgent, -1)
}

// admit puts e, which is kept, into its promised place.
func (a *Announcer) admit(e *entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.promised.add(e.Urgent, -1)
	a.line.add(e)
	a.byID[e.ID] = e
	a.tell(e)
	poke(a.changed)
	if a.alarm.IsZero() || e.Expires.Before(a.alarm) {
		poke(a.sooner)
	}
}

// key returns the request's idempotency key with the digest of all that the
// client asked for.
func (r Request) key() IdempotencyKey {
	if r.IdempotencyKey == "" {
		return IdempotencyKey{}
	}
	return IdempotencyKey{
		Key:    r.IdempotencyKey,
		Digest: sha256.Sum256(fmt.Appendf(nil, "%q %q %d %t %d", r.Message, r.Voice, r.Rate, r.Urgent, r.TTL)),
	}
}

// Check returns the notice that r asks for, without its number and place, or a
// [*RequestError] with all that is wrong with it. It accepts nothing.
func (a *Announcer) Check(r Request) (Announcement, error) {
	now := time.Now()
	n := Announcement{
		ID:      strings.ToLower(rand.Text()),
		Message: strings.TrimSpace(strings.ToValidUTF8(r.Message, "\uFFFD")), // as JSON will keep it
		Rate:    r.Rate,
		Urgent:  r.Urgent,
		Created: now.UTC(),
		Status:  Queued,
	}
	if n.Rate == 0 {
		n.Rate = a.config.Load().Rate
	}
	ttl := r.TTL
	if ttl == 0 {
		ttl = a.config.Load().TTL
	}
	n.Expires = now.Add(ttl) // not UTC(), which would forget how to count through a change of the clock

	var wrong RequestError
	wrong.checkMessage(n.Message)
	if n.Rate < minRate || n.Rate > maxRate {
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
	n.Voice = name
	if len(wrong.Violations) > 0 {
		return Announcement{}, &wrong
	}
	return n, nil
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
