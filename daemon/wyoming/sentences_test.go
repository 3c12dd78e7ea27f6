package wyoming

import "testing"

func TestComplete_cases(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, sentences string }{
		{"", ""},
		{"Hello", ""},
		{"Hello.", ""},
		{"Hello. ", ""},
		{"Hello. I", "Hello."},
		{"Hello.\nI", "Hello."},
		{"One. Two! Three? Four", "One. Two! Three?"},
		{"She said \"Stop!\" Then", "She said \"Stop!\""},
		{"(It is late.) Good", "(It is late.)"},
		{"Stop! she said", ""},
		{"At 3.5 degrees. It", "At 3.5 degrees."},
		{"Am 3. Mai", ""},
		{"Version 2. Next", ""},
		{"Dr. Smith", ""},
		{"Good day, Prof. Smith", ""},
		{"At 5 p.m. Then", ""},
		{"Wait... What", ""},
		{"J. S. Bach", ""},
		{"See example.com. Then", ""},
		{"今日は。明日", "今日は。"},
		{"今日は。", ""},
		{"「今日は。」明日", ""},
		{"Done. 3 more", "Done."},
		{"كيف حالك؟ أنا", "كيف حالك؟"},
		{"....... A", ""},
		{")))))))) A", ""},
		{". A", ""},
	} {
		sentences, rest := complete(tt.text)
		if sentences != tt.sentences || sentences+rest != tt.text {
			t.Errorf("%q: %q and %q, want %q", tt.text, sentences, rest, tt.sentences)
		}
	}
}
