package library

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"pressbox/voice"
	"pressbox/voice/announce"
	"pressbox/voice/announce/plan"
)

// maxVoices limits the voices that try to speak one message.
const maxVoices = 3

// substitute returns the best substitute of a voice that was not tried, "" if there is none.
func (l *Library) substitute(name string, tried []string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, other := range l.substitutes(name) {
		if !slices.Contains(tried, other) {
			return other
		}
	}
	return ""
}

// faulty reports whether err is the fault of a voice, so that another one can speak.
func faulty(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	for _, other := range []error{voice.ErrNoSpeech, voice.ErrUnreadable, voice.ErrUnavailable, errEnded} {
		if errors.Is(err, other) {
			return false
		}
	}
	return true
}

// speakWith is Speak with one voice. It returns the sentence that could not be spoken and why; a nil error
// means that every clip was yielded or that yield wants no more.
func (l *Library) speakWith(
	ctx context.Context, u announce.Utterance, yield func(announce.Clip, error) bool,
) (sentence int, err error) {
	sentence = u.From
	for clip, err := range l.speak(ctx, u) {
		if err != nil {
			return max(sentence, clip.Sentence), fmt.Errorf("speak with %s: %w", u.Voice, err)
		}
		l.setUnavailable(nil)
		sentence = clip.Sentence
		rest := make([]plan.Segment, len(clip.Rest))
		for i, next := range clip.Rest {
			rest[i] = plan.Segment{Sentence: next.Sentence, Length: next.Duration}
		}
		if !yield(announce.Clip{Clip: clip.Clip, Sentence: clip.Sentence, Voice: u.Voice, Rest: rest}, nil) {
			return sentence, nil
		}
	}
	return sentence, nil
}

// logFault logs why a voice failed while it spoke. That it is not usable was logged when it was found.
func (l *Library) logFault(name string, err error) {
	if _, known := errors.AsType[*announce.UnknownVoiceError](err); !known {
		l.cfg.Log.Error("voice failed, another one speaks", "voice", name, "err", err)
	}
}
