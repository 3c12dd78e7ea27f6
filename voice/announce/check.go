package announce

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pressbox/voice/announce/policy"
	"pressbox/voice/announce/webhook"
	"pressbox/voice/speakable"
)

// Limits of a request.
const (
	MaxMessage    = webhook.MaxOutput // characters, without surrounding white space
	MaxTitle      = 250               // as MaxMessage
	MaxSenderName = 100               // bytes; longer names are cut
	MaxSpeech     = 10 * time.Minute

	minYear, maxYear = 1971, 2199 // of a time while the wall clock is not set
)

// Found is what a request names, outside the queue.
type Found struct {
	Voice    string // its name
	VoiceErr error  // why it cannot be used, such as an [*UnknownVoiceError]; nil if it can
	Rooms    Rooms
	RoomsErr error // an [*UnknownRoomError] or [ErrRoomUnreachable]
	SoundErr error // of the Sound, an [*UnknownSoundError]; nil if there is one
	ChimeErr error // of the Chime
}

// Check returns the announcement that r asks for, without number and position, or a [*RequestError] that lists
// every violation. Other errors are those of what was found.
func (r Request) Check(c Conditions, found Found) (Announcement, error) {
	ann := Announcement{
		Content: r.Content,
		ID:      r.ID,
		Created: c.Now.UTC(),
		TTL:     cmp.Or(r.TTL, c.TTL),
		Repeat:  r.Repeat,
		Sender:  r.Sender.cut(),
		Rooms:   found.Rooms,
		Status:  Queued,
	}
	ann.Title, ann.Message, ann.Voice = trimmed(r.Title), trimmed(r.Message), found.Voice
	ann.Rate, ann.Priority = cmp.Or(r.Rate, c.Rate), cmp.Or(r.Priority, policy.Usual)
	if ann.Urgent = r.Urgent || r.Priority == policy.Most; ann.Urgent {
		ann.Priority = policy.Most
	}
	ann.setTime(r, c.Now)
	if r.Recording > 0 {
		ann.Recording, ann.Sound = r.Recording, RecordedSound
	}

	var wrong RequestError
	wrong.checkText(ann)
	wrong.checkContent(ann.Content)
	wrong.checkSeconds("ttl", ann.TTL)
	if ann.Repeat != (Repeat{}) {
		wrong.checkNumber("repeat/times", ann.Repeat.Times)
		wrong.checkSeconds("repeat/every", ann.Repeat.Every)
	}
	wrong.checkTime(r, ann, c)
	if len(r.IdempotencyKey) > MaxKeyLength {
		wrong.add("Idempotency-Key", CodeTooLong, fmt.Sprintf("must have at most %d bytes", MaxKeyLength))
	}
	if unknown, ok := errors.AsType[*UnknownRoomError](found.RoomsErr); ok {
		wrong.add("room", CodeUnknownRoom, unknown.Error())
	} else if r.Recording > 0 && (found.RoomsErr != nil || found.Rooms != (Rooms{From: r.From})) {
		wrong.add("room", CodeRoomNotPossible, "a recording is announced in this room only")
	}
	wrong.checkSounds(found)
	if errors.As(found.VoiceErr, &wrong.Voice) {
		wrong.add("voice", CodeUnknownVoice, wrong.Voice.Error())
	} else if found.VoiceErr != nil {
		return Announcement{}, fmt.Errorf("find the voice: %w", found.VoiceErr)
	}
	if len(wrong.Violations) > 0 {
		return Announcement{}, &wrong
	}
	return ann, found.RoomsErr
}

// CheckSpeech returns a [*RequestError] if a text takes too long to speak at its rate.
func CheckSpeech(d time.Duration) error {
	if d <= MaxSpeech {
		return nil
	}
	return &RequestError{Violations: []Violation{{"message", CodeTooLong, fmt.Sprintf(
		"must have at most %d minutes of speech, has about %.1f at this rate", MaxSpeech/time.Minute, d.Minutes())}}}
}

// trimmed returns text as JSON stores it, with line breaks of one character, without surrounding white space.
func trimmed(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	return strings.TrimSpace(text)
}

// ControlViolation returns the violation of a text that a client sends to be stored and that has a control character
// (C0, DEL or C1) other than line breaks and tabs, which could act on a terminal; ok is false without one.
func ControlViolation(path, text string) (v Violation, ok bool) {
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return Violation{path, CodeControl, fmt.Sprintf("must not contain the control character %U", r)}, true
		}
	}
	return Violation{}, false
}

