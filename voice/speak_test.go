package voice_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/packaging/check"
	"pressbox/voice"
	"pressbox/voice/voicetest"
)

// A sineModel records its inputs and produces a sine for each id.
type sineModel struct {
	inputs []voice.Input
	err    error
	level  float32
	even   bool // ignores the length scale
}

func (h *sineModel) Infer(ctx context.Context, in voice.Input) ([]float32, error) {
	if err := errors.Join(ctx.Err(), h.err); err != nil {
		return nil, err
	}
	h.inputs = append(h.inputs, in)
	scale := in.LengthScale
	if h.even {
		scale = 1
	}
	samples := make([]float32, int(math.Ceil(float64(len(in.IDs))*700*float64(scale))))
	for i := range samples {
		samples[i] = h.level * float32(math.Sin(float64(i)/20))
	}
	return samples, nil
}

func (h *sineModel) Close() error { return nil }

// A spellingPhonemizer returns the letters as phonemes and counts its calls.
type spellingPhonemizer struct{ calls atomic.Int32 }

func (s *spellingPhonemizer) Phonemes(_ context.Context, _, clause string) (string, error) {
	s.calls.Add(1)
	return strings.ToLower(clause), nil
}

func sineVoice(tb testing.TB, p voice.Phonemizer) (*voice.Voice, *sineModel) {
	tb.Helper()
	h := &sineModel{level: 0.5}
	return &voice.Voice{Config: voicetest.Config(tb, voicetest.Bundled), Phonemizer: p, Model: h}, h
}

func speak(tb testing.TB, v *voice.Voice, text string, rate int) []voice.Clip {
	tb.Helper()
	var clips []voice.Clip
	for clip, err := range v.Speak(tb.Context(), text, rate, 0) {
		check.NoError(tb, err)
		clips = append(clips, clip)
	}
	return clips
}

// The vectors are those of Piper's own tests.
func TestPlainBrackets(t *testing.T) {
	t.Parallel()
	c := voicetest.Config(t, voicetest.Bundled)
	for text, want := range map[string]string{
		"I am [[ bˈætmæn ]].":       "I am [[ bˈætmæn ]].",
		"[[FIRING]] Disk":           "[FIRING] Disk",
		"[[漢字]] and [[ˈa]] [[x*y]]": "[漢字] and [[ˈa]] [x*y]",
		"[[ ]] [[a":                 "[[ ]] [[a",
	} {
		check.Equal(t, c.PlainBrackets(text), want, "PlainBrackets(%q)", text)
	}
}

func TestSpeak_goldenIDs(t *testing.T) {
	t.Parallel()
	v, h := sineVoice(t, voicetest.Espeak(t))
	speak(t, v, "Test 1. Test 2.", 170)
	want := [][]int64{
		{1, 0, 32, 0, 120, 0, 61, 0, 31, 0, 32, 0, 3, 0, 35, 0, 120, 0, 102, 0, 26, 0, 10, 0, 2},
		{1, 0, 32, 0, 120, 0, 61, 0, 31, 0, 32, 0, 3, 0, 32, 0, 120, 0, 33, 0, 122, 0, 10, 0, 2},
	}
	check.Require(t, len(h.inputs) == 2, "%d sentences", len(h.inputs))
	for i, in := range h.inputs {
		check.That(t, slices.Equal(in.IDs, want[i]), "%v, want %v", in.IDs, want[i])
	}
}

// phonemes returns the phonemes of a model's input.
func phonemes(c *voice.Config, ids []int64) string {
	names := map[int64]string{}
	for p, id := range c.PhonemeIDs {
		if len(id) == 1 {
			names[id[0]] = p
		}
	}
	var b strings.Builder
	for _, id := range ids[2 : len(ids)-1] {
		if id != 0 {
			b.WriteString(names[id])
		}
	}
	return b.String()
}

func TestSpeak_phonemes(t *testing.T) {
	t.Parallel()
	p := voicetest.Espeak(t)
	for _, row := range check.Table(t, "testdata/phonemes.txt") { // changes of the config, text, phonemes
		c := check.Must(voice.ParseConfig(voicetest.ChangedJSON(t, row[0])))(t)
		// Clusters are shown in parentheses.
		shown := *c
		shown.PhonemeIDs = map[string][]int64{}
		for p, id := range c.PhonemeIDs {
			if len([]rune(p)) > 1 {
				p = "(" + p + ")"
			}
			shown.PhonemeIDs[p] = id
		}
		h := &sineModel{level: 0.1}
		v := &voice.Voice{Config: c, Phonemizer: p, Model: h}
		speak(t, v, row[1], 170)
		var got []string
		for _, in := range h.inputs {
			got = append(got, phonemes(&shown, in.IDs))
		}
		check.Equal(t, strings.Join(got, " / "), row[2], "%s: %s", row[0], row[1])
	}
}

