package onnx_test

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice"
	"pressbox/voice/onnx"
	"pressbox/voice/voicetest"
)

// TestMain opens a library and exits if OPEN_LIBRARY is set, because a process can open only one.
func TestMain(m *testing.M) {
	if library, ok := os.LookupEnv("OPEN_LIBRARY"); ok {
		version, err := onnx.Runtime{Library: library}.Version()
		if err != nil {
			os.Stdout.WriteString(err.Error())
			if errors.Is(err, onnx.ErrNoLibrary) && errors.Is(err, voice.ErrUnavailable) {
				os.Exit(3)
			}
			os.Exit(4)
		}
		os.Stdout.WriteString(version)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func loadBundled(tb testing.TB) voice.Model {
	tb.Helper()
	return voicetest.Load(tb, voicetest.Path(tb, voicetest.Bundled), voicetest.Config(tb, voicetest.Bundled))
}

// hello is "hello" in the ids of the bundled voice.
var hello = []int64{1, 0, 20, 0, 59, 0, 24, 0, 120, 0, 27, 0, 100, 0, 10, 0, 2}

func infer(tb testing.TB, m voice.Model, in voice.Input) []float32 {
	tb.Helper()
	return check.Must(m.Infer(context.Background(), in))(tb)
}

// The models produce level × sin(0.1 × t), so any sample shows the level.
func TestInfer_models(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		model    string
		speakers int
		speaker  int64
		level    float32
	}{
		"output of three dimensions":        {"flat", 1, 0, 0.1},
		"output found by name":              {"aligned", 1, 0, 0.1},
		"speaker 0":                         {"speakers", 3, 0, 0.1},
		"speaker 1":                         {"speakers", 3, 1, 0.2},
		"speaker 2":                         {"speakers", 3, 2, 0.3},
		"speaker input of a single speaker": {"speakers", 1, 0, 0.1},
	} {
		config := voicetest.PiperConfig(t)
		config.Speakers = tt.speakers
		m := voicetest.Load(t, "testdata/"+tt.model+".onnx", config)
		samples := infer(t, m, voice.Input{IDs: hello, LengthScale: 0.5, Speaker: tt.speaker})
		n := 64 * len(hello) / 2
		check.That(t, len(samples) == n, "%s: %d samples, want %d", name, len(samples), n)
		if level := samples[16] / 0.99957; level < 0.999*tt.level || level > 1.001*tt.level {
			t.Errorf("%s: level %v, want %v", name, level, tt.level)
		}
	}
}

func TestLoad_invalidModels(t *testing.T) {
	t.Parallel()
	path, config := voicetest.Path(t, voicetest.Bundled), voicetest.Config(t, voicetest.Bundled)
	whole := check.Must(os.ReadFile(path))(t)
	half := filepath.Join(t.TempDir(), "half.onnx")
	check.NoError(t, os.WriteFile(half, whole[:len(whole)/2], 0o600))
	several := *config
	several.Speakers = 2
	slower := *config
	slower.SampleRate = 16000
	for _, tt := range []struct {
		path   string
		config *voice.Config
		want   string // substring of the error
	}{
		{"testdata/lacks.onnx", config, "scales"},
		{"testdata/hum.onnx", &several, `no input "sid"`},
		{"testdata/extra.onnx", config, `input "prosody"`},
		{"testdata/mistyped.onnx", config, `input "input" is of type`},
		{"testdata/liar.onnx", config, "sample_rate is 16000, but its config's audio.sample_rate is 24000"},
		{path, &slower, "sample_rate is 24000, but its config's audio.sample_rate is 16000"},
		{path, &several, `no input "sid"`},
		{"testdata/truncated.onnx", config, "load the model"},
		{"testdata/empty.onnx", config, "load the model"},
		{"testdata/words.onnx", config, "load the model"},
		{half, config, "load the model"},
		{"testdata/absent.onnx", config, "load the model"},
		{t.TempDir(), config, "load the model"},
	} {
		_, err := voicetest.Runtime(t).Load(tt.path, tt.config)
		check.That(t, err != nil && strings.Contains(err.Error(), tt.want) && !errors.Is(err, voice.ErrUnavailable),
			"load %s: %v, want an error with %q", tt.path, err, tt.want)
	}
}

// worked returns the processor time of this process, which does not depend on other load of the host.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var use syscall.Rusage
	check.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &use))
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// This test is not parallel, so that it measures no work of other tests.
func TestInfer_endsWithContext(t *testing.T) {
	m := loadBundled(t)
	var long []int64
	for range 150 {
		long = append(long, hello...)
	}
	before := worked(t)
	infer(t, m, voice.Input{IDs: long, LengthScale: 1})
	whole := worked(t) - before

	// The deadline is a tenth of the time that the whole run takes on all processors.
	ctx, cancel := context.WithTimeout(t.Context(), whole/time.Duration(10*runtime.NumCPU()))
	defer cancel()
	before = worked(t)
	if _, err := m.Infer(ctx, voice.Input{IDs: long, LengthScale: 1}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("infer with a deadline: %v, want %v", err, context.DeadlineExceeded)
	}
	cut := worked(t) - before
	check.That(t, cut <= whole*8/10, "a run cancelled after a tenth took %v of %v", cut, whole)
	check.ErrorIs(t, check.Err(m.Infer(ctx, voice.Input{IDs: hello, LengthScale: 1})), context.DeadlineExceeded,
		"infer with an ended context")
	_, err := m.Infer(t.Context(), voice.Input{IDs: []int64{999}, LengthScale: 1})
	check.That(t, err != nil, "an unknown id")
	n := len(infer(t, m, voice.Input{IDs: hello, LengthScale: 1}))
	check.That(t, n != 0, "after a cancelled run: no samples")
}

