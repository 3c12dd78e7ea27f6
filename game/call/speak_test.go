package call_test

import (
	"testing"

	"pressbox/game/call"
	"pressbox/voice/speakable"
)

// TestSpeakable: what the game says is words already. The voice's own preparation leaves it as it is, so that nothing
// the announcer says is read as a number, a date or a name cut short.
func TestSpeakable(t *testing.T) {
	t.Parallel()
	for _, p := range call.English().Phrases() {
		if got := speakable.Text(p, "en-us", nil); got != p {
			t.Errorf("%q becomes %q", p, got)
		}
	}
}
