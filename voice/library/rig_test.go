package library_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/packaging/check"
	"pressbox/voice"
	"pressbox/voice/announce"
	"pressbox/voice/library"
	"pressbox/voice/voicetest"
)

const bundled, bundledConfig = voicetest.Bundled, "models/" + voicetest.Bundled + ".onnx.json"

// A memory stores calibrations.
type memory struct {
	mu   sync.Mutex
	data map[string][]byte
	full bool
}

func (m *memory) Calibration(hash string) ([]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	json, ok := m.data[hash]
	return json, ok, nil
}

func (m *memory) SaveCalibration(hash string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full {
		return errors.New("disk full")
	}
	if m.data == nil {
		m.data = map[string][]byte{}
	}
	m.data[hash] = data
	return nil
}

func (m *memory) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.data)
}

// A rig is a library with espeak-ng and ONNX Runtime on a temporary directory.
type rig struct {
	*library.Library
	dir    string
	memory *memory
	logs   *check.Log
	loads  atomic.Int32 // of models
	closes atomic.Int32
}

// A countingModel counts its calls of Close.
type countingModel struct {
	voice.Model
	closes *atomic.Int32
}

func (c countingModel) Close() error {
	c.closes.Add(1)
	return c.Model.Close()
}

// newRig returns a library with these files that is not running. change, unless nil, changes its config.
func newRig(tb testing.TB, change func(*library.Config), files ...func(testing.TB, string)) *rig {
	tb.Helper()
	runtime := voicetest.Runtime(tb)
	runtime.Threads = 1
	h := &rig{dir: tb.TempDir(), memory: &memory{}, logs: &check.Log{}}
	for _, f := range files {
		f(tb, h.dir)
	}
	cfg := library.Config{
		Dirs: []string{h.dir}, Defaults: library.Defaults{Voice: bundled, Rate: 170}, CacheBytes: 256 << 20,
		Calibrations: h.memory, Phonemizer: voicetest.Espeak(tb),
		Log: slog.New(slog.NewTextHandler(h.logs, nil)),
		Load: func(path string, c *voice.Config) (voice.Model, error) {
			m, err := runtime.Load(path, c)
			if err != nil {
				return nil, err
			}
			h.loads.Add(1)
			return countingModel{m, &h.closes}, nil
		},
	}
	if change != nil {
		change(&cfg)
	}
	h.Library = library.New(cfg)
	return h
}

// open returns a library that runs until the test ends.
func open(tb testing.TB, change func(*library.Config), files ...func(testing.TB, string)) *rig {
	tb.Helper()
	h := newRig(tb, change, files...)
	tb.Cleanup(func() {
		n, m := h.loads.Load(), h.closes.Load()
		check.That(tb, n == m, "%d models were loaded and %d closed", n, m)
	})
	check.Run(tb, h.Run)
	return h
}

// start is open for a parallel test.
func start(t *testing.T, change func(*library.Config), files ...func(testing.TB, string)) *rig {
	t.Helper()
	t.Parallel()
	return open(t, change, files...)
}

func put(tb testing.TB, path string, data []byte) {
	tb.Helper()
	check.NoError(tb, os.WriteFile(path, data, 0o644))
}

// withBundled adds the bundled voice.
func withBundled(tb testing.TB, dir string) {
	tb.Helper()
	put(tb, filepath.Join(dir, bundled+".onnx.json"), voicetest.Read(tb, bundledConfig))
	put(tb, filepath.Join(dir, bundled+".onnx"), voicetest.Read(tb, "models/"+bundled+".onnx"))
}

// withTiny adds a voice with one of the tiny models of voice/onnx and the bundled voice's config, changed.
func withTiny(name, model, changes string) func(testing.TB, string) {
	return func(tb testing.TB, dir string) {
		tb.Helper()
		put(tb, filepath.Join(dir, name+".onnx.json"), voicetest.ChangedJSON(tb, voicetest.Piper, changes))
		put(tb, filepath.Join(dir, name+".onnx"), voicetest.Read(tb, "voice/onnx/testdata/"+model+".onnx"))
	}
}

// eventually waits for a condition.
func eventually(tb testing.TB, what string, condition func() bool) {
	tb.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(5 * time.Minute)
	defer deadline.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline.C:
			tb.Fatalf("timed out: %s", what)
		}
	}
}

func info(h *rig, name string) library.Info {
	for _, i := range h.Voices() {
		if i.Name == name {
			return i
		}
	}
	return library.Info{}
}

// awaitCalibrated waits until the named voices are calibrated.
func awaitCalibrated(tb testing.TB, h *rig, names ...string) {
	tb.Helper()
	for _, name := range names {
		eventually(tb, name+" is calibrated", func() bool { return info(h, name).WordsPerMinute != nil })
	}
}

func speak(tb testing.TB, h *rig, name, text string, rate int) []audio.Clip {
	tb.Helper()
	var clips []audio.Clip
	for clip, err := range h.Speak(tb.Context(), announce.Utterance{Voice: name, Message: text, Rate: rate}) {
		check.NoError(tb, err)
		clips = append(clips, clip.Clip)
	}
	return clips
}

func speakError(tb testing.TB, h *rig, name string) error {
	tb.Helper()
	for _, err := range h.Speak(tb.Context(), announce.Utterance{Voice: name, Message: "hello"}) {
		if err != nil {
			return err
		}
	}
	return nil
}

func samples(clips []audio.Clip) int {
	n := 0
	for _, c := range clips {
		n += len(c.Samples)
	}
	return n
}

// withFile adds a file.
func withFile(name, text string) func(testing.TB, string) {
	return func(tb testing.TB, dir string) {
		tb.Helper()
		put(tb, filepath.Join(dir, name), []byte(text))
	}
}

// withDirectory adds a directory.
func withDirectory(name string) func(testing.TB, string) {
	return func(tb testing.TB, dir string) {
		tb.Helper()
		check.NoError(tb, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
}
