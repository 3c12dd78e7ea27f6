package voice_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
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
	return &voice.Voice{Config: voicetest.PiperConfig(tb), Phonemizer: p, Model: h}, h
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
	c := voicetest.PiperConfig(t)
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
		c := check.Must(voice.ParseConfig(voicetest.ChangedJSON(t, voicetest.Piper, row[0])))(t)
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
// A quietModel is silent for half a second before each segment.
type quietModel struct{ voice.Model }

func (q quietModel) Infer(ctx context.Context, in voice.Input) ([]float32, error) {
	samples, err := q.Model.Infer(ctx, in)
	return append(make([]float32, 11025), samples...), err
}

// Of the silence before the first sound, 15 ms are left; that before later sentences is theirs.
func TestSpeak_leadingSilence(t *testing.T) {
	t.Parallel()
	v, model := sineVoice(t, &spellingPhonemizer{})
	v.Model = quietModel{model}
	for from := range 2 {
		var lead []int // samples before the sound of each clip that has one
		for clip, err := range v.Speak(t.Context(), "One is here. Two is here. Three is here.", 170, from) {
			check.NoError(t, err)
			i := slices.IndexFunc(clip.Samples, func(s float32) bool { return math.Abs(float64(s)) >= 0.01 })
			if i >= 0 {
				lead = append(lead, i)
			}
		}
		check.That(t, lead[0] == v.Config.SampleRate*15/1000 && lead[1] >= 11025, "silence before clips: %v", lead)
	}
}

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

// A model makes at most two seconds for each id.
func TestSpeak_limitsSamples(t *testing.T) {
	t.Parallel()
	for _, more := range []int{0, 1} {
		v, _ := sineVoice(t, &spellingPhonemizer{})
		v.Model = endlessModel(more)
		var err error
		for _, err = range v.Speak(t.Context(), "One", 170, 0) {
			break
		}
		check.That(t, (err == nil) == (more == 0), "%d samples more than two seconds for each id: %v", more, err)
	}
}

// An endlessModel makes so many samples more than two seconds for each id.
type endlessModel int

func (m endlessModel) Infer(_ context.Context, in voice.Input) ([]float32, error) {
	return make([]float32, 2*22050*len(in.IDs)+int(m)), nil
}

func (endlessModel) Close() error { return nil }

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
	config := voicetest.PiperConfig(f)
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
	check.That(t, wpm >= 195 && wpm <= 215, "the bundled voice speaks %.0f words per minute, want about 205", wpm)
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

// A recorder records the inputs of a model.
type recorder struct {
	voice.Model
	inputs []voice.Input
}

func (r *recorder) Infer(ctx context.Context, in voice.Input) ([]float32, error) {
	r.inputs = append(r.inputs, in)
	return r.Model.Infer(ctx, in)
}

// recordInputs returns the model inputs for a message.
func recordInputs(b *testing.B, v *voice.Voice, text string) []voice.Input {
	b.Helper()
	r := &recorder{Model: v.Model}
	with := *v
	with.Model = r
	speak(b, &with, text, 170)
	return r.inputs
}

func infer(b *testing.B, v *voice.Voice, inputs []voice.Input) {
	b.Helper()
	for _, in := range inputs {
		check.Must(v.Model.Infer(b.Context(), in))(b)
	}
}

func median(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	return ds[len(ds)/2]
}

// longMessage returns a message of at least 500 words.
func longMessage(b *testing.B) string {
	b.Helper()
	all := passages(b)
	one := strings.Join([]string{all["household"], all["baseball"], all["news"], all["story"], all["technical"]}, " ")
	return one + " " + one
}

// BenchmarkSpeakLong compares speaking a long message with the runs of the model and one espeak call alone;
// the limit of the ratio is 1.05.
func BenchmarkSpeakLong(b *testing.B) {
	v := calibrated(b)
	text := longMessage(b)
	inputs := recordInputs(b, v, text)
	var whole, bare []time.Duration
	for b.Loop() {
		begun := time.Now()
		clips := speak(b, v, text, 170)
		whole = append(whole, time.Since(begun))
		begun = time.Now()
		check.Must(v.Phonemizer.Phonemes(b.Context(), "en-us", "Good morning everyone"))(b)
		infer(b, v, inputs)
		bare = append(bare, time.Since(begun))
		b.ReportMetric(seconds(clips)/median(whole).Seconds(), "x-realtime")
	}
	b.ReportMetric(float64(median(whole))/float64(median(bare)), "x-bare")
}

