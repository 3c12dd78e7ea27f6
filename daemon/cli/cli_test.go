package cli

import (
	"strings"
	"testing"

	"pressbox/packaging/check"
)

// The name is spoken in words, and so are the first problems of pressbox.txt.
func TestGreeting_text(t *testing.T) {
	t.Parallel()
	const ready = "Pressbox is ready. Open pressbox 2 dot local."
	const rest = " Not everything of pressbox dot txt was applied."
	for report, want := range map[string]string{
		"":                              ready,
		"line 3: expected NAME=value\n": ready + rest + " Line 3: expected NAME=value.",
		strings.Repeat("x\n", 5):        ready + rest + strings.Repeat(" X.", 5),
		strings.Repeat("x\n", 6):        ready + rest + strings.Repeat(" X.", 5),
	} {
		check.Equal(t, greeting("pressbox-2", report), want, "%q", report)
	}
}

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
