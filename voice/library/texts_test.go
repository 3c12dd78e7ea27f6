package library_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice"
	"pressbox/voice/library"
	"pressbox/voice/voicetest"
)

// The preview is of what is spoken: its duration is about that of the sound.
func TestPreview(t *testing.T) {
	t.Parallel()
	h := open(t, nil, withBundled)
	awaitCalibrated(t, h, bundled)
	message := "The washer is done in 1h 5m. " +
		strings.Repeat("There is fresh bread on the kitchen table, and the butter is next to it. ", 4)
	text, p, err := h.Preview(t.Context(), "", message)
	check.NoError(t, err)
	check.That(t, strings.HasPrefix(text, "The washer is done in one hour five") && p.Words >= 60 &&
		strings.HasPrefix(p.Phonemes, "ðə wˈɑːʃɚ"), "%q, %d words, phonemes %q", text, p.Words, p.Phonemes)
	clips := speak(t, h, "", message, 0)
	estimated, seconds := p.Duration.Seconds(), float64(samples(clips))/float64(clips[0].Rate)
	check.That(t, math.Abs(estimated/seconds-1) <= 0.1, "estimated %.1f s, spoken in %.1f s", estimated, seconds)
	check.Equal(t, h.Estimate(bundled, message, 170), p.Duration, "estimate")
	estimate := func(letter string) time.Duration { return h.Estimate(bundled, strings.Repeat(letter, 5000), 170) }
	digits, letters := estimate("1"), estimate("a")
	check.That(t, digits >= 10*time.Minute && letters <= 10*time.Minute, "digits take %s, letters %s", digits, letters)
	check.Equal(t, h.Estimate("unknown", message, 170), 0, "an unknown voice takes")
	_, _, err = h.Preview(t.Context(), "unknown", message)
	check.That(t, err != nil, "an unknown voice has a preview")
	_, _, err = h.Preview(t.Context(), "", "...")
	check.ErrorIs(t, err, voice.ErrNoSpeech, "a text without speech")
}

// A text is read by the rules of the voice's language: the bundled model with espeak-ng's German.
func TestSpeak_german(t *testing.T) {
	h := start(t, nil, withBundled, func(tb testing.TB, dir string) {
		tb.Helper()
		german := voicetest.ChangedJSON(tb, bundledConfig, `{"espeak": {"voice": "de"}}`)
		put(tb, filepath.Join(dir, "de.onnx.json"), german)
		put(tb, filepath.Join(dir, "de.onnx"), voicetest.Read(tb, "models/"+bundled+".onnx"))
	})
	awaitCalibrated(t, h, bundled, "de")
	count := func(name, text string) int { return samples(speak(t, h, name, text, 170)) }
	const notice = "Der Klempner kommt am 3.5. zum 2. Mal und bekommt 1 €."
	const words = "Der Klempner kommt am dritten Mai zum zweiten Mal und bekommt ein Euro."
	got, want, english := count("de", notice), count("de", words), count(bundled, notice)
	check.That(t, got == want && got != english,
		"the notice has %d samples, its words have %d, in English it has %d", got, want, english)
}

// A silentModel returns no samples, so that only phonemes are computed.
type silentModel struct{}

func (silentModel) Infer(context.Context, voice.Input) ([]float32, error) { return nil, nil }
func (silentModel) Close() error                                          { return nil }

var (
	gap      = regexp.MustCompile(`\{[^}]*\}`)
	optional = strings.NewReplacer("[", "", "]", "")
	list     = regexp.MustCompile(`(?m)^\S+ = (.+)$`)
	text     = regexp.MustCompile(`(?m)^\s+(?:both|speak) (.+)$`)
)

// playByPlay returns all texts of the play-by-play, with a name in their gaps, and all words that may fill these.
func playByPlay(t *testing.T) []string {
	t.Helper()
	book := string(voicetest.Read(t, "game/call/english.txt"))
	var out []string
	for _, m := range list.FindAllStringSubmatch(book, -1) {
		out = append(out, strings.Split(m[1], " | ")...)
	}
	for _, m := range text.FindAllStringSubmatch(book, -1) {
		out = append(out, m[1])
	}
	for i, s := range out {
		out[i] = gap.ReplaceAllString(optional.Replace(s), "Johnson")
	}
	return out
}

// spokenTexts returns the results in the table of speakable texts.
func spokenTexts(t *testing.T) []string {
	t.Helper()
	table := string(voicetest.Read(t, "voice/speakable/testdata/american.txt"))
	var out []string
	for line := range strings.Lines(table) {
		if _, spoken, ok := strings.Cut(strings.TrimSpace(line), " ⇒ "); ok && !strings.Contains(spoken, "[[") {
			out = append(out, strings.ReplaceAll(spoken, `\n`, "\n"))
		}
	}
	return out
}

func say(t *testing.T, v *voice.Voice, sentence string) {
	t.Helper()
	for _, err := range v.Speak(t.Context(), sentence, 170, 0) {
		check.Require(t, err == nil || errors.Is(err, voice.ErrNoSpeech), "Speak(%q): %v", sentence, err)
	}
}

func TestBundled_havePhonemesOfAllTexts(t *testing.T) {
	t.Parallel()
	sentences := slices.Concat(playByPlay(t), spokenTexts(t))
	check.Require(t, len(sentences) >= 800, "%d sentences, want at least 800", len(sentences))
	phonemizer := voicetest.Espeak(t)
	for _, name := range voicetest.Names(t) {
		for _, dialect := range []string{"en-us", "en-gb"} {
			config := *voicetest.Config(t, name)
			config.Espeak = dialect
			missing := map[string]string{}
			sentence := ""
			v := &voice.Voice{
				Config: &config, Phonemizer: phonemizer, Model: silentModel{},
				OnMissing: func(p string) { missing[p] = sentence },
			}
			for _, sentence = range sentences {
				say(t, v, sentence)
			}
			for _, p := range slices.Sorted(maps.Keys(missing)) {
				t.Errorf("%s has no id for %q in %q of %s", name, p, missing[p], dialect)
			}
		}
	}
}

// A bug in the reading of a text ends no process: the text is spoken as it stands.
func TestLibrary_panic(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	got := library.SpokenAfterPanic(slog.New(slog.NewTextHandler(&log, nil)), "Dinner\nis ready.")
	check.Equal(t, got, "Dinner is ready.", "the text")
	check.Contains(t, log.String(), "message spoken as it stands", "the log")
}
