package library_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice"
	"pressbox/voice/announce"
	"pressbox/voice/espeak"
	"pressbox/voice/library"
	"pressbox/voice/speakable"
	"pressbox/voice/voicetest"
)

func TestRun_loadsAndCalibratesDefault(t *testing.T) {
	h := start(t, nil, withBundled, withFile("MODEL_CARD", "# Card\n* Dataset: x\n* License: EST-2003\n"))
	awaitCalibrated(t, h, bundled)
	i := info(h, bundled)
	wpm := *i.WordsPerMinute
	check.That(t, wpm >= 195 && wpm <= 215, "%v words per minute, want about 205", wpm)
	i.WordsPerMinute = nil
	want := library.Info{
		Name: bundled, Language: "en", Country: "US", Speaker: "heart", Quality: "medium", SampleRate: 24000,
		Speakers: []string{}, SizeBytes: bundledBytes(t), Default: true, Loaded: true, License: "EST-2003",
		Label: "Heart (English, US)",
	}
	got, _ := json.Marshal(i)
	wanted, _ := json.Marshal(want)
	check.That(t, string(got) == string(wanted), "%s, want %s", got, wanted)
	check.NoError(t, h.Health())
	check.That(t, h.memory.len() == 1, "%d calibrations saved, want 1", h.memory.len())
}

// Voices have names for people, with what is known of them.
func TestVoices_labels(t *testing.T) {
	t.Parallel()
	const british = `{"audio": {"quality": "low"}, "language": {"region": "GB", "country_english": "Great Britain"}}`
	h := newRig(t, nil, withTiny("en_GB-jenny_dioco-low", "hum", british),
		withTiny("nameless", "hum", `{"dataset": null, "language": null}`),
		withTiny("émile", "hum", `{"dataset": "émile", "language": {"region": null}}`),
		withFile("de_DE-lost-x_low.onnx", ""))
	for name, want := range map[string]string{
		"en_GB-jenny_dioco-low": "Jenny dioco, low (English, GB)", "nameless": "nameless", "émile": "Émile (English)",
		"de_DE-lost-x_low": "Lost, x low (de, DE)",
	} {
		check.Equal(t, info(h, name).Label, want, "%s", name)
	}
}

func TestSpeak_textAndRate(t *testing.T) {
	t.Parallel()
	const entry = "sba = summer baseball association of the county\n"
	lexicon := check.Must(speakable.ParseLexicon(strings.NewReader(entry)))(t)
	h := open(t, nil, withBundled)
	awaitCalibrated(t, h, bundled)
	const text = "Good morning. The plumber comes at ten, so please leave the garage door open and move the car. " +
		"There is fresh coffee in the kitchen. The washing machine has finished, and the dryer needs about twenty " +
		"minutes more. It will be warm today with a little rain in the late afternoon, so take an umbrella with you."
	words := float64(len(strings.Fields(text)))
	for _, rate := range []int{120, 260} {
		clips := speak(t, h, "", text, rate)
		minutes := float64(samples(clips)) / float64(clips[0].Rate) / 60
		got := words / minutes // including silent ends
		check.That(t, math.Abs(got/float64(rate)-1) <= 0.09, "%.0f words per minute, want %d", got, rate)
	}
	byDefault, same := speak(t, h, "", text, 0), speak(t, h, bundled, text, 170)
	check.That(t, samples(byDefault) == samples(same),
		"the default voice and rate yield %d samples, named ones %d", samples(byDefault), samples(same))
	sum, spelled := samples(speak(t, h, "", "$5", 170)), samples(speak(t, h, "", "five dollars", 170))
	check.That(t, sum == spelled, "$5 has %d samples, five dollars %d", sum, spelled)
	short := samples(speak(t, h, "", "the sba", 170))
	h.Reload(lexicon, library.Defaults{Voice: "missing", Rate: 250})
	long := samples(speak(t, h, "", "the sba", 170))
	check.That(t, long >= 2*short, "with a lexicon %d samples, without %d", long, short)
	h.Reload(nil, library.Defaults{Voice: bundled, Rate: 250})
	reloaded, named := samples(speak(t, h, "", text, 0)), samples(speak(t, h, bundled, text, 250))
	check.That(t, reloaded == named,
		"after a reload the default voice and rate yield %d samples, named ones %d", reloaded, named)
}

