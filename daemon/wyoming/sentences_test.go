package wyoming

import (
	"strings"
	"testing"

	"pressbox/packaging/check"
)

func TestComplete_cases(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, sentences string }{
		{"Hello. I", "Hello."},
		{"Hello.\nI", "Hello."},
		{"One. Two! Three? Four", "One. Two! Three?"},
		{"She said \"Stop!\" Then", "She said \"Stop!\""},
		{"(It is late.) Good", "(It is late.)"},
		{"At 3.5 degrees. It", "At 3.5 degrees."},
		{"今日は。明日", "今日は。"},
		{"Done. 3 more", "Done."},
		{"كيف حالك؟ أنا", "كيف حالك؟"},
	} {
		check.Equal(t, sentencesOf(t, tt.text), tt.sentences, "%q", tt.text)
	}
	for _, text := range []string{
		"", "Hello", "Hello.", "Hello. ", "Stop! she said", "Am 3. Mai", "Version 2. Next", "Dr. Smith",
		"Good day, Prof. Smith", "At 5 p.m. Then", "Wait... What", "J. S. Bach", "See example.com. Then", "今日は。",
		"「今日は。」明日", "....... A", ")))))))) A", ". A",
	} {
		check.Equal(t, sentencesOf(t, text), "", "%q", text)
	}
}

// A chunk without a text costs nothing, however much text waits.
func TestStream_emptyChunk(t *testing.T) { //nolint:paralleltest // it counts allocations
	s := &stream{text: strings.Repeat("one ", 1000)}
	check.Equal(t, testing.AllocsPerRun(100, func() { check.NoError(t, s.add(t.Context(), "")) }), 0, "allocations")
}

func sentencesOf(t *testing.T, text string) string {
	t.Helper()
	sentences, rest := complete(text)
	check.Equal(t, sentences+rest, text, "the sentences and the rest of %q", text)
	return sentences
}
