package onnx_test

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pressbox/packaging/check"
	"pressbox/voice"
	"pressbox/voice/voicetest"
)

// A loaded voice is one of the bundled voices with its config.
type loaded struct {
	voice.Model
	config *voice.Config
}

// eachVoice loads the bundled voices.
func eachVoice(t *testing.T) map[string]loaded {
	t.Helper()
	all := make(map[string]loaded)
	for _, name := range voicetest.Names(t) {
		config := voicetest.Config(t, name)
		all[name] = loaded{voicetest.Load(t, voicetest.Path(t, name), config), config}
	}
	return all
}

// plainIDs returns the ids of phonemes between BOS and EOS, without pads.
func plainIDs(c *voice.Config, phonemes string) []int64 {
	ids := slices.Clone(c.PhonemeIDs["^"])
	for p := range strings.SplitSeq(phonemes, "") {
		ids = append(ids, c.PhonemeIDs[p]...)
	}
	return append(ids, c.PhonemeIDs["$"]...)
}

// padded inserts a pad after every id but the last.
func padded(ids []int64) []int64 {
	var out []int64
	for _, id := range ids {
		out = append(out, id, 0)
	}
	return out[:len(out)-1]
}

func voiced(t *testing.T, m voice.Model, ids []int64, length float32) []float32 {
	t.Helper()
	samples, err := m.Infer(t.Context(), voice.Input{IDs: ids, NoiseScale: 0.667, LengthScale: length})
	if err != nil {
		t.Fatalf("Infer(%v): %v", ids, err)
	}
	for i, s := range samples {
		check.Require(t, !math.IsNaN(float64(s)) && s >= -1 && s <= 1, "Infer(%v): sample %d is %v", ids, i, s)
	}
	return samples
}

const lights = "ðə lˈaɪts ɑːɹ ˈɔf."

func TestBundled_padsAndLengthScale(t *testing.T) {
	t.Parallel()
	for name, m := range eachVoice(t) {
		plain := plainIDs(m.config, lights)
		ids := padded(plain)
		with, without := voiced(t, m, ids, 1), voiced(t, m, plain, 1)
		check.That(t, slices.Equal(with, without),
			"%s: %d samples with pads, %d without, or different ones", name, len(with), len(without))
		normal := float64(len(with))
		for _, scale := range []float32{0.5, 0.8, 1.25, 2} {
			if got := float64(len(voiced(t, m, ids, scale))) / normal; math.Abs(got/float64(scale)-1) > 0.02 {
				t.Errorf("%s: length scale %v made it %.3f times as long", name, scale, got)
			}
		}
	}
}

func TestBundled_inputWithoutSpeech(t *testing.T) {
	t.Parallel()
	for name, m := range eachVoice(t) {
		for what, ids := range map[string][]int64{
			"BOS and EOS only": {1, 0, 2},
			"BOS only":         {1},
			"pads only":        {0, 0, 0},
			"unknown ids":      {1, 0, 255, 0, 199, 0, 130, 0, 2},
			"commas":           plainIDs(m.config, ",,,,"),
		} {
			samples := voiced(t, m, ids, 1)
			loudest := float32(0)
			for _, s := range samples {
				loudest = max(loudest, s, -s)
			}
			if seconds := float64(len(samples)) / float64(m.config.SampleRate); seconds > 3 || loudest > 0.02 {
				t.Errorf("%s: %s is %.2f s, its highest sample %.3f; want short silence", name, what, seconds, loudest)
			}
		}
	}
}

func TestBundled_silentEnds(t *testing.T) {
	t.Parallel()
	for name, m := range eachVoice(t) {
		for _, phonemes := range []string{lights, "ɑː", "sˈɪks", "ˈaʊt!"} {
			samples := voiced(t, m, plainIDs(m.config, phonemes), 1)
			for _, s := range []float32{samples[0], samples[len(samples)-1]} {
				check.That(t, s <= 0.01 && s >= -0.01, "%s: %q has %v at an end", name, phonemes, s)
			}
		}
	}
}

