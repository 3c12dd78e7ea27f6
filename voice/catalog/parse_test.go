package catalog_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"pressbox/packaging/check"
	"pressbox/voice/catalog"
)

func TestFetch_rejectsInvalidCatalogs(t *testing.T) {
	t.Parallel()
	const right = `"size_bytes": 1, "md5_digest": "0123456789abcdef0123456789abcdef"`
	model := func(file string) string {
		return `{"v": {"files": {"v.onnx": {` + file + `}, "v.onnx.json": {` + right + `}}}}`
	}
	for name, text := range map[string]string{
		"not JSON":     `<html>`,
		"list":         `[]`,
		"no files":     `{"a-b": {}}`,
		"no model":     `{"v": {"files": {"v.onnx.json": {` + right + `}, "MODEL_CARD": {` + right + `}}}}`,
		"path in name": `{"../v": {"files": {"../v.onnx": {` + right + `}, "../v.onnx.json": {` + right + `}}}}`,
		"dots in path": `{"v": {"files": {"../../v.onnx": {` + right + `}, "v.onnx.json": {` + right + `}}}}`,
		"leading dot":  `{".v": {"files": {".v.onnx": {` + right + `}, ".v.onnx.json": {` + right + `}}}}`,
		"too large":    model(strings.Replace(right, `: 1`, `: 99999999999`, 1)),
		"negative":     model(strings.Replace(right, `: 1`, `: -1`, 1)),
		"bad SHA-256":  model(right + `, "sha256_digest": "x"`),
		"bad digest":   model(`"size_bytes": 1, "md5_digest": "x"`),
		"too long":     `{"x": "` + strings.Repeat("x", 17<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, text)
			}))
			defer server.Close()
			c, err := catalog.Fetch(t.Context(), server.Client(), server.URL, true)
			check.ErrorIs(t, err, catalog.ErrMalformed, "accepted: %+v", c)
		})
	}
	_, err := catalog.Fetch(t.Context(), http.DefaultClient, "http://127.0.0.1:1/voices.json", true)
	check.That(t, err != nil, "Fetch without a server succeeds")
}

// For any catalog, file names stay inside the directory and contain no special characters.
func FuzzParse(f *testing.F) {
	index, err := json.Marshal(maps.Collect(maps.All(func() map[string]any {
		s := &fakeServer{files: map[string][]byte{}, index: map[string]any{}}
		s.add("en/", tern, []string{"tern", "../tern"})
		return s.index
	}())))
	check.NoError(f, err)
	f.Add(index)
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"../v": {"files": {}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, name := range catalog.FileNames(text) {
			if name != filepath.Base(name) || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\\\x00\n") {
				t.Errorf("file name %q", name)
			}
		}
	})
}