func TestInfer_concurrent(t *testing.T) {
	t.Parallel()
	m := loadBundled(t)
	want := infer(t, m, voice.Input{IDs: hello, LengthScale: 1})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got, err := m.Infer(context.Background(), voice.Input{IDs: hello, LengthScale: 1})
			check.That(t, err == nil && len(got) == len(want), "%d samples, %v; want %d", len(got), err, len(want))
		})
	}
	wg.Wait()
}

// A process can open one library, so each case runs in its own.
func TestVersion(t *testing.T) {
	t.Parallel()
	words := filepath.Join(t.TempDir(), "words.so")
	check.NoError(t, os.WriteFile(words, []byte("no library"), 0o600))
	for _, tt := range []struct{ name, path, want string }{
		{"missing", "/nowhere/libonnxruntime.so", "/nowhere/libonnxruntime.so"},
		{"not a library", words, words},
		{"old version", oldLibrary(t), "1.24 or newer"},
		{"bundled", voicetest.Runtime(t).Library, "1."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			output, code := openAlone(t, tt.path)
			if tt.name == "bundled" {
				check.That(t, code == 0 && strings.HasPrefix(output, tt.want), "exit %d: %s", code, output)
				return
			}
			if code != 3 || !strings.Contains(output, tt.want) || !strings.Contains(output, "set ONNXRUNTIME_LIB") {
				t.Errorf("exit %d: %s", code, output)
			}
		})
	}
}

// oldLibrary builds a library like an ONNX Runtime without the required version of the interface.
func oldLibrary(t *testing.T) string {
	t.Helper()
	const source = `
struct base { const void *(*api)(unsigned); const char *(*version)(void); };
static const void *api(unsigned v) { return 0; }
static const char *version(void) { return "1.17.1"; }
static struct base base = { api, version };
struct base *OrtGetApiBase(void) { return &base; }
`
	dir := t.TempDir()
	path := filepath.Join(dir, "libonnxruntime.so")
	check.NoError(t, os.WriteFile(filepath.Join(dir, "old.c"), []byte(source), 0o600))
	out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", path, filepath.Join(dir, "old.c")).CombinedOutput()
	check.Require(t, err == nil, "gcc: %v: %s", err, out)
	return path
}

