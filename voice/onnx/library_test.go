package onnx

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pressbox/packaging/check"
)

func TestCandidates_order(t *testing.T) {
	t.Parallel()
	program := check.Must(os.Executable())(t)
	want := []string{filepath.Join(filepath.Dir(program), "libonnxruntime.so"), "/usr/lib/pressbox/libonnxruntime.so"}
	if got := candidates(""); len(got) < 2 || !slices.Equal(got[:2], want) {
		t.Errorf("candidates start with %q, want %q", got, want)
	}
	if got := candidates("/a/b.so"); !slices.Equal(got, []string{"/a/b.so"}) {
		t.Errorf("candidates of an explicit path: %q", got)
	}
}
