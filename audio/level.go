package audio

import "math"

// Levels, as fractions of full scale.
const (
	// Ceiling is −3.6 dBFS: what a limited announcement never exceeds, so
	// that an urgent one, at [UrgentGain], still has no clipped sample.
	Ceiling = 0.6607
	// UrgentGain is by how much an urgent announcement is louder: exactly
	// this factor on the samples of the ordinary one.
	UrgentGain = 1.5

	knee = 0.5 // below it Limit multiplies and does nothing else
)

// Limit multiplies the samples by gain and bends what then lies above the
// knee (−6 dBFS) so that nothing exceeds [Ceiling]. The bend is the same for
// every sample whatever came before it, it keeps the order of levels, and
// its slope is continuous; below the knee a sample is exactly its product
// with gain. What is not a number becomes silence.
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

// bend maps levels above the knee into the room between knee and Ceiling.
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

// Scale multiplies the samples by a factor; what would leave [-1, 1] stays at
// its end.
func Scale(samples []float32, by float32) {
	if by == 1 {
		return
	}
	for i, s := range samples {
		samples[i] = clamp(s * by)
	}
}

// clamp returns the nearest value in [-1, 1]; 0 for what is not a number.
func clamp(s float32) float32 {
	if s != s { // this is what NaN means
		return 0
	}
	return max(-1, min(1, s))
}
