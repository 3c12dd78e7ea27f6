// Package voicetest gives tests the bundled voices, ONNX Runtime and espeak-ng. It is for tests only.
//
// One law: a missing part fails the test with the command that installs it.
package voicetest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pressbox/packaging/check"
	"pressbox/voice"
	"pressbox/voice/espeak"
	"pressbox/voice/onnx"
)

// Bundled is the name of the default voice.
const Bundled = "en_US-heart-medium"

// Root returns the directory of go.mod.
func Root(tb testing.TB) string {
	tb.Helper()
	dir := check.Must(os.Getwd())(tb)
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	tb.Fatal("no go.mod above the test")
	return ""
}

// Read returns the contents of a file of the repository.
func Read(tb testing.TB, path string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(Root(tb), path)) //nolint:gosec // a test names it
	check.NoError(tb, err)
	return data
}

// Path returns the path of a bundled voice's model.
func Path(tb testing.TB, name string) string {
	tb.Helper()
	return filepath.Join(Root(tb), "models", name+".onnx")
}

// Config returns the config of a bundled voice.
func Config(tb testing.TB, name string) *voice.Config {
	tb.Helper()
	return check.Must(voice.ParseConfig(Read(tb, "models/"+name+".onnx.json")))(tb)
}

// Names returns the names of the bundled voices.
func Names(tb testing.TB) []string {
	tb.Helper()
	paths, err := filepath.Glob(Path(tb, "*"))
	check.Require(tb, err == nil && len(paths) >= 2, "voices in models: %v, %v, want at least two", paths, err)
	for i, path := range paths {
		paths[i] = strings.TrimSuffix(filepath.Base(path), ".onnx")
	}
	return slices.Sorted(slices.Values(paths))
}

// Piper is the path of the config of a voice as most of Piper's are: an id for each code point.
const Piper = "voice/voicetest/testdata/piper.onnx.json"

// PiperConfig returns that config.
func PiperConfig(tb testing.TB) *voice.Config {
	tb.Helper()
	return check.Must(voice.ParseConfig(Read(tb, Piper)))(tb)
}

// ChangedJSON returns the config file at path with changes: a JSON object whose members are merged into it; null
// removes a member.
func ChangedJSON(tb testing.TB, path, changes string) []byte {
	tb.Helper()
	var config, with map[string]any
	check.NoError(tb, json.Unmarshal(Read(tb, path), &config))
	check.NoError(tb, json.Unmarshal([]byte(changes), &with))
	merge(config, with)
	return check.Must(json.Marshal(config))(tb)
}

func merge(into, with map[string]any) {
	for k, v := range with {
		inner, isObject := v.(map[string]any)
		old, wasObject := into[k].(map[string]any)
		if isObject && wasObject {
			merge(old, inner)
		} else {
			into[k] = v
		}
	}
	maps.DeleteFunc(into, func(_ string, v any) bool { return v == nil })
}

// Runtime returns ONNX Runtime. It skips the test in short mode.
func Runtime(tb testing.TB) onnx.Runtime {
	tb.Helper()
	if testing.Short() {
		tb.Skip("runs models")
	}
	path := os.Getenv("ONNXRUNTIME_LIB")
	if path == "" {
		path = filepath.Join(Root(tb), "bin", onnx.LibraryName)
	}
	if _, err := os.Stat(path); err != nil { //nolint:gosec // the developer names it
		tb.Fatalf("ONNX Runtime is missing (\"make build\" fetches it): %v", err)
	}
	return onnx.Runtime{Library: path}
}

// Load loads a model until the test ends.
func Load(tb testing.TB, path string, config *voice.Config) voice.Model {
	tb.Helper()
	m := check.Must(Runtime(tb).Load(path, config))(tb)
	check.Close(tb, m)
	return m
}

// Espeak returns a phonemizer that runs espeak-ng until the test ends.
func Espeak(tb testing.TB) *espeak.Phonemizer {
	tb.Helper()
	check.Part(tb, "espeak-ng")
	p := espeak.New("")
	tb.Cleanup(func() { _ = p.Close() }) // it never fails
	return p
}