func TestSpeak_callsOnMissing(t *testing.T) {
	t.Parallel()
	v, h := sineVoice(t, &spellingPhonemizer{})
	var missing []string
	v.OnMissing = func(p string) { missing = append(missing, p) }
	speak(t, v, "a ж b ж", 170)
	check.That(t, slices.Equal(missing, []string{"ж", "ж"}), "missing %q", missing)
	check.Equal(t, phonemes(v.Config, h.inputs[0].IDs), "a  b .", "the input of the model")
}

func TestSpeak_messageWithoutSpeech(t *testing.T) {
	t.Parallel()
	v, h := sineVoice(t, voicetest.Espeak(t))
	for _, text := range []string{"", "?!", "...", "[[ ]]", "[[.]]"} {
		for clip, err := range v.Speak(t.Context(), text, 170, 0) {
			check.That(t, errors.Is(err, voice.ErrNoSpeech) && clip.Samples == nil,
				"%q: %v, %d samples", text, err, len(clip.Samples))
		}
	}
	check.That(t, len(h.inputs) == 0, "the model was run with %v", h.inputs)
}

// Between sentences there are exactly 0.2 s of silence, elsewhere none, and no sample of the model is lost.
func TestSpeak_exactPauses(t *testing.T) {
	t.Parallel()
	for _, rate := range []int{16000, 22050, 44100} {
		v, h := sineVoice(t, &spellingPhonemizer{})
		v.Config.SampleRate = rate
		clips := speak(t, v, "One. ?! Two, which is a good deal longer than the one before was, three.", 170)
		var lengths, want []int
		for _, clip := range clips {
			lengths = append(lengths, len(clip.Samples))
			check.That(t, clip.Rate == rate, "a clip of %d samples a second, want %d", clip.Rate, rate)
		}
		for i, in := range h.inputs {
			if i == 1 {
				want = append(want, rate/5)
			}
			want = append(want, int(math.Ceil(float64(len(in.IDs))*700*float64(in.LengthScale))))
		}
		check.That(t, len(h.inputs) == 2 && slices.Equal(lengths, want), "clips of %v samples, want %v", lengths, want)
		check.That(t, !slices.ContainsFunc(clips[1].Samples, func(s float32) bool { return s != 0 }),
			"the pause is not silent")
	}
}

// Clips have the numbers of their sentences, and a message can be spoken from any of its sentences on,
// beginning without a pause.
func TestSpeak_fromSentence(t *testing.T) {
	t.Parallel()
	const text = "One. Two is long, and it has more than one of the clauses that a sentence has, as was said. " +
		"Is three? [[tuː]] four"
	v, h := sineVoice(t, &spellingPhonemizer{})
	for from, want := range map[int][]int{
		0: {0, 1, 1, 1, 2, 2, 3, 3}, 1: {1, 1, 2, 2, 3, 3}, 2: {2, 3, 3}, 3: {3}, 4: {3}, 100: {3},
		-1: {0, 1, 1, 1, 2, 2, 3, 3},
	} {
		h.inputs = nil
		var got []int
		for clip, err := range v.Speak(t.Context(), text, 170, from) {
			check.NoError(t, err)
			check.That(t, len(got) > 0 || clip.Samples[100] != 0, "from %d: it begins with a pause", from)
			got = append(got, clip.Sentence)
		}
		check.That(t, slices.Equal(got, want),
			"from sentence %d the clips are of sentences %v, want %v", from, got, want)
	}
}

// Each clip has the segments that follow it, with their durations.
func TestSpeak_foreseesRest(t *testing.T) {
	t.Parallel()
	const text = "One is short. Two is long, and it has more than one of the clauses that a sentence has, " +
		"as was said. Is three?"
	v, _ := sineVoice(t, &spellingPhonemizer{})
	v.Calibration = check.Must(v.Calibrate(t.Context()))(t)
	for from, want := range [][]int{{1, 1, 2}, {1, 2}, {}} {
		var clips []voice.Clip
		for clip, err := range v.Speak(t.Context(), text, 170, from) {
			check.NoError(t, err)
			clips = append(clips, clip)
		}
		sentences, foreseen, spoken := []int{}, time.Duration(0), time.Duration(0)
		for _, next := range clips[0].Rest {
			sentences, foreseen = append(sentences, next.Sentence), foreseen+next.Duration
		}
		for _, clip := range clips[1:] {
			spoken += clip.Duration()
		}
		check.That(t, slices.Equal(sentences, want) && len(clips[len(clips)-1].Rest) == 0,
			"from %d segments of the sentences %v follow the first, want %v", from, sentences, want)
		ratio := foreseen.Seconds() / max(spoken.Seconds(), 0.01)
		check.That(t, len(want) == 0 || ratio >= 0.8 && ratio <= 1.25, "%v are foreseen, %v spoken", foreseen, spoken)
	}
}

