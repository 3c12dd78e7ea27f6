// Package plan computes the sequence of an announcement's sound: what plays at which sample, and how far other
// streams are lowered.
//
//	other streams  ▔▔╲▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁╱▔▔  Lower
//	chime            ▇▅▃▁                        from the end of the Wait
//	speech                 ▇▇▇▇▇▇ ▇▇▇▇ ▇▇▇▇▇     from the end of the Prelude
//
// One law: without a chime, and unless another one has just ended, the first sample of the speech is the first one.
package plan

import (
	"math"
	"slices"
	"time"

	"pressbox/audio"
)

const (
	// Gap is the silence between the chime and the speech.
	Gap = 200 * time.Millisecond
	// ChimePause is the time after the end of an announcement in which the next one has no default chime.
	ChimePause = 5 * time.Second
)

// An Occasion is what decides about the sequence.
type Occasion struct {
	Urgent  bool
	Comment bool // not an announcement
	Low     bool // of low priority
	Soft    bool // in soft quiet
	Resumed bool // it goes on after an interruption

	Chime   audio.Chime // that was requested; "" means the default
	Default audio.Chime // of announcements of its kind
	Last    time.Time   // when another announcement ended; zero: none has
	Now     time.Time

	Between time.Duration // silence between two announcements; none precedes an urgent one
	Volume  int           // percent
	Duck    float64       // of other streams, in dB; 0 leaves them as they are
}

// A Plan is the sequence of an announcement's or a comment's sound.
type Plan struct {
	Lower float64       // gain of the sink's other streams from sample 0 until the end; 1 leaves them as they are
	Chime audio.Chime   // at sample 0
	Gain  float32       // of all that, until the volume changes
	Wait  time.Duration // silence before all that, after another announcement
}

// since returns the time since the end of another announcement, an hour if none has ended.
func (o Occasion) since() time.Duration {
	if o.Last.IsZero() {
		return time.Hour
	}
	return max(0, o.Now.Sub(o.Last))
}

// For returns the plan for an occasion.
func For(o Occasion) Plan {
	p := Plan{Lower: math.Pow(10, min(0, o.Duck)/20), Chime: o.chime(), Gain: Gain(o.Volume)}
	if o.Urgent {
		p.Gain *= audio.UrgentGain
	} else {
		p.Wait = max(0, o.Between-o.since())
	}
	if p.Gain == 0 {
		p.Lower = 1
	}
	return p
}

// Gain returns the gain of a volume in percent: the share of the amplitude.
func Gain(volume int) float32 { return float32(volume) / 100 }

// chime returns the chime that is played: the requested one, or the default one where it is usual. An urgent
// announcement always has one; others have it once, and not soon after another announcement, and a cue when they go on.
func (o Occasion) chime() audio.Chime {
	usual := o.Urgent || !o.Comment && !o.Low && !o.Soft && !o.Resumed && o.since() >= ChimePause
	none := o.Chime == audio.NoChime || o.Default == "" || o.Default == audio.NoChime
	switch {
	case o.Resumed && !o.Urgent && !o.Soft && !none:
		return audio.Cue
	case o.Chime != "" && (o.Urgent || !o.Resumed):
		return o.Chime
	case o.Chime == audio.NoChime, !usual, o.Default == "":
		return audio.NoChime
	default:
		return o.Default
	}
}

// Prelude returns what is played before the speech: the wait, the chime and the gap; nil without them. The samples of
// a chime that is not built in, if there are any, take the place of the plan's.
func (p Plan) Prelude(rate int, chime []float32) []float32 {
	silence := func(d time.Duration) []float32 { return make([]float32, int(d.Seconds()*float64(rate))) }
	if len(chime) == 0 {
		chime = p.Chime.Samples(rate)
	}
	if len(chime) > 0 {
		chime = slices.Concat(chime, silence(Gap))
	}
	return append(silence(p.Wait), chime...)
}

// A Timeline records which sentence is where in a sound.
type Timeline struct {
	sentences []sentence // in order
}

type sentence struct {
	number int
	end    time.Duration // from the beginning of the sound
}

// Add appends a part of a sentence.
func (t *Timeline) Add(number int, length time.Duration) {
	end := t.End() + length
	if n := len(t.sentences); n > 0 && t.sentences[n-1].number == number {
		t.sentences[n-1].end = end
		return
	}
	t.sentences = append(t.sentences, sentence{number, end})
}

// End returns the duration of the sound.
func (t *Timeline) End() time.Duration {
	if n := len(t.sentences); n > 0 {
		return t.sentences[n-1].end
	}
	return 0
}

// Last returns the number of the last sentence, -1 for none.
func (t *Timeline) Last() int {
	if n := len(t.sentences); n > 0 {
		return t.sentences[n-1].number
	}
	return -1
}

// Unplayed returns the first sentence that has not been played to its end, if so much of the sound was played;
// false if all have.
func (t *Timeline) Unplayed(played time.Duration) (number int, ok bool) {
	for _, s := range t.sentences {
		if played < s.end {
			return s.number, true
		}
	}
	return 0, false
}
