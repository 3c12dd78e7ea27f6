package announce

import (
	"errors"
	"fmt"
	"strings"
)

// A Violation is one fault of a request.
type Violation struct {
	Path   string // the member of the request's body, such as "rate"
	Code   string // for programs, such as "out_of_range"
	Detail string // for people
}

// Codes of violations.
const (
	CodeRequired     = "required"
	CodeTooLong      = "too_long"
	CodeNotSpeakable = "not_speakable"
	CodeOutOfRange   = "out_of_range"
	CodeNotOffered   = "not_offered"
	CodeConflict     = "conflict" // with another member
	CodeTooLate      = "too_late"
	CodeUnknownVoice = "unknown_voice"
	CodeUnknownRoom  = "unknown_room"
	CodeUnknownSound = "unknown_sound"
	CodeControl      = "control_character"

	CodeRoomNotPossible = "room_not_possible"
)

// A RequestError lists all faults of a request.
type RequestError struct {
	Violations []Violation
	// Voice is set if the requested voice is not installed. errors.As finds it.
	Voice *UnknownVoiceError
}

// Unwrap returns the UnknownVoiceError, if there is one.
func (e *RequestError) Unwrap() error {
	if e.Voice == nil {
		return nil
	}
	return e.Voice
}

func (e *RequestError) Error() string {
	details := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		details[i] = v.Path + ": " + v.Detail
	}
	return strings.Join(details, "; ")
}

// A ShareError reports that a client has its share of the places of the queue or of the planned announcements.
type ShareError struct {
	Err  error // [ErrFull] or [ErrScheduleFull]
	Most int   // places that it may have
}

func (e *ShareError) Error() string {
	if errors.Is(e.Err, ErrFull) {
		return fmt.Sprintf("this client has %d announcements in the queue, at most half of QUEUE_MAX_SIZE", e.Most)
	}
	return fmt.Sprintf("this client has %d scheduled or repeated announcements, at most %[1]d are permitted", e.Most)
}

func (e *ShareError) Unwrap() error { return e.Err }

// An UnknownVoiceError reports that there is no usable voice of a name, and which voices there are.
type UnknownVoiceError struct {
	Name      string
	Installed []string // usable voices
	Broken    error    // why an installed voice of this name cannot be used; nil if there is none
	Speakers  []string // those of the voice, if only the speaker after the # is unknown
	Instead   string   // the voice that speaks for it where it was stored; "" if none is usable
}

func (e *UnknownVoiceError) Error() string {
	switch {
	case e.Broken != nil:
		return fmt.Sprintf("voice %q is broken: %v; %s", e.Name, e.Broken, e.installed())
	case len(e.Speakers) > 0:
		return fmt.Sprintf("voice %q: the voice has no such speaker; its speakers: %s", e.Name, joinNames(e.Speakers))
	}
	return fmt.Sprintf("voice %q is not installed; %s", e.Name, e.installed())
}

// installed returns the list of usable voices in words.
func (e *UnknownVoiceError) installed() string {
	if len(e.Installed) == 0 {
		return "no voice is usable"
	}
	return "installed voices: " + joinNames(e.Installed)
}

// An UnknownSoundError reports that there is no sound of a name, and which ones there are.
type UnknownSoundError struct {
	Name  string
	Known []string
}

func (e *UnknownSoundError) Error() string {
	return fmt.Sprintf("there is no sound %q; there are %s", e.Name, joinNames(e.Known))
}

// maxListed is the number of names in the text of an error.
const maxListed = 20

// joinNames joins names, of a long list the first ones.
func joinNames(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more (GET /voices)", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}
