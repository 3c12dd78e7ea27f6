package announce

import (
	"fmt"
	"strings"
)

// A Violation is one thing that is wrong with a request.
type Violation struct {
	Path   string // the member of the request's body, such as "rate"
	Code   string // for programs, such as "out_of_range"
	Detail string // for people
}

// The codes of violations.
const (
	CodeRequired     = "required"
	CodeTooLong      = "too_long"
	CodeNotSpeakable = "not_speakable"
	CodeOutOfRange   = "out_of_range"
	CodeUnknownVoice = "unknown_voice"
)

// A RequestError lists everything that is wrong with a request.
type RequestError struct {
	Violations []Violation
	// Voice says which voices there are when the one that was asked for is
	// not among them, and is nil otherwise. It is unwrapped by errors.As.
	Voice *UnknownVoiceError
}

// Unwrap returns the unknown voice, if that is among the violations.
func (e *RequestError) Unwrap() error {
	if e.Voice == nil {
		return nil
	}
	return e.Voice
}

func (e *RequestError) Error() string {
	said := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		said[i] = v.Path + ": " + v.Detail
	}
	return strings.Join(said, "; ")
}

// An UnknownVoiceError says that a voice is not installed, and which are.
type UnknownVoiceError struct {
	Name      string
	Installed []string
}

func (e *UnknownVoiceError) Error() string {
	if len(e.Installed) == 0 {
		return fmt.Sprintf("voice %q is not installed; none is", e.Name)
	}
	return fmt.Sprintf("voice %q is not installed; installed are %s", e.Name, strings.Join(e.Installed, ", "))
}
