package announce

import (
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
	CodeUnknownVoice = "unknown_voice"
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

// An UnknownVoiceError reports that a voice is not installed, and which ones
// are.
type UnknownVoiceError struct {
	Name      string
	Installed []string
}

func (e *UnknownVoiceError) Error() string {
	if len(e.Installed) == 0 {
		return fmt.Sprintf("voice %q is not installed; no voice is", e.Name)
	}
	return fmt.Sprintf("voice %q is not installed; installed voices: %s", e.Name, strings.Join(e.Installed, ", "))
}
