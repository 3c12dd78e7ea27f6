package library_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"pressbox/voice"
	"pressbox/voice/espeak"
	"pressbox/voice/library"
	"pressbox/voice/onnx"
)

// A mute model says nothing, so that only phonemes are found.
type mute struct{}

func (mute) Infer(context.Context, voice.Input) ([]float32, error) { return nil, nil }
func (mute) Close() error                                          { return nil }

// A peak is a model whose highest sample is remembered.
type peak struct {
	voice.Model
	highest float32
}

func (p *peak) Infer(ctx context.Context, in voice.Input) ([]float32, error) {
	samples, err := p.Model.Infer(ctx, in)
	for _, s := range samples {
		p.highest = max(p.highest, s, -s)
	}
	return samples, err
}

var (
	gap      = regexp.MustCompile(`\{[^}]*\}`)
	optional = strings.NewReplacer("[", "", "]", "")
	list     = regexp.MustCompile(`(?m)^\S+ = (.+)$`)
	text     = regexp.MustCompile(`(?m)^\s+(?:both|speak) (.+)$`)
)

// calls are all texts of the play-by-play, their gaps filled with a name, and
// all words that may fill them.
func calls(t *testing.T) []string {
	t.Helper()
	book := string(get(t, filepath.Join(root(t), "game/call/english.txt")))
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

// sayings are what is said of each row of the table of speakable text.
func sayings(t *testing.T) []string {
	t.Helper()
	table := string(get(t, filepath.Join(root(t), "voice/speakable/testdata/american.txt")))
	var out []string
	for line := range strings.Lines(table) {
		if _, said, ok := strings.Cut(strings.TrimSpace(line), " ⇒ "); ok && !strings.Contains(said, "[[") {
			out = append(out, strings.ReplaceAll(said, `\n`, "\n"))
		}
	}
	return out
}

func say(t *testing.T, v *voice.Voice, sentence string) {
	t.Helper()
	for _, err := range v.Speak(t.Context(), sentence, 0) {
		if err != nil && !errors.Is(err, voice.ErrNoSpeech) {
			t.Fatalf("Speak(%q): %v", sentence, err)
		}
	}
}

func TestOurVoicesKnowAllThatPressboxSays(t *testing.T) {
	t.Parallel()
	sentences := slices.Concat(calls(t), sayings(t))
	if len(sentences) < 800 {
		t.Fatalf("%d sentences, want at least 800", len(sentences))
	}
	phonemizer := espeak.New("")
	t.Cleanup(func() { phonemizer.Close() })
	for name, config := range ours(t) {
		missing := map[string]string{}
		sentence := ""
		v := &voice.Voice{
			Config: config, Phonemizer: phonemizer, Model: mute{},
			OnMissing: func(p string) { missing[p] = sentence },
		}
		for _, sentence = range sentences {
			say(t, v, sentence)
		}
		for _, p := range slices.Sorted(maps.Keys(missing)) {
			t.Errorf("%s has no sound for %q in %q", name, p, missing[p])
		}
	}
}

func TestOurVoicesStayBelowFullScale(t *testing.T) {
	t.Parallel()
	phonemizer := espeak.New("")
	t.Cleanup(func() { phonemizer.Close() })
	runtime := onnx.Runtime{Library: os.Getenv("ONNXRUNTIME_LIB"), Threads: 1}
	if runtime.Library == "" {
		runtime.Library = filepath.Join(root(t), "bin", onnx.LibraryName)
	}
	for name, config := range ours(t) {
		model, err := runtime.Load(filepath.Join(root(t), "models", name+".onnx"), config)
		if err != nil {
			t.Fatal(err)
		}
		p := &peak{Model: model}
		v := &voice.Voice{Config: config, Phonemizer: phonemizer, Model: p}
		for i, sentence := range slices.Concat(calls(t), sayings(t)) {
			if i%20 == 0 {
				say(t, v, sentence)
			}
		}
		if p.highest >= 1 || p.highest < 0.3 {
			t.Errorf("%s reached %.3f of full scale, want 0.3 to 1", name, p.highest)
		}
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	}
}

// ours are the configs of the voices that come with Pressbox, by name.
func ours(t *testing.T) map[string]*voice.Config {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root(t), "models", "*.onnx"))
	if err != nil || len(paths) < 2 {
		t.Fatalf("the voices in models: %v, %v, want at least two", paths, err)
	}
	out := map[string]*voice.Config{}
	for _, path := range paths {
		config, err := voice.ParseConfig(get(t, path+".json"))
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(path), ".onnx")] = config
	}
	return out
}

// bundledBytes is the size of the bundled voice's model.
func bundledBytes(t *testing.T) int64 {
	t.Helper()
	stat, err := os.Stat(filepath.Join(root(t), "models", bundled+".onnx"))
	if err != nil {
		t.Fatal(err)
	}
	return stat.Size()
}

const second = "en_US-pressbox2-medium"

// A held model answers when it is let go.
type held struct {
	voice.Model
	begun, let chan struct{}
	once       *sync.Once
}

func (m held) Infer(ctx context.Context, in voice.Input) ([]float32, error) {
	m.once.Do(func() { close(m.begun) })
	select {
	case <-m.let:
		return m.Model.Infer(ctx, in)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestOurVoicesSpeakWhileTheOthersAreMeasuredUnasked(t *testing.T) {
	t.Parallel()
	begun, let := make(chan struct{}), make(chan struct{})
	h := open(t, func(c *library.Config) {
		c.Dirs = []string{filepath.Join(root(t), "models")}
		load := c.Load
		c.Load = func(path string, config *voice.Config) (voice.Model, error) {
			m, err := load(path, config)
			if err == nil && strings.Contains(path, second) {
				m = held{m, begun, let, new(sync.Once)}
			}
			return m, err
		}
	})
	<-begun // the default voice was measured before
	if info(h, bundled).WordsPerMinute == nil {
		t.Errorf("%s is measured after %s", bundled, second)
	}
	if n := samples(speak(t, h, "", "The oven is on fire!", 0)); n == 0 {
		t.Error("nothing was said")
	}
	if info(h, second).WordsPerMinute != nil {
		t.Fatalf("%s was measured without its model", second)
	}
	close(let)
	measured(t, h, second)
	eventually(t, "both are kept", func() bool { return h.kept.len() == 2 })
}