func openAlone(t *testing.T, library string) (output string, code int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "OPEN_LIBRARY="+library)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

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
	for phonemes != "" {
		p := ""
		for known := range c.PhonemeIDs { // the longest one
			if strings.HasPrefix(phonemes, known) && len(known) > len(p) {
				p = known
			}
		}
		ids, phonemes = append(ids, c.PhonemeIDs[p]...), phonemes[len(p):]
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
	check.Require(t, err == nil, "Infer(%v): %v", ids, err)
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
		for _, scale := range []float32{0.8, 1.25, 2} {
			if got := float64(len(voiced(t, m, ids, scale))) / normal; math.Abs(got/float64(scale)-1) > 0.08 {
				t.Errorf("%s: length scale %v made it %.3f times as long", name, scale, got)
			}
		}
	}
}

func TestBundled_inputWithoutSpeech(t *testing.T) {
	t.Parallel()
	for name, m := range eachVoice(t) {
		for what, ids := range map[string][]int64{
			"BOS and EOS only": {0, 0, 0, 0},
			"BOS only":         {0},
			"pads only":        {0, 0, 0},
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
	const most = 8_200_000 // bytes
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

var update = flag.Bool("update", false, "rewrite the models in testdata")

// The tiny models are encoded field by field as protocol buffers; the field numbers are those of onnx.proto.

type message []byte

func (m message) number(field int, v uint64) message {
	return binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3), v)
}

func (m message) bytes(field int, b []byte) message {
	m = binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3|2), uint64(len(b)))
	return append(m, b...)
}

func (m message) text(field int, s ...string) message {
	for _, s := range s {
		m = m.bytes(field, []byte(s))
	}
	return m
}

const (
	float32Type = 1
	int64Type   = 7
)

// value describes an input or output; a negative dimension is variable.
func value(name string, kind uint64, dims ...int) message {
	var shape message
	for _, d := range dims {
		if d < 0 {
			shape = shape.bytes(1, message(nil).text(2, "n"))
		} else {
			shape = shape.bytes(1, message(nil).number(1, uint64(d)))
		}
	}
	tensor := message(nil).number(1, kind).bytes(2, shape)
	return message(nil).text(1, name).bytes(2, message(nil).bytes(1, tensor))
}

func node(op, output string, inputs ...string) message {
	return message(nil).text(1, inputs...).text(2, output).text(4, op)
}

// cast is a node with the attribute "to".
func cast(output, input string, to uint64) message {
	attribute := message(nil).text(1, "to").number(3, to).number(20, 2)
	return node("Cast", output, input).bytes(5, attribute)
}

func scalar(name string, v float32) message {
	raw := binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))
	return message(nil).number(2, float32Type).text(8, name).bytes(9, raw)
}

