package audio

import (
	"math"
	"slices"
	"time"
)

// Levels, as fractions of full scale.
const (
	// Ceiling is −3.6 dBFS, the level that [Limit] never exceeds, so that an urgent announcement, at
	// [UrgentGain], has no clipped sample either.
	Ceiling = 0.6607
	// UrgentGain is the factor of an urgent announcement's samples.
	UrgentGain = 1.5

	knee = 0.5 // below it Limit only multiplies
)

// Limit multiplies the samples by gain and compresses what is then above the knee (−6 dBFS) so that nothing
// exceeds [Ceiling]. The curve depends on no other sample, is monotonic and has a continuous slope; below the
// knee a sample is exactly its product with gain. NaN becomes silence.
func Limit(samples []float32, gain float32) {
	for i, s := range samples {
		s *= gain
		if s >= -knee && s <= knee {
			samples[i] = s
			continue
		}
		samples[i] = bend(s)
	}
}

// bend maps levels above the knee to the range from knee to Ceiling.
func bend(s float32) float32 {
	const room = Ceiling - knee
	level := math.Abs(float64(s))
	switch {
	case math.IsNaN(level):
		return 0
	case level > knee:
		level = min(knee+room*math.Tanh((level-knee)/room), Ceiling)
	}
	return float32(math.Copysign(level, float64(s)))
}

// Level is −18 dBFS, the root mean square of speech and of chimes, as a fraction of full scale.
const Level = 0.126

const (
	levelBlock = 100 * time.Millisecond // of which the loud ones count
	gate       = 0.01                   // share of the power of the loudest block from which on a block is loud
	mostGain   = 30                     // what is quieter than Level by more than 29.5 dB is noise
	lowest     = 20.0                   // Hz, below which sound is removed
)

// Even removes the constant part of a sound, and gives it the level of speech, as far as its peaks permit: [Limit]
// bends them. Silence stays as it is.
func Even(c Clip) {
	keep := float32(math.Exp(-2 * math.Pi * lowest / float64(c.Rate)))
	var before, out float32
	for i, s := range c.Samples {
		if i == 0 {
			before = s
		}
		out, before = keep*(out+s-before), s
		c.Samples[i] = out
	}
	if power := loudness(c); power > 0 {
		Limit(c.Samples, float32(min(mostGain, Level/math.Sqrt(power))))
	}
}

// loudness returns the mean square of the loud blocks of a clip.
func loudness(c Clip) float64 {
	var blocks []float64
	for rest := c.Samples; len(rest) > 0; {
		block := rest[:min(len(rest), max(1, int(levelBlock.Seconds()*float64(c.Rate))))]
		rest = rest[len(block):]
		sum := 0.0
		for _, s := range block {
			sum += float64(s) * float64(s)
		}
		blocks = append(blocks, sum/float64(len(block)))
	}
	if len(blocks) == 0 {
		return 0
	}
	sum, count, least := 0.0, 0.0, gate*slices.Max(blocks)
	for _, power := range blocks {
		if power >= least {
			sum, count = sum+power, count+1
		}
	}
	return sum / count
}

// clamp returns the nearest value in [-1, 1], and 0 for NaN.
func clamp(s float32) float32 {
	if s != s { // NaN
		return 0
	}
	return max(-1, min(1, s))
}
