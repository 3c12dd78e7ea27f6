package library_test

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"pressbox/packaging/check"
	"pressbox/voice"
	"pressbox/voice/library"
	"pressbox/voice/voicetest"
)

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

// playByPlay returns all texts of the play-by-play, with a name in their gaps, and all words that may fill
// these.
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
		if err != nil && !errors.Is(err, voice.ErrNoSpeech) {
			t.Fatalf("Speak(%q): %v", sentence, err)
		}
	}
}

func TestBundled_havePhonemesOfAllTexts(t *testing.T) {
	t.Parallel()
	sentences := slices.Concat(playByPlay(t), spokenTexts(t))
	check.Require(t, len(sentences) >= 800, "%d sentences, want at least 800", len(sentences))
	phonemizer := voicetest.Espeak(t)
	for _, name := range voicetest.Names(t) {
		config := voicetest.Config(t, name)
		missing := map[string]string{}
		sentence := ""
		v := &voice.Voice{
			Config: config, Phonemizer: phonemizer, Model: silentModel{},
			OnMissing: func(p string) { missing[p] = sentence },
		}
		for _, sentence = range sentences {
			say(t, v, sentence)
		}
		for _, p := range slices.Sorted(maps.Keys(missing)) {
			t.Errorf("%s has no id for %q in %q", name, p, missing[p])
		}
	}
}

// bundledBytes returns the size of the bundled voice's model.
func bundledBytes(t *testing.T) int64 {
	t.Helper()
	return int64(len(voicetest.Read(t, "models/"+bundled+".onnx")))
}

const second = "en_US-pressbox2-medium"

// A blockedModel returns once let is closed.
type blockedModel struct {
	voice.Model
	started, let chan struct{}
	once         *sync.Once
}

func (m blockedModel) Infer(ctx context.Context, in voice.Input) ([]float32, error) {
	m.once.Do(func() { close(m.started) })
	select {
	case <-m.let:
		return m.Model.Infer(ctx, in)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestBundled_speakDuringCalibration(t *testing.T) {
	t.Parallel()
	started, let := make(chan struct{}), make(chan struct{})
	h := open(t, func(c *library.Config) {
		c.Dirs = []string{filepath.Dir(voicetest.Path(t, second))}
		load := c.Load
		c.Load = func(path string, config *voice.Config) (voice.Model, error) {
			m, err := load(path, config)
			if err == nil && strings.Contains(path, second) {
				m = blockedModel{m, started, let, new(sync.Once)}
			}
			return m, err
		}
	})
	<-started // the default voice is calibrated first
	check.That(t, info(h, bundled).WordsPerMinute != nil, "%s is calibrated after %s", bundled, second)
	n := samples(speak(t, h, "", "The oven is on fire!", 0))
	check.That(t, n != 0, "no samples")
	check.Require(t, info(h, second).WordsPerMinute == nil, "%s was calibrated without its model", second)
	close(let)
	awaitCalibrated(t, h, second)
	eventually(t, "both are saved", func() bool { return h.memory.len() == 2 })
}
