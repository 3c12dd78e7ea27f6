package voice

import "math"

const (
	// target is the level of speech: the root mean square of the windows that contain speech, −18 dBFS, so
	// that only the highest peaks reach the limiter.
	target = 0.126
	// gate is the threshold of speech relative to the loudest window: −30 dB, squared.
	gate = 1e-3
	// audibleShare is the threshold of audible samples relative to the peak: −40 dB.
	audibleShare = 0.01
)

// appendLoudness appends the mean square of each full window of samples.
func appendLoudness(to []float64, samples []float32, window int) []float64 {
	for ; len(samples) >= window; samples = samples[window:] {
		energy := 0.0
		for _, s := range samples[:window] {
			energy += float64(s) * float64(s)
		}
		to = append(to, energy/float64(window))
	}
	return to
}

// levelGain returns the gain that brings speech to the target, 1 for silence.
func levelGain(loudness []float64) float32 {
	loudest := 0.0
	for _, l := range loudness {
		loudest = max(loudest, l)
	}
	total, n := 0.0, 0
	for _, l := range loudness {
		if l > gate*loudest {
			total += l
			n++
		}
	}
	if n == 0 {
		return 1
	}
	return float32(target / math.Sqrt(total/float64(n)))
}

// silentEnds returns the number of samples before the first and after the last audible one.
func silentEnds(samples []float32) float64 {
	var peak float32
	for _, s := range samples {
		peak = max(peak, s, -s)
	}
	audible := func(s float32) bool { return max(s, -s) > audibleShare*peak }
	first, last := 0, len(samples)-1
	for first <= last && !audible(samples[first]) {
		first++
	}
	for last > first && !audible(samples[last]) {
		last--
	}
	return float64(len(samples) - (last + 1 - first))
}

func sum(xs []float64) float64 {
	total := 0.0
	for _, x := range xs {
		total += x
	}
	return total
}