// A config has at most 4 MiB, and a model 1 GiB.
func TestVoices_limits(t *testing.T) {
	t.Parallel()
	sized := func(name string, size int64) func(testing.TB, string) {
		return func(tb testing.TB, dir string) {
			tb.Helper()
			withTiny("x", "hum", `{}`)(tb, dir)
			check.NoError(tb, os.Truncate(filepath.Join(dir, name), size))
		}
	}
	blank := func(size int) func(testing.TB, string) {
		return func(tb testing.TB, dir string) {
			tb.Helper()
			withTiny("x", "hum", `{}`)(tb, dir)
			config := voicetest.Read(tb, voicetest.Piper)
			put(tb, filepath.Join(dir, "x.onnx.json"), append(config, strings.Repeat(" ", size-len(config))...))
		}
	}
	for _, tt := range []struct {
		files func(testing.TB, string)
		want  string
	}{
		{sized("x.onnx", 1<<30), ""},
		{sized("x.onnx", 1<<30+1), "has 1073741825 bytes, want at most 1073741824"},
		{blank(4 << 20), ""},
		{blank(4<<20 + 1), "x.onnx.json has more than 4194304 bytes"},
	} {
		got := info(newRig(t, nil, tt.files), "x").Error
		check.That(t, (got == "") == (tt.want == "") && strings.Contains(got, tt.want), "%q, want %q", got, tt.want)
	}
}

func TestVoice_unknown(t *testing.T) {
	t.Parallel()
	h := newRig(t, nil, withBundled,
		withTiny("de_DE-several-low", "speakers", `{"num_speakers": 3, "speaker_id_map": {"p225": 2}}`))
	for _, tt := range []struct{ name, want string }{
		{"", bundled},
		{bundled, bundled},
		{"de_DE-several-low#p225", "de_DE-several-low#p225"},
		{"de_DE-several-low#1", "de_DE-several-low#1"},
	} {
		check.Equal(t, check.Must(h.Voice(tt.name))(t), tt.want, "voice %q", tt.name)
	}
	for name, want := range map[string]string{
		"unknown":              "is not installed; installed voices: de_DE-several-low, " + bundled,
		"de_DE-several-low#p1": "no such speaker; its speakers: 0, 1, p225",
		"de_DE-several-low#3":  "no such speaker; its speakers: 0, 1, p225",
		"#":                    "is not installed",
		"../" + bundled:        "is not installed",
	} {
		_, err := h.Voice(name)
		unknown, ok := errors.AsType[*announce.UnknownVoiceError](err)
		check.That(t, ok && unknown.Name == name && strings.Contains(err.Error(), want), "voice %q: %v", name, err)
	}
}

func TestSpeak_speakers(t *testing.T) {
	h := start(t, nil, withTiny("de_DE-several-low", "speakers", `{"num_speakers": 3, "speaker_id_map": {"p225": 2}}`))
	i := info(h, "de_DE-several-low")
	check.That(t, slices.Equal(i.Speakers, []string{"0", "1", "p225"}), "speakers %q", i.Speakers)
	// The model has level 0.1 × (1 + speaker). Speaking requests the calibration, which brings each to the
	// common level.
	speakers := []string{"", "#1", "#p225"}
	for _, speaker := range speakers {
		speak(t, h, "de_DE-several-low"+speaker, "Hello there", 170)
	}
	eventually(t, "all speakers are calibrated", func() bool { return h.memory.len() == len(speakers) })
	for _, speaker := range speakers {
		clips := speak(t, h, "de_DE-several-low"+speaker, "Hello there", 170)
		top, want := float64(slices.Max(clips[0].Samples)), 0.126*math.Sqrt2
		check.That(t, math.Abs(top-want) <= 0.003, "speaker %q has level %v, want %v", speaker, top, want)
	}
}

