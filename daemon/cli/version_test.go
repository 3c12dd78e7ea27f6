package cli

import "testing"

func TestBuild_commitText(t *testing.T) {
	t.Parallel()
	for revision, want := range map[string]string{
		"": "unknown commit",
		"69f8d8ce9e5dcb6ab82fe26e6ffc8592f02209bd":         "commit 69f8d8ce9e5d",
		"69f8d8ce9e5dcb6ab82fe26e6ffc8592f02209bd+changed": "commit 69f8d8ce9e5d with changes",
	} {
		if got := (Build{Revision: revision}).commitText(); got != want {
			t.Errorf("%q: %q, want %q", revision, got, want)
		}
	}
}
