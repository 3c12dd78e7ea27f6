package audio_test

import (
	"math"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/packaging/check"
)

// A chime lasts 0.6 s at most and is no louder than speech, at −18.9 dBFS. It begins and ends with silence,
// and is as long and as loud at every rate.
func TestChime_levelAndLength(t *testing.T) {
	t.Parallel()
	const speech = 0.113
	for _, c := range audio.Chimes() {
		for _, rate := range []int{8000, 16000, 22050, 48000} {
			samples := c.Samples(rate)
			length := audio.Clip{Rate: rate, Samples: samples}.Duration()
			if c == audio.NoChime {
				check.Equal(t, length, 0, "%s lasts", c)
				continue
			}
			check.That(t, length >= 400*time.Millisecond && length <= 600*time.Millisecond,
				"%s at %d Hz lasts %v", c, rate, length)
			top, square, step := 0.0, 0.0, 0.0
			for i, s := range samples {
				top, square = max(top, math.Abs(float64(s))), square+float64(s)*float64(s)
				if i > 0 {
					step = max(step, math.Abs(float64(s-samples[i-1])))
				}
			}
			if level := math.Sqrt(square / float64(len(samples))); top > 0.2512 || top < 0.15 || level > speech ||
				level < speech/4 {
				t.Errorf("%s at %d Hz has a peak of %.3f and a level of %.3f; want −12 dBFS and no more than %.3f", c,
					rate, top, level, speech)
			}
			first, last := samples[0], samples[len(samples)-1]
			check.That(t, first == 0 && last == 0, "%s at %d Hz begins with %v and ends with %v", c, rate, first, last)
			limit := 2 * math.Pi * 3000 / float64(rate) * 0.25
			check.That(t, step <= limit, "%s at %d Hz has a step of %.3f, want %.3f at most", c, rate, step, limit)
		}
	}
}

// The number of strokes distinguishes the chimes: each rises from a lower level.
func TestChime_strokes(t *testing.T) {
	t.Parallel()
	const rate, window = 22050, 220 // 10 ms
	for c, want := range map[audio.Chime]int{audio.Ding: 1, audio.DingDong: 2, audio.Alert: 3} {
		samples := c.Samples(rate)
		strokes, before := 0, 0.0
		for i := 0; i+window <= len(samples); i += window {
			top := 0.0
			for _, s := range samples[i : i+window] {
				top = max(top, math.Abs(float64(s)))
			}
			if top > 1.5*before && top > 0.1 {
				strokes++
			}
			before = top
		}
		check.That(t, strokes == want, "%s has %d strokes, want %d", c, strokes, want)
	}
}

func TestChime_anyRate(t *testing.T) {
	t.Parallel()
	for rate := range 100 {
		for _, c := range audio.Chimes() {
			for _, s := range c.Samples(rate) {
				check.Require(t, s == s && s <= 1 && s >= -1, "%s at %d Hz has the sample %v", c, rate, s)
			}
		}
	}
}