func TestVoices_faultyAffectOnlyThemselves(t *testing.T) {
	t.Parallel()
	faulty := map[string]struct {
		put  func(testing.TB, string)
		want string
	}{
		"a-truncated": {withTiny("a-truncated", "truncated", `{}`), "load the model"},
		"b-empty":     {withTiny("b-empty", "empty", `{}`), "load the model"},
		"c-words":     {withTiny("c-words", "words", `{}`), "an HTML page"},
		"d-lacks":     {withTiny("d-lacks", "lacks", `{}`), "scales"},
		"e-liar":      {withTiny("e-liar", "liar", `{}`), "sample_rate is 16000"},
		"f-nan":       {withTiny("f-nan", "nan", `{}`), "no sound"},
		"g-stereo":    {withTiny("g-stereo", "stereo", `{}`), "one channel"},
		"h-pinyin":    {withTiny("h-pinyin", "hum", `{"phoneme_type": "pinyin"}`), "phoneme_type"},
		"i-klingon":   {withTiny("i-klingon", "hum", `{"espeak": {"voice": "tlh-nowhere"}}`), "tlh-nowhere"},
		"j-lonely":    {withFile("j-lonely.onnx", ""), "j-lonely.onnx.json is missing"},
		"k-lost":      {withFile("k-lost.onnx.json", ""), "k-lost.onnx is missing"},
		"l-folder":    {withDirectory("l-folder.onnx"), "l-folder.onnx is missing"},
	}
	files := []func(testing.TB, string){withBundled, withFile("l-folder.onnx.json", "{}")}
	for _, b := range faulty {
		files = append(files, b.put)
	}
	h := open(t, nil, files...)
	for name, b := range faulty {
		eventually(t, name+" is listed with its error: "+b.want,
			func() bool { return strings.Contains(info(h, name).Error, b.want) })
		_, err := h.Voice(name)
		text := fmt.Sprint(err)
		check.That(t, strings.Contains(text, "is broken: ") && strings.Contains(text, b.want), "%s: %v", name, err)
		got := spokenBy(t, h, name, "hello", nil)
		check.That(t, len(got) == 1 && got[0] == bundled+":0", "instead of the faulty voice %s speaks %q", name, got)
		log := h.logs.String()
		n := strings.Count(log, `unusable" voice=`+name) + strings.Count(log, `invalid" voice=`+name)
		check.That(t, n == 1, "the faulty voice %s is logged %d times", name, n)
	}
	n := samples(speak(t, h, "", "hello", 170))
	check.That(t, n != 0 && h.Health() == nil, "the valid voice yields %d samples; Health: %v", n, h.Health())
}

func TestRun_followsFiles(t *testing.T) {
	h := start(t, nil)
	err := h.Health()
	check.That(t, err != nil && strings.Contains(err.Error(), bundled), "Health without any voice: %v", err)
	withBundled(t, h.dir)
	eventually(t, "the added voice is loaded", func() bool { return info(h, bundled).Loaded })
	check.That(t, h.Health() == nil, "Health: %v", h.Health())
	before := samples(speak(t, h, "", "hello there", 170))

	// It is replaced while it speaks; the message is completed.
	next, rest := pull(t, h, "One, which is quite long for a clause of its own. Two. Three. Four.")
	next()
	withTiny(bundled, "hum", `{}`)(t, h.dir)
	eventually(t, "the new file is loaded",
		func() bool { i := info(h, bundled); return i.Loaded && i.SizeBytes < 10000 })
	n := rest()
	check.That(t, n >= 5, "after the replacement %d clips, want 3 sentences and their pauses", n)
	after := samples(speak(t, h, "", "hello there", 170))
	check.That(t, after != before, "the replaced voice yields %d samples as before", after)

	for _, suffix := range []string{".onnx", ".onnx.json"} {
		check.NoError(t, os.Remove(filepath.Join(h.dir, bundled+suffix)))
	}
	eventually(t, "the voice is removed", func() bool { return len(h.Voices()) == 0 })
	check.That(t, speakError(t, h, "") != nil, "a removed voice speaks")
}

