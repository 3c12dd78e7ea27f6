package voice_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"pressbox/packaging/check"
	"pressbox/voice"
	"pressbox/voice/voicetest"
)

// passages returns texts of 50 to 70 ordinary words in different styles.
func passages(tb testing.TB) map[string]string {
	tb.Helper()
	return texts(tb, "testdata/passages.txt")
}

// texts reads a file of lines with a name and at least 50 words.
func texts(tb testing.TB, path string) map[string]string {
	tb.Helper()
	data := check.Must(os.ReadFile(path))(tb)
	all := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, text, ok := strings.Cut(strings.TrimSpace(line), ": ")
		n := len(strings.Fields(text))
		check.Require(tb, ok && n >= 50, "passage %q has %d words", name, n)
		all[name] = text
	}
	return all
}

// calibrated returns the bundled voice with espeak-ng and ONNX Runtime, calibrated.
func calibrated(tb testing.TB) *voice.Voice {
	tb.Helper()
	config := voicetest.Config(tb, voicetest.Bundled)
	model := voicetest.Load(tb, voicetest.Path(tb, voicetest.Bundled), config)
	v := &voice.Voice{Config: config, Phonemizer: voicetest.Espeak(tb), Model: model}
	v.Calibration = check.Must(v.Calibrate(tb.Context()))(tb)
	return v
}

// seconds returns the time from the first to the last audible sample.
func seconds(clips []voice.Clip) float64 {
	at, first, last := 0, -1, 0
	for _, c := range clips {
		for _, s := range c.Samples {
			if max(s, -s) > 0.005 {
				if first < 0 {
					first = at
				}
				last = at
			}
			at++
		}
	}
	return float64(last-first) / float64(clips[0].Rate)
}

// wordsPerMinute speaks text and returns its rate.
func wordsPerMinute(tb testing.TB, v *voice.Voice, text string, rate int) float64 {
	tb.Helper()
	return 60 * float64(len(strings.Fields(text))) / seconds(speak(tb, v, text, rate))
}

// The calibration passage is English. For voices of other languages it still gives the duration of a letter;
// otherwise, as in other scripts, the rate controller adapts while the voice speaks. Here the bundled voice
// speaks espeak's phonemes of these languages.
func TestAll_wordsPerMinute(t *testing.T) {
	t.Parallel()
	requireRates := func(v *voice.Voice, name, text string, rates ...int) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, rate := range rates {
				got := wordsPerMinute(t, v, text, rate)
				check.That(t, math.Abs(got/float64(rate)-1) <= 0.08, "%.1f words per minute, want %d", got, rate)
			}
		})
	}
	v := calibrated(t)
	for name, text := range passages(t) {
		requireRates(v, name, text, 100, 170, 260) // the languages have the rates between
	}
	for lang, text := range texts(t, "testdata/languages.txt") {
		foreign, config := *v, *v.Config
		config.Espeak = lang
		foreign.Config, foreign.Calibration = &config, voice.Calibration{}
		foreign.Calibration = check.Must(foreign.Calibrate(t.Context()))(t)
		requireRates(&foreign, lang, text, 120, 220)
	}
}

// Below the rate at which the voice is slowest, pauses between phrases grow.
func TestAll_extremeRates(t *testing.T) {
	t.Parallel()
	v := calibrated(t)
	text := passages(t)["household"]
	for _, rate := range []int{60, 75, 90} {
		got := wordsPerMinute(t, v, text, rate)
		check.That(t, math.Abs(got/float64(rate)-1) <= 0.08, "%.1f words per minute, want %d within 8 %%", got, rate)
	}
	fast, fastest := wordsPerMinute(t, v, text, 400), wordsPerMinute(t, v, text, 4000)
	check.That(t, fast >= 350 && fastest >= fast-1 && fastest <= 600,
		"400 and 4000 words per minute yield %.0f, %.0f", fast, fastest)
}

// The rate is that of prose: numbers, whose words are long, are spoken at the same speed, so at fewer words
// per minute.
func TestSpeak_numbersAreNotQuicker(t *testing.T) {
	t.Parallel()
	v := calibrated(t)
	letterTime := func(text string) float64 {
		return seconds(speak(t, v, text, 220)) / float64(len(strings.ReplaceAll(text, " ", "")))
	}
	numbers := strings.Repeat("On November twenty-second at seventeen forty-five the meter had seventy-seven thousand "+
		"three hundred ninety-six and it cost one hundred twenty-four dollars and thirty-seven cents. ", 3)
	got, want := letterTime(numbers), letterTime(passages(t)["technical"])
	check.That(t, got >= 0.95*want, "%.3f s per letter of numbers, %.3f s per letter of technical prose", got, want)
}

// A single word is spoken at the rate that it would have in a sentence.
func TestSpeak_singleWordHasUsualRate(t *testing.T) {
	t.Parallel()
	v := calibrated(t)
	alone := func(word string) float64 { return seconds(speak(t, v, word, 170)) }
	short, long := alone("Go"), alone("Unbelievable")
	check.That(t, long >= 1.8*short, "a long word takes %.2f s, a short one %.2f s", long, short)
}

func TestCalibration_wordsPerMinute(t *testing.T) {
	t.Parallel()
	v := calibrated(t)
	wpm := v.Calibration.WordsPerMinute()
	check.That(t, wpm >= 175 && wpm <= 200, "the bundled voice speaks %.0f words per minute, want about 186", wpm)
	data := check.Must(json.Marshal(v.Calibration))(t)
	var read voice.Calibration
	err := json.Unmarshal(data, &read)
	check.That(t, err == nil && read == v.Calibration, "%s reads as %+v, %v", data, read, err)
}

// Calibration of models that produce no speech succeeds or returns an error.
func TestCalibrate_unusualModels(t *testing.T) {
	t.Parallel()
	v, h := sineVoice(t, &spellingPhonemizer{})
	for _, tt := range []struct {
		name  string
		model sineModel
		fails bool
	}{
		{"sine", sineModel{level: 0.5}, false},
		{"silence", sineModel{}, false},
		{"ignores the scale", sineModel{level: 0.5, even: true}, false},
		{"NaN", sineModel{level: float32(math.NaN())}, true},
		{"infinite", sineModel{level: float32(math.Inf(1))}, true},
	} {
		*h = tt.model
		c, err := v.Calibrate(t.Context())
		check.Require(t, tt.fails == (err != nil), "%s: %v", tt.name, err)
		check.Must(json.Marshal(c))(t)
		v.Calibration = c
		clips := speak(t, v, "Go", 170)
		check.That(t, err != nil || len(clips) == 1, "%s: %d clips", tt.name, len(clips))
	}
}

// The gain brings all voices to one level.
func TestCalibrate_gainEqualisesLevels(t *testing.T) {
	t.Parallel()
	v, h := sineVoice(t, &spellingPhonemizer{})
	for _, level := range []float32{0.05, 0.2, 0.9} {
		h.level = level
		c := check.Must(v.Calibrate(t.Context()))(t)
		// The root mean square of a sine is its peak over √2; the target is 0.126.
		got := float64(c.Gain*level) / math.Sqrt2
		check.That(t, math.Abs(got-0.126) <= 0.002, "a sine of %v gets level %.4f, want 0.126", level, got)
	}
}
