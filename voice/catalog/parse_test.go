package catalog_test

import (
	"encoding/json"
	"errors"
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
	for name, text := range map[string]string{
		"not JSON":     `<html>`,
		"list":         `[]`,
		"no files":     `{"a-b": {}}`,
		"no model":     `{"v": {"files": {"v.onnx.json": {` + right + `}, "MODEL_CARD": {` + right + `}}}}`,
		"path in name": `{"../v": {"files": {"../v.onnx": {` + right + `}, "../v.onnx.json": {` + right + `}}}}`,
		"dots in path": `{"v": {"files": {"../../v.onnx": {` + right + `}, "v.onnx.json": {` + right + `}}}}`,
		"leading dot":  `{".v": {"files": {".v.onnx": {` + right + `}, ".v.onnx.json": {` + right + `}}}}`,
		"too large":    `{"v": {"files": {"v.onnx": {"size_bytes": 99999999999, "md5_digest": "0123456789abcdef0123456789abcdef"}, "v.onnx.json": {` + right + `}}}}`,
		"negative":     `{"v": {"files": {"v.onnx": {"size_bytes": -1, "md5_digest": "0123456789abcdef0123456789abcdef"}, "v.onnx.json": {` + right + `}}}}`,
		"bad SHA-256":  `{"v": {"files": {"v.onnx": {"size_bytes": 1, "sha256_digest": "x", "md5_digest": "0123456789abcdef0123456789abcdef"}, "v.onnx.json": {` + right + `}}}}`,
		"bad digest":   `{"v": {"files": {"v.onnx": {"size_bytes": 1, "md5_digest": "x"}, "v.onnx.json": {` + right + `}}}}`,
		"too long":     `{"x": "` + strings.Repeat("x", 17<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }))
			defer server.Close()
			if c, err := catalog.Fetch(t.Context(), server.Client(), server.URL, true); !errors.Is(err, catalog.ErrMalformed) {
				t.Errorf("accepted: %+v, %v", c, err)
			}
		})
	}
	if _, err := catalog.Fetch(t.Context(), http.DefaultClient, "http://127.0.0.1:1/voices.json", true); err == nil {
		t.Error("Fetch without a server succeeds")
	}
}

// For any catalog, file names stay inside the directory and contain no special
// characters.
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
