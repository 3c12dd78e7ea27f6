package onnx_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pressbox/voice"
)

// ours are the voices that come with Pressbox.
func ours(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root(t), "models", "*.onnx"))
	if err != nil || len(paths) < 2 {
		t.Fatalf("the voices in models: %v, %v, want at least two", paths, err)
	}
	return paths
}

func configOf(t *testing.T, path string) *voice.Config {
	t.Helper()
	data, err := os.ReadFile(path + ".json")
	if err != nil {
		t.Fatal(err)
	}
	config, err := voice.ParseConfig(data)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// plainIDs are the ids of phonemes between BOS and EOS, without pads.
func plainIDs(c *voice.Config, phonemes string) []int64 {
	ids := slices.Clone(c.PhonemeIDs["^"])
	for p := range strings.SplitSeq(phonemes, "") {
		ids = append(ids, c.PhonemeIDs[p]...)
	}
	return append(ids, c.PhonemeIDs["$"]...)
}

// padded puts a pad after every id but the last.
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
		if math.IsNaN(float64(s)) || s < -1 || s > 1 {
			t.Fatalf("Infer(%v): sample %d is %v", ids, i, s)
		}
	}
	return samples
}

const lights = "ðə lˈaɪts ɑːɹ ˈɔf."

func TestOurVoicesSayTheSameWithAndWithoutPads(t *testing.T) {
	t.Parallel()
	for _, path := range ours(t) {
		config := configOf(t, path)
		m := load(t, path, config)
		ids := plainIDs(config, lights)
		if with, without := voiced(t, m, padded(ids), 1), voiced(t, m, ids, 1); !slices.Equal(with, without) {
			t.Errorf("%s: %d samples with pads and %d without, or others", filepath.Base(path), len(with), len(without))
		}
	}
}

func TestOurVoicesAreAsLongAsTheyAreAskedToBe(t *testing.T) {
	t.Parallel()
	for _, path := range ours(t) {
		config := configOf(t, path)
		m := load(t, path, config)
		ids := padded(plainIDs(config, lights))
		usual := float64(len(voiced(t, m, ids, 1)))
		for _, scale := range []float32{0.5, 0.8, 1.25, 2} {
			if got := float64(len(voiced(t, m, ids, scale))) / usual; math.Abs(got/float64(scale)-1) > 0.02 {
				t.Errorf("%s: length scale %v made it %.3f times as long", filepath.Base(path), scale, got)
			}
		}
	}
}

func TestOurVoicesStandWhatIsNoSpeech(t *testing.T) {
	t.Parallel()
	for _, path := range ours(t) {
		config := configOf(t, path)
		m := load(t, path, config)
		for what, ids := range map[string][]int64{
			"nothing between the ends": {1, 0, 2},
			"the beginning alone":      {1},
			"pads alone":               {0, 0, 0},
			"unknown ids":              {1, 0, 255, 0, 199, 0, 130, 0, 2},
			"commas":                   plainIDs(config, ",,,,"),
		} {
			samples := voiced(t, m, ids, 1)
			loudest := float32(0)
			for _, s := range samples {
				loudest = max(loudest, s, -s)
			}
			if seconds := float64(len(samples)) / float64(config.SampleRate); seconds > 3 || loudest > 0.02 {
				t.Errorf("%s: %s is %.2f s, its highest sample %.3f; want short silence", filepath.Base(path), what, seconds, loudest)
			}
		}
	}
}

func TestOurVoicesBeginAndEndInSilence(t *testing.T) {
	t.Parallel()
	for _, path := range ours(t) {
		config := configOf(t, path)
		m := load(t, path, config)
		for _, phonemes := range []string{lights, "ɑː", "sˈɪks", "ˈaʊt!"} {
			samples := voiced(t, m, plainIDs(config, phonemes), 1)
			for _, s := range []float32{samples[0], samples[len(samples)-1]} {
				if s > 0.01 || s < -0.01 {
					t.Errorf("%s: %q has %v at an end", filepath.Base(path), phonemes, s)
				}
			}
		}
	}
}
