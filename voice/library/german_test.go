package library_test

import (
	"path/filepath"
	"testing"

	"pressbox/voice/voicetest"
)

// withGerman adds the bundled model with espeak-ng's German: German words in the phonemes that the model has.
func withGerman(tb testing.TB, dir string) {
	tb.Helper()
	put(tb, filepath.Join(dir, "de.onnx.json"), voicetest.ChangedJSON(tb, `{"espeak": {"voice": "de"}}`))
	put(tb, filepath.Join(dir, "de.onnx"), voicetest.Read(tb, "models/"+bundled+".onnx"))
}

func TestSpeak_german(t *testing.T) {
	h := start(t, nil, withBundled, withGerman)
	awaitCalibrated(t, h, bundled, "de")
	const (
		notice = "Der Trockner ist in 1 Std. fertig. Der Klempner kommt am 3.5. zum 2. Mal " +
			"und bekommt 1 € und 1 kg Mehl, d. h. nicht viel."
		words = "Der Trockner ist in einer Stunde fertig. Der Klempner kommt am dritten Mai zum " +
			"zweiten Mal und bekommt ein Euro und ein Kilogramm Mehl, das heißt nicht viel."
	)
	clips := speak(t, h, "de", notice, 170)
	got := samples(clips)
	if want := samples(speak(t, h, "de", words, 170)); got != want {
		t.Errorf("the notice has %d samples, its words have %d", got, want)
	}
	// At 170 words per minute 28 words of prose take 10 seconds; German words are longer.
	if seconds := float64(got) / float64(clips[0].Rate); seconds < 7 || seconds > 16 {
		t.Errorf("the notice takes %.1f seconds, want 7 to 16", seconds)
	}
	if english := samples(speak(t, h, bundled, notice, 170)); english == got {
		t.Error("the English voice needs as many samples, so that the German rules are not shown")
	}
}
