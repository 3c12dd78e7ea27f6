package library_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/voice"
	"pressbox/voice/espeak"
	"pressbox/voice/library"
	"pressbox/voice/onnx"
)

const bundled = "en_US-pressbox-medium"

// root is where go.mod lies.
func root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	tb.Fatal("no go.mod above the test")
	return ""
}

// A memory is calibrations that are kept until the test ends.
type memory struct {
	mu   sync.Mutex
	kept map[string][]byte
	full bool
}

func (m *memory) Calibration(hash string) ([]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.kept[hash]
	return data, ok, nil
}

func (m *memory) SaveCalibration(hash string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full {
		return errors.New("disk full")
	}
	if m.kept == nil {
		m.kept = map[string][]byte{}
	}
	m.kept[hash] = data
	return nil
}

func (m *memory) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.kept)
}

// A house is a library with real espeak-ng and real ONNX Runtime over a folder
// of its own.
type house struct {
	*library.Library
	dir    string
	kept   *memory
	logs   *journal
	loads  func() []string // names of the models that were loaded
	closes func() int
}

// A counted model tells when it is closed.
type counted struct {
	voice.Model
	close func()
}

func (c counted) Close() error {
	c.close()
	return c.Model.Close()
}

// build makes a house whose folder holds what the files say, before or without
// running it; change, if not nil, may change its config.
func build(tb testing.TB, change func(*library.Config), files ...func(testing.TB, string)) *house {
	tb.Helper()
	runtime := onnx.Runtime{Library: os.Getenv("ONNXRUNTIME_LIB"), Threads: 1}
	if runtime.Library == "" {
		runtime.Library = filepath.Join(root(tb), "bin", onnx.LibraryName)
	}
	if _, err := os.Stat(runtime.Library); err != nil {
		tb.Fatalf("no ONNX Runtime (%v): run make test", err)
	}
	phonemizer := espeak.New("")
	tb.Cleanup(func() { phonemizer.Close() })

	h := &house{dir: tb.TempDir(), kept: &memory{}, logs: &journal{}}
	for _, f := range files {
		f(tb, h.dir)
	}
	var mu sync.Mutex
	var loads []string
	closes := 0
	h.loads = func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(loads) }
	h.closes = func() int { mu.Lock(); defer mu.Unlock(); return closes }
	cfg := library.Config{
		Dirs: []string{h.dir}, Default: bundled, DefaultRate: 170, CacheBytes: 256 << 20,
		Calibrations: h.kept, Phonemizer: phonemizer,
		Log: slog.New(slog.NewTextHandler(h.logs, nil)),
		Load: func(path string, c *voice.Config) (voice.Model, error) {
			m, err := runtime.Load(path, c)
			if err != nil {
				return nil, err
			}
			mu.Lock()
			defer mu.Unlock()
			loads = append(loads, strings.TrimSuffix(filepath.Base(path), ".onnx"))
			return counted{m, func() { mu.Lock(); defer mu.Unlock(); closes++ }}, nil
		},
	}
	if change != nil {
		change(&cfg)
	}
	h.Library = library.New(cfg)
	return h
}

// open builds a house and runs it until the test ends.
func open(tb testing.TB, change func(*library.Config), files ...func(testing.TB, string)) *house {
	tb.Helper()
	h := build(tb, change, files...)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Errorf("Run: %v", err)
		}
		if n, m := len(h.loads()), h.closes(); n != m {
			tb.Errorf("%d models were loaded and %d closed", n, m)
		}
	})
	return h
}

// A journal is a log that may be read while it is written.
type journal struct {
	mu sync.Mutex
	b  strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

func put(tb testing.TB, path string, data []byte) {
	tb.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		tb.Fatal(err)
	}
}

func get(tb testing.TB, path string) []byte {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// theBundled puts the bundled voice there.
func theBundled(tb testing.TB, dir string) {
	tb.Helper()
	named(bundled)(tb, dir)
}

// named puts the bundled voice there under a name.
func named(name string) func(testing.TB, string) {
	return func(tb testing.TB, dir string) {
		tb.Helper()
		from := filepath.Join(root(tb), "models", bundled+".onnx")
		put(tb, filepath.Join(dir, name+".onnx.json"), get(tb, from+".json"))
		put(tb, filepath.Join(dir, name+".onnx"), get(tb, from))
	}
}

// tiny puts one of the tiny models of voice/onnx there under a name, with the
// bundled voice's config, changed.
func tiny(name, model, changes string) func(testing.TB, string) {
	return func(tb testing.TB, dir string) {
		tb.Helper()
		var config map[string]any
		if err := json.Unmarshal(get(tb, filepath.Join(root(tb), "models", bundled+".onnx.json")), &config); err != nil {
			tb.Fatal(err)
		}
		if err := json.Unmarshal([]byte(changes), &config); err != nil {
			tb.Fatal(err)
		}
		data, err := json.Marshal(config)
		if err != nil {
			tb.Fatal(err)
		}
		put(tb, filepath.Join(dir, name+".onnx.json"), data)
		put(tb, filepath.Join(dir, name+".onnx"), get(tb, filepath.Join(root(tb), "voice/onnx/testdata", model+".onnx")))
	}
}

// eventually waits until it holds.
func eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(5 * time.Minute)
	defer deadline.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline.C:
			tb.Fatalf("in vain: %s", what)
		}
	}
}

func info(h *house, name string) library.Info {
	for _, i := range h.Voices() {
		if i.Name == name {
			return i
		}
	}
	return library.Info{}
}

// measured waits until the voices of these names are.
func measured(tb testing.TB, h *house, names ...string) {
	tb.Helper()
	for _, name := range names {
		eventually(tb, name+" is measured", func() bool { return info(h, name).WordsPerMinute != nil })
	}
}

func speak(tb testing.TB, h *house, name, text string, rate int) []audio.Clip {
	tb.Helper()
	var clips []audio.Clip
	for clip, err := range h.Speak(tb.Context(), name, text, rate) {
		if err != nil {
			tb.Fatal(err)
		}
		clips = append(clips, clip)
	}
	return clips
}

func speakError(tb testing.TB, h *house, name string) error {
	tb.Helper()
	for _, err := range h.Speak(tb.Context(), name, "hello", 0) {
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

// written puts a file of that text there.
func written(name, text string) func(testing.TB, string) {
	return func(tb testing.TB, dir string) {
		tb.Helper()
		put(tb, filepath.Join(dir, name), []byte(text))
	}
}

// folder makes a folder of that name.
func folder(name string) func(testing.TB, string) {
	return func(tb testing.TB, dir string) {
		tb.Helper()
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			tb.Fatal(err)
		}
	}
}