// pull speaks text step by step: next receives a clip, rest receives the others and returns their number.
func pull(t *testing.T, h *rig, text string) (next func(), rest func() int) {
	t.Helper()
	clips, proceed, done := make(chan int), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		n := 0
		for _, err := range h.Speak(context.Background(), announce.Utterance{Message: text}) {
			check.That(t, err == nil, "%v", err)
			if n++; n == 1 {
				clips <- n
				<-proceed
			}
		}
		clips <- n - 1
	}()
	return func() { <-clips }, func() int {
		close(proceed)
		n := <-clips
		<-done
		return n
	}
}

func TestRun_directoryCreatedLater(t *testing.T) {
	t.Parallel()
	var dir string
	h := open(t, func(c *library.Config) {
		dir = filepath.Join(t.TempDir(), "models")
		c.Dirs = append(c.Dirs, dir)
	})
	withTiny("en_GB-first-low", "hum", `{}`)(t, h.dir)
	eventually(t, "the directories are watched", func() bool { return len(h.Voices()) == 1 })
	check.NoError(t, os.Mkdir(dir, 0o755))
	withBundled(t, dir)
	eventually(t, "the voice in the new directory is found", func() bool { return info(h, bundled).Loaded })
	withTiny("en_GB-hum-low", "hum", `{}`)(t, dir)
	eventually(t, "the new directory is watched", func() bool { return len(h.Voices()) == 3 })
}

func TestNew_firstDirectoryWins(t *testing.T) {
	t.Parallel()
	second := t.TempDir()
	withTiny(bundled, "hum", `{}`)(t, second)
	withTiny("en_GB-hum-low", "hum", `{}`)(t, second)
	h := newRig(t, func(c *library.Config) { c.Dirs = append(c.Dirs, second) }, withBundled)
	check.Equal(t, len(h.Voices()), 2, "voices")
	check.Equal(t, info(h, bundled).SizeBytes, bundledBytes(t), "bytes of the bundled voice")
}

func TestSpeak_unloadsLeastRecentlyUsed(t *testing.T) {
	t.Parallel()
	size := int64(len(voicetest.Read(t, "voice/onnx/testdata/hum.onnx")))
	h := open(t, func(c *library.Config) { c.CacheBytes = 2 * size }, withBundled,
		withTiny("a", "hum", `{}`), withTiny("b", "hum", `{}`), withTiny("c", "hum", `{}`))
	awaitCalibrated(t, h, bundled, "a", "b", "c")
	eventually(t, "models loaded for calibration are unloaded", func() bool { return !info(h, "a").Loaded })
	for _, name := range []string{"a", "b", "a", "c"} {
		speak(t, h, name, "hello", 170)
	}
	var loaded []string
	for _, i := range h.Voices() {
		if i.Loaded {
			loaded = append(loaded, i.Name)
		}
	}
	check.That(t, slices.Equal(loaded, []string{"a", "c", bundled}),
		"loaded: %q, want the most recently used and the default", loaded)
}

func TestRun_usesSavedCalibration(t *testing.T) {
	t.Parallel()
	first := open(t, nil, withTiny(bundled, "hum", `{}`))
	speak(t, first, "", "hello", 170)
	eventually(t, "it is saved", func() bool { return first.memory.len() == 1 })

	// A saved calibration is read without loading the model.
	again := open(t, func(c *library.Config) { c.Defaults.Voice, c.Calibrations = "other", first.memory },
		withTiny(bundled, "hum", `{}`), withTiny("other", "hum", `{}`))
	eventually(t, "the saved one is used", func() bool { return info(again, bundled).WordsPerMinute != nil })
	check.That(t, !info(again, bundled).Loaded, "the model was loaded")

	// A calibration that cannot be saved is used.
	full := open(t, func(c *library.Config) { c.Calibrations = &memory{full: true} }, withTiny(bundled, "hum", `{}`))
	eventually(t, "the unsaved one is used", func() bool { return info(full, bundled).WordsPerMinute != nil })
}