func TestBundled_fileSize(t *testing.T) {
	t.Parallel()
	const most = 8_000_000 // bytes
	for _, name := range voicetest.Names(t) {
		stat := check.Must(os.Stat(voicetest.Path(t, name)))(t)
		check.That(t, stat.Size() <= most, "%s has %d bytes, want at most %d", name, stat.Size(), most)
	}
}

// power returns the mean square of each hundredth of a second.
func power(samples []float32, rate int) []float64 {
	var out []float64
	for hop := range slices.Chunk(samples, rate/100) {
		sum := 0.0
		for _, s := range hop {
			sum += float64(s) * float64(s)
		}
		out = append(out, sum/float64(len(hop)))
	}
	return out
}

// level returns the level outside pauses, in dB of full scale.
func level(samples []float32, rate int) float64 {
	hops := power(samples, rate)
	floor := slices.Max(hops) / 1000
	sum, n := 0.0, 0.0
	for _, p := range hops {
		if p > floor {
			sum, n = sum+p, n+1
		}
	}
	return 10 * math.Log10(sum/n)
}

func TestBundled_constantLevel(t *testing.T) {
	t.Parallel()
	for name, m := range eachVoice(t) {
		var levels []float64
		for _, phonemes := range []string{
			lights, "jˈɛs.", "ɪz ðɪ ˈʌvən ˈɔn?", "dʒˈɑːnsən dˈʌbəlz dˌaʊn ðə lˈaɪn!",
			"θɹˈiː tə tˈuː ɪnðə bˈɑːɾəm ʌvðə nˈaɪnθ.",
			"ɪt ɪz hˈæf pˈæst ˈeɪt ˌɔn mˈʌndeɪ mˈɔːɹnɪŋ.", "wˌʌɾ ɐ kˈætʃ baɪ ðə ʃˈɔːɹtstɑːp!", "sˈɪks.",
		} {
			levels = append(levels, level(voiced(t, m, plainIDs(m.config, phonemes), 1), m.config.SampleRate))
		}
		spread := slices.Max(levels) - slices.Min(levels)
		check.That(t, spread <= 1.5, "%s: levels of %.1f dB, %.1f apart; want at most 1.5", name, levels, spread)
	}
}

// lastPitch returns the final pitch in Hz: that of the last 40 ms that are periodic, by autocorrelation.
func lastPitch(t *testing.T, samples []float32, rate int) float64 {
	t.Helper()
	window, hop := rate/25, rate/100
	loud := slices.Max(power(samples, rate)) / 30
	for begin := len(samples) - 2*window; begin > 0; begin -= hop {
		part := samples[begin:]
		still := correlation(part, 0, window)
		if still/float64(window) < loud {
			continue
		}
		best, strongest := 0, 0.6*still
		for lag := rate / 400; lag <= rate/60; lag++ {
			if c := correlation(part, lag, window); c > 1.05*strongest { // prefer the shorter of two similar ones
				best, strongest = lag, c
			}
		}
		if best > 0 {
			return float64(rate) / float64(best)
		}
	}
	t.Fatal("no pitch")
	return 0
}

func correlation(samples []float32, lag, n int) float64 {
	sum := 0.0
	for i := range n {
		sum += float64(samples[i]) * float64(samples[i+lag])
	}
	return sum
}

func TestBundled_questionsRise(t *testing.T) {
	t.Parallel()
	for name, m := range eachVoice(t) {
		for _, phonemes := range []string{"ɪz ðɪ ˈʌvən ˈɔn", "dˈɪd juː fˈiːd ðə dˈɑːɡ", "ɑːɹ ðə lˈaɪts ˈɔf nˈaʊ"} {
			question := lastPitch(t, voiced(t, m, plainIDs(m.config, phonemes+"?"), 1), m.config.SampleRate)
			statement := lastPitch(t, voiced(t, m, plainIDs(m.config, phonemes+"."), 1), m.config.SampleRate)
			if question < 1.15*statement {
				t.Errorf("%s: %q ends at %.0f Hz as a question and at %.0f Hz as a statement", name, phonemes, question,
					statement)
			}
		}
	}
}
