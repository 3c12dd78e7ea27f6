package cli

import (
	"testing"

	"pressbox/packaging/check"
)

func TestBuild_commitText(t *testing.T) {
	t.Parallel()
	for revision, want := range map[string]string{
		"": "unknown commit",
		"69f8d8ce9e5dcb6ab82fe26e6ffc8592f02209bd":         "commit 69f8d8ce9e5d",
		"69f8d8ce9e5dcb6ab82fe26e6ffc8592f02209bd+changed": "commit 69f8d8ce9e5d with changes",
	} {
		check.Equal(t, (Build{Revision: revision}).commitText(), want, "%q", revision)
	}
}
