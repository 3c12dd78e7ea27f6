package audio

import "math"

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

// clamp returns the nearest value in [-1, 1], and 0 for NaN.
func clamp(s float32) float32 {
	if s != s { // NaN
		return 0
	}
	return max(-1, min(1, s))
}