// What is left of a message that was spoken in part need not have speech.
func TestSpeak_restWithoutSpeech(t *testing.T) {
	t.Parallel()
	v, h := sineVoice(t, fixedPhonemizer(""))
	for _, err := range v.Speak(t.Context(), "One. Ж!", 170, 1) {
		t.Errorf("%v, want no clip and no error", err)
	}
	check.That(t, len(h.inputs) == 0, "the model was run with %v", h.inputs)
}

// The first clip is available after one run of the model and at most two clauses of phonemes, however long
// the message is.
func TestSpeak_synthesizesOnDemand(t *testing.T) {
	t.Parallel()
	p := &spellingPhonemizer{}
	v, h := sineVoice(t, p)
	text := "Dinner is ready in the kitchen, please come and wash your hands. " +
		strings.Repeat("There is more to say, and then some. ", 70)
	n := 0
	for _, err := range v.Speak(t.Context(), text, 170, 0) {
		check.NoError(t, err)
		n++
		check.That(t, n > 1 || p.calls.Load() <= 2, "the first clip came after %d clauses", p.calls.Load())
		check.That(t, n > 2 || len(h.inputs) <= n, "clip %d came after %d runs", n, len(h.inputs))
		if n == 3 {
			break // the caller may stop at any time
		}
	}
	check.That(t, len(h.inputs) <= 3, "%d runs for 3 clips", len(h.inputs))
}

func TestSpeak_stopsAtFirstError(t *testing.T) {
	t.Parallel()
	v, h := sineVoice(t, &spellingPhonemizer{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var errs []error
	for _, err := range v.Speak(ctx, "One. Two. Three.", 170, 0) {
		errs = append(errs, err)
		cancel()
	}
	check.That(t, len(h.inputs) == 1 && errors.Is(errs[len(errs)-1], context.Canceled),
		"cancelled after one clip: %v after %d runs", errs, len(h.inputs))
	h.err = errors.New("no memory")
	n := 0
	for _, err := range v.Speak(t.Context(), "One. Two.", 170, 0) {
		n++
		check.That(t, n <= 1 && errors.Is(err, h.err), "clip %d: %v, want %v", n, err, h.err)
	}
}

// The calibration's gain applies, up to the limit.
func TestSpeak_limitsLevel(t *testing.T) {
	t.Parallel()
	v, h := sineVoice(t, &spellingPhonemizer{})
	h.level = 0.9
	v.Calibration = voice.Calibration{Gain: 0.25, Letter: voice.Span{Scaled: 0.06}}
	quiet := peak(speak(t, v, "One", 170))
	v.Calibration.Gain = 20
	loud := peak(speak(t, v, "One", 170))
	check.That(t, math.Abs(quiet-0.225) <= 1e-3 && float32(loud) <= audio.Ceiling && loud >= 0.6,
		"peaks of %v and %v, want 0.225 and just below %v", quiet, loud, audio.Ceiling)
}

func peak(clips []voice.Clip) float64 {
	var p float32
	for _, c := range clips {
		for _, s := range c.Samples {
			p = max(p, s, -s)
		}
	}
	return float64(p)
}

// The samples are not copied, and a longer clause needs no more allocations.
func TestSpeak_noAllocationPerSample(t *testing.T) {
	v, h := sineVoice(t, &spellingPhonemizer{})
	h.level = 0.1
	count := func(text string) float64 {
		return testing.AllocsPerRun(20, func() { speak(t, v, text, 170) })
	}
	short, long := count("a"), count(strings.Repeat("a", 100))
	extra := (long - short) / 100
	check.That(t, extra <= 0.5, "%v allocations for 1 letter, %v for 100, with 140,000 samples more", short, long)
}

func FuzzSpeak_espeakOutput(f *testing.F) {
	for _, s := range []string{"həlˈoʊ\nwˈɜːld", "(en)tˈɛst(ar)", "((", "()", "_:", "ɐ̃ʊ̃", "\xff"} {
		f.Add(s)
	}
	config := voicetest.Config(f, voicetest.Bundled)
	f.Fuzz(func(t *testing.T, ipa string) {
		h := &sineModel{}
		v := &voice.Voice{Config: config, Phonemizer: fixedPhonemizer(ipa), Model: h}
		for _, err := range v.Speak(t.Context(), "word", 170, 0) {
			if err != nil && !errors.Is(err, voice.ErrNoSpeech) {
				t.Fatal(err)
			}
		}
		for _, in := range h.inputs {
			ids := in.IDs
			n := len(ids)
			check.Require(t, n >= 5 && n%2 != 0 && ids[0] == 1 && ids[n-1] == 2, "ids %v", ids)
			for i := 1; i < len(ids); i += 2 {
				check.Require(t, ids[i] == 0 && ids[i-1] < int64(config.Symbols), "ids %v", ids)
			}
		}
	})
}

// A fixedPhonemizer always returns the same.
type fixedPhonemizer string

func (a fixedPhonemizer) Phonemes(context.Context, string, string) (string, error) {
	return string(a), nil
}