// cut returns the sender with a name of at most [MaxSenderName] bytes.
func (s Sender) cut() Sender {
	s.Name = strings.ToValidUTF8(s.Name[:min(len(s.Name), MaxSenderName)], "")
	return s
}

// setTime sets when ann may be spoken and when it expires. A time of day has no monotonic clock reading, a
// delay has one.
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
	case n == 0 && ann.Sound != "":
	case n == 0:
		e.add("message", CodeRequired, "must not be empty")
	case n > MaxMessage:
		e.add("message", CodeTooLong, fmt.Sprintf("must have at most %d characters, has %d", MaxMessage, n))
	case !speakable.HasSpeech(ann.Message):
		e.add("message", CodeNotSpeakable, "has nothing that can be spoken")
	}
	for _, f := range Fields(reflect.TypeFor[Content]()) {
		if v := reflect.ValueOf(ann.Content).FieldByIndex(f.Index); v.Kind() == reflect.String {
			if wrong, ok := ControlViolation(f.Name, v.String()); ok {
				e.Violations = append(e.Violations, wrong)
			}
		}
	}
	if n := utf8.RuneCountInString(ann.Title); n > MaxTitle {
		e.add("title", CodeTooLong, fmt.Sprintf("must have at most %d characters, has %d", MaxTitle, n))
	}
}

// checkSounds adds a violation for each sound that is unknown.
func (e *RequestError) checkSounds(found Found) {
	if found.SoundErr != nil {
		e.add("sound", CodeUnknownSound, found.SoundErr.Error())
	}
	if found.ChimeErr != nil {
		e.add("chime", CodeUnknownSound, found.ChimeErr.Error())
	}
}

// checkContent checks the numbers and the enums of a content. Their zero values mean defaults.
func (e *RequestError) checkContent(c Content) {
	for _, f := range Fields(reflect.TypeFor[Content]()) {
		v := reflect.ValueOf(c).FieldByIndex(f.Index)
		if v.IsZero() {
			continue
		}
		if v.CanInt() {
			e.checkNumber(f.Name, int(v.Int()))
		} else if enum := f.Enum(); len(enum) > 0 && !slices.Contains(enum, v.String()) {
			last := len(enum) - 1
			e.add(f.Name, CodeNotOffered, "must be "+strings.Join(enum[:last], ", ")+" or "+enum[last])
		}
	}
}

// checkTime checks the time at which ann is to be spoken.
func (e *RequestError) checkTime(r Request, ann Announcement, c Conditions) {
	switch at := ann.At; {
	case !r.At.IsZero() && r.In != 0:
		e.add("in", CodeConflict, "must not be given together with at")
	case r.In != 0:
		e.checkSeconds("in", r.In)
	case r.At.IsZero():
	case !c.ClockSet && (at.Year() < minYear || at.Year() > maxYear):
		e.add("at", CodeOutOfRange, fmt.Sprintf("must be in the years %d to %d", minYear, maxYear))
	case !c.ClockSet:
	case at.After(c.Now.Add(MaxAhead)):
		e.add("at", CodeOutOfRange, fmt.Sprintf("must be at most %d days ahead", MaxAhead/(24*time.Hour)))
	case !c.Now.Before(ann.Expires):
		e.add("at", CodeTooLate, "has already passed")
	}
}

// checkNumber adds a violation if the number at a path is out of the range of its field.
func (e *RequestError) checkNumber(path string, n int) { e.checkRange(path, int64(n), 1) }

// checkSeconds adds a violation if the duration at a path is out of the range of its field.
func (e *RequestError) checkSeconds(path string, d time.Duration) {
	e.checkRange(path, int64(d), int64(time.Second))
}

// checkRange adds a violation if n, in so many parts of the field's unit, is out of range.
func (e *RequestError) checkRange(path string, n, parts int64) {
	f := fieldAt(path)
	if least, most, ok := f.Range(); ok && (n < int64(least)*parts || n > int64(most)*parts) {
		detail := fmt.Sprintf("must be %d to %d %s", least, most, f.Unit())
		e.add(path, CodeOutOfRange, strings.TrimSpace(detail))
	}
}

func (e *RequestError) add(path, code, detail string) {
	e.Violations = append(e.Violations, Violation{Path: path, Code: code, Detail: detail})
}
