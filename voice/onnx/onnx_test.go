package onnx_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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
		config := voicetest.Config(t, voicetest.Bundled)
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
		{"testdata/liar.onnx", config, "sample_rate is 16000, but its config's audio.sample_rate is 22050"},
		{path, &slower, "sample_rate is 22050, but its config's audio.sample_rate is 16000"},
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
	check.That(t, check.Err(m.Infer(t.Context(), voice.Input{LengthScale: 1})) != nil, "Infer without ids succeeds")
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
	if err != nil {
		t.Fatalf("gcc: %v: %s", err, out)
	}
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
