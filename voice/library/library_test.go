package library_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/voice"
	"pressbox/voice/announce"
	"pressbox/voice/espeak"
	"pressbox/voice/library"
	"pressbox/voice/speakable"
)

func TestBundledVoiceIsListedLoadedAndMeasured(t *testing.T) {
	t.Parallel()
	h := open(t, nil, theBundled, written("MODEL_CARD", "# Card\n* Dataset: x\n* License: EST-2003\n"))
	measured(t, h, bundled)
	i := info(h, bundled)
	if wpm := *i.WordsPerMinute; wpm < 175 || wpm > 200 {
		t.Errorf("%v words a minute, want about 186", wpm)
	}
	i.WordsPerMinute = nil
	want := library.Info{
		Name: bundled, Language: "en", Country: "US", Speaker: "pressbox", Quality: "medium", SampleRate: 22050,
		Speakers: []string{}, SizeBytes: bundledBytes(t), Default: true, Loaded: true, License: "EST-2003",
	}
	got, _ := json.Marshal(i)
	if wanted, _ := json.Marshal(want); string(got) != string(wanted) {
		t.Errorf("%s, want %s", got, wanted)
	}
	if err := h.Health(); err != nil {
		t.Errorf("Health: %v", err)
	}
	if h.kept.len() != 1 {
		t.Errorf("%d calibrations kept, want 1", h.kept.len())
	}
}

func TestSpeakMakesTextSpeakableAndKeepsTheRate(t *testing.T) {
	t.Parallel()
	lexicon, err := speakable.ParseLexicon(strings.NewReader("sba = summer baseball association of the county\n"))
	if err != nil {
		t.Fatal(err)
	}
	h := open(t, nil, theBundled)
	measured(t, h, bundled)
	const text = "Good morning. The plumber comes at ten, so please leave the garage door open and move the car. " +
		"There is fresh coffee in the kitchen. The washing machine has finished, and the dryer needs about twenty minutes more. " +
		"It will be warm today with a little rain in the late afternoon, so take an umbrella with you."
	words := float64(len(strings.Fields(text)))
	for _, rate := range []int{120, 260} {
		clips := speak(t, h, "", text, rate)
		minutes := float64(samples(clips)) / float64(clips[0].Rate) / 60
		if got := words / minutes; math.Abs(got/float64(rate)-1) > 0.09 { // the silent ends included
			t.Errorf("%.0f words a minute, want %d", got, rate)
		}
	}
	if usual, same := speak(t, h, "", text, 0), speak(t, h, bundled, text, 170); samples(usual) != samples(same) {
		t.Errorf("the default voice and rate make %d samples, named ones %d", samples(usual), samples(same))
	}
	if money, said := samples(speak(t, h, "", "$5", 170)), samples(speak(t, h, "", "five dollars", 170)); money != said {
		t.Errorf("$5 has %d samples, five dollars %d", money, said)
	}
	short := samples(speak(t, h, "", "the sba", 170))
	h.Reload(lexicon)
	if long := samples(speak(t, h, "", "the sba", 170)); long < 2*short {
		t.Errorf("with a lexicon %d samples, without %d", long, short)
	}
}

func TestUnknownVoices(t *testing.T) {
	t.Parallel()
	h := build(t, nil, theBundled, tiny("de_DE-several-low", "speakers", `{"num_speakers": 3, "speaker_id_map": {"p225": 2}}`))
	for _, tt := range []struct{ ask, want string }{
		{"", bundled},
		{bundled, bundled},
		{"de_DE-several-low#p225", "de_DE-several-low#p225"},
		{"de_DE-several-low#1", "de_DE-several-low#1"},
	} {
		if got, err := h.Voice(tt.ask); err != nil || got != tt.want {
			t.Errorf("voice %q: %q, %v; want %q", tt.ask, got, err, tt.want)
		}
	}
	for _, name := range []string{"nobody", "de_DE-several-low#p1", "de_DE-several-low#3", "#", "../" + bundled} {
		_, err := h.Voice(name)
		unknown, ok := errors.AsType[*announce.UnknownVoiceError](err)
		if !ok || unknown.Name != name || !slices.Equal(unknown.Installed, []string{"de_DE-several-low", bundled}) {
			t.Errorf("voice %q: %v", name, err)
		}
		if err := speakError(t, h, name); !errors.As(err, &unknown) {
			t.Errorf("speak with %q: %v", name, err)
		}
	}
}

