// Package voice turns text into speech with a voice in Piper's format: text → clauses → phonemes → ids →
// samples.
//
// One law: nothing is synthesized before it is needed. A message is split into segments, and a segment is
// inferred only after the one before was delivered. The first sample is therefore available after the first
// clause, however long the message is. Only phonemes are computed one segment ahead, while the model runs.
//
// The package does no I/O: it defines the order of the steps and the arithmetic between them, and calls a
// [Phonemizer] (voice/espeak) and a [Model] (voice/onnx). It starts a goroutine only during [Voice.Speak],
// for the phonemes of the next segment, and waits for it.
package voice

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"
	"time"

	"pressbox/audio"
)

// Pause is the silence between sentences, ParagraphPause that between paragraphs, ListPause that between a colon and a
// list, ClausePause that after a semicolon, each with that which the voice itself leaves at its ends; leastPause is
// inserted in any case.
const (
	Pause          = 450 * time.Millisecond
	ParagraphPause = 800 * time.Millisecond
	ListPause      = 350 * time.Millisecond
	ClausePause    = 300 * time.Millisecond
	leastPause     = 100 * time.Millisecond
)

// A Phonemizer converts text to phonemes.
type Phonemizer interface {
	// Phonemes returns the IPA of one clause, as espeak-ng prints it. The clause has no line breaks and no
	// closing punctuation; lang is espeak's name of the language. A clause that is not spoken has no phonemes
	// and no error.
	Phonemes(ctx context.Context, lang, clause string) (string, error)
}

// A Model turns phoneme ids into samples. It may be used concurrently.
type Model interface {
	// Infer returns the samples of one segment; the caller owns them. It returns ctx's error soon after ctx
	// ends.
	Infer(ctx context.Context, in Input) ([]float32, error)
	// Close frees the model. No call of Infer may be running.
	Close() error
}

// An Input holds the inputs of a model, named as the tensors of Piper's models.
type Input struct {
	IDs         []int64 // "input"; its length is "input_lengths"
	NoiseScale  float32 // "scales"[0]: breath
	LengthScale float32 // "scales"[1]: above 1 is slower
	NoiseW      float32 // "scales"[2]: random variation of lengths
	Speaker     int64   // "sid", for models of several speakers
}

// Errors in addition to those of a model or a phonemizer.
var (
	// ErrNoSpeech reports that a message has no speech for the voice.
	ErrNoSpeech = errors.New("the message has nothing that this voice can speak")
	// ErrUnreadable, wrapped with the reason, is returned by a [Phonemizer] that fails at this text and works
	// for others.
	ErrUnreadable = errors.New("the phonemes of the text cannot be found")
	// ErrUnavailable, wrapped with the reason, is returned by a [Model]'s loader or a [Phonemizer] if the
	// program or library that it needs is not installed. The voice is not at fault.
	ErrUnavailable = errors.New("speech cannot be made")
)

// A Voice is a model with everything that is needed to speak with it. It may be used concurrently.
type Voice struct {
	Config      *Config
	Phonemizer  Phonemizer
	Model       Model
	Calibration Calibration
	Speaker     int64 // below Config.Speakers
	// OnMissing, unless nil, is called for each phoneme that is left out because the voice has no id for it.
	OnMissing func(phoneme string)
}

// A Clip is a part of the sound of one sentence, or the pause before it.
type Clip struct {
	audio.Clip
	Sentence int        // from 0 within the text
	Rest     []Foreseen // segments that follow; the clips of a message share them
}

// A Foreseen is a segment that is not synthesized yet.
type Foreseen struct {
	Sentence int
	Duration time.Duration // estimated, with the pause before it
}

// Speak yields the clips of a message from one of its sentences on, in order, as they are synthesized: at
// rate words per minute, leveled by [Calibration.Gain] and audio.Limit, with a [Pause] between sentences. A
// rate for which the voice cannot be slowed enough is reached by longer pauses between phrases. The caller
// owns the clips. If the message has fewer sentences, Speak begins with its last one. It stops at the first
// error, which is ctx's if ctx ended, with a clip that has only the number of the sentence that failed.
func (v *Voice) Speak(ctx context.Context, text string, rate, from int) iter.Seq2[Clip, error] {
	return func(yield func(Clip, error) bool) {
		rest, from := newClauses(text).from(from)
		parts, controller := paced(rest, v.Calibration.orDefault(), rate)
		spoken, pause := false, time.Duration(0) // pause: silence before the next sound
		foreseen := controller.foresee(parts, from)
		for next := range v.encoded(ctx, parts) {
			pause = max(pause, controller.nextPause(next.segment))
			samples, err := v.infer(ctx, next, float32(controller.nextScale()))
			sentence := from + next.segment.sentence
			foreseen = foreseen[1:]
			if err != nil {
				yield(Clip{Sentence: sentence}, err)
				return
			}
			if len(samples) == 0 {
				controller.advance(next.segment.length(), 0, 0)
				continue
			}
			if !spoken {
				pause, samples = 0, v.trimmed(samples)
			}
			controller.advance(next.segment.length(), v.seconds(samples), pause)
			if !v.deliver(Clip{Sentence: sentence, Rest: foreseen}, pause, samples, yield) {
				return
			}
			spoken, pause = true, 0
		}
		if !spoken && from == 0 {
			yield(Clip{}, ErrNoSpeech)
		}
	}
}