func TestHealth_espeakMissing(t *testing.T) {
	t.Parallel()
	missing := func(c *library.Config) { c.Phonemizer = espeak.New("/nowhere/espeak-ng") }
	h := open(t, missing, withTiny(bundled, "hum", `{}`))
	eventually(t, "Health names the package", func() bool {
		return h.Health() != nil && strings.Contains(h.Health().Error(), "install the package espeak-ng")
	})
	check.Must(h.Voice(""))(t)
	check.ErrorIs(t, speakError(t, h, ""), voice.ErrUnavailable, "speak without a voice")
}

func TestSpeak_warnsOncePerPhoneme(t *testing.T) {
	h := start(t, nil, withTiny(bundled, "hum", `{"phoneme_id_map": {"ʃ": null}}`))
	for range 3 {
		speak(t, h, "", "A fish shop", 170)
	}
	n := strings.Count(h.logs.String(), "phoneme=ʃ")
	check.That(t, n == 1, "%d warnings for one phoneme", n)
}

func TestSpeak_endsWithContext(t *testing.T) {
	t.Parallel()
	h := newRig(t, nil, withBundled) // not running
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for _, err := range h.Speak(ctx, announce.Utterance{Message: "hello"}) {
		check.That(t, errors.Is(err, context.DeadlineExceeded), "%v, want the context's error", err)
	}
}

func TestSpeak_afterRun(t *testing.T) {
	t.Parallel()
	h := newRig(t, nil, withBundled)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.NoError(t, h.Run(ctx))
	check.Contains(t, fmt.Sprint(speakError(t, h, "")), "closed", "the error")
}

// Concurrent messages, loads and unloads do not change the speech.
func TestSpeak_concurrent(t *testing.T) {
	h := start(t, func(c *library.Config) { c.CacheBytes = 1 }, withBundled, withTiny("a", "hum", `{}`),
		withTiny("b", "hum", `{"language": {}}`))
	awaitCalibrated(t, h, bundled, "a", "b")
	want := map[string]int{}
	for _, name := range []string{bundled, "a", "b"} {
		want[name] = samples(speak(t, h, name, "Hello. There.", 170))
	}
	var wg sync.WaitGroup
	for name := range want {
		for range 3 {
			wg.Go(func() {
				check.Equal(t, samples(speak(t, h, name, "Hello. There.", 170)), want[name], "samples of %s", name)
			})
		}
	}
	wg.Wait()
}

const british, german = "en_GB-hum-low", "de_DE-hum-low"

// inGerman changes the language of a config.
const inGerman = `{"language": {"code": "de_DE", "family": "de", "region": "DE"}}`

// spokenBy returns the voices that speak the sentences of a message, as voice:sentence.
func spokenBy(t *testing.T, h *rig, name, message string, afterFirst func()) []string {
	t.Helper()
	var parts []string
	for clip, err := range h.Speak(t.Context(), announce.Utterance{Voice: name, Message: message}) {
		check.NoError(t, err)
		part := clip.Voice + ":" + string(rune('0'+clip.Sentence))
		if len(parts) == 0 || parts[len(parts)-1] != part {
			parts = append(parts, part)
		}
		if afterFirst != nil {
			afterFirst()
			afterFirst = nil
		}
	}
	return parts
}

