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

// A terminal shows what it would obey, also if a character comes in two parts.
func TestTerminalWriter(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w := &terminalWriter{w: &out}
	for _, part := range []string{"a\tb\n", "\x1b[2J\r\x00\x7f", "\u009b\xff ü\xc3", "\xbc\xe2\x82", "\xac"} {
		n, err := w.Write([]byte(part))
		check.That(t, n == len(part) && err == nil, "%q: %d, %v", part, n, err)
	}
	want := "a\tb\n" + `\u001b[2J\u000d\u0000\u007f\u009b` + "\ufffd üü€"
	check.Equal(t, out.String(), want, "written")
}