func TestParseConfig_bundledAndDefaults(t *testing.T) {
	t.Parallel()
	c := voicetest.PiperConfig(t)
	if c.SampleRate != 22050 || c.Espeak != "en-us" || c.PhonemeType != voice.Espeak || c.Speakers != 1 ||
		c.Symbols != 256 ||
		c.NoiseScale != 0.667 || c.LengthScale != 1 || c.NoiseW != 0 || c.Quality != "medium" ||
		c.Dataset != "sample" || c.Language.Country != "United States" || c.Locale() != "en-us" {
		t.Errorf("%+v", c)
	}
	sparse := `{"inference": null, "phoneme_type": null, "language": null, "unheard_of": 3, "piper_version": 2}`
	c = check.Must(voice.ParseConfig(voicetest.ChangedJSON(t, voicetest.Piper, sparse)))(t)
	check.That(t, c.NoiseScale == 0.667 && c.LengthScale == 1 && c.NoiseW == 0.8 && c.PhonemeType == voice.Espeak,
		"%+v", c)
}

func TestParseConfig_errors(t *testing.T) {
	t.Parallel()
	for _, row := range check.Table(t, "testdata/config-errors.txt") {
		err := check.Err(voice.ParseConfig(voicetest.ChangedJSON(t, voicetest.Piper, row[0])))
		check.Contains(t, fmt.Sprint(err), row[1], "config with %s", row[0])
	}
	ids := func(n int) string { return `{"phoneme_id_map": {"a": [1` + strings.Repeat(", 1", n-1) + `]}}` }
	check.Must(voice.ParseConfig(voicetest.ChangedJSON(t, voicetest.Piper, ids(8))))(t)
	check.Contains(t, fmt.Sprint(check.Err(voice.ParseConfig(voicetest.ChangedJSON(t, voicetest.Piper, ids(9))))),
		`gives "a" 9 ids, want at most 8`, "config with nine ids")
	for text, want := range map[string]string{
		"": "unexpected end", "null": "lacks audio.sample_rate", "[]": "expected an object", "{": "unexpected end",
		"\n <!DOCTYPE html><p>": "an HTML page",
		"version https://git-lfs.github.com/spec/v1\noid sha256:0\n":       "a Git LFS pointer",
		"\ufeff" + string(voicetest.ChangedJSON(t, voicetest.Piper, `{}`)): "byte order mark",
	} {
		check.Contains(t, fmt.Sprint(check.Err(voice.ParseConfig([]byte(text)))), want, "config %.40q", text)
	}
}

// In an accepted config every id is below the number of symbols and every speaker below the number of speakers.
func FuzzParseConfig(f *testing.F) {
	const speakers = `{"phoneme_type": "text", "espeak": null, "num_speakers": 3, "speaker_id_map": {"a": 2}}`
	f.Add(voicetest.ChangedJSON(f, voicetest.Piper, `{}`))
	f.Add(voicetest.ChangedJSON(f, voicetest.Piper, speakers))
	f.Add([]byte(`{"audio":{"sample_rate":16000},"num_symbols":3,"num_speakers":1,` +
		`"phoneme_id_map":{"_":[0],"^":[1],"$":[2]},"espeak":{"voice":"de"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := voice.ParseConfig(data)
		if err != nil {
			return
		}
		for p, ids := range c.PhonemeIDs {
			for _, id := range ids {
				check.That(t, id >= 0 && id < int64(c.Symbols), "%q has the id %d of %d", p, id, c.Symbols)
			}
		}
		for name, id := range c.SpeakerIDs {
			check.That(t, id >= 0 && id < int64(c.Speakers), "speaker %q has the id %d of %d", name, id, c.Speakers)
		}
		check.That(t, c.SampleRate > 0 && c.LengthScale > 0 && !strings.HasPrefix(c.Espeak, "-"), "accepted: %+v", c)
	})
}