// leadTime is the silence before the first sample that is louder than leadFloor, −40 dBFS.
const leadTime, leadFloor = 15 * time.Millisecond, 0.01

// trimmed returns the samples of a segment without the silence before its sound, but for leadTime: it would delay what
// is announced.
func (v *Voice) trimmed(samples []float32) []float32 {
	floor := leadFloor / v.Calibration.orDefault().Gain
	loud := slices.IndexFunc(samples, func(s float32) bool { return s >= floor || s <= -floor })
	return samples[max(0, loud-int(leadTime.Seconds()*float64(v.Config.SampleRate))):]
}

// deliver yields the pause before a segment and its samples, leveled, with the other fields of c. It reports
// whether yield wants more.
func (v *Voice) deliver(c Clip, pause time.Duration, samples []float32, yield func(Clip, error) bool) bool {
	if pause > 0 {
		c.Clip = v.silence(pause)
		if !yield(c, nil) {
			return false
		}
	}
	audio.Limit(samples, v.Calibration.orDefault().Gain)
	c.Clip = audio.Clip{Rate: v.Config.SampleRate, Samples: samples}
	return yield(c, nil)
}

// An encoded segment has its ids, nil if it has no speech, or the error of the phonemizer.
type encoded struct {
	segment segment
	ids     []int64
	err     error
}

// encoded yields the segments with their ids. It computes those of the next segment while the caller
// processes one.
func (v *Voice) encoded(ctx context.Context, s clauses) iter.Seq[encoded] {
	return func(yield func(encoded) bool) {
		ready, stop := make(chan encoded), make(chan struct{})
		var computing sync.WaitGroup
		computing.Go(func() {
			defer close(ready)
			for seg := range s.segments() {
				select {
				case ready <- v.encode(ctx, seg):
				case <-stop:
					return
				}
			}
		})
		defer computing.Wait()
		defer close(stop)
		for e := range ready {
			if !yield(e) {
				return
			}
		}
	}
}

// encode computes the ids of a segment.
func (v *Voice) encode(ctx context.Context, seg segment) encoded {
	phonemes, err := v.phonemes(ctx, seg)
	return encoded{segment: seg, ids: v.ids(phonemes), err: err}
}

// maxPerID is the longest sound of a phoneme's id in seconds: at the largest length scales it has 1.3.
const maxPerID = 2

// infer returns the samples of one segment, nil if it has no speech. scale multiplies the voice's own length
// scale.
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
	if most := len(e.ids) * maxPerID * v.Config.SampleRate; err == nil && len(samples) > most {
		err = fmt.Errorf("the model made %d samples, want at most %d", len(samples), most)
	}
	if err != nil {
		return nil, fmt.Errorf("infer %d phoneme ids: %w", len(e.ids), err)
	}
	return samples, nil
}

// WarmUp runs the model once, because the first run is slow. It returns an error if the model cannot run.
func (v *Voice) WarmUp(ctx context.Context) error {
	quiet := Voice{Config: v.Config, Model: v.Model, Speaker: v.Speaker}
	hello := clause{text: "həlˈoʊ wˈɜːld", mark: '.', raw: true}
	_, err := quiet.infer(ctx, quiet.encode(ctx, segment{clauses: []clause{hello}}), 1)
	return err
}

// seconds returns the duration of samples.
func (v *Voice) seconds(samples []float32) float64 {
	return float64(len(samples)) / float64(v.Config.SampleRate)
}

// silence returns a silent clip of duration d, to the nearest sample.
func (v *Voice) silence(d time.Duration) audio.Clip {
	n := int(math.Round(d.Seconds() * float64(v.Config.SampleRate)))
	return audio.Clip{Rate: v.Config.SampleRate, Samples: make([]float32, n)}
}