func TestSpeakersAreToldApart(t *testing.T) {
	t.Parallel()
	h := open(t, nil, tiny("de_DE-several-low", "speakers", `{"num_speakers": 3, "speaker_id_map": {"p225": 2}}`))
	if i := info(h, "de_DE-several-low"); !slices.Equal(i.Speakers, []string{"0", "1", "p225"}) {
		t.Errorf("speakers %q", i.Speakers)
	}
	// The model hums at 0.1 × (1 + speaker), and each is brought to one level
	// once it was measured, which to be spoken with asks for.
	speakers := []string{"", "#1", "#p225"}
	for _, speaker := range speakers {
		speak(t, h, "de_DE-several-low"+speaker, "Hello there", 170)
	}
	eventually(t, "all speakers are measured", func() bool { return h.kept.len() == len(speakers) })
	for _, speaker := range speakers {
		clips := speak(t, h, "de_DE-several-low"+speaker, "Hello there", 170)
		if top := slices.Max(clips[0].Samples); math.Abs(float64(top)-0.126*math.Sqrt2) > 0.003 {
			t.Errorf("speaker %q hums at %v, want %v", speaker, top, 0.126*math.Sqrt2)
		}
	}
}

func TestBrokenVoicesAreListedAndHurtNobody(t *testing.T) {
	t.Parallel()
	broken := map[string]struct {
		put  func(testing.TB, string)
		want string
	}{
		"a-truncated": {tiny("a-truncated", "truncated", `{}`), "load the model"},
		"b-empty":     {tiny("b-empty", "empty", `{}`), "load the model"},
		"c-words":     {tiny("c-words", "words", `{}`), "load the model"},
		"d-lacks":     {tiny("d-lacks", "lacks", `{}`), "scales"},
		"e-liar":      {tiny("e-liar", "liar", `{}`), "sample_rate is 16000"},
		"f-nan":       {tiny("f-nan", "nan", `{}`), "no sound"},
		"g-stereo":    {tiny("g-stereo", "stereo", `{}`), "one channel"},
		"h-pinyin":    {tiny("h-pinyin", "hum", `{"phoneme_type": "pinyin"}`), "phoneme_type"},
		"i-klingon":   {tiny("i-klingon", "hum", `{"espeak": {"voice": "tlh-nowhere"}}`), "tlh-nowhere"},
		"j-lonely":    {written("j-lonely.onnx", ""), "j-lonely.onnx.json is missing"},
		"k-lost":      {written("k-lost.onnx.json", ""), "k-lost.onnx is missing"},
		"l-folder":    {folder("l-folder.onnx"), "l-folder.onnx is missing"},
	}
	files := []func(testing.TB, string){theBundled, written("l-folder.onnx.json", "{}")}
	for _, b := range broken {
		files = append(files, b.put)
	}
	h := open(t, nil, files...)
	for name, b := range broken {
		eventually(t, name+" is listed with its error: "+b.want, func() bool { return strings.Contains(info(h, name).Error, b.want) })
		if _, err := h.Voice(name); err == nil {
			t.Errorf("the broken voice %s can be asked for", name)
		}
		if err := speakError(t, h, name); err == nil {
			t.Errorf("the broken voice %s speaks", name)
		}
	}
	if n := samples(speak(t, h, "", "hello", 170)); n == 0 || h.Health() != nil {
		t.Errorf("the whole voice makes %d samples; Health: %v", n, h.Health())
	}
}

