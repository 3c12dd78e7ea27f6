// Package voice turns text into speech with a voice in Piper's format: text →
// clauses → phonemes → ids → samples.
//
// One law: nothing is made before it is needed. A message is cut into pieces
// of speech, and each piece is inferred only when the one before has been
// handed over; so the first sample comes after the first clause, however long
// the message is. Only phonemes are found one piece ahead, while the model
// runs.
//
// The package knows the order of the steps and the arithmetic between them.
// What speaks to the outside is declared here and lives elsewhere: a
// [Phonemizer] (voice/espeak) and a [Model] (voice/onnx).
package voice

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"
	"time"

	"pressbox/audio"
)

// Pause is the silence between two sentences.
const Pause = 200 * time.Millisecond

// A Phonemizer says how words sound.
type Phonemizer interface {
	// Phonemes returns the IPA of one clause, which has no line breaks and no
	// closing mark, as espeak-ng prints it; lang is espeak's name of the
	// language. A clause that is not spoken has no phonemes and no error.
	Phonemes(ctx context.Context, lang, clause string) (string, error)
}

// A Model turns phoneme ids into samples. It may be used concurrently.
type Model interface {
	// Infer returns the samples of one piece of speech, for the caller to
	// keep and change. It ends early, with ctx's error, when ctx does.
	Infer(ctx context.Context, in Input) ([]float32, error)
	// Close frees the model; no Infer may be running.
	Close() error
}

// An Input is what a model is run with, named as the tensors of Piper's models.
type Input struct {
	IDs         []int64 // "input", and its length is "input_lengths"
	NoiseScale  float32 // the first of "scales": breath
	LengthScale float32 // the second: above 1 is slower
	NoiseW      float32 // the third: how much lengths vary by chance
	Speaker     int64   // "sid", for models of several speakers
}

// What can go wrong besides the failures of a model or a phonemizer.
var (
	// ErrNoSpeech says that a message has nothing that the voice can speak.
	ErrNoSpeech = errors.New("the message has nothing that this voice can speak")
	// ErrUnavailable, wrapped with the reason, is what a [Model]'s loader and a
	// [Phonemizer] return when the program or library that they run is not
	// installed, which is no fault of the voice.
	ErrUnavailable = errors.New("speech cannot be made")
)

// A Voice is a model with all that is needed to speak with it. It may be used
// concurrently.
type Voice struct {
	Config      *Config
	Phonemizer  Phonemizer
	Model       Model
	Calibration Calibration
	Speaker     int64 // below Config.Speakers
	// Missing is told of phonemes that the voice has no id for, each time
	// they are met; they are left out. Nil means that nobody wants to know.
	OnMissing func(phoneme string)
}

// Speak yields the clips of a message in order, as they are made: at rate
// words per minute, levelled by [Calibration.Gain] and audio.Limit, with a
// [Pause] between sentences. The clips are the caller's to keep and change.
// It stops at the first error, which is ctx's when ctx ended.
func (v *Voice) Speak(ctx context.Context, text string, rate int) iter.Seq2[audio.Clip, error] {
	return func(yield func(audio.Clip, error) bool) {
		script := newScript(text)
		pace := newPace(v.Calibration, script.measure(), rate)
		spoken, pause := false, false // pause: one is due before the next sound
		for next := range v.encoded(ctx, script) {
			samples, err := v.infer(ctx, next, float32(pace.next()))
			if err != nil {
				yield(audio.Clip{}, err)
				return
			}
			pace.spent(next.piece.measure(), v.seconds(samples))
			pause = pause || next.piece.pause
			if len(samples) == 0 {
				continue
			}
			if spoken && pause && !yield(v.silence(Pause), nil) {
				return
			}
			audio.Limit(samples, v.Calibration.orUsual().Gain)
			if !yield(audio.Clip{Rate: v.Config.SampleRate, Samples: samples}, nil) {
				return
			}
			spoken, pause = true, false
		}
		if !spoken {
			yield(audio.Clip{}, ErrNoSpeech)
		}
	}
}

// An encoded piece is one with its ids, nil when nothing in it can be spoken,
// or with the reason why they are not known.
type encoded struct {
	piece piece
	ids   []int64
	err   error
}

// encoded yields the pieces of a script with their ids, of which it finds
// those of the next piece while the caller is busy with one.
func (v *Voice) encoded(ctx context.Context, s script) iter.Seq[encoded] {
	return func(yield func(encoded) bool) {
		ready, stop := make(chan encoded), make(chan struct{})
		var finding sync.WaitGroup
		finding.Go(func() {
			defer close(ready)
			for p := range s.pieces() {
				select {
				case ready <- v.encode(ctx, p):
				case <-stop:
					return
				}
			}
		})
		defer finding.Wait()
		defer close(stop)
		for e := range ready {
			if !yield(e) {
				return
			}
		}
	}
}

// encode finds the ids of a piece.
func (v *Voice) encode(ctx context.Context, p piece) encoded {
	phonemes, err := v.phonemes(ctx, p)
	return encoded{piece: p, ids: v.ids(phonemes), err: err}
}

// infer makes the samples of one piece, nil when nothing in it can be spoken.
// scale multiplies the voice's own length scale.
func (v *Voice) infer(ctx context.Context, e encoded, scale float32) ([]float32, error) {
	if e.err != nil || e.ids == nil {
		return nil, e.err
	}
	samples, err := v.Model.Infer(ctx, Input{
		IDs:         e.ids,
		NoiseScale:  v.Config.NoiseScale,
		LengthScale: v.Config.LengthScale * scale,
		NoiseW:      v.Config.NoiseW,
		Speaker:     v.Speaker,
	})
	if err != nil {
		return nil, fmt.Errorf("infer %d phoneme ids: %w", len(e.ids), err)
	}
	return samples, nil
}

// WarmUp runs the model once, so that its first words are not slow; the error
// says why it cannot be run.
func (v *Voice) WarmUp(ctx context.Context) error {
	quiet := Voice{Config: v.Config, Model: v.Model, Speaker: v.Speaker}
	hello := clause{text: "həlˈoʊ wˈɜːld", mark: '.', raw: true}
	_, err := quiet.infer(ctx, quiet.encode(ctx, piece{clauses: []clause{hello}}), 1)
	return err
}

// seconds returns how long samples last.
func (v *Voice) seconds(samples []float32) float64 {
	return float64(len(samples)) / float64(v.Config.SampleRate)
}

// silence returns d of it at the voice's rate, to the nearest sample.
func (v *Voice) silence(d time.Duration) audio.Clip {
	n := int(math.Round(d.Seconds() * float64(v.Config.SampleRate)))
	return audio.Clip{Rate: v.Config.SampleRate, Samples: make([]float32, n)}
}