// An announcement was accepted with a voice, which then vanishes or breaks.
func TestSpeak_voiceBroken(t *testing.T) {
	t.Parallel()
	for name, destroy := range map[string]func(path string) error{
		"removed":         func(path string) error { return errors.Join(os.Remove(path), os.Remove(path+".json")) },
		"model truncated": func(path string) error { return os.Truncate(path, 1000) },
		"config replaced": func(path string) error { return os.WriteFile(path+".json", []byte("{"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, nil, withTiny(bundled, "hum", `{}`), withTiny(british, "hum", `{}`),
				withTiny(german, "hum", inGerman))
			awaitCalibrated(t, h, bundled, british, german)
			before := spokenBy(t, h, bundled, "One. Two.", nil)
			check.Require(t, strings.Join(before, " ") == bundled+":0 "+bundled+":1", "before: %q", before)
			check.NoError(t, destroy(filepath.Join(h.dir, bundled+".onnx")))
			for _, changed := range []bool{false, true} {
				noticed := func() bool { i := info(h, bundled); return i.Name == "" || i.Error != "" }
				if changed {
					eventually(t, "the fault is noticed", noticed)
				}
				got := spokenBy(t, h, bundled, "One. Two.", nil)
				all := strings.Join(got, " ") == british+":0 "+british+":1"
				check.That(t, len(got) == 2 && (all || !changed), "spoken by %q, want %s", got, british)
			}
			check.Equal(t, check.Must(h.Voice(""))(t), british, "the voice by default")
			check.That(t, check.Err(h.Voice(bundled)) != nil, "the broken voice can be requested by its name")
			err := h.Health()
			check.That(t, err != nil && strings.Contains(err.Error(), british+" speaks instead"), "Health: %v", err)
			eventually(t, "the other voice is loaded", func() bool { return info(h, british).Loaded })
		})
	}
}

// brokenModel fails while fail is set.
type brokenModel struct {
	voice.Model
	fail *atomic.Bool
}

func (m brokenModel) Infer(ctx context.Context, in voice.Input) ([]float32, error) {
	if m.fail.Load() {
		return nil, errors.New("out of memory")
	}
	return m.Model.Infer(ctx, in)
}

func TestSpeak_modelFailsInMidMessage(t *testing.T) {
	t.Parallel()
	var fail atomic.Bool
	h := open(t, func(c *library.Config) {
		load := c.Load
		c.Load = func(path string, config *voice.Config) (voice.Model, error) {
			m, err := load(path, config)
			if strings.Contains(path, bundled) && err == nil {
				m = brokenModel{m, &fail}
			}
			return m, err
		}
	}, withTiny(bundled, "hum", `{}`), withTiny(british, "hum", `{}`))
	awaitCalibrated(t, h, bundled, british)
	got := spokenBy(t, h, "", "One. Two. Three.", func() { fail.Store(true) })
	want := bundled + ":0 " + british + ":1 " + british + ":2"
	check.That(t, strings.Join(got, " ") == want, "spoken by %q, want %s", got, want)
	check.Equal(t, strings.Count(h.logs.String(), `"voice failed, another one speaks"`), 1, "records of the substitute")
}

// The error is that of the voice that was asked for.
func TestSpeak_noVoiceWorks(t *testing.T) {
	t.Parallel()
	h := open(t, nil, withTiny(bundled, "truncated", `{}`), withTiny(british, "truncated", `{}`))
	check.Contains(t, fmt.Sprint(speakError(t, h, bundled)), "speak with "+bundled, "the error")
}

func TestVoice_default(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, configured, want string }{
		{"the default voice", german, german},
		{"same language", "en_US-missing-low", british},
		{"a missing speaker", "en_US-several-low#p9", "en_US-several-low"},
		{"any language", "nl_NL-missing-low", german},
		{"a name without language", "missing", german},
		{"a voice of an earlier version", "en_US-pressbox-medium", bundled},
	} {
		h := newRig(t, func(c *library.Config) { c.Defaults.Voice = tt.configured },
			withTiny(british, "hum", `{}`), withTiny(bundled, "hum", `{}`), withTiny(german, "hum", inGerman),
			withTiny("en_US-several-low", "speakers", `{"num_speakers": 3}`))
		check.Equal(t, check.Must(h.Voice(""))(t), tt.want, "%s", tt.name)
	}
	h := newRig(t, nil)
	err := check.Err(h.Voice(""))
	check.ErrorIs(t, err, voice.ErrUnavailable, "without voices")
	check.Contains(t, fmt.Sprint(err), bundled, "the error without voices")
}