func TestVoiceAppearsChangesAndGoes(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	if err := h.Health(); err == nil || !strings.Contains(err.Error(), bundled) {
		t.Errorf("Health without any voice: %v", err)
	}
	theBundled(t, h.dir)
	eventually(t, "a pair that was dropped in is loaded", func() bool { return info(h, bundled).Loaded })
	if h.Health() != nil {
		t.Errorf("Health: %v", h.Health())
	}
	before := samples(speak(t, h, "", "hello there", 170))

	// It is replaced while it speaks: what is being said is said to its end.
	next, rest := pull(t, h, "One, which is quite long for a clause of its own. Two. Three. Four.")
	next()
	tiny(bundled, "hum", `{}`)(t, h.dir)
	eventually(t, "the new file is loaded", func() bool { i := info(h, bundled); return i.Loaded && i.SizeBytes < 10000 })
	if n := rest(); n < 5 {
		t.Errorf("after the replacement %d clips came, want 3 sentences and their pauses", n)
	}
	if after := samples(speak(t, h, "", "hello there", 170)); after == before {
		t.Errorf("the replaced voice makes %d samples as before", after)
	}

	for _, suffix := range []string{".onnx", ".onnx.json"} {
		if err := os.Remove(filepath.Join(h.dir, bundled+suffix)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "it is gone", func() bool { return len(h.Voices()) == 0 })
	if err := speakError(t, h, ""); err == nil {
		t.Error("a voice that is gone speaks")
	}
}

// pull speaks text step by step: next takes a clip, rest takes the others and
// counts them.
func pull(t *testing.T, h *house, text string) (next func(), rest func() int) {
	t.Helper()
	clips, goOn, done := make(chan int), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		n := 0
		for _, err := range h.Speak(context.Background(), "", text, 170) {
			if err != nil {
				t.Error(err)
			}
			if n++; n == 1 {
				clips <- n
				<-goOn
			}
		}
		clips <- n - 1
	}()
	return func() { <-clips }, func() int {
		close(goOn)
		n := <-clips
		<-done
		return n
	}
}

func TestFolderMayComeLater(t *testing.T) {
	t.Parallel()
	var dir string
	h := open(t, func(c *library.Config) {
		dir = filepath.Join(t.TempDir(), "models")
		c.Dirs = append(c.Dirs, dir)
	})
	tiny("en_GB-first-low", "hum", `{}`)(t, h.dir)
	eventually(t, "the folders are watched", func() bool { return len(h.Voices()) == 1 })
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	theBundled(t, dir)
	eventually(t, "the voice in the new folder is found", func() bool { return info(h, bundled).Loaded })
	tiny("en_GB-hum-low", "hum", `{}`)(t, dir)
	eventually(t, "the new folder is watched", func() bool { return len(h.Voices()) == 3 })
}

func TestFirstFolderWins(t *testing.T) {
	t.Parallel()
	second := t.TempDir()
	tiny(bundled, "hum", `{}`)(t, second)
	tiny("en_GB-hum-low", "hum", `{}`)(t, second)
	h := build(t, func(c *library.Config) { c.Dirs = append(c.Dirs, second) }, theBundled)
	if i := info(h, bundled); len(h.Voices()) != 2 || i.SizeBytes != bundledBytes(t) {
		t.Errorf("%d voices, the bundled one of %d bytes", len(h.Voices()), i.SizeBytes)
	}
}

