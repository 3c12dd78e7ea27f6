package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pressbox/voice"
	"pressbox/voice/announce"
	"pressbox/voice/announce/plan"
)

// maxVoices limits the voices that try to speak one message.
const maxVoices = 3

// substitutes returns the names of the usable voices in the order in which they speak for a voice that
// cannot: the voice itself without its speaker, those of its language, the default voice first, then the
// others. l.mu must be held.
func (l *Library) substitutes(name string) []string {
	base := baseName(name)
	language := l.languageOf(base)
	rank := func(other string) int {
		switch same := language != "" && l.languageOf(other) == language; {
		case other == base:
			return 0
		case same && other == baseName(l.Default()):
			return 1
		case same:
			return 2
		case other == baseName(l.Default()):
			return 3
		}
		return 4
	}
	names := l.usable() // in order, so that equal ranks are
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(rank(x), rank(y)) })
	return names
}

// baseName returns the name of a voice without its speaker.
func baseName(name string) string {
	if at := strings.LastIndexByte(name, '#'); at >= 0 {
		return name[:at]
	}
	return name
}

// languageOf returns the language of a voice, such as "en", by its config or else by its name; it need not be
// installed. "" means unknown. l.mu must be held.
func (l *Library) languageOf(name string) string {
	if e := l.voices[name]; e != nil && e.config != nil && e.config.Language.Family != "" {
		return e.config.Language.Family
	}
	if part := voiceName.FindStringSubmatch(name); part != nil {
		return part[1]
	}
	return ""
}

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

// preferred returns the name of the voice that speaks by default: the default voice or its substitute. l.mu
// must be held.
func (l *Library) preferred() (string, error) {
	_, _, err := l.findLocked(l.Default())
	if err == nil {
		return l.Default(), nil
	}
	if all := l.substitutes(l.Default()); len(all) > 0 {
		return all[0], nil
	}
	return "", fmt.Errorf("%w: default voice: %w", voice.ErrUnavailable, err)
}

// preferredVoice returns the voice that speaks by default, nil if none is usable; l.mu must be held.
func (l *Library) preferredVoice() *installedVoice {
	name, err := l.preferred()
	if err != nil {
		return nil
	}
	e, _, _ := l.findLocked(name) // it is usable
	return e
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