// A voice of an earlier version is the one that took its place, unless it is installed. For another that is gone, the
// error has the default one of its language.
func TestVoice_gone(t *testing.T) {
	t.Parallel()
	const old = "en_US-pressbox2-medium"
	h := newRig(t, func(c *library.Config) { c.Defaults.Voice = second }, withTiny(second, "hum", `{}`),
		withTiny(british, "hum", `{}`), withTiny(german, "hum", inGerman))
	check.Equal(t, check.Must(h.Voice(old))(t), second, "a voice of an earlier version")
	for name, want := range map[string]string{"en_US-gone-low": second, "de_DE-gone-low": german, "gone": second} {
		gone, ok := errors.AsType[*announce.UnknownVoiceError](check.Err(h.Voice(name)))
		check.That(t, ok && gone.Instead == want, "%s: %+v, want %s instead", name, gone, want)
	}
	h = newRig(t, nil, withTiny(second, "hum", `{}`), withTiny(old, "hum", `{}`))
	check.Equal(t, check.Must(h.Voice(old))(t), old, "an installed one of that name")
}

// An empty or mistyped directory is logged at the start.
func TestNew_logsMissingVoices(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "modles")
	for _, tt := range []struct {
		dirs    []string // the last one has a voice
		missing bool
	}{
		{nil, false},
		{[]string{missing}, true},
		{[]string{t.TempDir()}, false},
	} {
		h := newRig(t, func(c *library.Config) { c.Dirs = append(tt.dirs, c.Dirs...) }, withTiny(bundled, "hum", `{}`))
		log := h.logs.String()
		check.Equal(t, strings.Contains(log, "voice directory missing"), tt.missing, "%q: a directory misses", tt.dirs)
		check.That(t, !strings.Contains(log, "no voice found"), "%q: %s", tt.dirs, log)
		h = newRig(t, func(c *library.Config) { c.Dirs = append(tt.dirs, c.Dirs...) })
		check.Contains(t, h.logs.String(), "no voice found", "%q without a voice", tt.dirs)
	}
}

// bundledBytes returns the size of the bundled voice's model.
func bundledBytes(t *testing.T) int64 {
	t.Helper()
	return int64(len(voicetest.Read(t, "models/"+bundled+".onnx")))
}

const second = "en_US-heart_lower-medium"

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

// A voice that loads quickly is unloaded soon after its last use, and speaks again; the default voice is loaded again.
func TestSpeak_unloadsIdle(t *testing.T) {
	h := start(t, func(c *library.Config) { c.KeepFor = 50 * time.Millisecond },
		withTiny(bundled, "hum", `{}`), withTiny("other", "hum", `{}`))
	for range 2 {
		check.That(t, samples(speak(t, h, "other", "Hello there", 170)) > 0, "no samples")
		eventually(t, "the voice is unloaded", func() bool { return !info(h, "other").Loaded })
	}
	speak(t, h, "", "Hello there", 170)
	again := func() bool { return h.closes.Load() >= 3 && info(h, bundled).Loaded }
	eventually(t, "the default voice is loaded again", again)
}

// A runsModel counts its runs.
type runsModel struct {
	voice.Model
	runs *atomic.Int32
}

func (m runsModel) Infer(ctx context.Context, in voice.Input) ([]float32, error) {
	m.runs.Add(1)
	return m.Model.Infer(ctx, in)
}

// The first message of a voice does not wait until the voice is calibrated, and no run of the model for a
// calibration delays it once it is spoken.
func TestSpeak_calibratesWhenQuiet(t *testing.T) {
	var runs atomic.Int32
	h := start(t, func(c *library.Config) {
		load := c.Load
		c.Load = func(path string, config *voice.Config) (voice.Model, error) {
			m, err := load(path, config)
			return runsModel{m, &runs}, err
		}
	}, withBundled)
	for clip, err := range h.Speak(t.Context(), announce.Utterance{Message: "Dinner is ready. Please come."}) {
		check.NoError(t, err)
		before := runs.Load()
		time.Sleep(300 * time.Millisecond)
		more := runs.Load() - before
		check.That(t, more <= 1, "%d runs while %d samples were played", more, len(clip.Samples))
	}
	check.Require(t, info(h, bundled).WordsPerMinute == nil, "the message waited for the calibration of its voice")
	awaitCalibrated(t, h, bundled)
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
