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
	got := candidates("")
	check.That(t, len(got) >= 2 && slices.Equal(got[:2], want), "candidates start with %q, want %q", got, want)
	got = candidates("/a/b.so")
	check.That(t, slices.Equal(got, []string{"/a/b.so"}), "candidates of an explicit path: %q", got)
}