func TestModelsUsedLongestAgoAreUnloaded(t *testing.T) {
	t.Parallel()
	size := int64(len(get(t, filepath.Join(root(t), "voice/onnx/testdata/hum.onnx"))))
	h := open(t, func(c *library.Config) { c.CacheBytes = 2 * size }, theBundled,
		tiny("a", "hum", `{}`), tiny("b", "hum", `{}`), tiny("c", "hum", `{}`))
	measured(t, h, bundled, "a", "b", "c")
	eventually(t, "what was loaded only to be measured is unloaded", func() bool { return !info(h, "a").Loaded })
	for _, name := range []string{"a", "b", "a", "c"} {
		speak(t, h, name, "hello", 170)
	}
	var loaded []string
	for _, i := range h.Voices() {
		if i.Loaded {
			loaded = append(loaded, i.Name)
		}
	}
	if !slices.Equal(loaded, []string{"a", "c", bundled}) {
		t.Errorf("loaded are %q, want those used last and the default", loaded)
	}
}

func TestCalibrationIsTakenFromTheStore(t *testing.T) {
	t.Parallel()
	first := open(t, nil, tiny(bundled, "hum", `{}`))
	speak(t, first, "", "hello", 170)
	eventually(t, "it is kept", func() bool { return first.kept.len() == 1 })

	// One that was kept of a voice that is not loaded is known without loading it.
	again := open(t, func(c *library.Config) { c.Default, c.Calibrations = "none", first.kept }, tiny(bundled, "hum", `{}`))
	eventually(t, "it is known", func() bool { return info(again, bundled).WordsPerMinute != nil })
	if n := len(again.loads()); n != 0 {
		t.Errorf("%d models were loaded", n)
	}

	// What cannot be kept is still used.
	full := open(t, func(c *library.Config) { c.Calibrations = &memory{full: true} }, tiny(bundled, "hum", `{}`))
	eventually(t, "it is known without being kept", func() bool { return info(full, bundled).WordsPerMinute != nil })
}

func TestWithoutTheProgramsEveryVoiceIsHeldBackNotBroken(t *testing.T) {
	t.Parallel()
	missing := func(c *library.Config) { c.Phonemizer = espeak.New("/nowhere/espeak-ng") }
	h := open(t, missing, tiny(bundled, "hum", `{}`))
	eventually(t, "Health says what to install", func() bool {
		return h.Health() != nil && strings.Contains(h.Health().Error(), "install the package espeak-ng")
	})
	if _, err := h.Voice(""); err != nil {
		t.Errorf("the voice cannot be asked for: %v", err)
	}
	if err := speakError(t, h, ""); !errors.Is(err, voice.ErrUnavailable) {
		t.Errorf("speak: %v", err)
	}
}

func TestMissingPhonemesAreWarnedOfOnce(t *testing.T) {
	t.Parallel()
	h := open(t, nil, theBundled)
	for range 3 {
		speak(t, h, "", "Hello [[ж]] and [[ж]] there", 170)
	}
	if n := strings.Count(h.logs.String(), "phoneme=ж"); n != 1 {
		t.Errorf("warned %d times of one phoneme", n)
	}
}

func TestSpeakEndsWithItsContext(t *testing.T) {
	t.Parallel()
	h := build(t, nil, theBundled) // nobody runs it
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for _, err := range h.Speak(ctx, "", "hello", 170) {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the context's error", err)
		}
	}
}

func TestSpeakAfterRunIsAnError(t *testing.T) {
	t.Parallel()
	h := build(t, nil, theBundled)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if err := speakError(t, h, ""); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("%v, want that it is closed", err)
	}
}

// Whoever speaks, loads and unloads at once gets the same speech.
func TestSpeakConcurrently(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *library.Config) { c.CacheBytes = 1 }, theBundled, tiny("a", "hum", `{}`), tiny("b", "hum", `{"language": {}}`))
	measured(t, h, bundled, "a", "b")
	want := map[string]int{}
	for _, name := range []string{bundled, "a", "b"} {
		want[name] = samples(speak(t, h, name, "Hello. There.", 170))
	}
	var wg sync.WaitGroup
	for name := range want {
		for range 3 {
			wg.Go(func() {
				if got := samples(speak(t, h, name, "Hello. There.", 170)); got != want[name] {
					t.Errorf("%s makes %d samples, alone %d", name, got, want[name])
				}
			})
		}
	}
	wg.Wait()
}
