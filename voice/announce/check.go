package announce

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"pressbox/audio"
	"pressbox/voice/announce/policy"
	"pressbox/voice/speakable"
)

// Limits of a request.
const (
	MaxMessage    = 5000 // characters, without surrounding white space
	MaxTitle      = 250  // as MaxMessage
	MaxSenderName = 100  // bytes; longer names are cut
	MaxSpeech     = 10 * time.Minute

	minRate, maxRate   = 60, 400 // words per minute
	minTTL, maxTTL     = 5 * time.Second, 24 * time.Hour
	minTimes, maxTimes = 2, 10
	minEvery, maxEvery = 10 * time.Second, time.Hour
	minYear, maxYear   = 1971, 2199 // of a time while the wall clock is not set
)

// Check returns the announcement that r asks for, without number, status and
// position, or a [*RequestError] that lists every violation. It accepts nothing.
func (a *Announcer) Check(r Request) (Announcement, error) {
	ann, err := a.CheckSpeech(r)
	if err != nil || a.estimate == nil {
		return ann, err
	}
	if d := a.estimate(ann.Voice, ann.text(), ann.Rate); d > MaxSpeech {
		return Announcement{}, &RequestError{Violations: []Violation{{"message", CodeTooLong, fmt.Sprintf(
			"must have at most %d minutes of speech, has about %.1f at this rate", MaxSpeech/time.Minute, d.Minutes())}}}
	}
	return ann, nil
}

// CheckSpeech is Check without the limit of the duration.
func (a *Announcer) CheckSpeech(r Request) (Announcement, error) {
	now := time.Now()
	c := a.config.Load()
	ann := Announcement{
		ID:       orDefault(r.ID, strings.ToLower(rand.Text())),
		Title:    trimmed(r.Title),
		Message:  trimmed(r.Message),
		Rate:     orDefault(r.Rate, c.Rate),
		Urgent:   r.Urgent || r.Priority == policy.Most,
		Priority: orDefault(r.Priority, policy.Usual),
		Volume:   r.Volume,
		Chime:    r.Chime,
		Created:  now.UTC(),
		TTL:      orDefault(r.TTL, c.TTL),
		Repeat:   r.Repeat,
		Sender:   r.Sender.cut(),
		Status:   Queued,
	}
	if ann.Urgent {
		ann.Priority = policy.Most
	}
	ann.setTime(r, now)

	var wrong RequestError
	wrong.checkText(ann)
	wrong.checkNumbers(ann)
	wrong.checkTime(r, ann, now, a.clockSet())
	if len(r.IdempotencyKey) > keyMaxLength {
		wrong.add("Idempotency-Key", CodeTooLong, fmt.Sprintf("must have at most %d bytes", keyMaxLength))
	}
	rooms, unreachable := a.resolveRooms(r)
	if errors.As(unreachable, &wrong.Room) {
		wrong.add("room", CodeUnknownRoom, wrong.Room.Error())
	}
	ann.Rooms = rooms
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
	if unreachable != nil {
		return Announcement{}, unreachable
	}
	return ann, nil
}

// trimmed returns text as JSON stores it, without surrounding white space.
func trimmed(text string) string {
	return strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
}

// orDefault returns value, or the default if it is zero.
func orDefault[T comparable](value, byDefault T) T {
	var zero T
	if value == zero {
		return byDefault
	}
	return value
}

// cut returns the sender with a name of at most [MaxSenderName] bytes.
func (s Sender) cut() Sender {
	s.Name = strings.ToValidUTF8(s.Name[:min(len(s.Name), MaxSenderName)], "")
	return s
}

// setTime sets when ann may be spoken and when it expires. A time of day has no
// monotonic clock reading, a delay has one.
func (ann *Announcement) setTime(r Request, now time.Time) {
	switch {
	case !r.At.IsZero():
		ann.At, ann.FixedTime = r.At.Round(0).UTC(), true
		ann.Expires = ann.At.Add(ann.TTL)
	case r.In != 0:
		ann.At = now.Add(r.In) // not UTC(), which drops the monotonic clock reading
		ann.Expires = ann.At.Add(ann.TTL)
	default:
		ann.Expires = now.Add(ann.TTL)
	}
}

func (e *RequestError) checkText(ann Announcement) {
	switch n := utf8.RuneCountInString(ann.Message); {
	case n == 0:
		e.add("message", CodeRequired, "must not be empty")
	case n > MaxMessage:
		e.add("message", CodeTooLong, fmt.Sprintf("must have at most %d characters, has %d", MaxMessage, n))
	case !speakable.HasSpeech(ann.Message):
		e.add("message", CodeNotSpeakable, "has nothing that can be spoken")
	}
	if n := utf8.RuneCountInString(ann.Title); n > MaxTitle {
		e.add("title", CodeTooLong, fmt.Sprintf("must have at most %d characters, has %d", MaxTitle, n))
	}
}

func (e *RequestError) checkNumbers(ann Announcement) {
	e.checkNumber("rate", ann.Rate, minRate, maxRate, "words per minute")
	e.checkSeconds("ttl", ann.TTL, minTTL, maxTTL)
	e.checkNumber("priority", ann.Priority, policy.Listed, policy.Most, "")
	if ann.Volume != 0 {
		e.checkNumber("volume", ann.Volume, 1, 100, "percent")
	}
	if ann.Chime != "" && !slices.Contains(audio.Chimes(), audio.Chime(ann.Chime)) {
		e.add("chime", CodeNotOffered, "must be none, ding, ding-dong or alert")
	}
	if ann.Repeat != (Repeat{}) {
		e.checkNumber("repeat/times", ann.Repeat.Times, minTimes, maxTimes, "")
		e.checkSeconds("repeat/every", ann.Repeat.Every, minEvery, maxEvery)
	}
}

// checkTime checks the time at which ann is to be spoken.
func (e *RequestError) checkTime(r Request, ann Announcement, now time.Time, clockSet bool) {
	switch at := ann.At; {
	case !r.At.IsZero() && r.In != 0:
		e.add("in", CodeConflict, "must not be given together with at")
	case r.In != 0:
		e.checkSeconds("in", r.In, time.Second, MaxAhead)
	case r.At.IsZero():
	case !clockSet && (at.Year() < minYear || at.Year() > maxYear):
		e.add("at", CodeOutOfRange, fmt.Sprintf("must be in the years %d to %d", minYear, maxYear))
	case !clockSet:
	case at.After(now.Add(MaxAhead)):
		e.add("at", CodeOutOfRange, fmt.Sprintf("must be at most %d days ahead", MaxAhead/(24*time.Hour)))
	case !now.Before(ann.Expires):
		e.add("at", CodeTooLate, "is longer ago than the time to live")
	}
}

// checkNumber adds a violation if a number is out of range.
func (e *RequestError) checkNumber(path string, n, least, most int, unit string) {
	if n < least || n > most {
		e.add(path, CodeOutOfRange, strings.TrimSpace(fmt.Sprintf("must be %d to %d %s", least, most, unit)))
	}
}

// checkSeconds adds a violation if a duration is out of range.
func (e *RequestError) checkSeconds(path string, d, least, most time.Duration) {
	if d < least || d > most {
		e.add(path, CodeOutOfRange, fmt.Sprintf("must be %d to %d seconds", int(least.Seconds()), int(most.Seconds())))
	}
}

func (e *RequestError) add(path, code, detail string) {
	e.Violations = append(e.Violations, Violation{Path: path, Code: code, Detail: detail})
}