func integers(name string, dims int, vs ...int64) message {
	var raw []byte
	for _, v := range vs {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	var m message
	if dims == 1 {
		m = m.number(1, uint64(len(vs)))
	}
	return m.number(2, int64Type).text(8, name).bytes(9, raw)
}

// A tiny is a model that produces a sine: 64 samples per id at length scale 1, at level 0.1 × (1 + speaker).
type tiny struct {
	inputs   []message
	speakers bool
	output   message
	aligned  bool              // another output precedes
	facts    map[string]string // metadata
	shape    []int64           // of the output; default [1,1,1,-1]
	level    float32           // default 0.1
}

func piperInputs() []message {
	return []message{
		value("input", int64Type, 1, -1), value("input_lengths", int64Type, 1), value("scales", float32Type, 3),
	}
}

func (t tiny) model() []byte {
	if t.inputs == nil {
		t.inputs = piperInputs()
	}
	if t.speakers {
		t.inputs = append(t.inputs, value("sid", int64Type, 1))
	}
	if t.output == nil {
		t.output = value("output", float32Type, 1, 1, 1, -1)
	}
	if t.shape == nil {
		t.shape = []int64{1, 1, 1, -1}
	}
	if t.level == 0 {
		t.level = 0.1
	}
	level := "level"
	nodes := []message{
		node("Shape", "shape", "input"),
		node("Gather", "n", "shape", "one"),
		cast("nf", "n", float32Type),
		node("Gather", "scale", "scales", "one"),
		node("Mul", "frames", "nf", "scale"),
		node("Mul", "length", "frames", "hop"),
		node("Ceil", "ceil", "length"),
		cast("t", "ceil", int64Type),
		node("Range", "time", "zero", "t", "one"),
		cast("timef", "time", float32Type),
		node("Mul", "phase", "timef", "step"),
		node("Sin", "sine", "phase"),
	}
	if t.speakers {
		level = "loud"
		nodes = append(nodes, node("Gather", "who", "sid", "zero"), cast("whof", "who", float32Type),
			node("Mul", "more", "whof", "level"), node("Add", "loud", "more", "level"))
	}
	nodes = append(nodes, node("Mul", "hum", "sine", level), node("Reshape", "output", "hum", "flat"))

	var graph message
	for _, n := range nodes {
		graph = graph.bytes(1, n)
	}
	graph = graph.text(2, "tiny")
	for _, i := range []message{
		integers("one", 0, 1), integers("zero", 0, 0), integers("flat", 1, t.shape...),
		scalar("hop", 64), scalar("step", 0.1), scalar("level", t.level),
	} {
		graph = graph.bytes(5, i)
	}
	for _, in := range t.inputs {
		graph = graph.bytes(11, in)
	}
	if t.aligned {
		graph = graph.bytes(12, value("timef", float32Type, -1))
	}
	graph = graph.bytes(12, t.output)
	m := message(nil).number(1, 8).bytes(7, graph).bytes(8, message(nil).number(2, 15))
	for k, v := range t.facts {
		m = m.bytes(14, message(nil).text(1, k).text(2, v))
	}
	return m
}

// tinies returns the models of testdata, which the tests of voice/library use too.
func tinies() map[string][]byte {
	hum := tiny{}.model()
	return map[string][]byte{
		"hum.onnx":      hum,
		"speakers.onnx": tiny{speakers: true}.model(),
		"flat.onnx":     tiny{output: value("output", float32Type, 1, 1, -1), shape: []int64{1, 1, -1}}.model(),
		"aligned.onnx":  tiny{aligned: true}.model(),
		"lacks.onnx":    tiny{inputs: piperInputs()[:2]}.model(),
		"extra.onnx":    tiny{inputs: append(piperInputs(), value("prosody", int64Type, 1))}.model(),
		"mistyped.onnx": tiny{
			inputs: []message{value("input", float32Type, 1, -1), piperInputs()[1], piperInputs()[2]},
		}.model(),
		"liar.onnx":      tiny{facts: map[string]string{"sample_rate": "16000"}}.model(),
		"stereo.onnx":    tiny{output: value("output", float32Type, 1, 2, -1), shape: []int64{1, 2, -1}}.model(),
		"nan.onnx":       tiny{level: float32(math.NaN())}.model(),
		"truncated.onnx": hum[:len(hum)*2/3],
		"empty.onnx":     {},
		"words.onnx":     []byte("<html>404 Not Found</html>\n"),
	}
}

func TestTestdata_upToDate(t *testing.T) {
	for name, want := range tinies() {
		path := filepath.Join("testdata", name)
		if *update {
			check.NoError(t, os.WriteFile(path, want, 0o644))
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
			t.Errorf("%s is out of date (go test -update rewrites it): %v", path, err)
		}
	}
}
