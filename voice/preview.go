package voice

import (
	"context"
	"strings"
	"time"
)

// A Preview describes the speech of a text without its sound.
type Preview struct {
	Words    int
	Duration time.Duration // estimated, from the first to the last sample
	Phonemes string        // as the model gets them, in one line
}

// Preview describes what [Voice.Speak] would speak at rate words per minute. It does not use the model. It
// returns [ErrNoSpeech] for text without speech, and the errors of the phonemizer.
func (v *Voice) Preview(ctx context.Context, text string, rate int) (Preview, error) {
	c := v.Calibration.orDefault()
	parts, _ := paced(newClauses(text), c, rate)
	m := parts.length()
	var phonemes []string
	spoken := false
	for seg := range parts.segments() {
		p, err := v.phonemes(ctx, seg)
		if err != nil {
			return Preview{}, err
		}
		if len(p) > 0 {
			phonemes = append(phonemes, strings.Join(p, ""))
		}
		spoken = spoken || v.ids(p) != nil
	}
	if !spoken {
		return Preview{}, ErrNoSpeech
	}
	return Preview{Words: m.words, Duration: c.spokenTime(m, rate), Phonemes: strings.Join(phonemes, space)}, nil
}

// Estimate returns the expected duration of speakable text at rate words per minute, from the first to the
// last sample. It uses neither the model nor the phonemizer.
func (c Calibration) Estimate(text string, rate int) time.Duration {
	c = c.orDefault()
	parts, _ := paced(newClauses(text), c, rate)
	return c.spokenTime(parts.length(), rate)
}

// spokenTime returns the expected duration of text of length m at rate words per minute.
func (c Calibration) spokenTime(m textLength, rate int) time.Duration {
	seconds := max(c.targetSeconds(m, rate), c.duration(m).at(minScale))
	return time.Duration(seconds * float64(time.Second))
}
